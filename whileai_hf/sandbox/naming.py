"""Names of tools, parameters and records taken apart: `getOrderDetails` is get, order, details."""

from __future__ import annotations

import re
from functools import lru_cache


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# English plurals that lose more than an "s", and words that only look like plurals.
_IRREGULAR = {
    "people": "person",
    "children": "child",
    "entries": "entry",
    "addresses": "address",
    "branches": "branch",
    "boxes": "box",
    "indices": "index",
    "matches": "match",
    "searches": "search",
    "batches": "batch",
    "classes": "class",
    "aliases": "alias",
    "baggages": "baggage",
}
_NOT_PLURAL = frozenset({"address", "status", "details", "news", "series", "access", "process", "business", "class"})
_NOT_PLURAL_ENDINGS = ("ss", "us", "is")
_VOWELS = "aeiou"
# Participles that are not the verb with "ed".
_PARTICIPLES = {
    "pay": "paid",
    "send": "sent",
    "resend": "resent",
    "cancel": "cancelled",
    "book": "booked",
    "set": "set",
    "reset": "reset",
    "put": "put",
    "ship": "shipped",
    "stop": "stopped",
    "submit": "submitted",
    "commit": "committed",
    "write": "written",
    "give": "given",
    "make": "made",
    "buy": "bought",
    "sell": "sold",
    "withdraw": "withdrawn",
    "undo": "undone",
    "hide": "hidden",
    "split": "split",
    "cut": "cut",
    "ban": "banned",
    "flag": "flagged",
    "pin": "pinned",
    "unpin": "unpinned",
    "star": "starred",
    "transfer": "transferred",
    "refer": "referred",
    "drop": "dropped",
    "run": "run",
}


def listed(text: str) -> tuple[str, ...]:
    """A tuple of words, written as a sentence: the lists of this room are long."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """A set of words, written as a sentence."""
    return frozenset(text.split())


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """
    The words of a name, lower case.

    Examples:
    ```python
    >>> words_of("getOrderDetails"), words_of("git-show_file2")
    (('get', 'order', 'details'), ('git', 'show', 'file', '2'))

    ```
    """
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """
    One of what `word` counts.

    Examples:
    ```python
    >>> singular("orders"), singular("entries"), singular("address"), singular("status")
    ('order', 'entry', 'address', 'status')

    ```
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NOT_PLURAL or word.endswith(_NOT_PLURAL_ENDINGS) or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") else word


def is_plural(word: str) -> bool:
    """Whether `word` counts several things."""
    return singular(word) != word


@lru_cache(maxsize=1024)
def participle(verb: str) -> str:
    """
    What a record is after the verb.

    Examples:
    ```python
    >>> participle("refund"), participle("close"), participle("cancel"), participle("apply")
    ('refunded', 'closed', 'cancelled', 'applied')

    ```
    """
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + "ed"
