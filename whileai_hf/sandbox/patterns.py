"""A string for a regular expression: enough of the language for the `pattern` keyword of tool schemas.

Reads the expression with Python's own parser. Look-arounds, back references and possessive groups are not written;
the caller checks the result against the pattern and falls back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]  # the parser behind re.compile, in every Python from 3.11 on
from typing import Any

from whileai_hf.rows.rng import Draws


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CATEGORIES = {
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": _LETTERS + "0123456789",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": _LETTERS,
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_NOT_SPACE": _LETTERS,
}
# What a negated class or a dot is drawn from.
_ANY = _LETTERS + "0123456789-_ ."
# Repetitions added beyond the minimum of `+`, `*` and open ranges, in characters.
_EXTRA = 6
# Characters of one class range that are worth listing.
_MAX_RANGE = 128


def _members(items: list[tuple[Any, Any]]) -> str:
    chars: list[str] = []
    negated = False
    for op, value in items:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            chars.append(chr(value))
        elif name == "RANGE":
            low, high = value
            chars.extend(chr(code) for code in range(low, min(high, low + _MAX_RANGE) + 1))
        elif name == "CATEGORY":
            chars.extend(_CATEGORIES.get(str(value), _LETTERS))
    if not negated:
        return "".join(chars)
    return "".join(char for char in _ANY if char not in chars)


def _repeat(value: Any, draws: Draws) -> str:
    low, high, inner = value
    top = min(int(high), int(low) + _EXTRA)
    count = draws.integer(int(low), top)
    return "".join(_write(inner, draws) for _ in range(count))


_WRITERS: dict[str, Callable[[Any, Draws], str]] = {
    "LITERAL": lambda value, draws: chr(value),
    "NOT_LITERAL": lambda value, draws: "b" if chr(value) == "a" else "a",
    "ANY": lambda value, draws: draws.pick(_LETTERS),
    "IN": lambda value, draws: draws.pick(_members(value) or "a"),
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "SUBPATTERN": lambda value, draws: _write(value[-1], draws),
    "BRANCH": lambda value, draws: _write(draws.pick(value[1]), draws),
    "AT": lambda value, draws: "",
}


def _write(parsed: Any, draws: Draws) -> str:
    parts = []
    for op, value in parsed:
        writer = _WRITERS.get(str(op))
        if writer is not None:
            parts.append(writer(value, draws))
    return "".join(parts)


@lru_cache(maxsize=1024)
def _parsed(pattern: str) -> Any:
    try:
        return _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None


def from_pattern(pattern: str, draws: Draws) -> str | None:
    """
    A string the pattern accepts, or `None` when one could not be written.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> import re
    >>> bool(re.fullmatch(r"[A-Z]{3}-\\d{4}", from_pattern(r"^[A-Z]{3}-\\d{4}$", rng(0, "id"))))
    True

    ```
    """
    parsed = _parsed(pattern)
    if parsed is None:
        return None
    text = _write(parsed, draws)
    return text if re.search(pattern, text) else None
