"""What a token of text stands for, whatever its notation: `$1,000` and `1000.0`, `May 5` and `2026-05-05`, `3 pm`.

A meaning is a small tuple: `("n", 1000.0)` a number, `("d", 2026, 5, 5)` a date, `("md", 5, 5)` a day without a year,
`("t", 15, 0)` a time of day, `("p", "5551234567")` the digits of a phone or card number. Text *tells* meanings, a
value *needs* some. A date written `05/06/2026` tells both readings: which one was meant cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import Any


Meaning = tuple[Any, ...]
Meanings = frozenset[Meaning]

# A word, number, id, path or e-mail address as one piece. The joiners hold parts together, so that ORD-12 and 17 are
# not found inside ORD-12-B and 17.75.
TOKEN = re.compile(r"[^\W_]+(?:[-_.,:/@'+#&][^\W_]+|_+[^\W_]+)*")

_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:e([+-]?\d{1,2}))?")
_WITH_UNIT = re.compile(r"(?:usd|eur|gbp)?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?[-]?([a-z]{1,9})")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:t(\d{1,2})(?::?(\d{2}))?.*)?")
_NUMERIC_DATE = re.compile(r"(\d{1,2})[-/.](\d{1,2})(?:[-/.](\d{4}|\d{2}))?")
_COMPACT_DATE = re.compile(r"(19\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2})(?::\d{2}(?:\.\d+)?)?)?(am|pm|z)?")
_ID_TAIL = re.compile(r"[a-z]+[-_#]?(\d{3,})")
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
# "May 5, 2026", "May 5th", and the other way round.
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? {{0,2}}(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? {{1,2}}(\d{{4}})\b)?")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]({_MONTH})\b\.?(?:,?[ -](\d{{4}})\b)?")
_HAS_MONTH = re.compile(rf"\b(?:{_MONTH})\b")
_SPOKEN_TIME = re.compile(r"\b(\d{1,2})(?::(\d{2}))? {0,2}([ap])\.? ?m\b")
_PHONE = re.compile(r"\+?\(?\d{1,4}(?:[-. ()]{1,2}\d{2,4}){2,5}")
_SCALED = re.compile(r"\b(\d+(?:\.\d+)?) (thousand|million|hundred|dozen)\b")
_ARABIC = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1000000,
    "dozen": 12, "both": 2, "couple": 2, "pair": 2, "twice": 2, "double": 2, "half": 0.5, "once": 1, "single": 1,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "triple": 3, "thrice": 3, "quarter": 0.25,
}  # fmt: skip
_TENS = re.compile(
    r"\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -](one|two|three|four|five|six|seven|eight|nine)\b"
)
_HUNDREDS = re.compile(
    r"\b(an?|one|two|three|four|five|six|seven|eight|nine) (hundred|thousand)"
    r"(?: and)?(?: (twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|ten))?\b"
)
_SCALE = {"k": 1000, "m": 1000000, "hundred": 100, "thousand": 1000, "million": 1000000, "dozen": 12}
_ORDINAL = ("st", "nd", "rd", "th")
_MOST_DIGITS = 300


def _float(whole: str, fraction: str | None = None, exponent: str | None = None) -> float | None:
    if len(whole) > _MOST_DIGITS:
        return None
    value = float(whole.replace(",", "") + (fraction or ""))
    return value * 10.0 ** int(exponent) if exponent else value


def _date(year: int | None, month: int, day: int) -> list[Meaning]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return []
    if year is None:
        return [("md", month, day)]
    return [("d", year + 2000 if year < 100 else year, month, day)]


def _clock(hour: int, minute: int, half: str | None) -> list[Meaning]:
    if hour > 24 or minute > 59:
        return []
    if half in ("a", "p") and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return [("t", hour, minute)]


def _numeric_dates(token: str) -> list[Meaning]:
    match = _ISO.fullmatch(token)
    if match:
        year, month, day, hour, minute = match.groups()
        told = _date(int(year), int(month), int(day))
        return told + (_clock(int(hour), int(minute or 0), None) if told and hour else [])
    match = _COMPACT_DATE.fullmatch(token)
    if match:
        year, month, day = match.groups()
        return _date(int(year), int(month), int(day))
    match = _NUMERIC_DATE.fullmatch(token)
    if match:
        first, second, last = match.groups()
        known_year = int(last) if last else None
        return _date(known_year, int(first), int(second)) + _date(known_year, int(second), int(first))
    return []


@lru_cache(maxsize=65536)
def told_by_token(token: str) -> Meanings:
    """
    What one folded token tells.

    Examples:
    ```python
    >>> sorted(told_by_token("1,000.50")), sorted(told_by_token("ord-1042")), sorted(told_by_token("two"))
    ([('n', 1000.5)], [('n', 1042.0)], [('n', 2)])

    ```
    """
    if token in _ARABIC:
        return frozenset({("n", _ARABIC[token])})
    if not any(character.isdecimal() for character in token) or not token.isascii():
        return frozenset()
    told = _numeric_dates(token)
    match = _NUMBER.fullmatch(token)
    if match:
        # A code with leading zeros is not a number.
        if not (token[0] == "0" and token.isdigit() and len(token) > 3):
            told.append(("n", _float(*match.groups())))
        if len(token) >= 7 and token.isdigit():
            told.append(("p", token))
        return frozenset(meaning for meaning in told if None not in meaning)
    match = _WITH_UNIT.fullmatch(token)
    if match:
        whole, fraction, unit = match.groups()
        number = _float(whole, fraction)
        if number is not None:
            told.append(("n", number * _SCALE.get(unit, 1)))
        if unit in _ORDINAL and fraction is None and len(whole) < 3:
            told.append(("day", int(whole)))
    match = _CLOCK.fullmatch(token)
    if match and (":" in token or match.group(3) in ("am", "pm")):
        hour, minute, half = match.groups()
        told += _clock(int(hour), int(minute or 0), half[0] if half else None)
        told.append(("n", float(hour)))
    match = _ID_TAIL.fullmatch(token)
    if match:
        told.append(("n", _float(match.group(1))))
    if "," in token or "/" in token or "-" in token or ":" in token or "+" in token:
        told += _parts(token)
    return frozenset(meaning for meaning in told if None not in meaning)


def _parts(token: str) -> list[Meaning]:
    """Numbers in lists and ranges written without spaces: `12,13,14`, `5-7`; not those in dates and ids."""
    pieces = re.split(r"[,/:+-]", token)
    if len(pieces) > 40:
        return []
    if len(pieces) == 2 and all(_CLOCK.fullmatch(piece) and piece[-1] == "m" for piece in pieces):
        return [meaning for piece in pieces for meaning in told_by_token(piece)]
    dated = len(pieces) > 2 and _numeric_dates(token)
    if dated or any(not piece.replace(".", "", 1).isdigit() for piece in pieces):
        return []
    told: list[Meaning] = [("p", "".join(pieces))] if "-" in token and len(token) >= 9 else []
    if "-" not in token or len(pieces) == 2:
        told += [("n", _float(piece)) for piece in pieces]
    return told


# Words that tell something together with their neighbours, and what is looked for when one of them occurs.
_TIME_WORDS = frozenset({"am", "pm", "noon", "midnight", "a.m", "p.m"})
_SCALE_WORDS = frozenset(_SCALE) | frozenset("twenty thirty forty fifty sixty seventy eighty ninety percent".split())
_FEWEST_PHONE_DIGITS = 7


def told_by_tokens(tokens: list[str], words: Set[str], text: str) -> set[Meaning]:
    """
    What a folded text tells: each of its tokens for itself, and what is written in several words.

    `words` are the tokens and the parts of joined ones; without a telling word among them no pattern is tried.
    """
    told: set[Meaning] = set()
    digits = 0
    for token in tokens:
        if not token.isalpha():
            told |= told_by_token(token)
            if token[0].isdigit():
                digits += len(token)
        elif token in _ARABIC:
            told.add(("n", _ARABIC[token]))
    if not MONTHS.keys().isdisjoint(words):
        for match in _MONTH_DAY.finditer(text):
            month, day, year = match.groups()
            told.update(_date(int(year) if year else None, MONTHS[month], int(day)))
        for match in _DAY_MONTH.finditer(text):
            day, month, year = match.groups()
            told.update(_date(int(year) if year else None, MONTHS[month], int(day)))
    if not _TIME_WORDS.isdisjoint(words) or "p.m" in text or "a.m" in text:
        for hour, minute, half in _SPOKEN_TIME.findall(text):
            told.update(_clock(int(hour), int(minute or 0), half))
        if "noon" in words:
            told.add(("t", 12, 0))
        if "midnight" in words:
            told.add(("t", 0, 0))
    if digits >= _FEWEST_PHONE_DIGITS and (" " in text or "(" in text):
        for match in _PHONE.finditer(text):
            number = re.sub(r"\D", "", match.group())
            if len(number) >= _FEWEST_PHONE_DIGITS:
                told.add(("p", number))
    if not _SCALE_WORDS.isdisjoint(words) or "%" in text:
        told.update(_spoken_numbers(text))
    return told


def _spoken_numbers(text: str) -> set[Meaning]:
    told: set[Meaning] = set()
    for number, scale in _SCALED.findall(text):
        told.add(("n", float(number) * _SCALE[scale]))
    for tens, ones in _TENS.findall(text):
        told.add(("n", _ARABIC[tens] + _ARABIC[ones]))
    for count, scale, rest in _HUNDREDS.findall(text):
        told.add(("n", _ARABIC.get(count, 1) * _ARABIC[scale] + _ARABIC.get(rest, 0)))
    if "%" in text or "percent" in text:
        for percent in re.findall(r"\b(\d{1,3}(?:\.\d{1,6})?) ?(?:%|percent)", text):
            told.add(("n", float(percent) / 100))
    return told


@lru_cache(maxsize=16384)
def needed_by(value: str) -> tuple[Meanings, ...]:
    """
    The ways in which a folded value can be known in another notation: all meanings of one of them must be told.

    Examples:
    ```python
    >>> needed_by("2026-05-05")
    (frozenset({('d', 2026, 5, 5)}),)
    >>> needed_by("ord-12"), needed_by("hello there")
    ((), ())

    ```
    """
    text = value.strip(" .$€£¥#%~+")
    if not text or len(text) > 80:
        return ()
    ways: list[Meanings] = []
    dates = [meaning for meaning in _numeric_dates(text) if meaning[0] != "t"]
    times = frozenset(meaning for meaning in _numeric_dates(text) if meaning[0] == "t" and meaning != ("t", 0, 0))
    ways += [frozenset({date}) | times for date in dates]
    match = _NUMBER.fullmatch(text)
    # A code with leading zeros is not the number.
    if match and not (text[0] == "0" and text.isdigit() and len(text) > 1):
        ways.append(frozenset({("n", _float(*match.groups()))}))
    if text in _ARABIC:
        ways.append(frozenset({("n", float(_ARABIC[text]))}))
    spaced = text.replace(" ", "")
    match = _CLOCK.fullmatch(spaced)
    if match and (":" in spaced or match.group(3) in ("am", "pm")):
        hour, minute, half = match.groups()
        ways += [frozenset({time}) for time in _clock(int(hour), int(minute or 0), half[0] if half else None)]
    digits = re.sub(r"[-. ()+]", "", text)
    if len(digits) >= 7 and digits.isdigit() and not dates:
        ways.append(frozenset({("p", digits)}))
    match = _WITH_UNIT.fullmatch(spaced)
    if match and match.group(3) in (
        "usd",
        "eur",
        "gbp",
        "dollars",
        "euros",
        "kg",
        "days",
        "day",
        "nights",
        "months",
        *_ORDINAL,
    ):
        ways.append(frozenset({("n", _float(match.group(1), match.group(2)))}))
    ways += _written_dates(text)
    return tuple(way for way in ways if all(None not in meaning for meaning in way))


def _written_dates(text: str) -> list[Meanings]:
    if not _HAS_MONTH.search(text):
        return []
    match, order = _MONTH_DAY.match(text), (1, 2)
    if not match:
        match, order = _DAY_MONTH.match(text), (2, 1)
    if not match or match.end() < len(text) - 1:
        return []
    year = match.group(3)
    return [
        frozenset({date})
        for date in _date(int(year) if year else None, MONTHS[match.group(order[0])], int(match.group(order[1])))
    ]
