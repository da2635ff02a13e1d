"""What somebody could have known: an index of texts and JSON values that values are looked up in.

A value is known when it occurs as a whole token, in any case (`ORD-12` is not known from `ORD-1234`, nor `17` from
`17.75`), or in another notation (`1000` from `$1,000`, `2026-05-05` from `May 5`). Looking up what stands there
literally costs a substring search; texts are taken apart only when that finds nothing.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whileai_hf.score.reading.notations import TOKEN, Meaning, needed_by, told_by_tokens


_STRAIGHT = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "}
    | dict.fromkeys("\u2010\u2011\u2013\u2014\u2212", "-")
)
# Scripts without spaces between words: a boundary cannot be asked for.
_UNSPACED = "\u2e80"
_JOINERS = "-_.@+"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE = re.compile(
    r"\b(?:today|tonight|day after tomorrow|tomorrow|yesterday|next week|(?:in|for) \d{1,3} days|\d{1,3} days ago"
    r"|next day|following day|"
    r"previous day|day (?:after|before|later|earlier)|by (?:one|a|two|three|\d{1,2}) days?|(?:two|three|four|five"
    r"|\d{1,2}) days (?:after|before|later|earlier)|" + "|".join(_WEEKDAYS) + r")\b"
)
# Days from a known date; of a shift that may go either way, the size.
_OFFSETS = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "next week": 7, "day after tomorrow": 2, "next day": 1,
    "following day": 1,
    "previous day": -1, "day after": 1, "day later": 1, "day before": -1, "day earlier": -1,
}  # fmt: skip
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
# Days: how far from a known date "Friday" or "next Friday" may be.
_WEEKDAY_REACH = 14
# What may stand around a value without being part of it.
_AROUND = " \t\r\n\"'`#$.,;"
_DEEPEST = 60
# Characters of the shortest code that people write in groups.
_SHORTEST_GROUPED = 9
_PARTS = re.compile(r"[-_./,:@]")
# Longer texts, in characters, are taken apart anew each time.
_REMEMBERED = 8_000


def fold(text: str) -> str:
    """
    Text for comparing: lower case, straight quotes and dashes, compatibility forms resolved.

    Examples:
    ```python
    >>> fold("Order ORD\\u201112")
    'order ord-12'

    ```
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).translate(_STRAIGHT).casefold()


