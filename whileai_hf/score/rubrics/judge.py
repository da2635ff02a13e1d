"""A judge that goes through a rubric: a verdict on every criterion, and a reward made of them.

The reward is the weight of the criteria met over the weight of those that could be assessed. A criterion that does not
apply says nothing about the reply, so it moves the reward neither way; but a number about less than half of the rubric
is not the number that was asked for, so beyond `max_unassessed` of the weight the row is unjudged. So it is when the
reply leaves a criterion out: what was not read is not unmet.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import canonical
from whileai_hf.rows.hashing import register_hash
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Row
from whileai_hf.score.judges.hiding import Hidden
from whileai_hf.score.judges.transcript import TRANSCRIPT_COLUMNS, as_text
from whileai_hf.score.rubrics.answers import Point, answer_schema, read_points
from whileai_hf.score.rubrics.asking import Asker, CacheAt, hidden_of
from whileai_hf.score.rubrics.attach import is_privileged, neutral, rubric_of
from whileai_hf.score.rubrics.parsing import read_rubric
from whileai_hf.score.rubrics.rubric import Criterion, Rubric
from whileai_hf.score.verdicts import JudgeStatus, Verdict


# Prefix of the markers.
MARKER = "rubric:"
# Share of a rubric's weight that may be unassessed: up to a half, the reward is about most of what was asked for.
MAX_UNASSESSED = 0.5
_PER_CALL = ("rubric", "criterion")
# What exactly is wrong might quote it.
_UNREADABLE = "the row's privileged rubric cannot be used: it has no criteria, or some without a text of their own"


@cache
def _instructions() -> str:
    return (Path(__file__).parent / "prompts" / "judge.txt").read_text("utf-8").strip()


class RubricJudge:
    """
    Judges rows by a rubric; made by [`rubric_judge`].

    Args:
        asker ([`Asker`]):
            The model.
        rubric ([`Rubric`], *optional*):
            The rubric of all rows; each row's own otherwise.
        per_call (`str`, *optional*, defaults to `"rubric"`):
            `"rubric"` or `"criterion"`.
        max_unassessed (`float`, *optional*, defaults to `0.5`):
            Share of the weight that may be unassessed.
    """

    name = "rubric_judge"
    # Rows in flight at one time when nobody says otherwise: waiting is all they do.
    concurrency = 32
    gives_shares = True

    def __init__(
        self,
        asker: Asker,
        rubric: Rubric | None = None,
        *,
        per_call: str = "rubric",
        max_unassessed: float = MAX_UNASSESSED,
    ) -> None:
        if per_call not in _PER_CALL:
            raise ConfigurationError(f"per_call is {per_call!r:.40}; use one of {', '.join(map(repr, _PER_CALL))}")
        is_share = isinstance(max_unassessed, int | float) and not isinstance(max_unassessed, bool)
        if not is_share or not 0 <= max_unassessed < 1:
            raise ConfigurationError(f"max_unassessed is {max_unassessed!r:.40}; pass a share from 0 to below 1")
        self.asker = asker
        self.rubric = rubric
        self.per_call = per_call
        self.max_unassessed = float(max_unassessed)

    def __repr__(self) -> str:
        of = "the rows' own" if self.rubric is None else self.rubric.version
        return f"RubricJudge(rubric={of}, per_call={self.per_call!r})"

    def bind(self, policies: Iterable[str | None]) -> RubricJudge:
        """Settles the default model for rows of these policies; without effect when a model was named."""
        self.asker.bind(policies)
        return self

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this judge has in common, for `judge_meta`."""
        rubric = None if self.rubric is None else self.rubric.version
        said = self.asker.provenance(_instructions(), self.per_call, self.max_unassessed, rubric)
        return said if rubric is None else {**said, "rubric_version": rubric}

    def columns(self) -> Sequence[str] | None:
        """The row columns it reads."""
        return [*TRANSCRIPT_COLUMNS, "privileged", "rubric", "model_version"]

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        rubric = None if self.rubric is None else self.rubric.version
        return [*self.asker.hash_state(), digest(_instructions()), self.per_call, self.max_unassessed, rubric]

    async def __call__(self, row: Row) -> Verdict:
        """
        The verdict on a row.

        Args:
            row (`dict`):
                A rollout, or any row with a transcript.

        Returns:
            [`Verdict`]: `reward` is `None` when there is no rubric, too little could be assessed, or the reply could
            not be read.

        Raises:
            [`~whileai_hf.errors.ModelError`]: The model gave no answer.
        """
        try:
            rubric = self.rubric or rubric_of(row)
        except DataError as error:
            said = str(error) if not is_privileged(row) else _UNREADABLE
            return Verdict(None, JudgeStatus.MISSING_REWARD, said)
        if rubric is None:
            said = "the row has no rubric; pass rubric=, or tasks= with privileged.rubric (see attach_rubric)"
            return Verdict(None, JudgeStatus.MISSING_REWARD, said)
        shown = self.asker.shown(row)
        if shown.problem is not None:
            return Verdict(None, JudgeStatus.MISSING_REWARD, shown.problem, meta={"rubric_version": rubric.version})
        self.asker.settle((row.get("model_version"),))
        hidden = hidden_of(row)
        named = rubric if self.rubric is not None or not is_privileged(row) else neutral(rubric)
        points, problem = await self._points(named, shown.text, hidden)
        points = {
            at: Point(point.value, None if point.reason is None else hidden(point.reason))
            for at, point in points.items()
        }
        made = judged(named, points, self.max_unassessed, None if problem is None else hidden(problem))
        made.meta["rubric_version"] = rubric.version
        return made

    async def _points(self, rubric: Rubric, shown: str, hidden: Hidden) -> tuple[dict[int, Point], str | None]:
        if self.per_call == "rubric":
            return await self._ask(rubric.note, rubric.criteria, shown, hidden)
        answers = await asyncio.gather(*(self._ask(rubric.note, [item], shown, hidden) for item in rubric.criteria))
        points = {at: found[0] for at, (found, _) in enumerate(answers) if 0 in found}
        return points, next((problem for _, problem in answers if problem is not None), None)

    async def _ask(
        self, note: str, criteria: Sequence[Criterion], shown: str, hidden: Hidden
    ) -> tuple[dict[int, Point], str | None]:
        listed = "\n".join(f"c{number}: {as_text(item.text)}" for number, item in enumerate(criteria, start=1))
        question = f"{as_text(note)}\n\nCriteria:\n{listed}\n\n{shown}".strip()
        read = functools.partial(read_points, criteria=criteria)
        points, problem = await self.asker.ask(_instructions(), question, answer_schema(len(criteria)), read, hidden)
        return points or {}, problem


