"""The curve a monitor reads: at each evaluation one value per held-out task, for proxy, gold, length and KL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import DataError


FloatArray = NDArray[np.float64]
SERIES = ("proxy", "gold", "length", "kl")


def task_means(tasks: Iterable[int], values: Iterable[float | None], n_tasks: int) -> FloatArray:
    """
    The mean of each task over its repeats; `nan` for a task without a value.

    Args:
        tasks (`Iterable[int]`):
            Number of each value's task, from 0 to `n_tasks - 1`.
        values (`Iterable[float | None]`):
            Values in the same order; `None` and what is not finite are left out.
        n_tasks (`int`):
            Tasks of the holdout.

    Returns:
        `np.ndarray` of shape `(n_tasks,)`: The means.

    Examples:
    ```python
    >>> task_means([0, 0, 1], [1.0, 0.0, None], 2).tolist()
    [0.5, nan]

    ```
    """
    where = np.fromiter(tasks, dtype=np.int64)
    found = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    known = np.isfinite(found)
    sums = np.bincount(where[known], weights=found[known], minlength=n_tasks)
    counts = np.bincount(where[known], minlength=n_tasks)
    means: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


@dataclasses.dataclass(frozen=True)
class MonitorCurve:
    """
    Evaluations in order, each with one value per held-out task.

    Repeats of a task are averaged before they get here: tasks are what varies independently, repeats are not.

    Args:
        steps (`np.ndarray` of shape `(evaluations,)`):
            Training step of each evaluation.
        proxy (`np.ndarray` of shape `(evaluations, tasks)`):
            Training reward; `nan` where it was not measured. So with the others.
        gold (`np.ndarray` of shape `(evaluations, tasks)`):
            What the reward is to stand for.
        length (`np.ndarray` of shape `(evaluations, tasks)`):
            Length of what the policy wrote, in tokens.
        kl (`np.ndarray` of shape `(evaluations, tasks)`):
            KL divergence between the policy at the start and now, per token.
    """

    steps: NDArray[np.int64]
    proxy: FloatArray
    gold: FloatArray
    length: FloatArray
    kl: FloatArray

    @classmethod
    def of(cls, points: Sequence[Mapping[str, Any]]) -> MonitorCurve:
        """
        A curve out of records with `step` and, for each series, a value per task or one number.

        Args:
            points (`Sequence[Mapping]`):
                Evaluations in order. A series an evaluation lacks is not measured there.

        Raises:
            [`DataError`]: Evaluations of one series have different numbers of tasks.

        Examples:
        ```python
        >>> curve = MonitorCurve.of([{"step": 0, "proxy": [0.0, 1.0]}, {"step": 5, "proxy": [1.0, 1.0], "kl": 0.1}])
        >>> curve.mean("proxy").tolist(), curve.mean("kl").tolist()
        ([0.5, 1.0], [nan, 0.1])

        ```
        """
        steps = np.array([point.get("step", index) for index, point in enumerate(points)], dtype=np.int64)
        return cls(steps, *(_table(name, [point.get(name) for point in points]) for name in SERIES))

    def __len__(self) -> int:
        return len(self.steps)

    def mean(self, name: str) -> FloatArray:
        """Mean over tasks at each evaluation, `nan` where nothing was measured."""
        return over_tasks(self.series(name))

    def measured(self, name: str) -> bool:
        """Whether at least two evaluations have a series."""
        return int(np.isfinite(self.mean(name)).sum()) >= 2

    def series(self, name: str) -> FloatArray:
        """A series by its name."""
        return {"proxy": self.proxy, "gold": self.gold, "length": self.length, "kl": self.kl}[name]


def over_tasks(values: FloatArray) -> FloatArray:
    """Mean over the last axis without what is missing."""
    known = np.isfinite(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    means: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means


def in_range(values: ArrayLike) -> FloatArray:
    """
    Rewards on a scale where a difference of 1 is the whole range, so that two rewards' rises can be compared.

    Rewards between 0 and 1 stay as they are; others are divided by the range seen on the curve.

    Examples:
    ```python
    >>> in_range([[0.0, 0.5]]).tolist(), in_range([[-2.0, 2.0]]).tolist()
    ([[0.0, 0.5]], [[-0.5, 0.5]])

    ```
    """
    table = np.asarray(values, dtype=np.float64)
    known = table[np.isfinite(table)]
    if not known.size or (known.min() >= 0.0 and known.max() <= 1.0):
        return table
    return table / max(float(known.max() - known.min()), 1.0)


def _table(name: str, cells: list[Any]) -> FloatArray:
    rows = [np.atleast_1d(np.asarray(np.nan if cell is None else cell, dtype=np.float64)) for cell in cells]
    widths = {row.size for row, cell in zip(rows, cells, strict=True) if cell is not None}
    if len(widths) > 1:
        raise DataError(
            f"{name} has {min(widths)} values at one evaluation and {max(widths)} at another; expected one per task "
            "of the same holdout"
        )
    width = widths.pop() if widths else 1
    empty = np.full(width, np.nan)
    table = np.array([row if row.size == width else empty for row in rows], dtype=np.float64)
    return table.reshape(len(cells), width)
