"""A conversation as a chat API takes it back: its own keys only, arguments as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.models.model import Message
from whileai_hf.actors.played import parse_arguments


# The keys of the chat API by role; everything else a message may carry stays behind.
_KEYS = {
    "assistant": ("role", "content"),
    "tool": ("role", "tool_call_id", "content"),
}
_OTHER_KEYS = ("role", "content", "name")


def arguments_text(written: Any) -> str:
    """
    Arguments as JSON text. What is no JSON object is wrapped into one: servers parse what they are sent, and answer
    400 to the malformed arguments they made themselves.

    Examples:
    ```python
    >>> arguments_text({"id": "A1"}), arguments_text('{"id": ')
    ('{"id": "A1"}', '{"malformed": "{\\\\"id\\\\": "}')

    ```
    """
    arguments, readable = parse_arguments(written)
    if readable and isinstance(written, str) and written:
        return written
    return json.dumps(arguments, ensure_ascii=False, default=str)


def _tool_call(entry: Mapping[str, Any], index: int) -> dict[str, Any]:
    function = entry.get("function", entry)
    return {
        "id": entry.get("id") or f"call_{index}",
        "type": "function",
        "function": {"name": function.get("name"), "arguments": arguments_text(function.get("arguments"))},
    }


def api_messages(messages: Sequence[Message], keep_reasoning: bool = True) -> list[Message]:
    """
    Messages in the shape of the chat API.

    Args:
        messages (`Sequence[dict]`):
            As conversations hold them.
        keep_reasoning (`bool`, *optional*, defaults to `True`):
            Whether assistant messages keep their `reasoning_content`.

    Returns:
        `list[dict]`: New messages; those given are not changed.

    Examples:
    ```python
    >>> api_messages([{"role": "assistant", "content": "Hi.", "usage": {}, "finish_reason": "stop"}])
    [{'role': 'assistant', 'content': 'Hi.'}]

    ```
    """
    made: list[Message] = []
    for message in messages:
        keys = _KEYS.get(message.get("role", ""), _OTHER_KEYS)
        if keep_reasoning and message.get("role") == "assistant":
            keys = (*keys, "reasoning_content")
        kept = {key: message[key] for key in keys if key in message}
        if message.get("role") == "assistant" and kept.get("content") is None:
            kept["content"] = ""
        calls = message.get("tool_calls")
        if calls:
            kept["tool_calls"] = [_tool_call(entry, index) for index, entry in enumerate(calls)]
        made.append(kept)
    return made
