"""Numbers written in English words: "forty-two", "one hundred and five", "minus three point five", "two thirds".

"one" and "half" are words of many other meanings ("no one", "half asleep"): they count where they stand alone behind
a verb or a mark, as in "The answer is one."
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from whileai_hf.score.verify.numbers import ARITHMETIC, Number, measured


_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {
    name: value
    for value, names in enumerate(
        "half halves, third thirds, quarter quarters fourth fourths, fifth fifths, sixth sixths, seventh sevenths, "
        "eighth eighths, ninth ninths, tenth tenths".split(", "),
        start=2,
    )
    for name in names.split()
}
_WORD = re.compile(rf"\b(?:{'|'.join([*_SMALL, *_TENS, *_SCALES, 'half'])})\b", re.IGNORECASE)
_FIRST = re.compile(rf"{'|'.join([*_SMALL, *_TENS, *_SCALES, 'half', 'minus', 'negative'])}", re.IGNORECASE)
_SIGN = re.compile(r"\b(?:minus|negative)\s$", re.IGNORECASE)
_POINT = re.compile(rf"\spoint((?:[\s-](?:{'|'.join(list(_SMALL)[:10])})\b)+)", re.IGNORECASE)
_PART = re.compile(rf"[\s-]({'|'.join(_PARTS)})\b", re.IGNORECASE)
_AND_A_HALF = re.compile(r"\sand\sa\shalf\b", re.IGNORECASE)
_PERCENT = re.compile(r"\s(?:percent|per\scent)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:^|[=:*$({]|\b(?:is|are|was|were|be|equals?|just|only|exactly|an?|minus|negative))[\s*_({$]{0,4}$",
    re.IGNORECASE,
)
_ALONE = re.compile(r"[\s*_)}$]{0,4}(?:[.,;!?\n]|$)")
_HALF = Decimal("0.5")


def may_be_numeral(word: str) -> bool:
    """Whether a number in words can begin with this word."""
    return _FIRST.fullmatch(word) is not None


def numerals(text: str) -> list[Number]:
    """
    The numbers a text has in words, in order.

    Args:
        text (`str`):
            Any text.

    Returns:
        `list[Number]`: With their places.

    Examples:
    ```python
    >>> [str(number.value) for number in numerals("Forty-two of one hundred and five; no one took half a dozen")]
    ['42', '105']
    >>> [str(number.value) for number in numerals("two and a half, minus three point one four, three quarters")]
    ['2.5', '-3.14', '0.75']

    ```
    """
    found: list[Number] = []
    words = list(_WORD.finditer(text))
    for whole, start, end in _wholes(text, words):
        if found and start < found[-1].end:  # the digits behind a point, or the half of "and a half"
            continue
        value, end, exact = _completed(text, end, Decimal(whole) if whole is not None else _HALF)
        only = text[start:end].lower()
        if only in ("one", "half") and not (
            _LEAD.search(text[max(0, start - 16) : start]) and _ALONE.match(text, end)
        ):
            continue
        sign = _SIGN.search(text[max(0, start - 10) : start])
        percent = _PERCENT.match(text, end)
        unit, end = (None, percent.end()) if percent else measured(text, end)
        if exact:
            start -= len(sign.group()) if sign else 0
            found.append(Number(-value if sign else value, percent is not None, unit, start, end))
    return found


def _wholes(text: str, words: list[re.Match[str]]) -> Iterator[tuple[int | None, int, int]]:
    """Runs of words that make one whole number, `None` for a half, with their places."""
    at = 0
    while at < len(words):
        first = words[at]
        if first.group().lower() == "half":
            yield None, first.start(), first.end()
            at += 1
            continue
        total, current, last = 0, 0, 10**15
        end, scaled = first.start(), True
        while at < len(words):
            word = words[at].group().lower()
            gap = text[end : words[at].start()].lower()
            joined = gap in ("", " ", "-") or (scaled and gap in (" and ", ", ", "\u00a0"))
            if not joined or word == "half":
                break
            value = _SMALL.get(word, _TENS.get(word))
            if value is not None:
                if not (current % 100 == 0 or (value < 10 and current % 100 >= 20 and current % 10 == 0 and value)):
                    break
                if value == 0 and (total or current):
                    break
                current, scaled = current + value, False
            elif word == "hundred":
                if current >= 100 or (current == 0 and end != first.start()):
                    break
                current, scaled = max(current, 1) * 100, True
            else:
                if _SCALES[word] >= last or (current == 0 and end != first.start()):
                    break
                last = _SCALES[word]
                total, current, scaled = total + max(current, 1) * last, 0, True
            end = words[at].end()
            at += 1
            if word == "zero":
                break
        yield total + current, first.start(), end


def _completed(text: str, end: int, value: Decimal) -> tuple[Decimal, int, bool]:
    """The value with its point, its half or as so many parts; and whether it is a number, not an ordinal."""
    if (point := _POINT.match(text, end)) is not None:
        digits = "".join(str(_SMALL[word]) for word in re.split(r"[\s-]+", point.group(1).lower().strip()))
        return value + Decimal(f"0.{digits}"), point.end(), True
    if (half := _AND_A_HALF.match(text, end)) is not None:
        return value + _HALF, half.end(), True
    if (part := _PART.match(text, end)) is not None:
        plural = part.group(1).lower().endswith(("s", "ves"))
        if plural or value == 1:
            return ARITHMETIC.divide(value, Decimal(_PARTS[part.group(1).lower()])), part.end(), True
        return value, part.end(), False  # "the twenty fifth"
    return value, end, True
