"""The reward column as numbers, with what is not a number told apart from a low reward."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import arrow_of
from whileai_hf.rows import RowView


GRADE_FIRST = "grade the rows first: wai.grade(data, judge=...)"
_NUMBERS = {bool, int, float, type(None)}


@dataclasses.dataclass(frozen=True)
class Rewards:
    """Rewards of all rows; `nan` where there is no verdict. `not_numbers` counts verdicts of another type."""

    values: NDArray[np.float64]
    not_numbers: int

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which rows have a verdict."""
        return ~np.isnan(self.values)

    @property
    def partial(self) -> int:
        """How many rewards are neither 0 nor 1."""
        return int(np.count_nonzero(self.scored & (self.values != 0.0) & (self.values != 1.0)))


def _number(value: Any) -> float:
    if isinstance(value, bool | int | float | np.bool_ | np.number) and not isinstance(value, np.complexfloating):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    return math.nan


def _from_python(cells: list[Any]) -> Rewards:
    # A string is never read as a number: "1" is a verdict that was not understood.
    if set(map(type, cells)) <= _NUMBERS:
        try:
            return Rewards(np.array(cells, dtype=np.float64), 0)
        except OverflowError:
            pass  # an integer no double holds: one by one
    values = np.array([_number(cell) for cell in cells], dtype=np.float64)
    foreign = sum(type(cell) not in _NUMBERS and not isinstance(cell, np.bool_ | np.number | float) for cell in cells)
    return Rewards(values, foreign)


def read_rewards(view: RowView) -> Rewards:
    """
    The rewards of all rows.

    Args:
        view (`RowView`):
            Rows with a `reward` column. Booleans count as 0 and 1; `None`, NaN and infinities are no verdict.

    Raises:
        [`MissingColumnError`]: No row has a reward column.
    """
    column = arrow_of(view, "reward")
    if column is not None and (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        rewards = Rewards(column.to_numpy().astype(np.float64), 0)
    else:
        rewards = _from_python(view.require("reward", GRADE_FIRST))
    return Rewards(np.where(np.isfinite(rewards.values), rewards.values, np.nan), rewards.not_numbers)
