"""Which rows belong together.

A task (the unit of statistics and of train/holdout splits) is a situation, not a string: two phrasings of one
situation are one task. A group (the unit a group-relative update compares) is one prompt of one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.rows.canonical import dumps
from whileai_hf.rows.view import RowView


TaskKey = str | int
# In order of preference. `None` means absent; 0 and "" are values somebody chose.
_KEY_COLUMNS = ("scenario_id", "task_id", "prompt")


def hashable(value: Any) -> Any:
    """A value as part of a key: a conversational prompt, a list of messages, is its JSON text; others as they are."""
    return dumps(value).decode() if isinstance(value, list | dict | tuple) else value


def task_key(row: Mapping[str, Any]) -> TaskKey:
    """
    The identity of a row's task: `scenario_id`, else `task_id`, else `prompt`.

    Args:
        row (`Mapping`):
            A row.

    Returns:
        `str` or `int`: The key as stored on the row, a prompt of messages as JSON text; the empty string when the row
        has none of the three.

    Examples:
    ```python
    >>> task_key({"task_id": 0, "prompt": "Where is my order?"})
    0

    ```
    """
    for name in _KEY_COLUMNS:
        value = row.get(name)
        if value is not None:
            return hashable(value) if name == "prompt" else value  # type: ignore[no-any-return]
    return ""


def task_keys(view: RowView) -> list[TaskKey]:
    """[`task_key`] of every row, read column-wise."""
    present = [name for name in _KEY_COLUMNS if view.has(name)]
    if not present:
        return [""] * len(view)
    keys: list[Any] = [None] * len(view)
    for name in present:
        if None not in keys:
            break
        values = view.column(name)
        if name == "prompt":
            values = [hashable(value) for value in values]
        keys = [other if key is None else key for key, other in zip(keys, values, strict=True)]
    return ["" if key is None else key for key in keys]


def group_keys(view: RowView) -> list[tuple[TaskKey, str]]:
    """`(task_key, prompt)` of every row, read column-wise."""
    prompts = view.column("prompt", "")
    return [(key, hashable(prompt or "")) for key, prompt in zip(task_keys(view), prompts, strict=True)]
