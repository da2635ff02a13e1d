"""Gold, and how a judge stands to it: which labels count, and the four counts everything else is made of.

Gold is a label a person wrote (`gold_kind` is `"human"`). Labels of a model, and older ones that do not say whose they
are, are counted apart and measure nothing.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.rows import RowView
from whileai_hf.score.verdicts import as_number
from whileai_hf.stats import Interval, wilson
from whileai_hf.stats.agreement import kappa_of_table


# The judge passes when the lower end of its agreement with people reaches the first, and kappa the second.
AGREEMENT_FLOOR = 0.80
KAPPA_FLOOR = 0.60
# Labels below which a measurement is rough, and says so.
FEW_GOLD = 50
# Reward from which a row counts as passed, as in `pass_at`.
PASS = 1.0
HUMAN, MODEL, UNKNOWN = "human", "model", "unknown"
GOLD_COLUMNS = ("gold_reward", "gold_kind", "reward")
_NUMBERS = {bool, int, float, type(None)}


class TrustStatus(StrEnum):
    """What became of measuring a judge; not measured is neither good nor bad."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not_trusted"
    NOT_MEASURED = "not_measured"


@dataclasses.dataclass(frozen=True)
class Gold:
    """
    The labels that count, and those that do not.

    Args:
        index (`np.ndarray` of `int`):
            Rows whose label counts.
        label (`np.ndarray` of `bool`):
            Whether it is a pass.
        by_kind (`dict[str, int]`):
            Labels by who wrote them, those that do not count included.
        refused (`int`):
            Labels that do not count because no person is known to have written them.
        not_binary (`int`):
            Values that are neither 0 nor 1, which are no labels.
    """

    index: NDArray[np.int64]
    label: NDArray[np.bool_]
    by_kind: dict[str, int]
    refused: int
    not_binary: int


@dataclasses.dataclass(frozen=True)
class Confusion:
    """A judge beside gold: rows both pass, only the judge passes, only gold passes, both fail; and unjudged ones."""

    both_pass: int
    only_judge: int
    only_gold: int
    both_fail: int
    unjudged: int

    @property
    def n(self) -> int:
        """Rows with both a label and a verdict."""
        return self.both_pass + self.only_judge + self.only_gold + self.both_fail

    @property
    def agreement(self) -> float | None:
        """Share of them on which the two say the same; `None` without one."""
        return (self.both_pass + self.both_fail) / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """Wilson 95% interval of the agreement."""
        return wilson(self.both_pass + self.both_fail, self.n)

    @property
    def one_class(self) -> bool:
        """Whether gold has passes only, or failures only; kappa says nothing then."""
        return self.both_pass + self.only_gold == 0 or self.only_judge + self.both_fail == 0

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; `None` where gold has one class only."""
        if self.one_class:
            return None
        return kappa_of_table([[self.both_fail, self.only_judge], [self.only_gold, self.both_pass]])

    @property
    def status(self) -> TrustStatus:
        """Whether the two floors are reached; failing the first settles it even where kappa cannot be had."""
        interval, kappa = self.interval, self.kappa
        if interval is None:
            return TrustStatus.NOT_MEASURED
        if interval[0] < AGREEMENT_FLOOR or (kappa is not None and kappa < KAPPA_FLOOR):
            return TrustStatus.NOT_TRUSTED
        return TrustStatus.NOT_MEASURED if kappa is None else TrustStatus.TRUSTED


def as_numbers(cells: Sequence[Any]) -> NDArray[np.float64]:
    """Cells as numbers, `nan` for what is none; text is never a number."""
    if set(map(type, cells)) <= _NUMBERS:
        try:
            values = np.array(cells, dtype=np.float64)
            return np.where(np.isfinite(values), values, np.nan)
        except OverflowError:  # an integer no double holds: one by one
            pass
    found = (as_number(cell) for cell in cells)
    return np.array([np.nan if number is None else number for number in found], dtype=np.float64)


def _kind(value: Any) -> str:
    return value if isinstance(value, str) and value else UNKNOWN


def read_gold(rows: RowView, allow_model_gold: bool = False) -> Gold:
    """
    The labels of rows.

    Args:
        rows ([`RowView`]):
            Rows; `gold_reward` and `gold_kind` are read.
        allow_model_gold (`bool`, *optional*, defaults to `False`):
            Count every label, whoever wrote it.

    Examples:
    ```python
    >>> from whileai_hf.rows import view
    >>> gold = read_gold(view([{"gold_reward": 1, "gold_kind": "human"}, {"gold_reward": 0}]))
    >>> gold.index.tolist(), gold.by_kind, gold.refused
    ([0], {'human': 1, 'unknown': 1}, 1)

    ```
    """
    if not rows.has("gold_reward"):
        return Gold(np.zeros(0, np.int64), np.zeros(0, bool), {}, 0, 0)
    values = as_numbers(rows.column("gold_reward"))
    binary = (values == 0.0) | (values == 1.0)
    index = np.flatnonzero(binary)
    not_binary = int(np.count_nonzero(~np.isnan(values) & ~binary))
    if not index.size:
        return Gold(index, np.zeros(0, bool), {}, 0, not_binary)
    said = rows.column("gold_kind")
    kinds = [said[at] for at in index.tolist()] if index.size < len(said) else said
    counts: Counter[str] = Counter()
    for kind, count in Counter(kinds if set(map(type, kinds)) <= {str, type(None)} else map(_kind, kinds)).items():
        counts[_kind(kind)] += count
    counted = index
    if not allow_model_gold and counts[HUMAN] < index.size:
        counted = index[np.array([kind == HUMAN for kind in kinds], dtype=bool)]
    return Gold(counted, values[counted] == 1.0, dict(counts), index.size - counted.size, not_binary)


def confusion_of(gold: Gold, rewards: Sequence[Any] | NDArray[np.float64], threshold: float = PASS) -> Confusion:
    """
    The judge's verdicts beside the labels.

    Args:
        gold ([`Gold`]):
            The labels.
        rewards (`Sequence`):
            The judge's reward of every row; `None` and NaN are no verdict. Numbers of an array are finite or NaN.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.
    """
    values = verdicts_at(gold, rewards)
    judged = ~np.isnan(values)
    label, passed = gold.label[judged], values[judged] >= threshold
    both, judge = int(np.count_nonzero(label & passed)), int(np.count_nonzero(passed))
    people, n = int(np.count_nonzero(label)), int(label.size)
    return Confusion(both, judge - both, people - both, n - judge - people + both, gold.index.size - n)


def verdicts_at(gold: Gold, rewards: Sequence[Any] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The judge's rewards of the labelled rows, `nan` where there is none."""
    if isinstance(rewards, np.ndarray):
        return np.asarray(rewards[gold.index], dtype=np.float64)
    if gold.index.size == len(rewards):
        return as_numbers(rewards)
    return as_numbers([rewards[at] for at in gold.index.tolist()])
