"""Comparisons in which few tasks differ: how large a mean difference so few still allow.

Sign flips know only the differences they are given. Where 12 of 12 tasks came out alike, or 6 of 6 rose by the same
amount, their interval has no width, as if no other task could have come out differently. What such rows do bound are
the mean rise and the mean fall of a share: a number between 0 and 1 is never more spread than a coin of the same mean,
so the binomial interval of Clopper and Pearson (1934) over the tasks holds for either.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from whileai_hf.stats import Interval
from whileai_hf.stats.beta import beta_cdf, beta_quantile


# Tasks that differ from which on sign flips are left to themselves: simulated, they cover 93% or more from here on.
ENOUGH = 8
# Differences of means closer to zero than this are rounding.
_ZERO = 1e-9


@dataclasses.dataclass(frozen=True)
class Scarcity:
    """
    Differences too few, or too much alike, for sign flips to know their spread.

    Args:
        n (`int`):
            Tasks.
        n_differ (`int`):
            Those that differ.
        rises (`float`):
            Sum of all rises.
        falls (`float`):
            Sum of all falls, above 0.
        bounded (`bool`):
            Whether what is compared lies within 0 to 1; without that nothing is known of other tasks.
    """

    n: int
    n_differ: int
    rises: float
    falls: float
    bounded: bool

    def widen(self, interval: Interval, rejected: int, level: float) -> Interval:
        """
        The interval together with what exact bounds allow.

        Args:
            interval (`tuple[float, float]`):
                What sign flips say.
            rejected (`int`):
                1 or -1 where they reject no difference in favour of a rise or a fall, else 0. The interval stays on
                that side of zero, so that it goes on agreeing with the p-value.
            level (`float`):
                Confidence level.
        """
        if not self.bounded:
            return interval
        tail = (1.0 - level) / 2
        low = self._low(self.rises, tail) if rejected > 0 else -self._high(self.falls, tail)
        high = -self._low(self.falls, tail) if rejected < 0 else self._high(self.rises, tail)
        return min(interval[0], low), max(interval[1], high)

    def outside_p(self, margin: float) -> float:
        """p-value of a mean rise or a mean fall of at least `margin`, whichever is larger; the dual of [`widen`]."""
        if margin >= 1.0:
            return 0.0
        most = max(self.rises, self.falls)
        return 1.0 if most >= self.n else beta_cdf(1.0 - margin, self.n - most, most + 1.0)

    def _high(self, total: float, tail: float) -> float:
        return 1.0 if total >= self.n else 1.0 - beta_quantile(tail, self.n - total, total + 1.0)

    def _low(self, total: float, tail: float) -> float:
        return 0.0 if total <= 0.0 else beta_quantile(tail, total, self.n - total + 1.0)

    def note(self, metric: str) -> str:
        """What a reader has to know about the interval."""
        if self.n_differ < ENOUGH:
            few = f"only {self.n_differ} of {self.n} shared tasks differ in {metric}"
        else:
            few = f"all {self.n} shared tasks differ by the same amount in {metric}"
        if self.bounded:
            return f"{few}: sign flips alone would say too much, so the interval is widened by exact binomial bounds"
        return f"{few}, which has no known range: the interval rests on those tasks alone and may be far too narrow"


def scarcity(differences: NDArray[np.float64], bounded: bool) -> Scarcity | None:
    """
    Whether differences are too few or too much alike, and if so what they bound.

    Args:
        differences (`np.ndarray`):
            One per task.
        bounded (`bool`):
            Whether what is compared lies within 0 to 1.

    Examples:
    ```python
    >>> few = scarcity(np.zeros(30), bounded=True)
    >>> low, high = few.widen((0.0, 0.0), 0, 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.116, 0.116)
    >>> scarcity(np.arange(30.0), bounded=False) is None
    True

    ```
    """
    n_differ = int(np.count_nonzero(np.abs(differences) > _ZERO))
    if n_differ >= ENOUGH and float(np.ptp(differences)) > _ZERO:
        return None
    within = np.clip(differences, -1.0, 1.0)
    rises, falls = (float(np.maximum(part, 0.0).sum()) for part in (np.sort(within), np.sort(-within)))
    return Scarcity(differences.size, n_differ, rises, falls, bounded)
