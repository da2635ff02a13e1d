"""Intervals for one proportion: k passes out of n independent trials.

Use Wilson for display (close to its nominal level at every n), Clopper-Pearson where coverage must never fall short.
Rollouts of one task are not independent trials of the agent over tasks: for that, resample tasks
([`resampling.bootstrap_mean_ci`]).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.beta import beta_quantile


Interval = tuple[float, float]


def check_level(level: float) -> float:
    """The confidence level itself, or an error when it is none."""
    if not 0.0 < level < 1.0:
        raise ConfigurationError(
            f"level={level!r} is not a confidence level; pass a number between 0 and 1, such as 0.95"
        )
    return level


def _check_counts(k: int, n: int) -> None:
    if n < 0 or not 0 <= k <= n:
        raise ConfigurationError(f"k={k}, n={n} are not counts of passes and trials; expected 0 <= k <= n")


def wilson(k: int, n: int, level: float = 0.95) -> Interval | None:
    """
    Wilson score interval for a proportion (Wilson 1927), without continuity correction.

    Args:
        k (`int`):
            Passes.
        n (`int`):
            Trials.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.

    Returns:
        `tuple[float, float]` or `None`: Lower and upper end, within `[0, 1]`; `None` without a trial.

    Raises:
        [`ConfigurationError`]: Not `0 <= k <= n`, or a level outside (0, 1).

    Examples:
    ```python
    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)

    ```
    """
    _check_counts(k, n)
    z = NormalDist().inv_cdf(0.5 + check_level(level) / 2)
    if n == 0:
        return None
    share = k / n
    shrink = 1.0 + z * z / n
    center = (share + z * z / (2 * n)) / shrink
    half = z * math.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n)) / shrink
    # At the edges the formula gives the bound exactly; rounding must not move it off 0 or 1.
    return (0.0 if k == 0 else center - half, 1.0 if k == n else center + half)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Interval | None:
    """
    Exact interval for a proportion (Clopper and Pearson 1934): coverage is never below `level`.

    Args:
        k (`int`):
            Passes.
        n (`int`):
            Trials.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.

    Returns:
        `tuple[float, float]` or `None`: Lower and upper end; `None` without a trial.

    Raises:
        [`ConfigurationError`]: Not `0 <= k <= n`, or a level outside (0, 1).

    Examples:
    ```python
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)

    ```
    """
    _check_counts(k, n)
    tail = (1.0 - check_level(level)) / 2
    if n == 0:
        return None
    low = 0.0 if k == 0 else beta_quantile(tail, k, n - k + 1)
    # The upper end through the lower one of the failures: the small tail is the one computed accurately.
    high = 1.0 if k == n else 1.0 - beta_quantile(tail, n - k, k + 1)
    return low, high
