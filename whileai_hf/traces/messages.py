"""Conversations as other programs write them, made into messages of ours.

A table of structs fills what a message does not have with `None` (`name`, `tool_calls`, arguments of other tools);
whether the model sent a null there can no longer be told, so they are taken out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.rows import loads


Message = dict[str, Any]
# Types of content blocks that are text.
_TEXT_BLOCKS = ("text", "input_text", "output_text")


def text_of(content: Any) -> str:
    """
    The text of a message's content: a string, or the text blocks of a list.

    Examples:
    ```python
    >>> text_of([{"type": "text", "text": "Where"}, {"type": "image"}, " is it?"]), text_of(None)
    ('Where is it?', '')

    ```
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        said = content.get("text")
        return said if isinstance(said, str) and content.get("type", "text") in _TEXT_BLOCKS else ""
    return "".join(map(text_of, content)) if isinstance(content, list | tuple) else ""


def without_nulls(value: Any) -> Any:
    """A value without the `None` entries of its mappings, at any depth."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list | tuple) else value


def _call(call: Any) -> Any:
    """A tool call with its arguments as an object, where they are the text of one."""
    function = call.get("function") if isinstance(call, Mapping) else None
    given = function.get("arguments") if isinstance(function, Mapping) else None
    if not isinstance(given, str) or not isinstance(function, Mapping):
        return call
    try:
        read = loads(given)
    except ValueError:  # what a model wrote is kept as it wrote it
        return call
    return {**call, "function": {**function, "arguments": read}} if isinstance(read, dict) else call


def messages_of(cell: Any, role: str) -> list[Message]:
    """
    The messages of a cell.

    Args:
        cell (`Any`):
            Text, a message, or a list of messages; anything else has none.
        role (`str`):
            Who says a text that is no message.

    Examples:
    ```python
    >>> messages_of("Where is it?", "user")
    [{'role': 'user', 'content': 'Where is it?'}]
    >>> messages_of([{"role": "assistant", "content": "Here.", "name": None}], "assistant")
    [{'role': 'assistant', 'content': 'Here.'}]

    ```
    """
    if isinstance(cell, str):
        return [{"role": role, "content": cell}]
    if isinstance(cell, Mapping):
        cell = [cell]
    out: list[Message] = []
    for entry in cell if isinstance(cell, list | tuple) else ():
        if isinstance(entry, Mapping):
            message = without_nulls(entry)
            message.setdefault("role", role)
            message.setdefault("content", "")
            if isinstance(message.get("tool_calls"), list):
                message["tool_calls"] = [_call(call) for call in message["tool_calls"]]
            out.append(message)
        elif isinstance(entry, str):
            out.append({"role": role, "content": entry})
    return out


def ask_of(messages: list[Message]) -> str:
    """What the user said; of a conversation without a user, all that was said but the system prompt."""
    said = [text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    if not any(said):
        said = [text_of(message.get("content")) for message in messages if message.get("role") != "system"]
    return "\n".join(filter(None, said))


def reply_of(messages: list[Message]) -> str:
    """The last text of the assistant."""
    for message in reversed(messages):
        if message.get("role") == "assistant" and (text := text_of(message.get("content"))):
            return text
    return ""
