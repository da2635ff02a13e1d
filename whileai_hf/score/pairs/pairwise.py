"""A model that compares two rows. It answers about positions; `judge_pairs` asks it both ways round."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from whileai_hf.rows.view import Row
from whileai_hf.score.judges import Reading, read_choice
from whileai_hf.score.judges.transcript import as_text
from whileai_hf.score.pairs.voting import read_winner
from whileai_hf.score.rubrics.asking import Asker, CacheAt
from whileai_hf.score.rubrics.parsing import read_rubric
from whileai_hf.score.rubrics.rubric import Rubric
from whileai_hf.score.verdicts import JudgeStatus, Verdict


OPTIONS = ("A", "B", "tie")
_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "winner": {"type": "string", "enum": list(OPTIONS)}},
    "required": ["reason", "winner"],
    "additionalProperties": False,
}


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/<name>.txt`."""
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text("utf-8").strip()


def basis(rubric: Rubric | None) -> str:
    """What a comparison is about, as the model is told."""
    if rubric is None:
        return prompt_text("default_rubric")
    points = "\n".join(f"- {item.text} (weight {item.weight:g})" for item in rubric.criteria)
    return f"{rubric.note}\n\nThe better one meets more of these, by weight:\n{points}".strip()


class PairwiseJudge:
    """
    Compares two rows with a model; made by [`pairwise_judge`].

    Args:
        asker ([`Asker`], *optional*):
            The model; the default judge when left out.
        rubric ([`Rubric`], *optional*):
            What the comparison is about.
    """

    name = "pairwise_judge"

    def __init__(self, asker: Asker | None = None, rubric: Rubric | None = None) -> None:
        self.asker = asker or Asker()
        self.rubric = rubric

    def __repr__(self) -> str:
        return f"PairwiseJudge(rubric={None if self.rubric is None else self.rubric.version})"

    def bind(self, policies: Iterable[str | None]) -> PairwiseJudge:
        """Settles the default model for rows of these policies; without effect when a model was named."""
        self.asker.bind(policies)
        return self

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this judge has in common, for `judge_meta`."""
        said = self.asker.provenance(prompt_text("compare"), basis(self.rubric))
        return said if self.rubric is None else {**said, "rubric_version": self.rubric.version}

    async def __call__(self, first: Row, second: Row) -> str | None:
        """
        Which of two rows is better.

        Args:
            first (`dict`):
                The row shown first, as A.
            second (`dict`):
                The row shown second, as B.

        Returns:
            `str` or `None`: `"A"`, `"B"`, `"tie"`; `None` when the reply cannot be read or a side does not fit.

        Raises:
            [`~whileai_hf.errors.ModelError`]: The model gave no answer.
        """
        found = await self.judge_order({"first": first, "second": second})
        return {"first": "A", "second": "B", "tie": "tie"}.get(str(found.meta.get("winner")))

    async def judge_order(self, row: Row) -> Verdict:
        """The verdict on `row["first"]` and `row["second"]`, shown in this order, with what the model said."""
        first, second = row["first"], row["second"]
        shown = self.asker.shown_together({"A": first, "B": second})
        if shown.problem is not None:
            return Verdict(None, JudgeStatus.MISSING_REWARD, shown.problem)
        self.asker.settle((first.get("model_version"), second.get("model_version")))
        question = f"{as_text(basis(self.rubric))}\n\n{shown.text}"
        reading, problem = await self.asker.ask(prompt_text("compare"), question, _SCHEMA, _read)
        if reading is None or problem is not None:
            status = JudgeStatus.MISSING_REWARD if reading and reading.abstained else JudgeStatus.INVALID_RESULT
            return Verdict(None, status, problem)
        return read_winner({"winner": reading.value, "reason": reading.reason})


def _read(text: str) -> tuple[Reading, str | None]:
    reading = read_choice(text, OPTIONS)
    return reading, reading.problem


def pairwise_judge(
    model: Any = None,
    rubric: Any = None,
    *,
    cache: CacheAt = True,
    context_chars: int | None = None,
) -> PairwiseJudge:
    """
    A judge of pairs.

    Args:
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who judges, in any form [`~whileai_hf.actors.models.as_model`] takes; the default judge otherwise.
        rubric ([`~whileai_hf.score.rubrics.Rubric`], `str`, `list` or `dict`, *optional*):
            What the comparison is about; right, honest and complete handling otherwise.
        cache (`bool`, `str`, `Path` or [`~whileai_hf.score.judges.VerdictCache`], *optional*, defaults to `True`):
            Where replies are kept: the local store (`True`; for models named by a string only), a `.jsonl` file, a
            folder, or nowhere (`False`).
        context_chars (`int`, *optional*):
            Characters the model can read; a pair that does not fit is unjudged.

    Returns:
        [`PairwiseJudge`]: `await judge(first, second)` gives `"A"`, `"B"`, `"tie"` or `None`; pass it to
        [`judge_pairs`], which asks both ways round.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel
    >>> from whileai_hf.score.pairs import judge_pairs, pairwise_judge
    >>> def script(messages, tools):
    ...     shown = messages[-1]["content"]
    ...     return '{"reason": "It is late.", "winner": "%s"}' % "AB"[shown.index("May 3") > shown.index("Soon")]
    >>> pairs = [{"prompt": "Where is A1?", "a": "It ships on May 3.", "b": "Soon."}]
    >>> judge_pairs(pairs, pairwise_judge(ScriptedModel(script)))[0]["winner"][0]
    'a'

    ```
    """
    fixed = None if rubric is None else read_rubric(rubric)
    return PairwiseJudge(Asker(model, context_chars=context_chars, cache=cache), fixed)
