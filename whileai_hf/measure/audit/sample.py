"""The rows of an audit as arrays: rewards, tasks, groups, lengths, and what each reward function gave."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.measure.metrics import Measured
from whileai_hf.measure.passes.codes import TASK_COLUMNS, IntArray, arrow_of, column_codes, combine
from whileai_hf.rows import RowView
from whileai_hf.rows.columns import arrow_table, replace_columns
from whileai_hf.rows.identity import hashable
from whileai_hf.traces.loaded import Loaded
from whileai_hf.traces.messages import messages_of, reply_of, text_of
from whileai_hf.traces.rewards import numbers_of


FloatArray = NDArray[np.float64]
STEP = "training_step"


@dataclasses.dataclass(frozen=True)
class Sample:
    """
    Rows that were read.

    Args:
        loaded ([`Loaded`]):
            The rows and where they come from.
    """

    loaded: Loaded

    @property
    def rows(self) -> RowView:
        """The rows."""
        return self.loaded.rows

    @cached_property
    def measured(self) -> Measured:
        """The rows, ready to be measured."""
        return Measured(self.rows)

    @property
    def tasks(self) -> IntArray:
        """Task of every row."""
        return self.measured.tasks.index

    @property
    def n_tasks(self) -> int:
        """How many tasks there are."""
        return len(self.measured.tasks.keys)

    @cached_property
    def rewards(self) -> FloatArray:
        """Reward of every row, `nan` for those without a verdict and those a simulated user spoiled."""
        if not self.rows.has("reward"):
            return np.full(len(self.rows), np.nan)
        return self.measured.rewards.values

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Which rows have a reward."""
        return ~np.isnan(self.rewards)

    @cached_property
    def groups(self) -> IntArray:
        """Group of every row: a prompt of a task, at one training step."""
        parts = [self.tasks, self._prompts]
        if self.rows.has(STEP):
            parts.append(column_codes(self.rows, STEP).index)
        return combine(*parts)

    @cached_property
    def _prompts(self) -> IntArray:
        if not self.rows.has("prompt"):
            return np.zeros(len(self.rows), np.int64)
        column = arrow_of(self.rows, "prompt")
        if column is not None and pa.types.is_string(column.type):
            return column_codes(self.rows, "prompt").index
        keys: dict[object, int] = {}
        prompts = map(hashable, self.rows.column("prompt"))
        return np.array([keys.setdefault(prompt, len(keys)) for prompt in prompts], np.int64)

    @cached_property
    def by_group(self) -> RowView:
        """The rows with the group in the place of the task, so that steps are not compared with one another."""
        if not self.rows.has(STEP):
            return self.rows
        names = [f"group-{group}" for group in self.groups.tolist()]
        source = self.rows.source
        if isinstance(source, Dataset | pa.Table):
            table = arrow_table(source) if isinstance(source, Dataset) else source
            others = [name for name in table.column_names if name not in TASK_COLUMNS[:1]]
            return RowView(replace_columns(table.select(others), {"task_id": pa.array(names)}))
        left = [{name: cell for name, cell in row.items() if name != TASK_COLUMNS[0]} for row in source]
        return RowView([{**row, "task_id": name} for row, name in zip(left, names, strict=True)])

    @cached_property
    def lengths(self) -> FloatArray:
        """Characters of the last reply of every row, `nan` where there is none."""
        column = arrow_of(self.rows, "final_text")
        if column is not None and pa.types.is_string(column.type):
            return np.asarray(pc.utf8_length(column).cast(pa.float64()).to_numpy(), np.float64)
        if self.rows.has("final_text"):
            texts = [text_of(cell) for cell in self.rows.column("final_text")]
        elif self.rows.has("messages") or self.rows.has("completion"):
            name = "messages" if self.rows.has("messages") else "completion"
            texts = [reply_of(messages_of(cell, "assistant")) for cell in self.rows.column(name)]
        else:
            return np.full(len(self.rows), np.nan)
        return np.array([len(text) for text in texts], np.float64)

    @cached_property
    def functions(self) -> dict[str, FloatArray]:
        """What each reward function gave, `nan` where it gave nothing; empty where rows do not say."""
        if not self.rows.has("rewards"):
            return {}
        cells = [cell if isinstance(cell, Mapping) else {} for cell in self.rows.column("rewards")]
        names = dict.fromkeys(name for cell in cells for name in cell)
        found = {str(name): numbers_of([cell.get(name) for cell in cells]) for name in names}
        return {name: values for name, values in found.items() if values is not None}
