"""The JSON in a model's reply: fenced, in the middle of prose, or written the way Python writes it.

What is complete is read, with single quotes, `True`, trailing commas and comments forgiven. What is cut off is not: a
number that was seen before the end is no answer.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from whileai_hf.score.judges.plain import without_reasoning


# Where an object, or a list of objects or texts, may begin. `[[7]]` is a mark of judges, not JSON.
_START = re.compile(r"\{|\[(?=\s{0,20}[{\"'])")
# Places tried in one reply. More is not an answer with JSON in it, and each try may read to the end.
_MOST_STARTS = 64
_DEEPEST = 40
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?")
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
_AFTER_TEXT = re.compile(r"\s{0,200}(?:[,:}\]]|\Z)")

_decoder = json.JSONDecoder(strict=False)


class Found(NamedTuple):
    """A JSON value and where it stands in the text."""

    start: int
    end: int
    value: Any


class _Malformed(Exception):
    """This is no JSON."""


class _Cut(Exception):
    """The text ends inside the value."""


class _Reader:
    """Reads one value with forgiveness, from left to right."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.at = position

    def _skip(self) -> str:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            raise _Cut
        return self.text[self.at]

    def value(self, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise _Malformed
        first = self._skip()
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._list(depth)
        if first in _QUOTES:
            return self._string(_QUOTES[first])
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            written = number.group()
            return int(written) if written.lstrip("+-").isdigit() else float(written)
        word = _WORD.match(self.text, self.at)
        if word is not None and word.group().lower() in _LITERALS:
            self.at = word.end()
            return _LITERALS[word.group().lower()]
        raise _Malformed

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        made: dict[str, Any] = {}
        while self._skip() != "}":
            key = self._key()
            if self._skip() != ":":
                raise _Malformed
            self.at += 1
            made[key] = self.value(depth + 1)
            self._comma("}")
        self.at += 1
        return made

    def _key(self) -> str:
        first = self.text[self.at]
        if first in _QUOTES:
            return self._string(_QUOTES[first])
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise _Malformed
        self.at = word.end()
        return word.group()

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        made: list[Any] = []
        while self._skip() != "]":
            made.append(self.value(depth + 1))
            self._comma("]")
        self.at += 1
        return made

    def _comma(self, closing: str) -> None:
        following = self._skip()
        if following == ",":
            self.at += 1
        elif following != closing:
            raise _Malformed

    def _string(self, quote: str) -> str:
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == "\\" and self.at < len(self.text):
                letter = self.text[self.at]
                self.at += 1
                parts.append(self._escaped(letter))
            # A quote in the middle of a sentence, as in 'it's fine', does not end it.
            elif letter == quote and _AFTER_TEXT.match(self.text, self.at):
                return "".join(parts)
            else:
                parts.append(letter)
        raise _Cut

    def _escaped(self, letter: str) -> str:
        if letter != "u":
            return _ESCAPES.get(letter, letter)
        digits = self.text[self.at : self.at + 4]
        try:
            made = chr(int(digits, 16))
        except ValueError:
            return "u"
        self.at += 4
        return made


def _read_at(text: str, start: int) -> Found:
    try:
        value, end = _decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        value = reader.value()
        end = reader.at
    return Found(start, end, value)


def find_json(text: str) -> tuple[list[Found], bool]:
    """
    Every complete object or list in a text, and whether the text ends inside another.

    Args:
        text (`str`):
            A reply, its reasoning taken out.

    Returns:
        `tuple[list[Found], bool]`: In the order of the text; those inside another are part of that one.
    """
    found: list[Found] = []
    position = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            break
        try:
            item = _read_at(text, start.start())
        except _Cut:
            return found, True
        except _Malformed:
            position = start.end()
            continue
        found.append(item)
        position = item.end
    return found, False


def read_json(text: str) -> Any:
    """
    The JSON value a model answered with.

    Args:
        text (`str`):
            The reply, with or without fences and prose around the JSON.

    Returns:
        `dict` or `list` or `None`: The last one in the text; `None` when there is none, or when the text ends inside
        one.

    Examples:
    ```python
    >>> read_json("Sure:\\n```json\\n{'met': True, 'why': 'it's there',}\\n```")
    {'met': True, 'why': "it's there"}
    >>> read_json('{"score": 0.7, "reason": "The answer cov') is None
    True

    ```
    """
    if not isinstance(text, str):
        return None
    found, cut = find_json(without_reasoning(text))
    return found[-1].value if found and not cut else None
