"""The rows a scan looks at: those with a verdict, with their task, ask and reward."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from whileai_hf.measure.hacks.asks import FloatArray, IntArray
from whileai_hf.measure.hacks.ordering import canonical_order, row_keys
from whileai_hf.measure.hacks.reading import Reader, Readings
from whileai_hf.measure.passes.codes import (
    Codes,
    FetchedView,
    arrow_of,
    combine,
    encode_arrow,
    encode_values,
    task_codes,
)
from whileai_hf.measure.passes.rewards import GRADE_FIRST, read_rewards
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.rows import RowView, view
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.view import Source


_COLUMNS = ("reward", "scenario_id", "task_id", "prompt", "sim_ok")


@dataclasses.dataclass(frozen=True)
class Sample:
    """
    Rows with a verdict.

    Args:
        rewards (`np.ndarray` of shape `(scored,)`):
            Their rewards.
        asks (`np.ndarray` of shape `(scored,)`):
            Their asks (a prompt of a task), as numbers that do not depend on the order of rows.
        place (`np.ndarray` of shape `(scored,)`):
            Place of each row in an order that does not depend on theirs.
        tasks (`np.ndarray` of shape `(scored,)`):
            Their tasks, as positions in `task_names`.
        task_names (`list`):
            Keys of all tasks.
        readings ([`Readings`]):
            What was read of them.
        n_rows (`int`):
            Rows given.
        n_unjudged (`int`):
            Rows without a verdict.
        n_sim_faulty (`int`):
            Rows left out because the simulated user was at fault.
    """

    rewards: FloatArray
    asks: IntArray
    place: IntArray
    tasks: IntArray
    task_names: list[object]
    readings: Readings
    n_rows: int
    n_unjudged: int
    n_sim_faulty: int

    @property
    def order(self) -> IntArray:
        """The row at each place."""
        order = np.empty_like(self.place)
        order[self.place] = np.arange(self.place.size)
        return order

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        notes = []
        if self.n_unjudged == self.n_rows:
            notes.append(f"not graded: none of the {self.n_rows} rows has a reward; {GRADE_FIRST}")
        elif self.n_unjudged:
            notes.append(f"{self.n_unjudged} of {self.n_rows} rollouts have no verdict; they are left out")
        if self.n_sim_faulty:
            notes.append(
                f"{self.n_sim_faulty} of {self.n_rows} rollouts failed by the simulated user (sim_ok is false); they "
                "are left out"
            )
        for name, count in sorted(self.readings.unread.items()):
            where = f"{count} of {self.rewards.size} rollouts" if count else "any rollout"
            if self.rewards.size:
                no = "no" if count else "not a"
                notes.append(f"{name} is {no} number in {where}; those count as if they lacked it")
        return notes


def ask_codes(rows: RowView, tasks: Codes) -> IntArray:
    """Codes of every row's ask: one prompt of one task. A prompt of messages is told by its text."""
    if not rows.has("prompt"):
        return combine(tasks.index)
    column = arrow_of(rows, "prompt")
    if column is not None and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return combine(tasks.index, encode_arrow(column).index)
    return combine(tasks.index, encode_values([hashable(prompt) for prompt in rows.column("prompt")], "prompt").index)


def read_sample(data: Source | RowView, reader: Reader) -> Sample:
    """
    Reads the rows with a verdict.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.
        reader ([`Reader`]):
            What reads them.

    Raises:
        [`MissingColumnError`]: The rows have no reward, or nothing that names their task.
    """
    given = view(data)
    rows = FetchedView(given, _COLUMNS)
    rewards = read_rewards(rows).values
    spoilt = faulty(rows)
    scored = ~np.isnan(rewards) & ~spoilt
    tasks = task_codes(rows)
    readings = reader.read(given, scored)
    asks, place = canonical_order(ask_codes(rows, tasks)[scored], row_keys(readings, rewards[scored]))
    return Sample(
        rewards[scored],
        asks,
        place,
        tasks.index[scored],
        list(tasks.keys),
        readings,
        len(rows),
        int(np.count_nonzero(np.isnan(rewards) & ~spoilt)),
        int(np.count_nonzero(spoilt)),
    )
