"""Student's t: quantiles, and the interval of a difference of two independent means."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from whileai_hf.stats.beta import beta_quantile
from whileai_hf.stats.proportions import Interval, check_level


def t_quantile(df: float, level: float = 0.95) -> float:
    """
    The `t` with `P(|T| <= t) = level` for `df` degrees of freedom.

    Args:
        df (`float`):
            Degrees of freedom, above 0.
        level (`float`, *optional*, defaults to `0.95`):
            Two-sided level.

    Examples:
    ```python
    >>> round(t_quantile(4), 3)
    2.776

    ```
    """
    x = beta_quantile(1.0 - check_level(level), df / 2, 0.5)
    return math.sqrt(df * (1.0 - x) / x)


def welch_interval(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Interval | None:
    """
    Interval of `mean(second) - mean(first)` for independent samples of unequal spread (Welch 1947).

    Args:
        first (array of `float`):
            One value per independent unit.
        second (array of `float`):
            The same of the other sample.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.

    Returns:
        `tuple[float, float]` or `None`: `None` with fewer than two values in either sample.

    Examples:
    ```python
    >>> low, high = welch_interval([0.0, 0.5, 1.0], [0.5, 1.0, 1.0])
    >>> round(low, 2), round(high, 2)
    (-0.69, 1.36)

    ```
    """
    a, b = (np.asarray(sample, dtype=np.float64) for sample in (first, second))
    if a.size < 2 or b.size < 2:
        return None
    delta = float(b.mean() - a.mean())
    part_a, part_b = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    error = part_a + part_b
    if error <= 0.0:
        return delta, delta
    df = error**2 / (part_a**2 / (a.size - 1) + part_b**2 / (b.size - 1))
    half = t_quantile(df, level) * math.sqrt(error)
    return delta - half, delta + half
