"""Which of other people's columns say what: the ask, the reply, the conversation, the answer it is compared with.

Only names that mean the same nearly everywhere are read; whatever else a table holds is kept and named, not guessed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from datasets import Dataset

from whileai_hf.rows import RowView, add_columns
from whileai_hf.traces.messages import messages_of, text_of


# What names a task in rows of ours; nothing has to be found where one of them is there.
_TASK = ("scenario_id", "task_id", "prompt")
_ASKS = ("instruction", "question", "problem", "query", "user_prompt", "input")
# What an instruction is about, where it stands in a column of its own.
_ABOUT = ("input", "context")
_REPLIES = ("final_text", "completion", "output", "response", "chosen")
_REFERENCES = ("reference", "answer", "solution", "gold", "target")
_TALKS = ("conversations", "conversation", "dialog", "dialogue")
# Who speaks, in the other common spelling of conversations.
_SPEAKERS = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}


@dataclasses.dataclass(frozen=True)
class Adapted:
    """
    Rows whose ask and conversation stand where ours do.

    Args:
        rows ([`~whileai_hf.rows.RowView`]):
            The rows, with what was found added as `prompt` or `messages`.
        roles (`dict[str, str]`):
            Role (`prompt`, `reply`, `messages`, `reference`, `rejected`) to the columns it was read from.
    """

    rows: RowView
    roles: dict[str, str]


def adapt(rows: RowView) -> Adapted:
    """
    Rows of anybody's, with the ask under `prompt`.

    Args:
        rows ([`~whileai_hf.rows.RowView`]):
            The rows; they are not changed.

    Examples:
    ```python
    >>> from whileai_hf.rows import view
    >>> found = adapt(view([{"instruction": "Add.", "input": "2, 3", "output": "5"}]))
    >>> found.roles, found.rows.column("prompt")
    ({'prompt': 'instruction + input', 'reply': 'output'}, ['Add.\\n\\n2, 3'])

    ```
    """
    roles: dict[str, str] = {}
    for role, names in (("reply", _REPLIES), ("reference", _REFERENCES)):
        found = next((name for name in names if rows.has(name) and _is_said(rows, name)), None)
        if found is not None:
            roles[role] = found
    if rows.has("rejected"):
        roles["rejected"] = "rejected"
    talk = next((name for name in ("messages", *_TALKS) if rows.has(name)), None)
    if talk is not None:
        roles["messages"] = talk
        if talk != "messages":
            rows = _with(rows, "messages", [_messages(cell) for cell in rows.column(talk)])
    known = next((name for name in _TASK if rows.has(name)), None)
    if rows.has("prompt"):
        roles = {"prompt": "prompt", **roles}
    elif known is None and talk is None:
        source = _ask_columns(rows)
        if source:
            roles = {"prompt": " + ".join(source), **roles}
            rows = _with(rows, "prompt", _joined([rows.column(name) for name in source]))
    return Adapted(rows, roles)


def _is_said(rows: RowView, name: str) -> bool:
    """Whether a column holds text or messages in its first rows; `output` may be a number as well."""
    return any(isinstance(cell, str | list | dict) and cell for cell in RowView(_head(rows)).column(name))


def _head(rows: RowView) -> Any:
    source, size = rows.source, min(len(rows), 100)
    if isinstance(source, Dataset):
        return source.select(range(size))
    return source.slice(0, size) if isinstance(source, pa.Table) else source[:size]


def _ask_columns(rows: RowView) -> list[str]:
    ask = next((name for name in _ASKS if rows.has(name) and _is_said(rows, name)), None)
    if ask is None:
        return []
    about = next((name for name in _ABOUT if name != ask and rows.has(name) and _is_said(rows, name)), None)
    # A question's context is often the document the answer is in, the same for many questions: it is part of the ask.
    return [ask] if about is None else [ask, about]


def _joined(columns: Sequence[Sequence[Any]]) -> list[str | None]:
    """The texts of several columns as one; `None` where there is none."""
    out: list[str | None] = []
    for cells in zip(*columns, strict=True):
        said = "\n\n".join(filter(None, (text_of(cell).strip() for cell in cells)))
        out.append(said or None)
    return out


def _messages(cell: Any) -> list[dict[str, Any]]:
    """A conversation in either spelling, as messages."""
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        cell = [_turn(entry) if isinstance(entry, Mapping) else entry for entry in cell]
    return messages_of(cell, "user")


def _turn(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    if "value" not in entry or "content" in entry:
        return entry
    speaker = str(entry.get("from", "user"))
    return {"role": _SPEAKERS.get(speaker, speaker), "content": entry["value"]}


def _with(rows: RowView, name: str, values: list[Any]) -> RowView:
    if isinstance(rows.source, Dataset):
        return RowView(add_columns(rows.source, {name: values}))
    source = list(rows.rows())
    return RowView([{**row, name: value} for row, value in zip(source, values, strict=True)])
