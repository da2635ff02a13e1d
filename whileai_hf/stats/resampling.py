"""The bootstrap over tasks: how far a mean moves when other tasks of the same kind had been drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.proportions import Interval, check_level


# Drawn numbers held at a time, 8 bytes each plus the gathered values: keeps a call under 64 MB.
_BLOCK = 2_000_000
# One multinomial cell costs about as much as this many drawn indices.
_CELL_COST = 8


def bootstrap_mean_ci(values: ArrayLike, *, n_boot: int = 2000, level: float = 0.95, seed: int = 0) -> Interval | None:
    """
    Percentile bootstrap interval of a mean (Efron and Tibshirani 1993, chapter 13).

    The ends are the `(1-level)/2` and `(1+level)/2` quantiles of `n_boot` resampled means, interpolated linearly
    between order statistics (numpy's default, and what `scipy.stats.bootstrap(method="percentile")` uses). The order
    of `values` does not matter: the same values and seed give the same interval.

    Args:
        values (array of `float`):
            One value per resampled unit (a task's pass rate). `nan` and infinities are left out.
        n_boot (`int`, *optional*, defaults to `2000`):
            Resamples.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        `tuple[float, float]` or `None`: Lower and upper end; `None` with fewer than two values, where nothing is known
        about their spread. With fewer than about ten values the interval covers less than `level`.

    Raises:
        [`ConfigurationError`]: `n_boot < 1`, or a level outside (0, 1).

    Examples:
    ```python
    >>> low, high = bootstrap_mean_ci([0.0, 0.5, 1.0, 1.0])
    >>> 0.0 <= low < 0.625 < high <= 1.0
    True

    ```
    """
    if isinstance(n_boot, bool) or not isinstance(n_boot, int | np.integer) or n_boot < 1:
        raise ConfigurationError(f"n_boot={n_boot!r} is not a number of resamples; pass 1 or more (2000 is usual)")
    tail = (1.0 - check_level(level)) / 2
    sample = np.asarray(values, dtype=np.float64).ravel()
    sample = sample[np.isfinite(sample)]
    if sample.size < 2:
        return None
    levels, counts = np.unique(sample, return_counts=True)
    generator = np.random.Generator(np.random.PCG64(seed))
    if levels.size * _CELL_COST <= sample.size:
        means = _means_of_levels(levels, counts, int(n_boot), generator)
    else:
        means = _means_of_indices(np.repeat(levels, counts), int(n_boot), generator)
    # A mean of values cannot leave their range; a last-bit rounding error must not either, on any side.
    low, high = np.clip(np.quantile(means, (tail, 1.0 - tail)), levels[0], levels[-1])
    return float(low), float(high)


def _means_of_levels(
    levels: NDArray[np.float64], counts: NDArray[np.intp], n_boot: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Resampled means when few distinct values occur: only how often each is drawn matters."""
    total = int(counts.sum())
    rows = max(1, _BLOCK // levels.size)
    blocks = [
        generator.multinomial(total, counts / total, size=min(rows, n_boot - start)) @ levels
        for start in range(0, n_boot, rows)
    ]
    return np.concatenate(blocks) / total


def _means_of_indices(sample: NDArray[np.float64], n_boot: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Resampled means drawn index by index, in blocks."""
    rows = max(1, _BLOCK // sample.size)
    means = np.empty(n_boot)
    for start in range(0, n_boot, rows):
        stop = min(start + rows, n_boot)
        means[start:stop] = sample[generator.integers(sample.size, size=(stop - start, sample.size))].mean(axis=1)
    return means
