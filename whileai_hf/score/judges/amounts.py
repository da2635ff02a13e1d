"""Numbers as judges write them: `7`, `.8`, `7/10`, `7 out of 10`, `80%`, `seven`."""

from __future__ import annotations

import re
from typing import NamedTuple


_WORDS = {
    word: float(value) for value, word in enumerate("zero one two three four five six seven eight nine ten".split())
} | {
    word: float(value * 10)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_WORDS["hundred"] = 100.0
_ONE = rf"(?:[-+]?(?:\d{{1,9}}(?:\.\d{{1,9}})?|\.\d{{1,9}})|(?:{'|'.join(_WORDS)})\b)"
# A number and what it is out of. It must not run on into another word or number: 2024-01-05, 7b, 3.1.4, 1,200.
AMOUNT = (
    rf"(?P<amount>{_ONE})(?:\s?(?P<percent>%|percent\b|per cent\b|/\s?100\b)|\s?(?:/|out of|of)\s?(?P<base>{_ONE}))?"
)
ENDS = r"(?![\w%/]|[.,:-]\d)"
# Two numbers where one was asked for: "7-8", "7 or 8", "7 to 8", "7~8".
RANGE = re.compile(
    r"\s?(?:-|\u2013|\u2014|~|/|\bto\b|\bor\b|\band\b(?= (?:a )?half)|,? (?:maybe|perhaps|possibly|or))"
    rf"\s?(?:\ba |\ban )?{_ONE}",
    re.IGNORECASE,
)


class Amount(NamedTuple):
    """A number, what it was given out of, if that was said, and whether it was written as a word."""

    value: float
    base: float | None = None
    in_words: bool = False


def _number(text: str) -> float:
    word = _WORDS.get(text.lower())
    return float(text) if word is None else word


def read_amount(match: re.Match[str]) -> Amount:
    """The number in a match of [`AMOUNT`]."""
    value, in_words = _number(match["amount"]), match["amount"].isalpha()
    if match["percent"]:
        return Amount(value, 100.0, in_words)
    return Amount(value, _number(match["base"]) if match["base"] else None, in_words)
