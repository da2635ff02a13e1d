"""Whether a reward pays for a tic: rows with it are rewarded more than rows of the same group without it.

What only tells which task a row belongs to (hard tasks get hedged replies and low rewards) says nothing about the
judge, so the comparison is within groups, and the test permutes rewards within groups only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


Floats = NDArray[np.float64]

# Informative groups up to which the distribution is computed exactly; above, the normal one is as good.
_EXACT_GROUPS = 400
# Permutations for rewards that are not two-valued, on up to so many informative rows.
_PERMUTATIONS, _PERMUTED_ROWS = 4999, 5000


class Payment(NamedTuple):
    """
    How a tic and a reward go together.

    Args:
        within (`float`, *optional*):
            Pearson correlation of the two after subtracting each group's mean from both:
            `sum((x - mean_g x)(y - mean_g y)) / sqrt(sum((x - mean_g x)^2) sum((y - mean_g y)^2))`. `None` where one
            of them does not vary within any group.
        pooled (`float`, *optional*):
            Pearson correlation over all rows, groups ignored; `None` where one of them does not vary.
        p_value (`float`, *optional*):
            Chance of rewards going to the tic as much as here or more when rewards are dealt out at random within
            groups: exact for two-valued rewards (the stratified Fisher test), by 4,999 permutations for others, by the
            normal approximation with the permutation variance where there is much data. Without any variation within
            groups it is that of the groups' means. `None` where neither is defined.
        n_rows (`int`):
            Rows with a reward.
        n_informative (`int`):
            Rows of groups in which both vary.
    """

    within: float | None
    pooled: float | None
    p_value: float | None
    n_rows: int
    n_informative: int


def _pearson(x: Floats, y: Floats) -> float | None:
    """Correlation of centered values."""
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(np.clip(float(x @ y) / spread, -1.0, 1.0)) if spread > 1e-12 else None


def _center(values: Floats, codes: NDArray[np.intp], counts: Floats) -> Floats:
    means: Floats = np.bincount(codes, weights=values) / counts
    centered: Floats = values - means[codes]
    # Rounding of a constant group must not look like variation.
    centered[np.abs(centered) < 1e-12] = 0.0
    return centered


def _exact(x: Floats, y: Floats, groups: Sequence[NDArray[np.intp]]) -> float:
    """Upper tail of the number of rewarded rows with the tic, given how many of each a group has."""
    chances = np.ones(1)
    least, seen = 0, int(np.sum((x > 0) & (y > 0)))
    for rows in groups:
        n, tics, paid = len(rows), int(np.sum(x[rows] > 0)), int(np.sum(y[rows] > 0))
        low, high = max(0, tics + paid - n), min(tics, paid)
        ways = [math.comb(paid, k) * math.comb(n - paid, tics - k) for k in range(low, high + 1)]
        total = math.comb(n, tics)
        chances = np.convolve(chances, [way / total for way in ways])
        least += low
    return float(min(1.0, chances[max(0, seen - least) :].sum()))


def _normal(x: Floats, y: Floats, groups: Sequence[NDArray[np.intp]]) -> float:
    """The same tail with the permutation variance, for centered values."""
    variance = sum(float(x[rows] @ x[rows]) * float(y[rows] @ y[rows]) / (len(rows) - 1) for rows in groups)
    return 1.0 - NormalDist().cdf(float(x @ y) / math.sqrt(variance))


def _permuted(x: Floats, y: Floats, groups: Sequence[NDArray[np.intp]]) -> float:
    generator = np.random.Generator(np.random.PCG64(0))
    reached, seen = 0, float(x @ y) - 1e-9
    totals = np.zeros(_PERMUTATIONS)
    for rows in groups:
        dealt = generator.permuted(np.broadcast_to(y[rows], (_PERMUTATIONS, len(rows))), axis=1)
        totals += dealt @ x[rows]
    reached = int(np.sum(totals >= seen))
    return (reached + 1) / (_PERMUTATIONS + 1)


def _tail(tics: Floats, rewards: Floats, x: Floats, y: Floats, groups: list[NDArray[np.intp]]) -> float:
    rows = np.concatenate(groups)
    two_valued = len(np.unique(rewards[rows])) == 2 and bool(np.isin(tics[rows], (0.0, 1.0)).all())
    if two_valued and len(groups) <= _EXACT_GROUPS and len(rows) <= _PERMUTED_ROWS:
        # Only rows of groups that can differ count, the others always agree.
        kept = np.zeros(len(tics), dtype=bool)
        kept[rows] = True
        high = rewards == rewards[rows].max()
        return _exact(np.where(kept, tics, 0.0), np.where(kept & high, 1.0, 0.0), groups)
    return _permuted(x, y, groups) if len(rows) <= _PERMUTED_ROWS else _normal(x, y, groups)


def _informative(x: Floats, y: Floats, codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The rows of each group in which both vary."""
    order = np.argsort(codes, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return [rows for rows in pieces if len(rows) > 1 and x[rows].any() and y[rows].any()]


def numbered(groups: Sequence[Hashable]) -> NDArray[np.intp]:
    """The groups as numbers, in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp)


def payment(tics: Sequence[float | None], rewards: Sequence[float | None], groups: ArrayLike) -> Payment:
    """
    How a tic and a reward go together, within groups and over all rows.

    Args:
        tics (`Sequence[float | None]`):
            1.0 where a row has the tic, 0.0 where not, `None` where it could not be told.
        rewards (`Sequence[float | None]`):
            The rows' rewards; rows without one are left out, as are those whose tic could not be told.
        groups (array of `int`):
            The number of the group of each row, its task and prompt; see [`numbered`].

    Examples:
    ```python
    >>> found = payment([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0], numbered(["a", "a", "b", "b"]))
    >>> found.within, found.p_value
    (1.0, 0.25)

    ```
    """
    # `None` becomes nan.
    tic, reward = np.array(tics, dtype=np.float64), np.array(rewards, dtype=np.float64)
    kept = np.isfinite(tic) & np.isfinite(reward)
    tic, reward = tic[kept], reward[kept]
    if not len(tic):
        return Payment(None, None, None, 0, 0)
    codes = np.unique(np.asarray(groups, dtype=np.intp)[kept], return_inverse=True)[1]
    counts = np.bincount(codes).astype(np.float64)
    x, y = _center(tic, codes, counts), _center(reward, codes, counts)
    one = np.zeros(len(tic), dtype=np.intp)
    pooled = _pearson(_center(tic, one, np.array([len(tic)])), _center(reward, one, np.array([len(tic)])))
    strata = _informative(x, y, codes)
    within = _pearson(x, y)
    if strata and within is not None:
        rows = int(sum(map(len, strata)))
        return Payment(within, pooled, _tail(tic, reward, x, y, strata), len(tic), rows)
    # Nothing varies within a group: each group is one observation.
    n_rows = len(tic)
    tic, reward = np.bincount(codes, weights=tic) / counts, np.bincount(codes, weights=reward) / counts
    one = np.zeros(len(counts), dtype=np.intp)
    x, y = (_center(values, one, np.array([len(counts)])) for values in (tic, reward))
    strata = _informative(x, y, one)
    return Payment(None, pooled, _tail(tic, reward, x, y, strata) if strata else None, n_rows, 0)


def holm(p_values: Sequence[float | None], level: float = 0.05) -> list[bool]:
    """
    Which of several tests reject at `level` together (Holm 1979): the chance of any false one is at most `level`.

    Examples:
    ```python
    >>> holm([0.01, 0.04, None, 0.03])
    [True, False, False, False]

    ```
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    rejected = [False] * len(p_values)
    for rank, (p, index) in enumerate(order):
        if p > level / (len(order) - rank):
            break
        rejected[index] = True
    return rejected
