"""A model that ranks the rollouts of one task, for rewards that only have to be right within a group.

The group is ranked twice, in different orders, and the two ranks of a member are averaged: what the order of
presentation adds to one ranking it takes from the other. How far the rankings agree is on every row. A ranking that
cannot be read leaves the whole group unjudged, for half of the evidence would be position.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable, Sequence
from typing import Any

from whileai_hf.rows import rng
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Row
from whileai_hf.score.judges.transcript import TRANSCRIPT_COLUMNS, as_text
from whileai_hf.score.pairs.pairwise import basis, prompt_text
from whileai_hf.score.pairs.ranks import mean_ranks, order_agreement, rank_reward, read_ranking
from whileai_hf.score.pairs.sides import content
from whileai_hf.score.rubrics.asking import Asker, CacheAt
from whileai_hf.score.rubrics.parsing import read_rubric
from whileai_hf.score.rubrics.rubric import Rubric


_SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "ranking": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
    },
    "required": ["reason", "ranking"],
    "additionalProperties": False,
}
Result = dict[str, Any]


class GroupwiseJudge:
    """
    Ranks groups of rows with a model; made by [`groupwise_judge`].

    Args:
        asker ([`Asker`]):
            The model.
        rubric ([`Rubric`], *optional*):
            What the ranking is about.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the orders.
    """

    name = "groupwise_judge"
    gives_shares = True

    def __init__(self, asker: Asker, rubric: Rubric | None = None, seed: int = 0) -> None:
        self.asker = asker
        self.rubric = rubric
        self.seed = seed

    def __repr__(self) -> str:
        return f"GroupwiseJudge(rubric={None if self.rubric is None else self.rubric.version})"

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this judge has in common, for `judge_meta`."""
        said = self.asker.provenance(prompt_text("rank"), basis(self.rubric))
        return said if self.rubric is None else {**said, "rubric_version": self.rubric.version}

    def bind(self, policies: Iterable[str | None]) -> GroupwiseJudge:
        """Settles the default model for rows of these policies; without effect when a model was named."""
        self.asker.bind(policies)
        return self

    def columns(self) -> Sequence[str] | None:
        """The row columns it reads."""
        return [*TRANSCRIPT_COLUMNS, "model_version", "rollout_status"]

    def hash_state(self) -> list[object]:
        """What tells this judge from another."""
        return [*self.asker.hash_state(), digest(prompt_text("rank"), basis(self.rubric)), self.seed]

    async def judge_group(self, rows: Sequence[Row]) -> list[Result]:
        """
        The verdicts on the rollouts of one task.

        Args:
            rows (`Sequence[dict]`):
                The group. Rollouts that did not take place (`rollout_status`) are left out of the ranking.

        Returns:
            `list[dict]`: One per row, in the form of the judge contract, with `rank` (1 is best; equals share the
            mean of their places), `group_size` and `order_agreement` (share of pairs both rankings order alike).

        Raises:
            [`~whileai_hf.errors.ModelError`]: The model gave no answer.
        """
        ranked = [at for at, row in enumerate(rows) if row.get("rollout_status") in (None, "ok")]
        results: list[Result] = [
            {"reward": None, "reason": f"not judged: the rollout has rollout_status {row.get('rollout_status')!r}"}
            for row in rows
        ]
        for at, result in zip(ranked, await self._ranked([rows[at] for at in ranked]), strict=True):
            results[at] = result
        return results

    async def _ranked(self, rows: Sequence[Row]) -> list[Result]:
        size = len(rows)
        if size < 2:
            return [_unjudged("a group of one has no ranking", size)] * size
        # Identical members are one entry to the model: it could only order them by position.
        of: dict[bytes, list[int]] = {}
        for at, row in enumerate(rows):
            of.setdefault(content(row), []).append(at)
        members = list(of.values())
        if len(members) == 1:
            return [_verdict((size + 1) / 2, size, 1.0, "all members are identical") for _ in rows]
        sizes = [len(same) for same in members]
        self.asker.settle(row.get("model_version") for row in rows)
        orders = self._orders(rows, len(members))
        answers = await asyncio.gather(*(self._order([rows[members[at][0]] for at in order]) for order in orders))
        rankings = []
        for order, (places, problem) in zip(orders, answers, strict=True):
            if places is None:
                return [_unjudged(problem, size)] * size
            rankings.append(mean_ranks([[order[label] for label in place] for place in places], sizes))
        agreement = order_agreement(*rankings)
        results: list[Result] = [{}] * size
        for same, first, second in zip(members, *rankings, strict=True):
            for at in same:
                results[at] = _verdict((first + second) / 2, size, agreement, None)
        return results

    def _orders(self, rows: Sequence[Row], count: int) -> tuple[list[int], list[int]]:
        """A random order, and its reverse: whatever stands early in one stands late in the other."""
        first = rng(self.seed, "groupwise", digest(*(content(row).decode() for row in rows))).shuffled(range(count))
        return first, first[::-1]

    async def _order(self, rows: Sequence[Row]) -> tuple[list[list[int]] | None, str | None]:
        shown = self.asker.shown_together({f"R{number}": row for number, row in enumerate(rows, start=1)})
        if shown.problem is not None:
            return None, shown.problem
        question = f"{as_text(basis(self.rubric))}\n\n{shown.text}"
        read = functools.partial(read_ranking, k=len(rows))
        return await self.asker.ask(prompt_text("rank"), question, _SCHEMA, read)


