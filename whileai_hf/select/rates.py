"""How hard a group or a task is: the mean reward of its rollouts, on the scale from 0 to 1 that a band is given in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import IntArray


FloatArray = NDArray[np.float64]
# A mean of rewards such as 0.1 misses the edge of a band by a rounding error; this many decimals do not.
_DECIMALS = 9


class Scale(NamedTuple):
    """What counts as 0 and as 1: these two, unless rewards lie outside; then the lowest and the highest."""

    low: float
    high: float

    @property
    def plain(self) -> bool:
        """Whether rewards are read as they are."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def note(self) -> list[str]:
        """What a reader has to know."""
        if self.plain:
            return []
        return [
            f"rewards run from {self.low:g} to {self.high:g}: difficulty is the mean reward on that range, 0 to 1, so "
            "one odd reward moves every group"
        ]


def reward_scale(values: FloatArray) -> Scale:
    """
    The scale of some rewards.

    Examples:
    ```python
    >>> reward_scale(np.array([0.0, 0.5])), reward_scale(np.array([-1.0, 1.0, np.nan]))
    (Scale(low=0.0, high=1.0), Scale(low=-1.0, high=1.0))

    ```
    """
    known = values[~np.isnan(values)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    return Scale(low, high) if low < high and (low < 0.0 or high > 1.0) else Scale(0.0, 1.0)


def on_scale(values: FloatArray, scale: Scale) -> FloatArray:
    """Values on the scale from 0 to 1; those beyond it are cut off."""
    return np.clip((values - scale.low) / (scale.high - scale.low), 0.0, 1.0)


def mean_per_code(codes: IntArray, values: FloatArray, counted: NDArray[np.bool_], size: int) -> FloatArray:
    """
    Mean of the counted values of every code, `nan` without one.

    Args:
        codes (`np.ndarray` of shape `(rows,)`):
            Group or task of every row.
        values (`np.ndarray` of shape `(rows,)`):
            One value per row.
        counted (`np.ndarray` of `bool`):
            Which rows count.
        size (`int`):
            Codes in all.
    """
    n = np.bincount(codes[counted], minlength=size)
    total = np.bincount(codes[counted], weights=values[counted], minlength=size)
    rates: FloatArray = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return rates.round(_DECIMALS)
