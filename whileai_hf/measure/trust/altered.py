"""Rows as a judge is asked about them once more: without what is known of them, and with another reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.rows import RowView, select_rows
from whileai_hf.rows.columns import arrow_table, decode_table
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.lanes import own
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.score.reading.texts import final_text, text_of


Row = dict[str, Any]
# Verdicts and labels: a judge that is measured must not see them.
_KNOWN = frozenset(
    "reward reason judge_name judge_status judge_meta failure_class gold_reward gold_kind gold_labels".split()
)


def rows_to_judge(rows: RowView, index: Sequence[int]) -> list[Row]:
    """
    Some rows, as a judge may see them.

    Args:
        rows ([`RowView`]):
            All rows.
        index (`Sequence[int]`):
            Which of them.

    Returns:
        `list[dict]`: Copies to the bottom, without verdict and labels, with what the local store of their run knows
        about the task.
    """
    source = rows.source
    if isinstance(source, Sequence):
        picked = [own(dict(source[at])) for at in index]
    else:
        picked = list(decode_table(arrow_table(select_rows(rows, index)), share=False))
    secrets = find_secrets(RowView(picked)) if picked else []
    return [
        {name: value for name, value in with_secrets(row, extra, override=False).items() if name not in _KNOWN}
        for row, extra in zip(picked, secrets, strict=True)
    ]


def _says(entry: Any, role: str | None) -> bool:
    if not isinstance(entry, Mapping):
        return False
    if role is None:
        return isinstance(entry.get("text"), str) and "tool" not in entry
    return entry.get("role") == role and bool(text_of(entry.get("content")))


def _with_last(entries: Any, text: str, role: str | None) -> Any:
    """Entries whose last one of the agent says something else; `role` is `None` for steps."""
    if not isinstance(entries, list | tuple):
        return entries
    out = [dict(entry) if isinstance(entry, Mapping) else entry for entry in entries]
    at = next((at for at in range(len(out) - 1, -1, -1) if _says(out[at], role)), None)
    said: Row = {"text": text} if role is None else {"role": role, "content": text}
    if at is None:
        return [*out, said] if role is not None else out
    out[at] = {**out[at], **said}
    return out


def with_reply(row: Row, change: Callable[[str], str]) -> Row:
    """
    The row with its final reply changed, wherever the row keeps it.

    Args:
        row (`dict`):
            A rollout.
        change (`Callable`):
            Old reply to new.

    Examples:
    ```python
    >>> with_reply({"final_text": "No.", "messages": [{"role": "assistant", "content": "No."}]}, str.upper)
    {'final_text': 'NO.', 'messages': [{'role': 'assistant', 'content': 'NO.'}]}

    ```
    """
    text = change(final_text(row))
    out = {**row, "final_text": text}
    for name, role in (("messages", "assistant"), ("steps", None)):
        if name in row:
            out[name] = _with_last(row[name], text, role)
    if "completion" in row:
        conversational = isinstance(row["completion"], list | tuple)
        out["completion"] = _with_last(row["completion"], text, "assistant") if conversational else text
    return out


def opening_of(row: Mapping[str, Any]) -> Any:
    """What stood before the agent's first word: the messages up to there, else the prompt."""
    messages = row.get("messages")
    opening: list[Any] = []
    for message in messages if isinstance(messages, list | tuple) else ():
        if not isinstance(message, Mapping) or message.get("role") not in ("system", "developer", "user"):
            break
        opening.append(message)
    return opening or row.get("prompt") or ""


def instead(row: Row, attempt: Attempt) -> Row:
    """The row with another run in place of the agent's."""
    columns = {name: value for name, value in row.items() if name != "completion"}
    out = attempt.row(columns, opening_of(row))
    if "completion" in row:
        out["completion"] = attempt.completion(isinstance(row["completion"], list | tuple))
    return out
