"""One message of any stack in the one shape chat templates agree on.

Templates print what they are given: `None` as a word, a list as nothing, arguments that are JSON text inside quotes.
So content is always text, arguments are always dicts, and only keys that a template reads are kept. A message that
cannot be brought to that shape gives the [`Reason`] instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from whileai_hf.export.reasons import Reason
from whileai_hf.rows import dumps, loads, scrub
from whileai_hf.rows.canonical import canonical_float
from whileai_hf.rows.privileged import PRIVILEGED_KEYS


Message = dict[str, Any]
# Parameter names of each tool a row declares.
Declared = Mapping[str, Collection[str]]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
# Besides role, content and calls: `tool_call_id` and `name` pair results with calls, the others hold reasoning, under
# the key each model family's template reads.
_KEPT_KEYS = frozenset({"reasoning_content", "thinking", "tool_call_id", "name"})

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_OTHER_BLOCKS = frozenset(
    "image image_url input_image audio input_audio video video_url file input_file resource resource_link".split()
)
# What a message has at least: role and content.
_TWO = 2
_PLAIN_ROLES = frozenset({"system", "user", "assistant", "tool"})
# Some clients encode arguments twice; a third level has not been seen and would be a string a tool really wants.
_JSON_LEVELS = 2
# Values that JSON text holds exactly, so that no search for inexact numbers is needed.
_EXACT = frozenset({str, int, bool, type(None)})
# The key under which a rollout keeps arguments that could not be read.
_MALFORMED = "malformed"


def text_of(content: Any, role: str) -> str | Reason:
    """
    The content of a message as text.

    Args:
        content (`Any`):
            Text, a list of content blocks, or (in a tool message) any JSON value.
        role (`str`):
            Role of the message.

    Returns:
        `str` or [`Reason`]: Blocks of text are joined by line breaks.

    Examples:
    ```python
    >>> text_of([{"type": "text", "text": "tree"}, {"type": "text", "text": "console"}], "tool")
    'tree\\nconsole'

    ```
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list | tuple) and content and all(_is_block(block) for block in content):
        texts = [block.get("text") for block in content if block["type"] in _TEXT_BLOCKS]
        if len(texts) < len(content) or not all(isinstance(text, str) for text in texts):
            return Reason.NOT_TEXT
        return "\n".join(texts)
    return dumps(scrub(content)).decode() if role == "tool" else Reason.NOT_TEXT


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    return isinstance(kind, str) and (kind in _TEXT_BLOCKS or kind in _OTHER_BLOCKS)


def read_arguments(written: Any) -> dict[str, Any] | None:
    """
    The arguments of a call as a dict, `None` when they are no JSON object.

    Examples:
    ```python
    >>> read_arguments('{"id": "a1"}'), read_arguments(None), read_arguments('{"q": 1}{"q": 2}')
    ({'id': 'a1'}, {}, None)

    ```
    """
    if isinstance(written, dict):
        return written
    for _ in range(_JSON_LEVELS):
        if not isinstance(written, str):
            break
        try:
            written = loads(written) if written.strip() else {}
        except ValueError:
            return None
    if written is None:
        return {}
    return written if isinstance(written, dict) else None


def _shown(value: Any) -> Any:
    """A nested value without what only a judge may see; a vector is data where a tool takes one."""
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items() if key not in PRIVILEGED_KEYS}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _read_call(call: Any, declared: Declared) -> dict[str, Any] | None:
    """A call in OpenAI shape; the flat `{"name", "arguments"}` is read as well."""
    inner = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(inner, dict):
        return None
    name = inner.get("name")
    arguments = read_arguments(inner.get("arguments"))
    if not isinstance(name, str) or not name or arguments is None:
        return None
    known = declared.get(name)
    if any(key in PRIVILEGED_KEYS or isinstance(value, dict | list) for key, value in arguments.items()):
        # A parameter may bear such a name; what no tool declares is a note of ours that got there.
        kept = {key for key in arguments if key not in PRIVILEGED_KEYS or key in (known or ())}
        arguments = {key: _shown(value) for key, value in arguments.items() if key in kept}
    if len(arguments) == 1 and _MALFORMED in arguments and _MALFORMED not in (known or ()):
        return None
    if known is not None and None in arguments.values():
        # The mark of a file that once was a struct column: every tool's parameters on every call.
        arguments = {key: value for key, value in arguments.items() if value is not None or key in known}
    made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"id": call["id"], **made} if isinstance(call.get("id"), str) else made


def is_plain(message: Any) -> bool:
    """Whether a message has the exported shape already, as most do: then it is taken as it is, and never changed."""
    if type(message) is not dict or type(message.get("content")) is not str:
        return False
    if len(message) == _TWO:
        return message.get("role") in _PLAIN_ROLES
    if message.get("role") != "tool":
        return False
    answered, name = message.get("tool_call_id"), message.get("name")
    known = bool(type(answered) is str and answered) + bool(type(name) is str and name)
    return len(message) == _TWO + known


def read_message(message: Any, declared: Declared) -> Message | Reason:
    """
    One message in the shape that is exported.

    Args:
        message (`dict`):
            A chat message as any stack stores it.
        declared (`Mapping[str, Collection[str]]`):
            Parameter names by tool, to tell a `null` argument from a key another tool's schema left behind.

    Returns:
        `dict` or [`Reason`]: A new dict without `None`, or why there is none.

    Examples:
    ```python
    >>> read_message({"role": "user", "content": "hi", "name": None}, {})
    {'role': 'user', 'content': 'hi'}

    ```
    """
    if not isinstance(message, dict):
        return Reason.NO_CONVERSATION
    written, content = message.get("role"), message.get("content")
    role = _ROLES.get(written) if isinstance(written, str) else None
    if role is None:
        return Reason.NO_CONVERSATION
    text: str | Reason = content if isinstance(content, str) else text_of(content, role)
    if isinstance(text, Reason):
        return text
    made: Message = {"role": role, "content": text}
    if len(message) == len(made) and "content" in message:  # nearly half of all messages
        return made
    for key, value in message.items():
        if key in _KEPT_KEYS and isinstance(value, str) and value:
            made[key] = value
    calls = message.get("tool_calls")
    if calls and role == "assistant":
        if not isinstance(calls, list | tuple):
            return Reason.MALFORMED_CALLS
        read = [_read_call(call, declared) for call in calls]
        if None in read:
            return Reason.MALFORMED_CALLS
        made["tool_calls"] = read
    return made


def encode_message(message: Message) -> bytes:
    """
    Canonical JSON text of a message that [`read_message`] made.

    Only arguments can hold numbers, so only theirs are searched for what a Dataset would not give back exactly; that
    search costs twenty times the encoding.
    """
    for call in message.get("tool_calls", ()):
        for value in call["function"]["arguments"].values():
            if type(value) not in _EXACT and not (type(value) is float and canonical_float(value) == value):
                return dumps(message)
    try:
        return orjson.dumps(message)
    except TypeError:  # lone surrogates, integers beyond 64 bit
        return dumps(message)
