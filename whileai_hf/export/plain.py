"""Messages of a cell, those that have the exported shape already as they are.

Nearly all messages of a run have it. Looking whether one does costs a fraction of what building it anew does, so this
is one pass over a conversation, with [`read_message`] for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from whileai_hf.export.messages import Declared, Message, read_calls, read_message
from whileai_hf.export.reasons import Reason
from whileai_hf.rows.privileged import may_hide


_ROLES = frozenset({"system", "user", "assistant", "tool"})
# What a message has at least, and with calls.
_TWO, _THREE = 2, 3


class Read(NamedTuple):
    """Messages in the exported shape, and whether all tool results among them plainly answer a call."""

    messages: list[Message]
    answered: bool


def read_all(given: Iterable[Any], declared: Declared) -> Read | Reason:
    """
    [`read_message`] of every message; one that would come out equal, with its keys in any order, is taken itself.

    Args:
        given (`Iterable`):
            Chat messages as any stack stores them. They are never changed.
        declared (`Mapping[str, Collection[str]]`):
            Parameter names by tool.

    Returns:
        `Read` or [`Reason`]: The messages, or why one of them cannot be exported.

    Examples:
    ```python
    >>> ask = {"role": "user", "content": "hi"}
    >>> made, _ = read_all([ask, {"role": "assistant", "content": None}], {})
    >>> made[0] is ask, made[1]
    (True, {'role': 'assistant', 'content': ''})

    ```
    """
    messages: list[Message] = []
    ids: set[str] = set()
    called, answered = False, True
    for item in given:
        message = _read(item, declared)
        if not isinstance(message, dict):
            return message
        messages.append(message)
        if "tool_calls" in message:
            called = True
            for call in message["tool_calls"]:
                if "id" in call:
                    ids.add(call["id"])
        elif message["role"] == "tool":
            name = message.get("tool_call_id")
            answered = answered and called and (name is None or name in ids)
    return Read(messages, answered)


def _read(message: Any, declared: Declared) -> Message | Reason:
    if type(message) is not dict:
        return read_message(message, declared)
    content, role, size = message.get("content"), message.get("role"), len(message)
    # As `may_hide` looks, without a call for each message.
    if type(content) is not str or "privileged" in content or "expected_calls" in content:
        return read_message(message, declared)
    if size == _TWO:
        if type(role) is str and role in _ROLES:
            return message
    elif role == "assistant":
        calls = message.get("tool_calls")
        if size == _THREE and type(calls) is list and calls:
            read = read_calls(calls, declared)
            return Reason.MALFORMED_CALLS if read is None else {"role": role, "content": content, "tool_calls": read}
    elif role == "tool":
        named, name = message.get("tool_call_id") or "", message.get("name") or ""
        bare = type(named) is str and type(name) is str and size == _TWO + bool(named) + bool(name)
        if bare and not may_hide(named + name):
            return message
    return read_message(message, declared)
