"""The noise floor: how strong the strongest feature looks when the reward has nothing to do with any of them.

The reward is shuffled within asks, and everything that was done to find the strongest feature is done again, the
choice of the conjunctions included. Leaving that out makes a floor too low for what it is compared with.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.asks import FloatArray
from whileai_hf.measure.hacks.conjunctions import SAME, Conjunctions
from whileai_hf.measure.hacks.pool import Pool
from whileai_hf.measure.hacks.products import row_products


# Chance that a reward of pure noise clears the floor.
ALPHA = 0.05
# Shuffled rewards held at a time.
_CELLS = 4_000_000
# Rows turned into floating point at a time.
_ROWS = 16_384
_TINY = 1e-9


@dataclasses.dataclass(frozen=True)
class Floor:
    """
    The floor and what it is made of.

    Args:
        tau (`float`):
            Correlation above which a feature is not noise: at most 5% of pools whose reward is noise have one.
        largest (`np.ndarray` of shape `(n_perm,)`):
            Largest correlation of each shuffle.
    """

    tau: float
    largest: FloatArray

    def p_value(self, strength: float) -> float:
        """Chance of a correlation of at least this size among all features when the reward is noise."""
        return float((1 + np.count_nonzero(self.largest >= strength - SAME)) / (self.largest.size + 1))


def noise_floor(pool: Pool, conjunctions: Conjunctions | None, *, n_perm: int, seed: int) -> Floor:
    """
    The floor of a pool.

    Args:
        pool ([`Pool`]):
            The features.
        conjunctions ([`Conjunctions`], *optional*):
            Their conjunctions, when those are looked at.
        n_perm (`int`):
            Shuffles, at least 19.
        seed (`int`):
            Seed of the shuffles.
    """
    generator = np.random.default_rng(seed)
    rows = pool.asks.n_mixed_rows
    step = max(1, min(n_perm, _CELLS // max(rows, 1)))
    parts = [
        _largest(pool, conjunctions, pool.asks.shuffles(min(step, n_perm - at), generator))
        for at in range(0, n_perm, step)
    ]
    largest = np.concatenate(parts)
    # (1 + shuffles at least as large) / (n_perm + 1) <= ALPHA exactly when it exceeds this order statistic.
    rank = int(ALPHA * (n_perm + 1) + _TINY)
    return Floor(float(np.sort(largest)[-rank]), largest)


def _largest(pool: Pool, conjunctions: Conjunctions | None, rewards: NDArray[np.float32]) -> FloatArray:
    sums = np.zeros((len(pool.names), len(rewards)), np.float32)
    binary = len(pool.bits)
    for at in range(0, rewards.shape[1], _ROWS):
        part = rewards[:, at : at + _ROWS]
        sums[:binary] += row_products(pool.bits[:, at : at + part.shape[1]].astype(np.float32), part)
        sums[binary:] += row_products(pool.dense[:, at : at + part.shape[1]], part)
    sums[:binary] /= pool.spreads[:, None].astype(np.float32)
    sums /= np.float32(pool.asks.spread)
    largest = np.asarray(np.abs(sums).max(axis=0), dtype=np.float64)
    if conjunctions is None or binary < 2:
        return largest
    for index, reward in enumerate(rewards):
        found = conjunctions.better(sums[:, index], reward).rho
        largest[index] = max(largest[index], float(np.abs(found).max(initial=0.0)))
    return largest
