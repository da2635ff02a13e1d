"""Where a sentence shows data as records hold it: codes, amounts, dates, clock times, long numbers.

Worked out on the masked sentence (every digit a `0`, in lower case), which has the same length as the sentence itself:
what a token is does not depend on its digits, so a template costs once.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Shown(NamedTuple):
    """A stretch of a sentence, and what it is: `code`, `money`, `date`, `time` or `number`."""

    start: int
    end: int
    kind: str


_CODE = re.compile(r"#?(?=[\w-]*[a-z])(?=[\w-]*0[\w-]*0[\w-]*0)[a-z0]+(?:[-_][a-z0]+)*")
_MONEY = re.compile(r"[$\u20ac\u00a3]0[0,]*(?:\.0+)?")
_NUMBER = re.compile(r"0{1,3}(?:,000)+(?:\.0+)?|0+(?:\.0+)?")
_CLOCK = re.compile(r"00?:00(?::00)?(?:am|pm)?")
_ISO = re.compile(r"0000-00-00(?:[t ][0:.+-]*z?)?")
_DAY = re.compile(r"00?(?:st|nd|rd|th)?")
_MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_UNITS = frozenset(
    "dollar dollars euro euros pound pounds usd eur gbp chf point points miles mg kg km ml seat seats night nights "
    "unit units piece pieces percent % kwh gb mb kb ms bpm mmhg mmol \u00b0c \u00b0f ppm psi".split()
)
# "48 ng/ml"
_RATIO = re.compile(r"[a-z\u00b5]{1,5}/[a-z]{1,5}\d?")
EDGES = "\"'`*_~()[]{}<>.,:;!?|#"
# Characters from which a number is data: "1042", "17.5", "1,000".
_LONG_NUMBER = 4
# Longer tokens, in characters, are no codes that a reply could have made up.
_LONGEST = 60


def _kind_of(token: str, after: str) -> str:
    """What a token with a digit is, by the word behind it; empty for what is no data of a record."""
    if len(token) > _LONGEST:
        return ""
    if _NUMBER.fullmatch(token):
        return "number" if len(token) >= _LONG_NUMBER or after in _UNITS or _RATIO.fullmatch(after) else ""
    if _MONEY.fullmatch(token):
        return "money"
    if _CLOCK.fullmatch(token):
        return "time"
    if _ISO.fullmatch(token):
        return "date"
    if token.endswith("%") and _NUMBER.fullmatch(token[:-1]):
        return "number"
    return "code" if _CODE.fullmatch(token) else ""


def shown_in(sentence: str) -> tuple[Shown, ...]:
    """
    The stretches of a masked sentence that look like record data.

    Examples:
    ```python
    >>> text = "your order ord-0000 of may 0, 0000 cost $00.00 for 0 items"
    >>> [(text[one.start : one.end], one.kind) for one in shown_in(text)]
    [('ord-0000', 'code'), ('may 0, 0000', 'date'), ('$00.00', 'money')]

    ```
    """
    if "0" not in sentence:
        return ()
    words = [(match.start(), match.end(), match.group()) for match in re.finditer(r"\S+", sentence)]
    bare = [word.strip(EDGES) for _, _, word in words]
    found: list[Shown] = []
    taken = -1
    for at, (start, _, word) in enumerate(words):
        if at <= taken or "0" not in word:
            continue
        first, last = _date_at(bare, at) if _DAY.fullmatch(bare[at]) else (at, -1)
        if last >= 0:
            head, (tail, _, end_word) = words[first][0], words[last]
            end = tail + len(end_word.rstrip(EDGES))
            found.append(Shown(head + _lead(words[first][2]), end, "date"))
            taken = last
            continue
        kind = _kind_of(bare[at], bare[at + 1] if at + 1 < len(bare) else "")
        if kind:
            begin = start + _lead(word)
            found.append(Shown(begin, begin + len(bare[at]), kind))
    return tuple(found)


def _lead(word: str) -> int:
    """How many characters of a word stand before its first letter, digit or sign of money."""
    return len(word) - len(word.lstrip(EDGES))


def _date_at(words: list[str], at: int) -> tuple[int, int]:
    """First and last word of the date that the number at `at` is the day of; the last is -1 when it is none."""
    after = at + 2 if words[at + 1 : at + 2] == ["of"] else at + 1
    if after < len(words) and words[after] in _MONTHS:
        first, last = at, after
    elif at and words[at - 1] in _MONTHS:
        first, last = at - 1, at
    else:
        return at, -1
    return first, last + 1 if words[last + 1 : last + 2] == ["0000"] else last