register_hash(RubricJudge)


def judged(rubric: Rubric, points: Mapping[int, Point], max_unassessed: float, problem: str | None = None) -> Verdict:
    """
    What verdicts on criteria amount to.

    Args:
        rubric ([`Rubric`]):
            The rubric.
        points (`Mapping[int, Point]`):
            The verdicts by position.
        max_unassessed (`float`):
            Share of the weight that may be unassessed.
        problem (`str`, *optional*):
            What was wrong with the reply; then there is no reward.

    Returns:
        [`Verdict`]: Its metadata has `assessed` (share of the weight), `unassessed` (names) and `points` (the reason
        for each verdict).

    Examples:
    ```python
    >>> rubric = Rubric((Criterion("lookup", "Looks A1 up.", 3), Criterion("polite", "Is polite.")))
    >>> judged(rubric, {0: Point(1.0), 1: Point(0.0)}, 0.5).reward
    0.75
    >>> judged(rubric, {0: Point(None), 1: Point(1.0)}, 0.5).reason
    'cannot assess lookup: 75% of the weight, more than the 50% allowed'

    ```
    """
    read = [(item, points[at]) for at, item in enumerate(rubric.criteria) if at in points]
    markers = {f"{MARKER}{item.name}": point.value for item, point in read if point.value is not None}
    meta: dict[str, Any] = {"points": {item.name: point.reason for item, point in read if point.reason}}
    if problem is not None:
        meta["error"] = problem
        return Verdict(None, JudgeStatus.INVALID_RESULT, problem, markers, meta=meta)
    unassessed = [item for item, point in read if point.value is None]
    share = sum(item.weight for item in unassessed) / sum(item.weight for item in rubric.criteria)
    meta |= {"assessed": canonical(1 - share), "unassessed": [item.name for item in unassessed]}
    if len(unassessed) == len(rubric.criteria) or share > max_unassessed:
        of = f"{share:.0%} of the weight, more than the {max_unassessed:.0%} allowed"
        said = f"cannot assess {', '.join(item.name for item in unassessed)}: {of}"
        return Verdict(None, JudgeStatus.MISSING_REWARD, said, markers, meta=meta)
    met = sum(item.weight for item, point in read if point.value == 1.0)
    of_all = sum(item.weight for item, point in read if point.value is not None)
    unmet = [(item, point) for item, point in read if point.value == 0.0]
    if not unmet:
        return Verdict(met / of_all, reason="every assessed criterion is met", markers=markers, meta=meta)
    first, point = unmet[0]
    more = f" (and {len(unmet) - 1} more)" if len(unmet) > 1 else ""
    reason = f"unmet: {first.name}{more}" + (f": {point.reason}" if point.reason else "")
    return Verdict(met / of_all, reason=reason, markers=markers, failure_class=first.name, meta=meta)


