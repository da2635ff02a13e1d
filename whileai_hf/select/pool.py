"""The rows under selection as arrays: what each gate reads, and what is still in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import MissingColumnError
from whileai_hf.measure.passes.codes import (
    TASK_COLUMNS,
    Codes,
    FetchedView,
    IntArray,
    arrow_of,
    column_codes,
    group_codes,
    task_codes,
)
from whileai_hf.measure.passes.rewards import Rewards, read_rewards
from whileai_hf.rows import RowView
from whileai_hf.rows.columns import decode_column
from whileai_hf.select.report import GATES


BoolArray = NDArray[np.bool_]
_READ = ("reward", *TASK_COLUMNS, "final_text", "steps", "finish_reason", "faults", "lineage", "policy_version")
# Where the agent's side of a rollout may stand.
_CONTENT = ("final_text", "steps", "messages")


def cells(view: RowView, name: str, indices: IntArray) -> list[Any]:
    """Decoded cells of some rows only; `None` where there are none."""
    column = arrow_of(view, name)
    if column is not None:
        return decode_column(column.take(indices))
    values = view.column(name)
    return [values[index] for index in indices.tolist()]


@dataclasses.dataclass
class Pool:
    """Rows, their groups and verdicts, and what the gates have left of them."""

    view: RowView
    rewards: Rewards
    tasks: Codes
    groups: IntArray
    kept: BoolArray
    dropped: dict[str, int]
    dropped_groups: dict[str, int]
    contradicted: int = 0  # duplicates whose reward differs from that of the rollout they repeat

    def drop(self, gate: str, rows: BoolArray) -> None:
        """Takes rows out; those already out are not counted again."""
        gone = rows & self.kept
        before = self.sizes() > 0
        self.kept = self.kept & ~gone
        self.dropped[gate] += int(np.count_nonzero(gone))
        self.dropped_groups[gate] += int(np.count_nonzero(before & (self.sizes() == 0)))

    def sizes(self) -> IntArray:
        """Rows left in every group."""
        return np.bincount(self.groups[self.kept], minlength=self.n_groups).astype(np.int64)

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    def rows(self) -> IntArray:
        """Indices of the rows left."""
        return np.flatnonzero(self.kept).astype(np.int64)


def open_pool(view: RowView) -> Pool:
    """
    A pool with every row in.

    Args:
        view (`RowView`):
            Graded rows.

    Raises:
        [`MissingColumnError`]: No reward, no prompt, or neither replies, steps nor messages.
    """
    rows = FetchedView(view, _READ)
    rewards = read_rewards(rows)
    for wanted in (("prompt",), _CONTENT):
        if not any(rows.has(name) for name in wanted):
            raise MissingColumnError(
                f"the rows have no column {' or '.join(map(repr, wanted))} (columns: {', '.join(rows.columns)}); "
                "a selection compares replies to one prompt: load traces into rows first"
            )
    tasks = task_codes(rows)
    everything = np.ones(len(rows), bool)
    none = dict.fromkeys(GATES, 0)
    return Pool(rows, rewards, tasks, group_codes(rows, tasks), everything, none, dict(none))


def matches(view: RowView, name: str, value: str) -> BoolArray:
    """Which rows hold `value` in a text column."""
    codes = column_codes(view, name)
    return np.array([key == value for key in codes.keys], dtype=bool)[codes.index]
