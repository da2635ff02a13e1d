"""Shares with their intervals, and whether a reward pays for a finding: what the reports of markers have in common."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np

from whileai_hf.stats import wilson


# Rows with a finding from which on a correlation is spoken of.
_FEWEST_FINDINGS = 5
# Two-sided 95% of the normal distribution.
_Z = 1.959964


@dataclasses.dataclass(frozen=True)
class Share:
    """`count` of `n` rows, with the Wilson 95% interval; `rate` and `ci95` are `None` without a row."""

    count: int
    n: int
    rate: float | None
    ci95: tuple[float, float] | None

    @classmethod
    def of(cls, count: int, n: int) -> Share:
        """The share of `count` in `n`."""
        return cls(count, n, count / n if n else None, wilson(count, n))

    def __str__(self) -> str:
        if self.rate is None or self.ci95 is None:
            return "not measured"
        return f"{self.rate:.1%} ({self.count} of {self.n}; 95% {self.ci95[0]:.1%} to {self.ci95[1]:.1%})"


@dataclasses.dataclass(frozen=True)
class RewardLink:
    """
    How a finding goes with the reward.

    `r` is their correlation, `None` when it cannot be told; `within` says that rows were compared with others of their
    task only, so that easy tasks do not pass for a reward of the finding; `pays` that r is positive beyond chance.
    """

    r: float | None
    within: bool
    n: int
    pays: bool

    def __str__(self) -> str:
        if self.r is None:
            return "no reward to compare with"
        return f"{self.r:+.2f} with the reward, {'within tasks' if self.within else 'pooled over tasks'} (n={self.n})"


def number_of(value: Any) -> float:
    """A reward as a number; `nan` for none and for what is not a number."""
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    return math.nan


class RewardLinks:
    """
    The rows' rewards, made ready for correlating many findings with them.

    Args:
        rewards (`Sequence`):
            The rows' rewards; rows without a number are left out.
        tasks (`Sequence`):
            The rows' tasks.

    Examples:
    ```python
    >>> RewardLinks([1, 0] * 10, [0, 0, 1, 1] * 5).of(range(0, 20, 2)).pays
    True

    ```
    """

    def __init__(self, rewards: Sequence[Any], tasks: Sequence[Hashable]) -> None:
        self._rewards = np.array([number_of(reward) for reward in rewards], dtype=np.float64)
        codes: dict[Hashable, int] = {}
        self._groups = np.array([codes.setdefault(task, len(codes)) for task in tasks], dtype=np.int64)

    def of(self, found: Collection[int], left_out: Collection[int] = ()) -> RewardLink:
        """
        The correlation of a finding with the reward, within tasks where they allow it, pooled otherwise.

        Args:
            found (`Collection[int]`):
                Positions of the rows with the finding.
            left_out (`Collection[int]`, *optional*):
                Positions of rows of which it cannot be told.
        """
        kept = np.isfinite(self._rewards)
        kept[list(left_out)] = False
        n = int(np.count_nonzero(kept))
        if not found or not n:
            return RewardLink(None, False, n, False)
        x = np.zeros(len(kept))
        x[list(found)] = 1.0
        x, y = x[kept], self._rewards[kept]
        group = np.unique(self._groups[kept], return_inverse=True)[1]
        within = _correlation(x, y, group)
        if within is not None:
            return _link(within, True, n, n - int(group.max()) - 2, int(x.sum()))
        pooled = _correlation(x, y, np.zeros(n, dtype=np.int64)) if n > 2 else None
        return _link(pooled, False, n, n - 2, int(x.sum()))


def _link(r: float | None, within: bool, n: int, freedom: int, findings: int) -> RewardLink:
    if r is None:
        return RewardLink(None, within, n, False)
    strength = math.inf if abs(r) >= 1 else r * math.sqrt(max(freedom, 0) / (1 - r * r))
    return RewardLink(round(r, 4), within, n, r > 0 and strength > _Z and findings >= _FEWEST_FINDINGS)


def _correlation(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], group: np.ndarray[Any, Any]) -> float | None:
    """Correlation of the deviations from the group means; `None` when one of the two does not vary within groups."""
    size = np.bincount(group)
    dx, dy = (values - (np.bincount(group, weights=values) / size)[group] for values in (x, y))
    spread = math.sqrt(float(dx @ dx) * float(dy @ dy))
    return float(dx @ dy) / spread if spread > 1e-12 else None
