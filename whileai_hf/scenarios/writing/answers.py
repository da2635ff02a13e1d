"""The messages in a model's answer, however it wrapped them: fences, prose, a cut array, a mapping, a bare list."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from whileai_hf.actors.replies import content_text


# What a model calls the text of an entry.
_TEXT_KEYS = ("message", "text", "prompt", "content", "ask", "request")
_LIST_KEYS = ("messages", "situations", "entries", "items", "results", "data", "output")
_THOUGHT = re.compile(r"^.*?</think>", re.DOTALL)
# Characters of an answer that are read: a wave is a few thousand, a model that loops can send millions.
_MOST_CHARACTERS = 200_000

# Openings that lead to nothing before the rest is given up: real answers have a handful, garbage can have thousands.
_MOST_FAILURES = 2_000
# A list of anything but text and entries is none of ours.
_OPENING = re.compile(r"\{|\[(?=\s*[\"{])")
_DECODER = json.JSONDecoder(strict=False)

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "message": {"type": "string"}},
                "required": ["id", "message"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["messages"],
    "additionalProperties": False,
}


def read_answer(content: Any, ids: Sequence[str]) -> dict[str, str]:
    """
    The messages of an answer, by id.

    Args:
        content (`str` or `list`):
            Content of the model's message.
        ids (`Sequence[str]`):
            The ids that were asked for; entries with another id are left out. An entry without any id counts only in
            a list that has exactly one entry per id.

    Returns:
        `dict[str, str]`: Fewer than asked for when entries are missing. Of two entries with one id the first counts.

    Examples:
    ```python
    >>> read_answer('Sure!\\n```json\\n{"messages": [{"id": 1, "message": "hi"}, {"id": "9", "message": "x"}]}', ["1"])
    {'1': 'hi'}

    ```
    """
    text = _THOUGHT.sub("", content_text(content)[:_MOST_CHARACTERS])
    found: dict[str, str] = {}
    anonymous: list[str] = []
    for value in _values(text):
        _collect(value, ids, found, anonymous)
    if not found and len(anonymous) == len(ids):
        found = dict(zip(ids, anonymous, strict=True))
    return found


def _values(text: str) -> list[Any]:
    """Every JSON value of a text, outermost first; inside one that is cut off, the ones that are whole."""
    found, at, failures = [], 0, 0
    while failures < _MOST_FAILURES and (opening := _OPENING.search(text, at)) is not None:
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at, failures = opening.end(), failures + 1
            continue
        found.append(value)
    return found


def _collect(value: Any, ids: Sequence[str], found: dict[str, str], anonymous: list[str]) -> None:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                anonymous.append(item)
            elif isinstance(item, dict):
                _collect(item, ids, found, anonymous)
        return
    if not isinstance(value, dict):
        return
    for key in _LIST_KEYS:
        if isinstance(value.get(key), list | dict):
            _collect(value[key], ids, found, anonymous)
            return
    message = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    if message is None:
        for name, item in value.items():
            # {"1": "...", "2": "..."}
            text = item.get("message") if isinstance(item, dict) else item
            if isinstance(text, str) and name in ids:
                found.setdefault(name, text)
    elif "id" not in value:
        anonymous.append(message)
    elif (name := str(value["id"]).strip()) in ids:
        found.setdefault(name, message)
