"""Reward columns of a GRPO table: which they are, and how they add up.

TRL logs what each function gave, but not the weights. The advantages are logged, too, and within a group they are the
total less its mean, times a number: so the weights can be read off them, up to a common factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Origin = Literal["given", "summed", "recovered", "unconfirmed", "contradicted"]

ADVANTAGES = ("advantage", "advantages")
# A column of numbers is a reward by its name, where nothing else tells.
_REWARD_WORDS = ("reward", "score")
# Cosine of advantages and totals of a group from which they agree: both are 32 bit floats, and a function that makes
# up a hundredth of the total must not be taken for rounding.
_SAME = 1.0 - 1e-6
# Share of groups that have to agree.
_AGREE = 0.95
# Lengths under this are rounding.
_TINY = 1e-6
# Part of the largest contribution to the total under which a function has none.
_NO_PART = 1e-3


@dataclasses.dataclass(frozen=True)
class Weights:
    """
    Weights of reward functions.

    Args:
        by_name (`dict[str, float]`):
            Weight of each function.
        origin (`str`):
            `given` by the caller, `summed` (1 each, 0 for columns that are none; the advantages confirm it),
            `recovered` from the advantages, `unconfirmed` (all 1, there are no advantages), `contradicted` (all 1, but
            the advantages say otherwise).
    """

    by_name: dict[str, float]
    origin: Origin


def numbers_of(cells: Sequence[Any]) -> FloatArray | None:
    """A column as numbers with `nan` for no verdict; `None` for a column that holds anything else, or nothing."""
    kinds = set(map(type, cells))
    if not kinds <= {float, int, bool, type(None)} or kinds <= {type(None)}:
        return None
    try:
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    except OverflowError:
        return None
    values[~np.isfinite(values)] = np.nan
    return values


def reward_columns(
    numbers: Mapping[str, FloatArray], order: Sequence[str], given: Mapping[str, float] | None
) -> list[str]:
    """
    Names of the columns that reward functions wrote.

    Args:
        numbers (`Mapping[str, np.ndarray]`):
            Columns of numbers.
        order (`Sequence[str]`):
            All columns as they stand: in a TRL table the functions stand between `completion` and `advantage`.
        given (`Mapping[str, float]`, *optional*):
            Weights by name, from the caller: then these are the columns.

    Raises:
        [`ConfigurationError`]: A name that is no column of numbers, or a weight that is no number.
    """
    if given is not None:
        _check(numbers, given)
        return list(given)
    last = next((order.index(name) for name in ADVANTAGES if name in order), None)
    if last is not None and "completion" in order and order.index("completion") < last:
        between = order[order.index("completion") + 1 : last]
        found = [name for name in between if name in numbers and name not in ("reward", "step")]
        if found:
            return found
    named = [name for name in numbers if any(word in name.lower() for word in _REWARD_WORDS)]
    return [name for name in named if name not in ("reward", *ADVANTAGES)]


def _check(numbers: Mapping[str, FloatArray], given: Mapping[str, float]) -> None:
    if not isinstance(given, Mapping) or not given:
        raise ConfigurationError(
            f'reward_weights={given!r} names no function; pass a dict such as {{"accuracy": 1.0, "format": 0.2}}'
        )
    for name, weight in given.items():
        if name not in numbers:
            raise ConfigurationError(
                f"reward_weights names {name!r}, which is no column of numbers; there is "
                f"{', '.join(numbers) or 'none'}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not np.isfinite(weight):
            raise ConfigurationError(f"reward_weights[{name!r}]={weight!r} is no weight; pass a number such as 1.0")


def total(values: FloatArray, weights: Sequence[float]) -> FloatArray:
    """
    Total of the functions' rewards: a function that gave none adds nothing, and without any there is no verdict.

    Args:
        values (`np.ndarray` of shape `(rows, functions)`):
            What each function gave.
        weights (`Sequence[float]`):
            A weight each.

    Examples:
    ```python
    >>> total(np.array([[1.0, 0.5], [np.nan, 0.5], [np.nan, np.nan]]), [1.0, 2.0]).tolist()
    [2.0, 1.0, nan]

    ```
    """
    summed = np.nansum(values * np.asarray(weights, np.float64), axis=1)
    return np.where(np.isnan(values).all(axis=1), np.nan, summed)


def centred(values: FloatArray, groups: IntArray) -> FloatArray:
    """Columns less their mean over a group; `nan` counts as that mean."""
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    size = int(groups.max(initial=-1)) + 1
    out = np.empty_like(filled)
    for column in range(values.shape[1]):
        count = np.maximum(np.bincount(groups, known[:, column], size), 1.0)
        mean = np.bincount(groups, filled[:, column], size) / count
        out[:, column] = np.where(known[:, column], filled[:, column] - mean[groups], 0.0)
    return out


def find_weights(values: FloatArray, names: Sequence[str], groups: IntArray, advantages: FloatArray | None) -> Weights:
    """
    Weights with which the functions' rewards give the advantages.

    Args:
        values (`np.ndarray` of shape `(rows, functions)`):
            What each function gave, `nan` for nothing.
        names (`Sequence[str]`):
            Names of the functions.
        groups (`np.ndarray` of shape `(rows,)`):
            Group of each row, as numbers from 0 on.
        advantages (`np.ndarray`, *optional*):
            Advantage of each row.
    """
    count = len(names)
    if advantages is None or not np.any(np.abs(np.nan_to_num(advantages)) > _TINY):
        return _named(names, np.ones(count), "unconfirmed")
    scored = np.isnan(values).sum(axis=1) < count
    parts = centred(np.where(scored[:, None], np.nan_to_num(values), np.nan), groups)
    wanted = np.where(scored, np.nan_to_num(advantages), 0.0)
    # Functions stand before what else was logged: the fewest leading columns that give the advantages are the total.
    for first in range(1, count + 1):
        ones = np.ones(first)
        if _agreement(parts[:, :first] @ ones, wanted, groups) >= _AGREE:
            return _named(names, ones, "summed")
    for first in range(1, count + 1):
        fitted = _direction(parts[:, :first], wanted, groups)
        if fitted is not None and _agreement(parts[:, :first] @ fitted, wanted, groups) >= _AGREE:
            return _named(names, fitted, "recovered")
    return _named(names, np.ones(count), "contradicted")


def _named(names: Sequence[str], weights: FloatArray, origin: Origin) -> Weights:
    """Weights by name; columns behind the last weight have none."""
    every = np.zeros(len(names))
    every[: weights.size] = weights
    return Weights(dict(zip(names, every.tolist(), strict=True)), origin)


def _agreement(totals: FloatArray, wanted: FloatArray, groups: IntArray) -> float:
    """Share of the groups in which totals and advantages point the same way, of those where one points anywhere."""
    dot, one, other = (np.bincount(groups, part) for part in (totals * wanted, totals**2, wanted**2))
    told = np.flatnonzero(np.maximum(one, other) > _TINY**2)
    same = dot - _SAME * np.sqrt(one * other)
    return float(np.mean(same[told] > 0.0)) if told.size else 0.0


def _direction(parts: FloatArray, wanted: FloatArray, groups: IntArray) -> FloatArray | None:
    """
    The weights whose totals leave least across the advantages, group by group.

    A group's advantages fix the direction of its totals, not their length. What of `parts @ weights` stands across it
    is a quadratic form of the weights, summed over groups; its smallest eigenvector makes it least.
    """
    spread = np.sqrt((parts**2).sum(axis=0))
    live = np.flatnonzero(spread > _TINY)
    if not live.size:
        return None
    scaled = parts[:, live] / spread[live]
    length = np.sqrt(np.bincount(groups, wanted**2))
    unit = wanted / np.maximum(length[groups], _TINY)
    along = np.stack([np.bincount(groups, scaled[:, column] * unit) for column in range(live.size)], axis=1)
    across = scaled.T @ scaled - along.T @ along
    found = np.linalg.eigh(across)[1][:, 0]
    found = np.where(np.abs(found) < _NO_PART * np.abs(found).max(), 0.0, found) / spread[live]
    found = found if float((parts[:, live] @ found) @ wanted) >= 0 else -found
    found = found / np.abs(found).max()
    weights = np.ones(parts.shape[1])  # what never differs within a group may weigh anything
    weights[live] = [float(f"{weight:.4g}") for weight in found]
    return weights
