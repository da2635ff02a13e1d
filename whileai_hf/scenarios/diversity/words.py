"""Text as a sequence of word numbers, with every value masked: what two prompts are compared by.

Tokens with a digit in them (ids, amounts, dates) are all the same word, since a prompt that differs from another one
by its order number only is a copy of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np


# The word all values are.
MASK = "#"
_EDGES = " \t\r\n.,;:!?\"'`()[]{}<>*_-~|/\\\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb\u00bf\u00a1"
_DIGIT = re.compile(r"\d")
# Scripts written without spaces: Thai to Khmer, kana, CJK, Hangul. There a character is what a word is elsewhere.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Characters of a token from which it is no word but a run of something: it is compared piece by piece.
_LONGEST_WORD = 32
_PIECE = 8


def _parts(token: str) -> tuple[str, ...]:
    bare = token.strip(_EDGES)
    if not bare:
        return ()
    if _UNSPACED.search(bare):
        return tuple(bare)
    if len(bare) > _LONGEST_WORD:
        return tuple(bare[at : at + _PIECE] for at in range(0, len(bare), _PIECE))
    return (bare,)


class _Tokens(dict[str, tuple[int, ...]]):
    """Tokens as they stand, punctuation and all, with their words; read once."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, token: str) -> tuple[int, ...]:
        if _DIGIT.search(token):  # rarely comes back
            return (self._number(MASK),)
        numbers = tuple(map(self._number, _parts(token)))
        if len(token) <= _LONGEST_WORD:
            self[token] = numbers
        return numbers


class Words:
    """
    Numbers the words of texts in the order they turn up.

    Args:
        note (`Callable`, *optional*):
            Called with each new word, in the order of their numbers.

    Examples:
    ```python
    >>> words = Words()
    >>> words.numbers("Where is order 4412?") == words.numbers("where is order ORD-7")
    True

    ```
    """

    def __init__(self, note: Callable[[str], Any] | None = None) -> None:
        self._note = note
        self._numbers: dict[str, int] = {}
        self._tokens = _Tokens(self._number)

    def numbers(self, text: str) -> list[int]:
        """The words of `text`."""
        return list(chain.from_iterable(map(self._tokens.__getitem__, text.lower().split())))

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self._numbers)
            if self._note is not None:
                self._note(word)
        return number


def flattened(sequences: list[list[int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All numbers in one array, and for each the position of its sequence."""
    numbers = np.array(list(chain.from_iterable(sequences)), dtype=np.int64)
    return numbers, np.repeat(np.arange(len(sequences)), list(map(len, sequences)))