def _unjudged(reason: str | None, size: int) -> Result:
    return {"reward": None, "reason": reason, "group_size": size}


def _verdict(rank: float, size: int, agreement: float, reason: str | None) -> Result:
    return {
        "reward": rank_reward(rank, size),
        "reason": reason or f"rank {rank:g} of {size}",
        "rank": rank,
        "group_size": size,
        "order_agreement": agreement,
    }


def groupwise_judge(
    model: Any = None,
    rubric: Any = None,
    *,
    seed: int = 0,
    cache: CacheAt = True,
    context_chars: int | None = None,
) -> GroupwiseJudge:
    """
    A judge that ranks the rollouts of each task against each other.

    The reward of a member is `(k - rank) / (k - 1)`: 1.0 for the best of `k`, 0.0 for the worst, 0.5 on average in
    every group. It says nothing across tasks: a group of good replies has a worst one, too.

    Args:
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who judges, in any form [`~whileai_hf.actors.models.as_model`] takes; the default judge otherwise.
        rubric ([`~whileai_hf.score.rubrics.Rubric`], `str`, `list` or `dict`, *optional*):
            What the ranking is about; right, honest and complete handling otherwise.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the orders of presentation.
        cache (`bool`, `str`, `Path` or [`~whileai_hf.score.judges.VerdictCache`], *optional*, defaults to `True`):
            Where replies are kept: the local store (`True`; for models named by a string only), a `.jsonl` file, a
            folder, or nowhere (`False`).
        context_chars (`int`, *optional*):
            Characters the model can read; a group that does not fit is unjudged.

    Returns:
        [`GroupwiseJudge`]: Pass it to [`~whileai_hf.score.grade`].

    Examples:
    ```python
    >>> import asyncio
    >>> from whileai_hf.actors import ScriptedModel
    >>> from whileai_hf.score.pairs import groupwise_judge
    >>> def script(messages, tools):
    ...     shown = messages[-1]["content"]
    ...     return "R1 > R2" if shown.index("May 3") < shown.index("Soon") else "R2 > R1"
    >>> group = [{"prompt": "Where is A1?", "final_text": text} for text in ("Soon.", "It ships on May 3.")]
    >>> [v["reward"] for v in asyncio.run(groupwise_judge(ScriptedModel(script)).judge_group(group))]
    [0.0, 1.0]

    ```
    """
    fixed = None if rubric is None else read_rubric(rubric)
    return GroupwiseJudge(Asker(model, context_chars=context_chars, cache=cache), fixed, seed)
