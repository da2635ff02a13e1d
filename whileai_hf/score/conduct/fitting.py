"""Whether words are about a call: the stems of a claimed verb in its name, its arguments and what it answered."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.naming import singular, words_of
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.verbs import stems_of


_LETTERS = re.compile(r"[a-z]{2,}")
# Characters of a text argument that are looked into.
_MOST = 200
_DEPTH = 5
_SCALARS = frozenset({str, int, float})
# Words of tool names that say nothing about what is done to what.
_EMPTY = frozenset({"the", "a", "an", "my", "of", "to", "for", "by", "in", "on", "with", "and", "id", "tool", "api",
                    "details", "detail", "info", "data", "record", "do", "get", "new", "all"})  # fmt: skip


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """The telling words of a tool's name, singular."""
    return tuple(singular(word) for word in words_of(name) if word not in _EMPTY)


def scalars(value: Any) -> list[Any]:
    """The texts and numbers in a JSON value, no switches."""
    found: list[Any] = []
    _gather(value, 0, found)
    return found


def _gather(value: Any, depth: int, found: list[Any]) -> None:
    kind = type(value)
    if kind in _SCALARS:
        found.append(value)
    elif depth < _DEPTH:
        if kind is dict:
            value = value.values()
        elif kind is not list and kind is not tuple:
            return
        for item in value:
            if type(item) in _SCALARS:
                found.append(item)
            else:
                _gather(item, depth + 1, found)


def call_words(call: Call) -> set[str]:
    """Words of a call's name, its short text arguments, and its parameters' names but those of ids."""
    words = set(name_words(call.tool))
    for name in call.arguments:
        parts = words_of(str(name))
        if parts and parts[-1] not in ("id", "ids"):
            words.update(parts)
    for value in scalars(call.arguments):
        if isinstance(value, str):
            words.update(_LETTERS.findall(value[:_MOST].casefold()))
    return words


def has_stem(words: set[str] | tuple[str, ...], verb: str) -> bool:
    """Whether one of the words is a form of `verb` or of what comes down to it."""
    stems = stems_of(verb)
    return any(word.startswith(stems) for word in words)


def fits(call: Call, verb: str) -> bool:
    """
    Whether a claimed verb can be about a call.

    Examples:
    ```python
    >>> from whileai_hf.score.reading import calls_of
    >>> call = calls_of({"steps": [{"tool": "refund_order", "arguments": {"order_id": "A1"}, "result": None}]})[0]
    >>> fits(call, "refund"), fits(call, "credit"), fits(call, "cancel")
    (True, True, False)

    ```
    """
    return has_stem(call_words(call), verb)


def names_value(text: str, call: Call) -> bool:
    """Whether a text in lower case names one of the telling values of a call."""
    return any(
        str(value).casefold() in text
        for value in scalars(call.arguments)
        if len(str(value)) > 1 and not isinstance(value, float)
    )


def names_only(text: str, call: Call, other: Call) -> bool:
    """Whether a text in lower case names a telling value of a call that another one does not have."""
    theirs = {str(value) for value in scalars(other.arguments)}
    return any(
        str(value).casefold() in text
        for value in scalars(call.arguments)
        if len(str(value)) > 1 and not isinstance(value, float) and str(value) not in theirs
    )
