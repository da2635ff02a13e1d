"""Rates that a judge's mistakes have been taken out of, with what people said about a few of its rows.

[`ppi_mean`] needs people's labels on a random part of the rows; [`rogan_gladen`] needs to know how often the judge is
right about good and about bad rows. Both answer how many rows people would pass, which the mean of the judge does not.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.beta import beta_quantile
from whileai_hf.stats.proportions import Interval, check_level


# One row that people passed and the judge failed, and one of the reverse, added to the spread alone: a few labels
# without a disagreement do not show a judge that makes none (Agresti and Coull's argument for a single proportion).
_PSEUDO = 2


@dataclasses.dataclass(frozen=True)
class Rectified:
    """A mean with the judge's bias taken out: `weight` is the trust put in the judge (0: labels alone)."""

    value: float
    interval: Interval
    weight: float
    standard_error: float
    units: int


def t_quantile(tail: float, freedom: int) -> float:
    """
    The value Student's t exceeds with probability `tail`.

    Args:
        tail (`float`):
            Probability, at most one half.
        freedom (`int`):
            Degrees of freedom, 1 or more.

    Examples:
    ```python
    >>> round(t_quantile(0.025, 10), 4)
    2.2281

    ```
    """
    # t^2 / (freedom + t^2) is distributed as Beta(1/2, freedom/2).
    share = beta_quantile(1 - 2 * tail, 0.5, freedom / 2)
    return math.sqrt(freedom * share / (1 - share))


def ppi_mean(
    labels: ArrayLike,
    judged: ArrayLike,
    others: ArrayLike,
    *,
    units: ArrayLike | None = None,
    other_units: ArrayLike | None = None,
    level: float = 0.95,
) -> Rectified | None:
    """
    Prediction-powered mean, power-tuned (Angelopoulos, Duchi and Zrnic 2023, "PPI++").

    The estimate is `mean(labels) + weight * (mean(others) - mean(judged))`; the weight that makes it least uncertain,
    clipped to [0, 1], is worked out from the same rows. Spread is that of sums over units, so rollouts of one task
    may hang together; the interval takes Student's t over the labelled units, and one row of either kind of
    disagreement is added to the spread, because both matter at the 30 to 100 labels people give.

    Args:
        labels (array of `float` of shape `(n,)`):
            What people said, 0 to 1.
        judged (array of `float` of shape `(n,)`):
            What the judge said of the same rows.
        others (array of `float` of shape `(m,)`):
            What the judge said of the rows nobody labelled.
        units (array of shape `(n,)`, *optional*):
            The task of each labelled row; every row by itself otherwise.
        other_units (array of shape `(m,)`, *optional*):
            The task of each of the others, named as in `units`.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.

    Returns:
        [`Rectified`] or `None`: `None` with fewer than three labelled units, where no spread can be told.

    Raises:
        [`ConfigurationError`]: Arrays that do not go together, or a level outside (0, 1).

    Examples:
    ```python
    >>> found = ppi_mean([1, 0, 1, 0, 1, 1], [1, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 1] * 50)
    >>> round(found.value, 2), found.interval[0] < found.value < found.interval[1]
    (0.67, True)

    ```
    """
    tail = (1.0 - check_level(level)) / 2
    y, f, g = (np.asarray(values, dtype=np.float64).ravel() for values in (labels, judged, others))
    if y.size != f.size or not all(np.isfinite(values).all() for values in (y, f, g)):
        raise ConfigurationError(f"{y.size} labels and {f.size} verdicts, all finite, one of each a row were expected")
    own, code = _units(y.size, g.size, units, other_units)
    labelled = int(np.unique(code[: y.size]).size)
    if labelled < 3:
        return None
    n, m = y.size, g.size
    # What each unit adds to the estimate's error: `of_labels + weight * of_judge`.
    of_labels = np.bincount(code[:n], weights=(y - y.mean()) / n, minlength=own)
    of_judge = np.bincount(code[:n], weights=-(f - f.mean()) / n, minlength=own)
    if m:
        of_judge += np.bincount(code[n:], weights=(g - g.mean()) / m, minlength=own)
    spread = float(of_judge @ of_judge)
    weight = min(1.0, max(0.0, -float(of_labels @ of_judge) / spread)) if m and spread > 0 else 0.0
    value = float(y.mean() + weight * (g.mean() - f.mean())) if m else float(y.mean())
    total = of_labels + weight * of_judge
    error = math.sqrt(_with_pseudo(float(total @ total) * labelled / (labelled - 1), n))
    half = t_quantile(tail, labelled - 1) * error
    interval = (max(0.0, value - half), min(1.0, value + half))
    return Rectified(min(1.0, max(0.0, value)), interval, weight, error, labelled)


def _with_pseudo(variance: float, n: float) -> float:
    """The variance of a mean of n labels once the pseudo rows are among them."""
    return (variance * n * n + _PSEUDO) / (n + _PSEUDO) ** 2


