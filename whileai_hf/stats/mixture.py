"""The distribution of pass rates over tasks, fitted to counts of passes (nonparametric maximum likelihood).

The likelihood of a group's count does not depend on why the group ended, so it may be used under any stopping rule
that looked at nothing but these verdicts, provided that tasks come in no order of difficulty. It needs neither known
chances nor full groups. The price is a bias at finite size: a fit spreads pass rates wider than they are, which raises
pass^k and lowers pass@k (by 0.01-0.04 at 200 tasks and k = 8). Prefer [`stopping`] where its conditions hold.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError


FloatArray = NDArray[np.float64]
# Steps of expectation maximisation: k-way numbers at k = 8 move by less than 0.001 beyond.
_STEPS = 300
# A resample starts at the fit of the sample, so it needs fewer.
_BOOT_STEPS = 100
# Share of a flat start mixed in, since a weight of 0 never recovers.
_FLAT = 0.1


def _grid() -> FloatArray:
    """Pass rates that may occur: even steps, and finer ones near 0 and 1 where pass@k and pass^k are steep."""
    edge = np.array([0.0025, 0.005, 0.0075])
    return np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), edge, 1.0 - edge]))


@dataclasses.dataclass(frozen=True)
class Mixture:
    """
    A discrete distribution of pass rates.

    Args:
        points (`np.ndarray`):
            Pass rates.
        weights (`np.ndarray` of shape `(..., points)`):
            Their shares; several fits have leading axes.
    """

    points: FloatArray
    weights: FloatArray

    def pass_pow(self, k: int) -> FloatArray:
        """Chance that all of k repeats of a task pass."""
        return np.asarray(self.weights @ self.points**k)

    def pass_at(self, k: int) -> FloatArray:
        """Chance that at least one of k repeats of a task passes."""
        return np.asarray(self.weights @ (1.0 - (1.0 - self.points) ** k))


def _cells(n: ArrayLike, c: ArrayLike) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    """Likelihood of every distinct `(n, c)` at every grid point, how often it occurs, and the grid."""
    rollouts, passed = np.asarray(n, dtype=np.int64).ravel(), np.asarray(c, dtype=np.int64).ravel()
    if rollouts.size == 0 or np.any(rollouts < 1) or np.any((passed < 0) | (passed > rollouts)):
        raise ConfigurationError("a mixture needs groups with n >= 1 repeats and 0 <= c <= n passes; check the counts")
    pairs, counts = np.unique(np.stack([rollouts, passed]), axis=1, return_counts=True)
    grid = _grid()
    size, hits = pairs[0][:, None], pairs[1][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(hits > 0, hits * np.log(grid), 0.0)
        logs = logs + np.where(size > hits, (size - hits) * np.log1p(-grid), 0.0)
    # Only ratios within a row matter; the largest is set to 1 so that long groups do not underflow.
    return np.exp(logs - logs.max(axis=1, keepdims=True)), counts.astype(np.int64), grid


def _climb(likelihood: FloatArray, share: FloatArray, start: FloatArray, steps: int) -> FloatArray:
    """Expectation maximisation from `start`; `share` holds the cells' shares, one row per sample."""
    weights = np.broadcast_to(start, (share.shape[0], start.size))
    for _ in range(steps):
        weights = weights * ((share / (weights @ likelihood.T)) @ likelihood)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_mixture(n: ArrayLike, c: ArrayLike) -> Mixture:
    """
    The most likely distribution of pass rates (Laird 1978), on a grid and by expectation maximisation.

    Args:
        n (array of `int`):
            Repeats of every group, at least 1.
        c (array of `int`):
            How many of them passed.

    Returns:
        [`Mixture`]: One distribution.

    Raises:
        [`ConfigurationError`]: No group, or counts that are none.

    Examples:
    ```python
    >>> round(float(fit_mixture([8] * 50, [4] * 50).pass_pow(2)), 2)
    0.25

    ```
    """
    likelihood, counts, grid = _cells(n, c)
    start = np.full(grid.size, 1.0 / grid.size)
    return Mixture(grid, _climb(likelihood, (counts / counts.sum())[None], start, _STEPS)[0])


def bootstrap_mixture(n: ArrayLike, c: ArrayLike, *, n_boot: int = 400, seed: int = 0) -> Mixture:
    """
    Fits to resampled groups.

    Args:
        n (array of `int`):
            Repeats of every group.
        c (array of `int`):
            How many of them passed.
        n_boot (`int`, *optional*, defaults to `400`):
            Resamples.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        [`Mixture`]: `n_boot` distributions, one per row of `weights`.
    """
    likelihood, counts, grid = _cells(n, c)
    total = int(counts.sum())
    start = np.full(grid.size, 1.0 / grid.size)
    fit = _climb(likelihood, (counts / total)[None], start, _STEPS)[0]
    drawn = np.random.Generator(np.random.PCG64(seed)).multinomial(total, counts / total, size=n_boot) / total
    return Mixture(grid, _climb(likelihood, drawn, (1.0 - _FLAT) * fit + _FLAT * start, _BOOT_STEPS))
