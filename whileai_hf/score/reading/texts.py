"""Who said what in a row, whatever shape the row keeps it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


Row = Mapping[str, Any]


def text_of(content: Any) -> str:
    """
    The text of a message's content.

    Args:
        content (`str`, `list`, *optional*):
            A string, blocks of which the textual ones count, or nothing.

    Examples:
    ```python
    >>> text_of([{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}]), text_of(None)
    ('Hello', '')

    ```
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return ""
    return "".join(block if isinstance(block, str) else _block(block) for block in content)


def _block(block: Any) -> str:
    if not isinstance(block, Mapping) or block.get("type", "text") not in ("text", "output_text", "input_text"):
        return ""
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _list(row: Row, name: str) -> list[Mapping[str, Any]]:
    entries = row.get(name)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list | tuple) else []


def _said(row: Row, role: str, key: str) -> list[str]:
    messages = _list(row, "messages")
    if messages:
        return [text for entry in messages if entry.get("role") == role and (text := text_of(entry.get("content")))]
    return [text for entry in _list(row, "steps") if (text := text_of(entry.get(key)))]


def assistant_texts(row: Row) -> list[str]:
    """
    What the agent said, in order; the final reply last.

    Args:
        row (`dict`):
            A rollout with `messages` or `steps`, and `final_text`.

    Returns:
        `list[str]`: Texts that are not empty.

    Examples:
    ```python
    >>> assistant_texts({"steps": [{"text": "One moment."}, {"user": "Ok"}], "final_text": "It shipped."})
    ['One moment.', 'It shipped.']

    ```
    """
    said = _said(row, "assistant", "text")
    final = text_of(row.get("final_text"))
    if final and (not said or said[-1] != final):
        said.append(final)
    return said


def user_texts(row: Row) -> list[str]:
    """
    What the user said, in order, the ask first.

    Args:
        row (`dict`):
            A rollout with `prompt`, and `messages` or `steps`.

    Examples:
    ```python
    >>> user_texts({"prompt": "Where is it?", "steps": [{"user": "ORD-7."}]})
    ['Where is it?', 'ORD-7.']

    ```
    """
    said = _said(row, "user", "user")
    prompt = text_of(row.get("prompt"))
    return [prompt, *said] if prompt and prompt not in said[:1] else said


def system_texts(row: Row) -> list[str]:
    """What the agent was told to begin with."""
    return [text for entry in _list(row, "messages") if entry.get("role") in ("system", "developer")
            and (text := text_of(entry.get("content")))]  # fmt: skip


def final_text(row: Row) -> str:
    """The reply, empty when there is none; the last thing the agent said where no `final_text` is kept."""
    final = row.get("final_text")
    if type(final) is str:
        return final
    if final is not None:
        return text_of(final)
    said = assistant_texts(row)
    return said[-1] if said else ""
