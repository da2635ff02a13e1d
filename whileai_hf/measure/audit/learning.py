"""What the rewards of a group go with: the length of the reply, and each function they are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.audit.report import LengthEffect, RewardFunction
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.traces.rewards import centred


FloatArray = NDArray[np.float64]
# Resamples of groups behind an interval.
_N_BOOT = 1000
# Groups resampled in one piece; more are put together at random first, which changes an interval by nothing.
_MOST_GROUPS = 2000
# Squares that rounding leaves of nothing, relative to the largest.
_TINY = 1e-12
# Groups under which an interval is not given.
_FEWEST = 10


def _within(sample: Sample, values: FloatArray, order: NDArray[np.int64] | None = None) -> FloatArray:
    """Numbers of scored rows less the mean of their group."""
    rows = np.flatnonzero(sample.scored)
    rows = rows if order is None else rows[order]
    groups = np.unique(sample.groups[rows], return_inverse=True)[1]
    out = centred(values[rows][:, None], groups)[:, 0]
    largest = float(np.abs(values[sample.scored & ~np.isnan(values)]).max(initial=0.0))
    return np.where(np.abs(out) > _TINY * largest, out, 0.0)


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    length = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / length if length > 0.0 else None


def length_effect(sample: Sample, seed: int) -> LengthEffect | None:
    """
    Correlation of reward and length within groups, with an interval over groups.

    Args:
        sample ([`Sample`]):
            The rows.
        seed (`int`):
            Seed of the resampling.

    Returns:
        [`LengthEffect`], *optional*: `None` where no row has a text.
    """
    lengths = sample.lengths
    if np.isnan(lengths[sample.scored]).all() or not np.any(lengths[sample.scored] > 0):
        return None
    # Rows, then groups, in an order of their own: sums and draws are the same whatever order the rows came in.
    order = np.lexsort((lengths[sample.scored], sample.rewards[sample.scored], sample.groups[sample.scored]))
    reward, length = _within(sample, sample.rewards, order), _within(sample, lengths, order)
    groups = np.unique(sample.groups[sample.scored][order], return_inverse=True)[1]
    parts = np.stack([np.bincount(groups, part) for part in (reward * length, reward**2, length**2)], axis=1)
    parts = parts[np.lexsort(parts.T)]
    both, ours, theirs = parts.sum(axis=0).tolist()
    rho = both / math.sqrt(ours * theirs) if ours * theirs > 0.0 else None
    parts = parts[(parts[:, 1] > 0) & (parts[:, 2] > 0)]
    if rho is None or len(parts) < _FEWEST:
        return LengthEffect(rho, None, "bootstrap", len(parts))
    generator = np.random.default_rng(seed)
    pieces = parts
    if len(parts) > _MOST_GROUPS:
        into = generator.permutation(len(parts)) % _MOST_GROUPS
        pieces = np.stack([np.bincount(into, column) for column in parts.T], axis=1)
    drawn = generator.multinomial(len(pieces), np.full(len(pieces), 1.0 / len(pieces)), size=_N_BOOT) @ pieces
    rhos = drawn[:, 0] / np.sqrt(np.maximum(drawn[:, 1] * drawn[:, 2], np.finfo(float).tiny))
    low, high = np.quantile(rhos, [0.025, 0.975]).tolist()
    return LengthEffect(rho, (low, high), "bootstrap", len(parts))


def reward_functions(sample: Sample, weights: Mapping[str, float]) -> list[RewardFunction]:
    """
    What each function gives within groups, the one that carries most first.

    Args:
        sample ([`Sample`]):
            The rows.
        weights (`Mapping[str, float]`):
            Weight of each function in the total, where known.
    """
    reward = _within(sample, sample.rewards)
    length = _within(sample, sample.lengths)
    groups = np.unique(sample.groups[sample.scored], return_inverse=True)[1]
    several = np.bincount(groups) >= 2
    whole = float(reward @ reward)
    found = []
    for name, values in sample.functions.items():
        given = values[sample.scored]
        part = _within(sample, values)
        paid = _within(sample, np.nan_to_num(values))  # in the total, a function that gave nothing gave 0
        differs = np.bincount(groups, part != 0.0) > 0
        weight = weights.get(name)
        known = ~np.isnan(given)
        found.append(
            RewardFunction(
                name=name,
                weight=weight,
                n=int(known.sum()),
                mean=float(given[known].mean()) if known.any() else None,
                differs=float(differs[several].mean()) if several.any() else None,
                share=None if weight is None or whole == 0.0 else float(weight * (paid @ reward)) / whole,
                rho=_correlation(part, reward),
                rho_length=_correlation(part, length),
            )
        )
    return sorted(found, key=lambda one: (one.weight == 0.0, -(one.share or 0.0)))
