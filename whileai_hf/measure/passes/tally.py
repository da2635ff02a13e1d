"""Passes and rollouts per task, and means over tasks that do not depend on the order of rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import Codes, IntArray
from whileai_hf.stats.shares import ShareInterval, share_interval


# A spread over fewer tasks than this is not reported.
MIN_GROUPS = 3


@dataclasses.dataclass(frozen=True)
class Tally:
    """Counts per task: `n[i]` scored rollouts of task `keys[i]`, of which `c[i]` passed."""

    keys: list[Any]
    n: IntArray
    c: IntArray

    def only(self, keep: NDArray[np.bool_]) -> Tally:
        """The tally of some tasks."""
        return Tally([self.keys[i] for i in np.flatnonzero(keep)], self.n[keep], self.c[keep])

    def mean(self, estimate: Callable[[Any, Any], Any]) -> float | None:
        """
        Mean over tasks of `estimate(n, c)`, `None` without a task.

        Equal counts are evaluated once and in sorted order, so the result is the same to the last bit for any order of
        rows.
        """
        if not self.keys:
            return None
        values, times = self._levels(estimate)
        return math.fsum(value * count for value, count in zip(values, times, strict=True)) / len(self.keys)

    def interval(self, estimate: Callable[[Any, Any], Any]) -> ShareInterval | None:
        """95% interval of [`mean`] over tasks; `None` under [`MIN_GROUPS`] tasks."""
        if len(self.keys) < MIN_GROUPS:
            return None
        return share_interval(*self._levels(estimate), trials=int(self.n.sum()))

    def _levels(self, estimate: Callable[[Any, Any], Any]) -> tuple[list[float], list[int]]:
        width = int(self.n.max()) + 1
        levels, times = np.unique(self.n * width + self.c, return_counts=True)
        return np.asarray(estimate(levels // width, levels % width)).tolist(), times.tolist()


def tally(tasks: Codes, passed: NDArray[np.bool_], scored: NDArray[np.bool_]) -> Tally:
    """
    Counts per task.

    Args:
        tasks (`Codes`):
            Task of every row.
        passed (`np.ndarray` of `bool`):
            Which rows passed.
        scored (`np.ndarray` of `bool`):
            Which rows have a verdict.

    Returns:
        [`Tally`]: All tasks in order of first appearance, those without a scored rollout included.
    """
    size = len(tasks.keys)
    n = np.bincount(tasks.index[scored], minlength=size)
    c = np.bincount(tasks.index[scored & passed], minlength=size)
    return Tally(tasks.keys, n.astype(np.int64), c.astype(np.int64))


def pass_rate(n: Any, c: Any) -> Any:
    """Share of passes."""
    return c / n
