"""Words by which to tell what a text is about."""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.sandbox.naming import word_set


_TOPIC = re.compile(r"[a-z]{2,}|\d+")
_LETTERS = re.compile(r"[a-z]{2,}")
_NUMBER = re.compile(r"\d+")
_COMMON = word_set(
    "the and for you your are was with that this from not have has had can will but our they them their what "
    "when which "
    "who how all any one two its his her out get got let please of to in on at is be as by or an if so no do does did "
    "we he she my status error data name type text value none true false id ok message"
)
# Characters of a word that count.
_STEM = 5


@lru_cache(maxsize=8192)
def topic_words(text: str, numbers: bool = True) -> frozenset[str]:
    """
    Words of a text by which to tell what it is about, cut to their stems.

    Examples:
    ```python
    >>> sorted(topic_words("Refunded $17 for the order"))
    ['17', 'order', 'refun']

    ```
    """
    found = (_TOPIC if numbers else _LETTERS).findall(text.casefold())
    return frozenset([word[:_STEM] for word in found if word not in _COMMON])


def numbers_of(text: str) -> list[str]:
    """The numbers in a text, as far as they count among its words."""
    return [number[:_STEM] for number in _NUMBER.findall(text)]
