"""Asking a judge again: whether it says the same about the same row, and about the row with words that say nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.trust.altered import Row, with_reply
from whileai_hf.rows import Report, RowView
from whileai_hf.score.judges import Judge
from whileai_hf.score.judging import JudgeFunction, judge_rows
from whileai_hf.score.verdicts import Independent
from whileai_hf.stats import Interval, wilson


# Share of changed verdicts from which a judge is flagged, if there are at least so many.
FLIPS = 0.10
_FEW_FLIPS = 2
FILLER = (
    " There are several things to keep in mind here, and each of them deserves a closer look before anything else. "
    "It is worth going through them one after another, since every step builds on the one before it."
)
# Long enough to double most replies.
_TIMES = 3


@runtime_checkable
class _Renewable(Protocol):
    """A judge that keeps its verdicts, and has a copy that does not."""

    def fresh(self) -> Any:
        """That copy."""


@dataclasses.dataclass(frozen=True)
class Flips(Report):
    """
    Verdicts that changed when a judge was asked again.

    Args:
        n (`int`): Rows with both verdicts.
        flips (`int`): Passes that became failures, or the reverse.
        to_pass (`int`): Those that became passes.
        rate (`float`, *optional*): Share of `n`.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        unjudged (`int`): Rows without one of the two.
        rows (`list[int]`): The first rows that changed.
        flagged (`bool`): A tenth or more changed.
    """

    n: int
    flips: int
    to_pass: int
    rate: float | None
    ci95: Interval | None
    unjudged: int
    rows: list[int]
    flagged: bool

    def __str__(self) -> str:
        if self.rate is None or self.ci95 is None:
            return f"not measured: the judge gave no verdict on {self.unjudged} rows"
        low, high = self.ci95
        return f"{self.flips} of {self.n} verdicts change ({self.rate:.2f} [{low:.2f}, {high:.2f}])"


def padded(text: str) -> str:
    """A reply with words behind it that say nothing."""
    return text + FILLER * _TIMES


def ready_judge(judge: Any, rubric: Any, rows: RowView) -> JudgeFunction:
    """
    The judge, ready to be asked anew about every row.

    Args:
        judge (`Callable` or `str` or [`Model`]):
            A judge; or a model, or its spec string, that judges by the rubric.
        rubric (`Any`):
            What a judge model goes by.
        rows ([`RowView`]):
            The rows, so that a default model is not the one that made them.

    Raises:
        [`ConfigurationError`]: Not a judge.
    """
    made = Judge(judge, rubric) if isinstance(judge, str | Model | ScriptedModel) else judge
    if isinstance(made, Independent):
        made.bind(sorted({str(model) for model in rows.column("model_version") if model}))
    if isinstance(made, _Renewable):
        made = made.fresh()
    if not callable(made):
        raise ConfigurationError(f"judge={judge!r:.80} cannot be called; pass a function of a row, or a model")
    return made


def passes_of(judge: JudgeFunction, rows: Sequence[Row], threshold: float) -> list[bool | None]:
    """Whether the judge passes each row; `None` where it gives no verdict."""
    return [
        None if verdict.reward is None else verdict.reward >= threshold for verdict in judge_rows(judge, list(rows))
    ]


def flips_between(first: Sequence[bool | None], second: Sequence[bool | None], index: Sequence[int]) -> Flips:
    """
    What changed from one judging to another.

    Args:
        first (`Sequence`):
            Whether each row passed; `None` without a verdict.
        second (`Sequence`):
            The same when asked again.
        index (`Sequence[int]`):
            Which rows these are.
    """
    pairs = [
        (one, other, row)
        for one, other, row in zip(first, second, index, strict=True)
        if one is not None and other is not None
    ]
    changed = [(other, row) for one, other, row in pairs if one != other]
    n, flips = len(pairs), len(changed)
    return Flips(
        n=n,
        flips=flips,
        to_pass=sum(bool(other) for other, _ in changed),
        rate=flips / n if n else None,
        ci95=wilson(flips, n),
        unjudged=len(index) - n,
        rows=[row for _, row in changed[:5]],
        flagged=n > 0 and flips >= _FEW_FLIPS and flips / n >= FLIPS,
    )


def consistency_of(
    judge: JudgeFunction, rows: Sequence[Row], index: Sequence[int], said: np.ndarray[Any, Any], threshold: float
) -> tuple[Flips, Flips]:
    """
    Asks about rows as they are, and with filler behind the reply.

    Args:
        judge (`Callable`):
            The judge.
        rows (`Sequence[dict]`):
            The rows as a judge may see them.
        index (`Sequence[int]`):
            Which rows these are.
        said (`np.ndarray`):
            The rewards the rows carry, `nan` where there is none.
        threshold (`float`):
            Reward from which a row counts as passed.

    Returns:
        `tuple[Flips, Flips]`: Against the verdict the row carries, and filler against the row as it is.
    """
    before = [None if np.isnan(said[at]) else bool(said[at] >= threshold) for at in index]
    plain = passes_of(judge, rows, threshold)
    filled = passes_of(judge, [with_reply(row, padded) for row in rows], threshold)
    return flips_between(before, plain, index), flips_between(plain, filled, index)