def _units(n: int, m: int, units: ArrayLike | None, others: ArrayLike | None) -> tuple[int, NDArray[np.int64]]:
    """How many units there are, and the unit of every row, labelled ones first."""
    if units is None and others is None:
        return n + m, np.arange(n + m)
    if units is None or (others is None and m):
        raise ConfigurationError("units= and other_units= go together; pass the task of every row, or of none")
    both = np.concatenate([np.asarray(units).ravel(), np.asarray([] if others is None else others).ravel()])
    if both.size != n + m:
        raise ConfigurationError(f"{both.size} units for {n + m} rows; pass one per row")
    names, code = np.unique(both, return_inverse=True)
    return names.size, code.astype(np.int64)


def rogan_gladen(
    passes: int,
    n: int,
    right: tuple[int, int],
    wrong: tuple[int, int],
    *,
    level: float = 0.95,
    stretch: float = 1.0,
) -> tuple[float, Interval] | None:
    """
    A rate read off a fallible judge (Rogan and Gladen 1978), with the interval of Lang and Reiczigel (2014).

    Args:
        passes (`int`):
            Rows the judge passed.
        n (`int`):
            Rows it judged.
        right (`tuple[int, int]`):
            Of the rows people passed: how many the judge passed, and how many there are.
        wrong (`tuple[int, int]`):
            Of the rows people failed: how many the judge failed, and how many there are.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.
        stretch (`float`, *optional*, defaults to `1.0`):
            How many times wider the interval is than that of rows drawn one by one.

    Returns:
        `tuple` or `None`: Share of rows people would pass and its interval; `None` when one of the two kinds is
        missing, or when the judge does no better than a coin, so that nothing follows from what it says.

    Raises:
        [`ConfigurationError`]: Counts that cannot be.

    Examples:
    ```python
    >>> value, interval = rogan_gladen(600, 1000, (45, 50), (40, 50))
    >>> round(value, 3), tuple(round(end, 2) for end in interval)
    (0.571, (0.46, 0.69))

    ```
    """
    for count, of in ((passes, n), right, wrong):
        if not 0 <= count <= of:
            raise ConfigurationError(f"{count} of {of} is not a count; expected 0 <= count <= total")
    if min(n, right[1], wrong[1]) == 0:
        return None
    share, sensitivity, specificity = passes / n, right[0] / right[1], wrong[0] / wrong[1]
    if sensitivity + specificity <= 1:
        return None
    value = (share + specificity - 1) / (sensitivity + specificity - 1)
    interval = _lang_reiczigel((share, n), (sensitivity, right[1]), (specificity, wrong[1]), level, stretch)
    return min(1.0, max(0.0, value)), interval


def _lang_reiczigel(
    share: tuple[float, int],
    sensitivity: tuple[float, int],
    specificity: tuple[float, int],
    level: float,
    stretch: float,
) -> Interval:
    z = NormalDist().inv_cdf(0.5 + check_level(level) / 2)
    n = share[1] + z * z
    p = (share[1] * share[0] + z * z / 2) / n
    se, n_se = (sensitivity[1] * sensitivity[0] + 1) / (sensitivity[1] + 2), sensitivity[1] + 2
    sp, n_sp = (specificity[1] * specificity[0] + 1) / (specificity[1] + 2), specificity[1] + 2
    gain = se + sp - 1
    if gain <= 0:
        return 0.0, 1.0
    value = (p + sp - 1) / gain
    by_se, by_sp = value * se * (1 - se) / n_se, (1 - value) * sp * (1 - sp) / n_sp
    error = math.sqrt(p * (1 - p) / n + value * by_se + (1 - value) * by_sp) / gain
    shift = 2 * z * z * (by_se - by_sp)
    half = stretch * z * error
    return max(0.0, value + shift - half), min(1.0, value + shift + half)


@dataclasses.dataclass(frozen=True)
class Precision:
    """What is known before labelling: spread of the labels, how far the judge goes with them, rows to be judged."""

    spread: float
    correlation: float
    rows: int

    def half_width(self, labels: int, level: float = 0.95) -> float:
        """Half the width of the interval of [`ppi_mean`] to be expected with so many labels, 3 or more."""
        # With the best weight, the judge takes this share of the labels' own uncertainty away.
        saved = max(0.0, self.correlation) ** 2 * max(0, self.rows - labels) / self.rows
        variance = _with_pseudo(self.spread**2 * (1.0 - saved) / labels, labels)
        return t_quantile((1.0 - check_level(level)) / 2, labels - 1) * math.sqrt(variance)

    def labels_for(self, half_width: float, level: float = 0.95) -> int | None:
        """The fewest labels, 3 or more, that reach a half width; `None` when all the rows do not."""
        low, high = 3, self.rows
        if high < low or self.half_width(high, level) > half_width:
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.half_width(middle, level) <= half_width else (middle + 1, high)
        return low
