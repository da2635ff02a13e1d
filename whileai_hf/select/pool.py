"""The rows under selection as arrays: what each gate reads, and what is still in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.measure.hacks.sampling import ask_codes
from whileai_hf.measure.lists import fetch_columns
from whileai_hf.measure.passes.codes import (
    TASK_COLUMNS,
    Codes,
    IntArray,
    arrow_of,
    column_codes,
    encode_values,
    task_codes,
)
from whileai_hf.measure.passes.rewards import Rewards, read_rewards
from whileai_hf.measure.passes.stops import STOP_COLUMNS, faulty
from whileai_hf.rows import RowView
from whileai_hf.rows.columns import decode_column
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.view import Source
from whileai_hf.select.report import GATES
from whileai_hf.select.structs import is_filled, unfilled


BoolArray = NDArray[np.bool_]
_READ = (
    *("reward", *TASK_COLUMNS, "final_text", "steps", "finish_reason", "faults", "lineage", "policy_version"),
    *("calibration", *STOP_COLUMNS),
)
# Where the agent's side of a rollout may stand.
_CONTENT = ("final_text", "steps", "messages")


def cells(view: RowView, name: str, indices: IntArray) -> list[Any]:
    """Decoded cells of some rows only; `None` where there are none."""
    column = arrow_of(view, name)
    if column is not None:
        taken = decode_column(column.take(indices))
        feature = view.source.features[name] if isinstance(view.source, Dataset) else None
        return [unfilled(cell, feature) for cell in taken] if is_filled(feature) else taken
    values = view.column(name)
    return [values[index] for index in indices.tolist()]


@dataclasses.dataclass
class Pool:
    """
    Rows, their groups and verdicts, and what the gates have left of them.

    `rewards` are what is trained on, `judged` what the judge gave: they differ for penalized rows only. `counted` are
    the rollouts that tell how hard a task is: with a verdict, and none that a simulated user spoiled.
    """

    view: RowView
    rewards: Rewards
    judged: Rewards
    counted: BoolArray
    tasks: Codes
    groups: IntArray
    kept: BoolArray
    dropped: dict[str, int]
    dropped_groups: dict[str, int]
    contradicted: int = 0  # duplicates whose reward differs from that of the rollout they repeat
    _codes: dict[str, Codes] = dataclasses.field(default_factory=dict)

    def codes(self, name: str) -> Codes:
        """[`value_codes`] of a column, found once: two gates and the order look at the replies."""
        if name not in self._codes:
            self._codes[name] = value_codes(self.view, name)
        return self._codes[name]

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


def open_pool(data: Source | RowView, penalize: bool = False) -> Pool:
    """
    A pool with every row in.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id or `RowView`):
            Graded rows.
        penalize (`bool`, *optional*, defaults to `False`):
            Give graded replies cut at the token limit the reward of a failure: 0, or the lowest given when that is
            lower.

    Raises:
        [`MissingColumnError`]: No reward, no prompt, or neither replies, steps nor messages.
    """
    rows = fetch_columns(data, _READ)
    judged = read_rewards(rows)
    for wanted in (("prompt",), _CONTENT):
        if not any(rows.has(name) for name in wanted):
            raise MissingColumnError(
                f"the rows have no column {' or '.join(map(repr, wanted))} (columns: {', '.join(rows.columns)}); "
                "a selection compares replies to one prompt: load traces into rows first"
            )
    tasks = task_codes(rows)
    everything = np.ones(len(rows), bool)
    none = dict.fromkeys(GATES, 0)
    return Pool(
        rows,
        _penalized(rows, judged) if penalize else judged,
        judged,
        judged.scored & ~faulty(rows),
        tasks,
        ask_codes(rows, tasks),
        everything,
        none,
        dict(none),
    )


def open_tasks(data: Source | RowView) -> Pool:
    """
    A pool for questions about tasks alone: its rows need no prompt and no content, and every task is one group.

    Raises:
        [`MissingColumnError`]: No reward, or nothing that names the task.
    """
    # Where the first column names every task, which is the rule, prompts are not even looked at.
    rows = fetch_columns(data, ("reward", TASK_COLUMNS[0], "sim_ok", "calibration", "lineage"))
    judged = read_rewards(rows)
    tasks = task_codes(rows)
    none = dict.fromkeys(GATES, 0)
    everything, counted = np.ones(len(rows), bool), judged.scored & ~faulty(rows)
    return Pool(rows, judged, judged, counted, tasks, tasks.index, everything, none, dict(none))


def _penalized(view: RowView, judged: Rewards) -> Rewards:
    cut = truncated(view) & judged.scored
    failure = float(np.min(judged.values[judged.scored], initial=0.0))
    return dataclasses.replace(judged, values=np.where(cut, failure, judged.values))


def truncated(view: RowView) -> BoolArray:
    """Replies cut at the token limit."""
    codes = value_codes(view, "finish_reason")
    return np.array([key == "length" for key in codes.keys], dtype=bool)[codes.index]


def value_codes(view: RowView, name: str) -> Codes:
    """Codes of a column of other people's values: what cannot be compared (content blocks) is told by its text."""
    try:
        return column_codes(view, name)
    except DataError:
        return encode_values([hashable(value) for value in view.column(name)], name)
