"""The texts and numbers in JSON values, and the telling words of names."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.naming import singular, words_of


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
