"""Finding out whose rows these are, by the names of files and columns."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import RowView, open_rows, task_keys, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.traces.loaded import Loaded
from whileai_hf.traces.messages import messages_of, text_of
from whileai_hf.traces.totals import with_rewards
from whileai_hf.traces.trl_completions import NEEDED, completions_files, load_trl_completions
from whileai_hf.traces.verifiers_runs import EPISODE, load_verifiers_run, traces_files


# Columns of rows that say what an agent did in our own terms.
_OURS = ("messages", "steps", "final_text")
_TASK = ("scenario_id", "task_id", "prompt")


def load_any(source: Source | RowView, *, reward_weights: Mapping[str, float] | None = None) -> Loaded:
    """Rows of any source with what was found out about them; see [`read_any`]."""
    if isinstance(source, str | PathLike):
        path = Path(source).expanduser()
        if path.is_dir() and completions_files(path):
            return load_trl_completions(path, reward_weights=reward_weights)
        if path.is_dir() and traces_files(path):
            return _verifiers(path, reward_weights)
    rows = view(source)
    if all(rows.has(name) for name in EPISODE):
        return _verifiers(rows.source, reward_weights)
    if all(rows.has(name) for name in NEEDED) and not any(rows.has(name) for name in _OURS):
        return load_trl_completions(rows.source, reward_weights=reward_weights)
    if not any(rows.has(name) for name in _TASK) and rows.has("messages"):
        rows = RowView([{**row, "prompt": _first_ask(row)} for row in rows.rows()])
    if rows.has("reward") and reward_weights is None:
        return Loaded(rows, "rows")
    return _rewarded(rows, reward_weights)


def read_any(source: Source, *, reward_weights: Mapping[str, float] | None = None) -> Dataset:
    """
    Rows of any format this room reads.

    Args:
        source (path, `datasets.Dataset`, `list[dict]` or Hub repo id):
            A completions table of TRL or a folder of them, a `traces.jsonl` of verifiers or the folder of its run, or
            rows that are in no need of conversion, which come back as they are.
        reward_weights (`Mapping[str, float]`, *optional*):
            Weight of each reward function of a completions table.

    Returns:
        `datasets.Dataset`: The rows.

    Raises:
        [`SourceNotFoundError`]: Neither a path nor a reachable repo.
        [`ConfigurationError`]: `reward_weights` for a run that has its own, or that names no column of numbers.

    Examples:
    ```python
    >>> read_any([{"prompt": "2+2?", "completion": "4", "reward": 1.0}]).column_names
    ['prompt', 'task_id', 'messages', 'final_text', 'rollout_index', 'reward']

    ```
    """
    return open_rows(load_any(source, reward_weights=reward_weights).rows.source)


def _verifiers(source: Source, reward_weights: Mapping[str, float] | None) -> Loaded:
    if reward_weights is not None:
        raise ConfigurationError("reward_weights is for completions tables; a run of verifiers records its weights")
    return load_verifiers_run(source)


def _first_ask(row: Row) -> str:
    for message in messages_of(row.get("messages"), "user"):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return ""


def _rewarded(rows: RowView, reward_weights: Mapping[str, float] | None) -> Loaded:
    """Rows whose reward stands in columns of other names; as they are where there are none."""
    numbers: dict[Any, int] = {}
    groups = np.array([numbers.setdefault(key, len(numbers)) for key in task_keys(rows)], np.int64)
    copies = [dict(row) for row in rows.rows()]
    found = with_rewards(copies, copies, rows.columns, groups, reward_weights)
    if found is None:
        return Loaded(rows, "rows")
    return Loaded(view(copies), "rows", found.weights, found.notes)
