"""Reading a turn of the agent back from the text a chat template made of it.

Templates write calls in many ways: as one JSON object, as a name and an object, as tags with one value each. So what
is looked for is what all of them must have: the text, each name, and each call's arguments as an object that parses to
the same values, or every parameter's name and value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from whileai_hf.export.messages import Message
from whileai_hf.export.reasons import Reason


_DECODER = json.JSONDecoder()
# Braces tried for the beginning of one call's arguments; templates put no more than a few before them.
_MOST_BRACES = 32


def shows(text: str, content: str) -> bool:
    """
    Whether the content of somebody else's message is in the text, as it is or as JSON.

    Examples:
    ```python
    >>> shows('<result>"two\\\\nlines"</result>', "two\\nlines"), shows("<user>", "hello")
    (True, False)

    ```
    """
    content = content.strip()
    return content in text or json.dumps(content, ensure_ascii=False)[1:-1] in text or json.dumps(content) in text


def find_turn(text: str, message: Message, start: int, end: int) -> int | Reason:
    """
    Where a turn's content ends in the text.

    Args:
        text (`str`):
            The whole text.
        message (`dict`):
            A message of the agent.
        start (`int`), end (`int`):
            Where to look.

    Returns:
        `int` or [`Reason`]: The character behind the last thing found, or what is missing.

    Examples:
    ```python
    >>> message = {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
    >>> find_turn('<call>{"name": "f", "arguments": {"a": 1}}</call>', message, 0, 49)
    42
    >>> find_turn('<call>{"name": "f", "arguments": "{\\\\"a\\\\": 1}"}</call>', message, 0, 54).value
    'template_loses_calls'

    ```
    """
    content, calls = message["content"].strip(), message.get("tool_calls", ())
    place = text.find(content, start, end)
    if place < 0:
        return Reason.TEMPLATE_LOSES_TEXT
    found = _find_calls(text, calls, place + len(content), end)
    if found is None and content:
        # Some templates write the calls before the text.
        found = _find_calls(text, calls, start, end)
        place = -1 if found is None else text.find(content, found, end)
        found = None if place < 0 else place + len(content)
    return Reason.TEMPLATE_LOSES_CALLS if found is None else found


def _find_calls(text: str, calls: Sequence[dict[str, Any]], start: int, end: int) -> int | None:
    cursor: int | None = start
    for call in calls:
        cursor = _find_call(text, call["function"], cursor, end) if cursor is not None else None
    return cursor


def _find_call(text: str, function: dict[str, Any], start: int, end: int) -> int | None:
    name = text.find(function["name"], start, end)
    if name < 0:
        return None
    arguments = function["arguments"]
    if not arguments:
        return name + len(function["name"])  # an empty object further on may be another call's
    # The object may open before the name ({"name": ..., "arguments": ...}) or behind it.
    place = start
    for _ in range(_MOST_BRACES):
        place = text.find("{", place, end)
        if place < 0:
            break
        try:
            value, stop = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        if stop > name and (_equal(value, arguments) or any(_equal(item, arguments) for item in value.values())):
            return stop
        if function["name"] in value.values():
            return None  # this is the call, with other arguments
        place = stop if stop <= name else place + 1
    return _find_values(text, arguments, name + len(function["name"]), end)


def _equal(a: Any, b: Any) -> bool:
    """Equal as JSON: `True` is not 1."""
    return bool(a == b) and json.dumps(a, sort_keys=True, default=str) == json.dumps(b, sort_keys=True, default=str)


def _find_values(text: str, arguments: dict[str, Any], start: int, end: int) -> int | None:
    """Parameter after parameter with its value, as templates with tags write them."""
    cursor = start
    for key, value in arguments.items():
        found_key = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)").search(text, cursor, end)
        # A quoted, escaped key is an object written as a string: encoded once too often.
        if found_key is None or text.endswith('\\"', 0, found_key.start()):
            return None
        cursor = found_key.end()
        written = [value] if isinstance(value, str) else []
        written += [json.dumps(value, ensure_ascii=False), json.dumps(value)]
        places = [(text.find(form, cursor, end), len(form)) for form in written]
        found = min((hit for hit in places if hit[0] >= 0), default=None)
        if found is None:
            return None
        cursor = found[0] + found[1]
    return cursor
