"""The metrics of rows: which there are, and each one's value per row and per task.

`pass_at_1` (share of rollouts with a reward of 1 or more) and `reward` come from the reward column, markers from
`row["markers"]`, anything else from a column of numbers of that name. A name means the same in every report;
`marker:<name>` names a marker whose bare name means something else.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.lists import fetch_columns
from whileai_hf.measure.marker_values import read_markers
from whileai_hf.measure.passes.codes import (
    TASK_COLUMNS,
    Codes,
    IntArray,
    arrow_of,
    column_codes,
    task_codes,
)
from whileai_hf.measure.passes.origin import ORIGIN_COLUMNS, inner_codes
from whileai_hf.measure.passes.rewards import GRADE_FIRST, Rewards, read_rewards
from whileai_hf.measure.passes.stopped import choose_estimator
from whileai_hf.measure.passes.stops import STOP_COLUMNS, faulty, numbers, read_groups, was_stopped
from whileai_hf.measure.passes.weighing import Weighing
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

PASS_AT_1, REWARD = "pass_at_1", "reward"
# Reward from which a rollout passes.
PASS = 1.0
MARKER_PREFIX = "marker:"
# What every reader of metrics looks at, besides columns that are metrics themselves. Where the first column names
# every task, which is the rule, prompts are not even looked at.
READ_COLUMNS = ("reward", "judge_status", TASK_COLUMNS[0], *ORIGIN_COLUMNS, "user_model", *STOP_COLUMNS)
# How alike a misspelt metric and a known one have to be, 0 to 1, for the known one to be suggested.
_ALIKE = 0.5


@dataclasses.dataclass(frozen=True)
class TaskMeans:
    """
    One metric per task.

    Args:
        keys (`list`):
            Tasks with at least one measured row, in order of first appearance.
        means (`np.ndarray`):
            Mean over each task's rows.
        counts (`np.ndarray`):
            Rows behind each mean.
        codes (`np.ndarray`):
            Codes of the tasks among all of the rows' tasks.
    """

    keys: list[Any]
    means: FloatArray
    counts: IntArray
    codes: IntArray


def _distinct(cells: Sequence[Any]) -> list[Any]:
    """Distinct values in a fixed order; those that cannot be compared, as other people's metadata may be, are left."""
    try:
        values = set(cells)
    except TypeError:
        values = {cell for cell in cells if isinstance(cell, str | int | float)}
    return sorted((value for value in values if value is not None), key=str)