def rubric_judge(
    model: Any = None,
    *,
    rubric: Any = None,
    per_call: str = "rubric",
    max_unassessed: float = MAX_UNASSESSED,
    use_privileged: bool = False,
    cache: CacheAt = True,
    context_chars: int | None = None,
) -> RubricJudge:
    """
    A judge that gives a verdict on each criterion of a rubric.

    Args:
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who judges, in any form [`~whileai_hf.actors.models.as_model`] takes; the default judge otherwise.
        rubric ([`Rubric`], `str`, `Path`, `list` or `dict`, *optional*):
            One for all rows, in any form [`read_rubric`] takes. By default each row's own, which `grade` brings along
            from the task set (`tasks=`) or the run.
        per_call (`str`, *optional*, defaults to `"rubric"`):
            `"rubric"` asks about all criteria at once, `"criterion"` about each in a call of its own: more calls, and
            no verdict colours another.
        max_unassessed (`float`, *optional*, defaults to `0.5`):
            Share of the rubric's weight that may be "cannot assess"; beyond it, or when nothing can be assessed, the
            row is unjudged.
        use_privileged (`bool`, *optional*, defaults to `False`):
            Show the judge the reference and the hidden state of the task.
        cache (`bool`, `str`, `Path` or [`~whileai_hf.score.judges.VerdictCache`], *optional*, defaults to `True`):
            Where replies are kept, so that a rerun costs nothing: the local store (`True`; for models named by a
            string only), a `.jsonl` file, a folder, or nowhere (`False`).
        context_chars (`int`, *optional*):
            Characters the model can read; a run that does not fit is unjudged. By default the endpoint says.

    Returns:
        [`RubricJudge`]: An async judge for [`~whileai_hf.score.grade`] and [`~whileai_hf.score.Score`]. Markers
        `rubric:<name>` are 1.0 (met) or 0.0, absent where a criterion cannot be assessed; `failure_class` is the first
        unmet criterion.

    Raises:
        [`ConfigurationError`]: A rubric without criteria, or a knob out of range.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel
    >>> from whileai_hf.score import grade
    >>> model = ScriptedModel(['{"c1": "met", "c2": {"verdict": "unmet", "reason": "No order is named."}}'])
    >>> judge = rubric_judge(model, rubric=["Is polite.", {"name": "names", "text": "Names A1.", "weight": 3}])
    >>> row = grade([{"prompt": "Where is A1?", "final_text": "Soon, please wait."}], judge)[0]
    >>> row["reward"], row["failure_class"], row["markers"]
    (0.25, 'names', {'rubric:is_polite': 1.0, 'rubric:names': 0.0})

    ```
    """
    fixed = None if rubric is None else read_rubric(rubric)
    asker = Asker(model, use_privileged=use_privileged, context_chars=context_chars, cache=cache)
    return RubricJudge(asker, fixed, per_call=per_call, max_unassessed=max_unassessed)
