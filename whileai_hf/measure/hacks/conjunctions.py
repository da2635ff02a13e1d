"""Pairs of features looked at together, and the rule by which one of them counts."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.asks import Bits, FloatArray, IntArray
from whileai_hf.measure.hacks.pool import Pool
from whileai_hf.measure.hacks.products import row_products
from whileai_hf.measure.hacks.terms import MIN_ROWS


# The strongest yes-or-no features, of which every two make a conjunction.
N_BEST = 12
# A conjunction counts when it beats its better part by this many standard errors: with fewer, one of the 11 that every
# good feature is part of beats it by chance often enough to be named in its place.
_BEATS_BY = 3.0
# Correlations closer than this are the same number, computed in another order.
SAME = 1e-5
# Rows turned into floating point at a time.
_ROWS = 16_384
# Conjunctions whose spread is computed at a time.
_PAIRS = 64
_TINY = 1e-9


class Better(NamedTuple):
    """Conjunctions that count: their parts, by index, and their correlations."""

    one: IntArray
    other: IntArray
    rho: FloatArray


def beats(strong: FloatArray, weak: FloatArray, together: FloatArray, freedom: int) -> NDArray[np.bool_]:
    """
    Whether correlations are larger than others with the same rewards (Meng, Rosenthal and Rubin 1992).

    Args:
        strong (`np.ndarray`):
            The larger correlations.
        weak (`np.ndarray`):
            What they are compared with.
        together (`np.ndarray`):
            Correlation of the two features.
        freedom (`int`):
            Rows less asks.

    Examples:
    ```python
    >>> import numpy as np
    >>> beats(np.array([0.5, 0.5]), np.array([0.2, 0.45]), np.array([0.1, 0.1]), 200).tolist()
    [True, False]

    ```
    """
    between = np.sign(strong) * np.sign(weak) * together
    a, b = (np.minimum(np.abs(rho), 1 - _TINY) for rho in (strong, weak))
    mean = (a * a + b * b) / 2
    f = np.minimum((1 - between) / (2 * (1 - mean)), 1.0)
    h = (1 - f * mean) / (1 - mean)
    apart = np.maximum(2 * (1 - between) * h, _TINY)
    z = (np.arctanh(a) - np.arctanh(b)) * np.sqrt(max(freedom, 0) / apart)
    return np.asarray((z > _BEATS_BY) & (between < 1 - _TINY), dtype=np.bool_)


@dataclasses.dataclass
class Conjunctions:
    """Pairs of a pool's yes-or-no features, with what does not depend on the reward computed once."""

    pool: Pool

    def __post_init__(self) -> None:
        size = len(self.pool.bits)
        self.spread: FloatArray = np.full((size, size), np.nan)
        # Correlation of a conjunction with its first and its second part.
        self.with_part: FloatArray = np.full((2, size, size), np.nan)
        self.best = min(N_BEST, size)
        self.left, self.right = np.triu_indices(self.best, 1)

    def pick(self, rho: FloatArray | NDArray[np.float32]) -> IntArray:
        """The features with the largest correlations, by index."""
        strength = np.round(np.abs(rho[: len(self.pool.bits)]), 5)
        return np.sort(np.argsort(-strength, kind="stable")[: self.best])

    def better(self, rho: FloatArray | NDArray[np.float32], rewards: NDArray[np.float32]) -> Better:
        """
        The conjunctions of the strongest features that are stronger than both of their parts, beyond chance.

        Args:
            rho (`np.ndarray` of shape `(features,)`):
                Correlation of every feature with the rewards.
            rewards (`np.ndarray` of shape `(mixed rows,)`):
                The rewards, centred within asks.
        """
        picked = self.pick(rho)
        one, other, values = picked[self.left], picked[self.right], self.correlate(picked, rewards)
        parts = np.stack((rho[one], rho[other])).astype(np.float64)
        stronger = np.argmax(np.abs(parts), axis=0)
        part = np.take_along_axis(parts, stronger[None], axis=0)[0]
        ahead = np.flatnonzero(np.abs(values) > np.abs(part) + SAME)
        one, other, values = one[ahead], other[ahead], values[ahead]
        if not ahead.size:
            return Better(one, other, values)
        freedom = self.pool.asks.n_mixed_rows - self.pool.asks.n_mixed
        told = beats(values, part[ahead], self._together(one, other, stronger[ahead]), freedom)
        return Better(one[told], other[told], values[told])

    def correlate(self, picked: IntArray, rewards: NDArray[np.float32]) -> FloatArray:
        """
        Correlation of every conjunction of the picked features.

        Args:
            picked (`np.ndarray` of shape `(best,)`):
                The features.
            rewards (`np.ndarray` of shape `(mixed rows,)`):
                Rewards centred within asks.

        Returns:
            `np.ndarray`: One number per pair, 0 for pairs that are too rare or never differ.
        """
        sums = np.zeros((self.best, self.best), np.float32)
        for at in range(0, rewards.size, _ROWS):
            part = rewards[at : at + _ROWS]
            bits = self.pool.bits[picked, at : at + part.size].astype(np.float32)
            sums += row_products(bits * part, bits)
        first, second = picked[self.left], picked[self.right]
        self._prepare(first, second)
        total = sums[self.left, self.right].astype(np.float64)
        return np.asarray(total / (self.spread[first, second] * self.pool.asks.spread), dtype=np.float64)

    def bits(self, one: IntArray, other: IntArray) -> Bits:
        """The conjunctions as columns."""
        return self.pool.bits[one] & self.pool.bits[other]

    def _prepare(self, first: IntArray, second: IntArray) -> None:
        missing = np.flatnonzero(np.isnan(self.spread[first, second]))
        for at in range(0, missing.size, _PAIRS):
            one, other = (part[missing[at : at + _PAIRS]] for part in (first, second))
            both = self.bits(one, other)
            spread = self.pool.asks.spreads(both)
            rare = (both.sum(axis=1, dtype=np.int64) < MIN_ROWS) | (spread < _TINY)
            self.spread[one, other] = np.where(rare, np.inf, spread)

    def _together(self, one: IntArray, other: IntArray, part: IntArray) -> FloatArray:
        """Correlation of each conjunction with the part that is named."""
        missing = np.flatnonzero(np.isnan(self.with_part[part, one, other]))
        for at in range(0, missing.size, _PAIRS):
            some = missing[at : at + _PAIRS]
            first, second, side = one[some], other[some], part[some]
            index = np.where(side == 0, first, second)
            overlap = self.pool.asks.overlaps(self.bits(first, second), self.pool.bits[index])
            self.with_part[side, first, second] = overlap / (self.spread[first, second] * self.pool.spreads[index])
        return np.asarray(self.with_part[part, one, other], dtype=np.float64)