class Measured:
    """
    Rows ready to be measured: tasks, verdicts and markers read once.

    Rows without a verdict count in no reward metric, rows a simulated user spoiled (`sim_ok` is false) in none at all.
    Where groups were stopped early because of their verdicts, a task counts by its probe, the rollouts it got whatever
    came of them.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id or `RowView`):
            The rows.
        columns (`Iterable[str]`, *optional*):
            Further columns that will be read.
    """

    def __init__(self, data: Source | RowView, columns: Iterable[str] = ()) -> None:
        self.rows = fetch_columns(data, [*READ_COLUMNS, *columns])
        self.tasks: Codes = task_codes(self.rows)
        self.spoilt: BoolArray = faulty(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def rewards(self) -> Rewards:
        """Rewards of all rows, `nan` for those that do not count."""
        rewards = read_rewards(self.rows)
        left_out = self.spoilt
        if self.rows.has("judge_status"):
            status = column_codes(self.rows, "judge_status")
            left_out = left_out | np.array([key not in (None, "ok") for key in status.keys], dtype=bool)[status.index]
        return dataclasses.replace(rewards, values=np.where(left_out, np.nan, rewards.values))

    @cached_property
    def _marker_cells(self) -> tuple[dict[str, FloatArray], dict[str, int]]:
        return read_markers(self.rows) if self.rows.has("markers") else ({}, {})

    @property
    def markers(self) -> dict[str, FloatArray]:
        """Every marker, one number per row."""
        return self._marker_cells[0]

    @property
    def not_numbers(self) -> dict[str, int]:
        """Marker to how many of its values are no numbers; those whose values all are none are no metrics."""
        return self._marker_cells[1]

    def marker_of(self, name: str) -> str | None:
        """The marker a name of [`find`] stands for, `None` for a reward metric or a column."""
        bare = name.removeprefix(MARKER_PREFIX)
        built_in = name in (PASS_AT_1, REWARD)
        known = not built_in and bare in self.markers and (name != bare or name not in self.rows.columns)
        return bare if known else None

    def is_share(self, name: str) -> bool:
        """Whether every value of a metric lies within 0 to 1."""
        if name == PASS_AT_1:
            return True
        values = self.values(name)
        return not bool(np.any((values < 0.0) | (values > 1.0)))

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column, sorted."""
        if not self.rows.has(column):
            return []
        arrow = arrow_of(self.rows, column) is not None
        return _distinct(column_codes(self.rows, column).keys if arrow else self.rows.column(column))

    def distinct_inside(self, column: str, *keys: str) -> list[list[Any]]:
        """The distinct values of some entries of a column of dicts, sorted, for each entry."""
        if not self.rows.has(column):
            return [[] for _ in keys]
        if arrow_of(self.rows, column) is not None:
            return [_distinct(inner_codes(self.rows, column, key).keys) for key in keys]
        cells = self.rows.column(column)
        try:  # most runs have one combination, and looking at every cell once is what takes time
            found = set(map(itemgetter(*keys, keys[0]), cells))
        except (KeyError, TypeError, IndexError):  # cells of several kinds, or values that cannot be compared
            return [_distinct([cell.get(key) for cell in cells if isinstance(cell, dict)]) for key in keys]
        return [_distinct([values[place] for values in found]) for place in range(len(keys))]

    @cached_property
    def indexes(self) -> IntArray | None:
        """`rollout_index` of every row, `None` where one has none that is a whole number."""
        cells = numbers(self.rows, "rollout_index") if arrow_of(self.rows, "rollout_index") is not None else None
        if cells is None:
            values = self.rows.column("rollout_index")
            if set(map(type, values)) != {int}:
                return None
            cells = np.array(values, dtype=np.float64)
        return None if np.isnan(cells).any() else cells.astype(np.int64)

    @cached_property
    def stopped(self) -> bool:
        """Whether groups were stopped early."""
        return was_stopped(self.rows)

    @cached_property
    def names(self) -> list[str]:
        """Metrics of these rows: `pass_at_1`, `reward`, then the markers. Columns of numbers are not listed."""
        built_in = [PASS_AT_1, REWARD] if self.rows.has("reward") else []
        taken = {PASS_AT_1, REWARD, *self.rows.columns}
        return built_in + [MARKER_PREFIX + name if name in taken else name for name in self.markers]

    def find(self, metric: str) -> str | None:
        """
        The name under which reports carry a metric, `None` for one these rows do not have.

        Raises:
            [`MissingColumnError`]: `pass_at_1` or `reward` of rows nobody has graded.
        """
        name = PASS_AT_1 if metric == "pass@1" else metric
        if name in (PASS_AT_1, REWARD):
            self.rows.require("reward", GRADE_FIRST)
            return name
        bare = name.removeprefix(MARKER_PREFIX)
        if bare in self.markers and (name != bare or name not in self.rows.columns):
            return MARKER_PREFIX + bare if bare in {PASS_AT_1, REWARD, *self.rows.columns} else bare
        if name in self.rows.columns and not np.isnan(numbers(self.rows, name)).all():
            return name
        return None

    def values(self, name: str) -> FloatArray:
        """One number per row by the name [`find`] gave, `nan` where there is none."""
        if name == PASS_AT_1:
            rewards = self.rewards.values
            return np.where(np.isnan(rewards), np.nan, (rewards >= PASS).astype(np.float64))
        if name == REWARD:
            return self.rewards.values
        marker = self.marker_of(name)
        values = numbers(self.rows, name) if marker is None else self.markers[marker]
        return np.where(self.spoilt | ~np.isfinite(values), np.nan, values)

    def means(self, name: str, within: Codes | None = None, limit: IntArray | None = None) -> TaskMeans:
        """
        The metric per task.

        Args:
            name (`str`):
                A name [`find`] gave.
            within (`Codes`, *optional*):
                Other units than tasks to take means over.
            limit (`np.ndarray`, *optional*):
                How many rows of each unit count, the first ones by `rollout_index`; all without it.
        """
        values = self.values(name)
        if limit is not None:
            return means_over(within or self.tasks, self._first(values, within or self.tasks, limit))
        if self.stopped and within is None and name == PASS_AT_1:
            return self._by_probe(values)
        return means_over(within or self.tasks, self._probed(values))

    def _probed(self, values: FloatArray) -> FloatArray:
        """Values of rollouts that groups stopped early got whatever came of them."""
        if not self.stopped or not self.rows.has("group_probe"):
            return values
        index, probe = numbers(self.rows, "rollout_index"), numbers(self.rows, "group_probe")
        return np.where(index >= probe, np.nan, values)  # false where either is unknown

    def _first(self, values: FloatArray, units: Codes, limit: IntArray) -> FloatArray:
        values = self._probed(values)
        known = np.flatnonzero(~np.isnan(values))
        order = known[np.lexsort((numbers(self.rows, "rollout_index")[known], units.index[known]))]
        unit = units.index[order]
        rank = np.arange(order.size) - np.searchsorted(unit, unit, side="left")
        kept = np.full(values.size, np.nan)
        counting = order[rank < limit[unit]]
        kept[counting] = values[counting]
        return kept

    def _by_probe(self, passed: FloatArray) -> TaskMeans:
        scored = ~np.isnan(passed)
        groups = read_groups(self.rows, self.tasks, scored, passed == 1.0)
        size = len(self.tasks.keys)
        rates = Weighing(groups, choose_estimator(groups), groups.task, size, 1, 0).rates
        counts = np.bincount(self.tasks.index[scored], minlength=size).astype(np.int64)
        there = np.flatnonzero(~np.isnan(rates) & (counts > 0))
        return TaskMeans([self.tasks.keys[code] for code in there], rates[there], counts[there], there)


def means_over(units: Codes, values: FloatArray) -> TaskMeans:
    """Means of the rows of each unit, `nan` left out; the same to the last bit in any order of rows."""
    known = np.flatnonzero(~np.isnan(values))
    size = len(units.keys)
    unit, picked = units.index[known], values[known]
    counts = np.bincount(unit, minlength=size).astype(np.int64)
    if not np.array_equal(picked, np.round(picked)):  # whole numbers add up alike in any order
        order = np.lexsort((picked, unit))
        unit, picked = unit[order], picked[order]
    sums = np.bincount(unit, weights=picked, minlength=size)
    there = np.flatnonzero(counts)
    kept = units.keys if there.size == size else [units.keys[code] for code in there]
    return TaskMeans(kept, sums[there] / counts[there], counts[there], there)


def metric_names(rows: Measured | Source | RowView) -> list[str]:
    """
    Metrics of rows: `pass_at_1`, `reward` and every marker.

    Examples:
    ```python
    >>> metric_names([{"task_id": 1, "reward": 1, "markers": {"honest": 1.0}}])
    ['pass_at_1', 'reward', 'honest']

    ```
    """
    return list((rows if isinstance(rows, Measured) else Measured(rows)).names)


def task_means(rows: Measured | Source | RowView, metric: str) -> TaskMeans:
    """
    One metric per task.

    Args:
        rows ([`Measured`] or rows in any form):
            The rows.
        metric (`str`):
            `pass_at_1`, `reward`, a marker (`marker:<name>` or its bare name), or a column of numbers.

    Raises:
        [`ConfigurationError`]: The rows have no such metric; the message names the nearest and those they have.

    Examples:
    ```python
    >>> task_means([{"task_id": 1, "reward": 1}, {"task_id": 1, "reward": 0}], "pass_at_1").means.tolist()
    [0.5]

    ```
    """
    measured = rows if isinstance(rows, Measured) else Measured(rows, [metric])
    return measured.means(find_metric(metric, [measured.find], lambda: measured.names))


def find_metric(
    metric: Any, finders: Sequence[Callable[[str], str | None]], known: Callable[[], list[str]], what: str = "metric"
) -> str:
    """
    The name of a metric that all sides have.

    Args:
        metric (`str`):
            What the caller wrote.
        finders (`Sequence[Callable[[str], str | None]]`):
            [`Measured.find`] of every side.
        known (`Callable[[], list[str]]`):
            The names there are, for the error.
        what (`str`, *optional*, defaults to `"metric"`):
            The argument it was given in, for the error.

    Raises:
        [`ConfigurationError`]: A side does not have it.
    """
    found = [find(metric) if isinstance(metric, str) else None for find in finders]
    names = [name for name in found if name is not None]
    if names and len(names) == len(found):
        # A side where the bare name is a column, too, needs the prefix; then so do all.
        return max(names, key=len)
    have = known()
    if names:
        side = "before" if found[0] is None else "after"
        raise ConfigurationError(
            f"{what}={metric!r} is measured on one side only: the rows of the {side} side lack it; both sides have "
            f"{', '.join(have) or 'none'}"
        )
    near = difflib.get_close_matches(str(metric), have, n=1, cutoff=_ALIKE)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ConfigurationError(
        f"{what}={metric!r} is no metric of these rows; {hint}they have {', '.join(have) or 'none'}"
    )