def _is_whole(text: str, start: int, end: int, value: str, exact: bool) -> bool:
    """Whether `text[start:end]` is a token of its own, or several. `exact`: parts of joined tokens do not count."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if before.isalnum() and value[0].isalnum() and value[0] < _UNSPACED:
        return False
    if after.isalnum() and value[-1].isalnum() and value[-1] < _UNSPACED:
        return False
    if not exact:
        return True
    # The number of an id may go without its letters: 1042 from ORD-1042.
    tail = before in "-_" and value.isdigit() and len(value) > 2 and text[start - 2 : start - 1].isalpha()
    if before in _JOINERS and start > 1 and text[start - 2].isalnum() and not tail:
        return False
    # What stands before the "@" of an address is a name of its own.
    if after in _JOINERS and after != "@" and end + 1 < len(text) and text[end + 1].isalnum():
        return False
    if after == "," and value[-1].isdigit() and text[end + 1 : end + 4].isdigit():
        return not value.replace(",", "").isdigit()
    return not (before == "," and value[:3].isdigit() and text[start - 2 : start - 1].isdigit())


def occurs(value: str, text: str) -> bool:
    """
    Whether a folded value occurs in a folded text as a whole token or tokens.

    Examples:
    ```python
    >>> occurs("ord-12", "order ord-1234"), occurs("ord-12", "(ord-12)"), occurs("17", "$17.75")
    (False, True, False)

    ```
    """
    exact: bool | None = None
    start = text.find(value)
    while start >= 0:
        if exact is None:
            exact = not value.isalpha()
        if _is_whole(text, start, start + len(value), value, exact):
            return True
        start = text.find(value, start + 1)
    return False


class Known:
    """
    An index of what was said and shown so far.

    Args:
        values (`Any`):
            Texts or JSON values to begin with.

    Examples:
    ```python
    >>> from whileai_hf.score.reading.values import Known
    >>> known = Known("Refund ORD-1234, it was $1,000 on May 5.", {"items": [{"sku": "K-9"}]})
    >>> [known.has(value) for value in ("ord-1234", "ORD-12", 1000, 999, "2026-05-05", "k-9")]
    [True, False, True, False, True, True]

    ```
    """

    __slots__ = ("_meanings", "_numbers", "_read", "_texts", "_words")

    def __init__(self, *values: Any) -> None:
        self._texts: list[str] = []
        self._read = 0  # how many are taken apart
        self._numbers: set[float] = set()
        self._meanings: set[Meaning] = set()
        self._words: set[str] = set()
        for value in values:
            self.add(value)

    def add(self, value: Any) -> None:
        """
        Adds what became known.

        Args:
            value (`Any`):
                A text, or a JSON value whose texts, numbers and keys are known from now on.
        """
        self._add(value, 0)

    def _add(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is str:
            self._texts.append(value.lower() if value.isascii() else fold(value))
        elif kind is dict:
            # Records are often keyed by their ids.
            self._texts.append(fold(" \n ".join(map(str, value))))
            if depth > _DEEPEST:
                self._texts.append(fold(str(value)))
                return
            for item in value.values():
                self._add(item, depth + 1)
        elif kind is int or kind is float:
            self._numbers.add(value)
        elif isinstance(value, Mapping):
            self._add(dict(value), depth)
        elif isinstance(value, list | tuple):
            if depth > _DEEPEST:
                self._texts.append(fold(str(value)))
                return
            for item in value:
                self._add(item, depth + 1)
        elif isinstance(value, str):
            self._texts.append(fold(str(value)))

    def has(self, value: Any) -> bool:
        """
        Whether a value is known.

        Args:
            value (`Any`):
                A text or a number; of a list or a mapping all values must be known. `None`, booleans and texts with
                no letter or digit are always known.

        Returns:
            `bool`: Whether it occurs as a whole, or in another notation.
        """
        if isinstance(value, str):
            return self._has_text(value)
        if value is None or isinstance(value, bool):
            return True
        if isinstance(value, int | float):
            return self._has_number(value)
        if isinstance(value, Mapping):
            return all(self.has(item) for item in value.values())
        if isinstance(value, list | tuple):
            return all(self.has(item) for item in value)
        return self._has_text(str(value))

    def has_word(self, word: str) -> bool:
        """Whether a folded word occurs somewhere, in this or another inflection (`deliveries` for `delivery`)."""
        root = stem(word)
        if not any(root in text for text in self._texts):
            return False
        self._take_apart()
        return word in self._words or root in self._words

    def has_part(self, part: str, value: int) -> bool:
        """Whether a date or time is known whose `year`, `month`, `day`, `hour` or `minute` is `value`."""
        self._take_apart()
        places = {"d": ("year", "month", "day"), "md": ("month", "day"), "t": ("hour", "minute")}
        return any(
            part in places.get(told[0], ()) and told[1 + places[told[0]].index(part)] == value
            for told in self._meanings
        )

    def holds(self, mark: str) -> bool:
        """Whether a mark that is no word, such as `$`, occurs."""
        return any(mark in text for text in self._texts)

    def names(self, letters: str, digits: str) -> bool:
        """Whether a number is said with the word its id abbreviates: "order 4412", "order no. 4412" for `ord-4412`."""
        pattern = rf"\b{letters}\w{{0,20}}(?: (?:number|no|nr|id|ref|reference|code))?[.:]? ?[#:]? ?{digits}(?!\w)"
        return any(digits in text and re.search(pattern, text) is not None for text in self._texts)

    def _has_text(self, value: str) -> bool:
        wanted = fold(value).strip(_AROUND)
        if not wanted.isalnum() and not any(map(str.isalnum, wanted)):
            return True
        for text in self._texts:
            if wanted in text and occurs(wanted, text):
                return True
        return self._has_notation(wanted) or self._has_spaced(wanted)

    def _has_spaced(self, wanted: str) -> bool:
        """Whether a long number or code occurs in groups: `DE89 3704 0044` for `DE8937040044`."""
        if len(wanted) < _SHORTEST_GROUPED or not wanted.isalnum() or not any(map(str.isdigit, wanted)):
            return False
        pattern = r"(?<!\w)" + r"[ -]?".join(wanted) + r"(?!\w)"
        return any(wanted[:2] in text and re.search(pattern, text) is not None for text in self._texts if " " in text)

    def _has_number(self, value: float) -> bool:
        if value in self._numbers or -value in self._numbers:
            return True
        if value != value or value in (float("inf"), float("-inf")):
            return False
        written = repr(abs(value)).removesuffix(".0")
        for text in self._texts:
            if written in text and occurs(written, text):
                return True
        self._take_apart()
        return ("n", abs(value)) in self._meanings or self._has_notation(written)

    def _has_notation(self, wanted: str) -> bool:
        ways = needed_by(wanted)
        if not ways:
            return False
        self._take_apart()
        return any(all(self._tells(meaning) for meaning in way) for way in ways)

    def _tells(self, meaning: Meaning) -> bool:
        if meaning in self._meanings:
            return True
        kind = meaning[0]
        if kind == "n":
            return meaning[1] in self._numbers
        if kind == "md":
            return any(told[0] == "d" and told[2:] == meaning[1:] for told in self._meanings)
        if kind == "d":
            return ("md", *meaning[2:]) in self._meanings or self._is_day(meaning) or self._is_relative(meaning)
        if kind == "p":
            return any(_same_phone(meaning[1], told[1]) for told in self._meanings if told[0] == "p")
        return False

    def _is_day(self, meaning: Meaning) -> bool:
        """Whether the date is "the 6th" of a month that is known."""
        year, month, day = meaning[1:]
        return ("day", day) in self._meanings and any(told[:3] == ("d", year, month) for told in self._meanings)

    def _is_relative(self, meaning: Meaning) -> bool:
        """Whether the date is "tomorrow" or "next Friday" of a date that is known."""
        try:
            date = datetime.date(*meaning[1:])
        except ValueError:
            return False
        words = {match for text in self._texts for match in _RELATIVE.findall(text)}
        if not words:
            return False
        for told in self._meanings:
            if told[0] != "d":
                continue
            try:
                days = (date - datetime.date(*told[1:])).days
            except ValueError:
                continue
            if any(_is_offset(word, days, date) for word in words):
                return True
        return False

    def _take_apart(self) -> None:
        texts = self._texts
        while self._read < len(texts):
            text = texts[self._read]
            self._read += 1
            meanings, words = _read_again(text) if len(text) <= _REMEMBERED else _read_text(text)
            self._meanings |= meanings
            self._words |= words


def _read_text(text: str) -> tuple[frozenset[Meaning], frozenset[str]]:
    tokens = TOKEN.findall(text)
    words: set[str] = set(tokens)
    for token in tokens:
        if not token.isalpha():
            words.update(_PARTS.split(token))
    told = told_by_tokens(tokens, words, text)
    words.update([stem(word) for word in words])
    return frozenset(told), frozenset(words)


# The rollouts of a task share their prompt, those of an agent its system prompt.
_read_again = lru_cache(maxsize=4096)(_read_text)


def _is_offset(word: str, days: int, date: datetime.date) -> bool:
    if word in _OFFSETS:
        return days == _OFFSETS[word]
    if word in _WEEKDAYS:
        return date.weekday() == _WEEKDAYS.index(word) and abs(days) <= _WEEKDAY_REACH
    parts = word.split()
    count = next(int(part) if part.isdigit() else _COUNTS[part] for part in parts if part.isdigit() or part in _COUNTS)
    if parts[0] == "by":
        return abs(days) == count
    return days == (-count if parts[-1] in ("ago", "before", "earlier") else count)


def _same_phone(one: str, other: str) -> bool:
    """The same number with or without its country's code, which has up to three digits."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return len(shorter) >= 7 and longer.endswith(shorter) and len(longer) - len(shorter) <= 3


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """
    A word without its inflection, for comparing only.

    Examples:
    ```python
    >>> stem("deliveries"), stem("delivery"), stem("cancelled"), stem("cancel"), stem("headphones")
    ('deliveri', 'deliveri', 'cancel', 'cancel', 'headphon')

    ```
    """
    if len(word) < 4:
        return word
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("i" if ending in ("ies", "ied") else "")
            break
    if word.endswith("y"):
        word = word[:-1] + "i"
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word
