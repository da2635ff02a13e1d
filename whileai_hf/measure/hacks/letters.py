"""How many digits, capitals, marks and line breaks a text has, counted for many texts at once in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray


# What is counted, in the order of `count_letters`.
COUNTED = ("digits", "newlines", "punctuation", "upper_share")
_DIGIT, _NEWLINE, _MARK, _UPPER, _LETTER = 1, 2, 4, 8, 16
# Characters beyond the basic plane are emoji and rare scripts: none of the kinds counted here.
_PLANE = 0x10000


@cache
def _kinds() -> NDArray[np.uint8]:
    """Kind of every character of the basic plane, and one entry more for all others."""
    kinds = np.zeros(_PLANE + 1, np.uint8)
    of = {"Nd": _DIGIT, "Lu": _UPPER | _LETTER, "Lt": _UPPER | _LETTER, "Ll": _LETTER}
    for code in range(_PLANE):
        category = unicodedata.category(chr(code))
        kinds[code] = of.get(category, _MARK if category[0] == "P" else 0)
    kinds[ord("\n")] = _NEWLINE
    return kinds


def count_letters(texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """
    Counts per text.

    Args:
        texts (`Sequence[str]`):
            The texts.

    Returns:
        `list[np.ndarray]`: For each name of `COUNTED` one number per text; `upper_share` is the share of capitals
        among letters that have a case, 0 without one.

    Examples:
    ```python
    >>> [counts.tolist() for counts in count_letters(["Ok: 12\\n", ""])]
    [[2.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.0]]

    ```
    """
    text = "".join(texts)
    if text.isascii():
        codes: NDArray[np.unsignedinteger] = np.frombuffer(text.encode(), np.uint8)
    else:
        codes = np.minimum(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32), _PLANE)
    kinds = _kinds()[codes]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)

    def count(kind: int) -> NDArray[np.float64]:
        before = np.searchsorted(np.flatnonzero(kinds & kind != 0), ends)
        return np.diff(before, prepend=0).astype(np.float64)

    upper, cased = count(_UPPER), count(_LETTER)
    return [count(_DIGIT), count(_NEWLINE), count(_MARK), upper / np.maximum(cased, 1.0)]
