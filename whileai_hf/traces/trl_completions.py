"""Completions tables of TRL's `GRPOTrainer`: what `log_completions=True` writes, and any table of that shape.

A table has `prompt` and `completion` (text, or messages), a column per reward function, columns that functions logged
on the side, and `advantage`. TRL writes one file per logging step and keeps only the last generation batch of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset

from whileai_hf.errors import MissingColumnError
from whileai_hf.rows import dumps, open_rows, view
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Row, RowView, Source
from whileai_hf.traces.loaded import Loaded
from whileai_hf.traces.messages import Message, ask_of, messages_of, reply_of
from whileai_hf.traces.rewards import ADVANTAGES, IntArray
from whileai_hf.traces.totals import with_rewards


# The files, and the folder of the trainer's output they stand in.
FILES, FOLDER = "completions_*.parquet", "completions"
NEEDED = ("prompt", "completion")
# Columns of ours that take the place of the table's.
_CONVERTED = ("prompt", "completion", "step", *ADVANTAGES)
LOSSY = (
    "TRL keeps the last generation batch of every logging step, and an evaluation at that step overwrites it: these "
    "are a sample of the rollouts that were trained on"
)


def completions_files(path: Path) -> list[Path]:
    """The tables in a folder (or in its `completions`), by step; empty where there is none."""
    return sorted(path.glob(FILES)) or sorted((path / FOLDER).glob(FILES))


def _tables(source: Source) -> list[RowView]:
    if isinstance(source, str | PathLike) and Path(source).expanduser().is_dir():
        files = completions_files(Path(source).expanduser())
        if files:
            return [view(file) for file in files]  # one by one: calls make every file a schema of its own
    return [view(source)]


def load_trl_completions(source: Source, *, reward_weights: Mapping[str, float] | None = None) -> Loaded:
    """Rows of completions tables with what was found out about their rewards; see [`read_trl_completions`]."""
    tables = _tables(source)
    order = list(dict.fromkeys(name for table in tables for name in table.columns))
    for name in NEEDED:
        if name not in order:
            raise MissingColumnError(
                f"the rows have no column {name!r} (columns: {', '.join(order)}); a completions table has prompt, "
                "completion and a column per reward function"
            )
    raw = [row for table in tables for row in table.rows()]
    rows = _conversations(raw)
    groups = _groups(rows)
    found = with_rewards(rows, raw, order, groups, reward_weights)
    functions = [] if found is None else found.functions
    for row, source_row in zip(rows, raw, strict=True):
        for name, value in source_row.items():
            if name not in _CONVERTED and name not in functions and name not in row:
                row[name] = value
    logged = any(name in order for name in ADVANTAGES) and "step" in order
    notes = [*([LOSSY] if logged else []), *(found.notes if found is not None else [])]
    weights = {} if found is None else found.weights
    return Loaded(view(rows), "trl_completions", weights, notes)


def read_trl_completions(source: Source, *, reward_weights: Mapping[str, float] | None = None) -> Dataset:
    """
    Rows of a completions table: a GRPO run's own record of what it was paid for.

    The task is the prompt, the group a prompt at a step. `reward` is the table's own, else the total of its functions:
    with the weights given, else with those that give the logged advantages (up to a common factor), else with 1 each.

    Args:
        source (path, `datasets.Dataset`, `list[dict]` or Hub repo id):
            A `completions_*.parquet`, a folder of them, the `output_dir` of the trainer, or rows with `prompt` and
            `completion`.
        reward_weights (`Mapping[str, float]`, *optional*):
            Weight of each reward function, which also says which columns those are.

    Returns:
        `datasets.Dataset`: Rows with `task_id`, `prompt`, `messages`, `final_text`, `rollout_index`, `reward`,
        `rewards` (by function), `advantage` and `training_step`; other columns are kept.

    Raises:
        [`MissingColumnError`]: There is no `prompt` or no `completion`.
        [`ConfigurationError`]: `reward_weights` names no column of numbers.

    Examples:
    ```python
    >>> table = [{"step": 1, "prompt": "2+2?", "completion": c, "right": float(c == "4"), "short": 1.0, "advantage": a}
    ...          for c, a in (("4", 0.7), ("5", -0.7))]
    >>> rows = read_trl_completions(table)
    >>> rows["final_text"][:], rows["reward"][:], rows["rewards"][0]
    (['4', '5'], [1.0, 0.0], {'right': 1.0, 'short': 1.0})

    ```
    """
    return open_rows(load_trl_completions(source, reward_weights=reward_weights).rows.source)


def _conversations(raw: Sequence[Row]) -> list[Row]:
    out: list[Row] = []
    last: Any = None
    asked: list[Message] = []
    asks, task = "", ""
    for row in raw:
        prompt = row.get("prompt")
        if prompt != last or not out:  # a group shares its prompt, and stands together
            last, asked = prompt, messages_of(prompt, "user")
            asks = prompt if isinstance(prompt, str) else ask_of(asked)
            task = "prompt-" + digest(dumps(asked).decode())
        said = messages_of(row.get("completion"), "assistant")
        made: Row = {name: row[name] for name in ("scenario_id", "task_id") if row.get(name) is not None}
        made = {"prompt": asks, **(made or {"task_id": task})}
        made |= {"messages": [*asked, *said], "final_text": reply_of(said)}
        step = row.get("step")
        if isinstance(step, int) and not isinstance(step, bool):
            made["training_step"] = step
        advantage = next((row[name] for name in ADVANTAGES if row.get(name) is not None), None)
        if isinstance(advantage, int | float):
            made["advantage"] = float(advantage)
        out.append(made)
    return out


def _groups(rows: Sequence[Row]) -> IntArray:
    """Group of every row, a prompt at a step; the rows get their place in it."""
    seen: dict[Any, int] = {}
    members: list[int] = []
    groups = np.empty(len(rows), np.int64)
    for at, row in enumerate(rows):
        key = (row.get("training_step"), row.get("scenario_id"), row.get("task_id"), row["prompt"])
        group = seen.setdefault(key, len(seen))
        if group == len(members):
            members.append(0)
        row["rollout_index"] = members[group]
        members[group] += 1
        groups[at] = group
    return groups
