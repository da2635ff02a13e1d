"""The regularised incomplete beta function and its inverse, which exact binomial intervals need.

Written here because the library depends on numpy and not on scipy. Scalar: it is called once per interval.
"""

from __future__ import annotations

import math


# The continued fraction converges in O(sqrt(max(a, b))) steps; this is enough for a, b up to about 1e9.
_MAX_STEPS = 200_000
_CONVERGED = 1e-16
# Stands in for a zero denominator in Lentz's method.
_TINY = 1e-300


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, evaluated by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, _MAX_STEPS):
        m = step // 2
        if step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / (1.0 + term * d or _TINY)
        c = 1.0 + term / c or _TINY
        value *= c * d
        if abs(c * d - 1.0) < _CONVERGED:
            break
    return 1.0 / value


def beta_cdf(x: float, a: float, b: float) -> float:
    """
    Regularised incomplete beta function `I_x(a, b)`: the distribution function of Beta(a, b).

    Args:
        x (`float`):
            Where, in `[0, 1]`.
        a (`float`):
            First shape, above 0.
        b (`float`):
            Second shape, above 0.

    Returns:
        `float`: Probability of a value at most `x`.

    Examples:
    ```python
    >>> beta_cdf(0.25, 1, 1)
    0.25

    ```
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    # Below the mean the fraction in x converges fast, above it the one in 1 - x does.
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _fraction(x, a, b) / a
    return 1.0 - math.exp(log_front) * _fraction(1.0 - x, b, a) / b


def beta_quantile(probability: float, a: float, b: float) -> float:
    """
    The `x` at which [`beta_cdf`] reaches `probability`, by bisection down to neighbouring floats.

    Args:
        probability (`float`):
            In `[0, 1]`.
        a (`float`):
            First shape, above 0.
        b (`float`):
            Second shape, above 0.

    Returns:
        `float`: The quantile.
    """
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
