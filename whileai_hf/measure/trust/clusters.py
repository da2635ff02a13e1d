"""Rates of rows that hang together: rollouts of one task resemble each other, so tasks are what was drawn."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.stats import Interval
from whileai_hf.stats.shares import share_interval
from whileai_hf.stats.student import t_quantile


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
_Z = 1.959964


def clustered_share(passed: BoolArray, task: IntArray) -> Interval | None:
    """
    95% interval of the share of rows that pass, over tasks.

    The share is a ratio of two sums over tasks, passes and rows. Its spread is that of the mean of one number a task
    (the linearised ratio), and those are put through the interval `pass_at` uses for shares over tasks.

    Args:
        passed (`np.ndarray` of `bool`):
            Which rows pass.
        task (`np.ndarray` of `int`):
            Their tasks.

    Returns:
        `tuple` or `None`: `None` with fewer than two tasks.

    Examples:
    ```python
    >>> import numpy as np
    >>> apart = clustered_share(np.arange(40) % 2 == 0, np.arange(40))
    >>> alike = clustered_share(np.arange(40) < 20, np.arange(40) // 4)
    >>> [round(end, 2) for end in apart], [round(end, 2) for end in alike]
    ([0.35, 0.65], [0.19, 0.81])

    ```
    """
    tasks = np.unique(task, return_inverse=True)[1]
    rows = np.bincount(tasks)
    if rows.size < 2:
        return None
    values: FloatArray = np.bincount(tasks, passed) / rows
    if not np.isin(values, (0.0, 1.0)).all() or rows.min() < rows.max():
        share = float(np.count_nonzero(passed)) / passed.size
        values = share + (values - share) * rows * (rows.size / passed.size)
    if share_is_certain(passed):  # the linearised values only miss 0 and 1 by rounding
        values = np.full(rows.size, float(passed[0]))
    found = share_interval(values, trials=int(passed.size))
    return None if found is None else (found.low, found.high)


def share_is_certain(passed: BoolArray) -> bool:
    """Whether all rows pass, or none."""
    return bool(passed.all() or not passed.any())


class Labelled(NamedTuple):
    """Rows a judge passed or failed with their tasks, and what people said of some of them, by position."""

    passed: BoolArray
    task: IntArray
    labelled: IntArray
    label: BoolArray


def stretch(rows: Labelled, value: float) -> float:
    """
    How many times wider an interval of the Rogan-Gladen rate has to be because rows of a task hang together.

    Rate, sensitivity and specificity come from the same tasks. What each row adds to the error of the corrected rate
    is summed over the tasks, which keeps what the three have in common, and compared with what they add when all rows
    are drawn one by one, for each of the three anew, as the interval supposes; Student's t over the labelled tasks
    takes the place of the normal. 1 where no task has two rows, and never less.

    Args:
        rows ([`Labelled`]):
            The rows.
        value (`float`):
            The corrected rate.
    """
    tasks = np.unique(rows.task, return_inverse=True)[1]
    n_tasks = int(tasks.max(initial=-1)) + 1
    own = int(np.unique(rows.task[rows.labelled]).size)
    if n_tasks == rows.task.size or own < 2:
        return 1.0
    parts = _influence(rows, value)
    apart = float(sum(part @ part for part in parts))
    together = float((np.bincount(tasks, np.sum(parts, axis=0)) ** 2).sum())
    # Rows that do not differ at all do not say how alike they are: then a task counts as one row.
    effect = together / apart if apart > 0.0 else rows.task.size / n_tasks
    t = t_quantile(own - 1, 0.95)
    return math.sqrt(max(1.0, effect * own / (own - 1))) * t / _Z


def _influence(rows: Labelled, value: float) -> list[FloatArray]:
    """What every row adds to the error by the rate, by the sensitivity, and by the specificity, but for a factor."""
    judge = rows.passed.astype(np.float64)
    parts: list[FloatArray] = [(judge - judge.mean()) / judge.size]
    for side, weight in ((rows.label, -value), (~rows.label, -(1.0 - value))):
        at, part = rows.labelled[side], np.zeros(judge.size)
        if at.size:  # of gold failures, passing less is what being right more often is
            part[at] = weight * (judge[at] - judge[at].mean()) / at.size
        parts.append(part)
    return parts
