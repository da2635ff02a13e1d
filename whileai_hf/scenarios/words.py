"""The little English that turns a tool's description into something a person says.

Only what the writer needs: is this word a verb, its plain form, its -ing form and participle, singular and plural, an
article. Not a grammar: unknown words come back unchanged and the writer falls back to the tool's name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from whileai_hf.sandbox.naming import participle, singular, words_of


__all__ = [
    "SPOKEN",
    "VERBS",
    "article",
    "gerund",
    "label_of",
    "participle",
    "plain_verb",
    "plural",
    "singular",
    "words_of",
]

_DATA = Path(__file__).parent / "data"
VERBS = frozenset((_DATA / "verbs.txt").read_text("utf-8").split())

_VOWELS = "aeiou"
# Verbs that double their last letter before -ing.
_DOUBLING = frozenset(
    "get set put cut run plan stop swap submit commit reset log tag map ban scan zip unzip unset drop ship grep pin "
    "unpin quit begin let hit split refer transfer permit admit cancel travel chat trim dim crop flip snap skip clip "
    "slip step wrap unwrap".split()
)
_IRREGULAR_THIRD = {"has": "have", "does": "do", "goes": "go", "is": "be", "echoes": "echo", "undoes": "undo"}
_UNITS = {
    "sku": "SKU",
    "url": "URL",
    "uri": "URL",
    "id": "ID",
    "ids": "IDs",
    "iata": "IATA",
    "dob": "date of birth",
    "baggages": "bags",
}
# Compounds that names write in one word.
SPOKEN = {"onestop": "one-stop", "multi": "multiple", "info": "information"}
_UNCOUNTED_ENDINGS = (
    "internet",
    "content",
    "ing",
    "ings",
    "ss",
    "ness",
    "ment content",
    "information",
    "data",
    "status",
    "history",
    "weather",
)
_PLURALS = {"address": "addresses", "person": "people", "child": "children", "status": "statuses"}


@lru_cache(maxsize=4096)
def plain_verb(word: str) -> str | None:
    """
    The plain form of a verb given in its plain, third-person or -ing form, or `None` when it is no known verb.

    Examples:
    ```python
    >>> plain_verb("Fetches"), plain_verb("copies"), plain_verb("Getting"), plain_verb("order"), plain_verb("kettle")
    ('fetch', 'copy', 'get', 'order', None)

    ```
    """
    word = word.lower()
    if word in VERBS:
        return word
    if word in _IRREGULAR_THIRD:
        return _IRREGULAR_THIRD[word]
    guesses = []
    if word.endswith("ies"):
        guesses = [word[:-3] + "y"]
    elif word.endswith("s"):
        guesses = [word[:-1], word[:-2]]
    elif word.endswith("ing"):
        stem = word[:-3]
        guesses = [stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem]
    return next((guess for guess in guesses if guess in VERBS), None)


@lru_cache(maxsize=4096)
def gerund(verb: str) -> str:
    """
    The -ing form.

    Examples:
    ```python
    >>> gerund("get"), gerund("update"), gerund("see"), gerund("look"), gerund("cancel")
    ('getting', 'updating', 'seeing', 'looking', 'cancelling')

    ```
    """
    if verb in _DOUBLING:
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")) and verb != "be":
        return verb[:-1] + "ing"
    return verb + "ing"


@lru_cache(maxsize=4096)
def plural(noun: str) -> str:
    """
    Several of `noun`; the last word changes.

    Examples:
    ```python
    >>> plural("calendar event"), plural("address"), plural("reply"), plural("orders"), plural("data")
    ('calendar events', 'addresses', 'replies', 'orders', 'data')

    ```
    """
    head, _, last = noun.rpartition(" ")
    if last in _PLURALS:
        last = _PLURALS[last]
    elif singular(last) != last or last.endswith(_UNCOUNTED_ENDINGS):
        pass
    elif last.endswith("y") and last[-2:-1] not in _VOWELS:
        last = last[:-1] + "ies"
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        last += "es"
    else:
        last += "s"
    return f"{head} {last}" if head else last


def article(noun: str) -> str:
    """`a` or `an`, by the first letter; `hour` and `user` and their like are known."""
    lowered = noun.lower()
    if lowered.startswith(("uni", "use", "uri", "url", "eu", "one", "ut")):
        return "a"
    return "an" if lowered[:1] in _VOWELS or lowered.startswith(("hour", "honest")) else "a"


@lru_cache(maxsize=4096)
def label_of(name: str) -> str:
    """
    A parameter's name the way a person says it.

    Examples:
    ```python
    >>> label_of("order_id"), label_of("newStartTime"), label_of("total_baggages"), label_of("dob")
    ('order ID', 'new start time', 'total bags', 'date of birth')

    ```
    """
    spoken = [_UNITS.get(word, word) for word in words_of(name)]
    return " ".join(spoken) or re.sub(r"[\W_]+", " ", name).strip() or name
