"""The hard facts of a text: ids, addresses and numbers, which somebody either was told or made up.

Small counts ("two bags", "in 10 minutes"), ordinals, clock times and measures are how people talk, so they are no
facts here. Facts are compared by what they denote: `$1,250.00` is 1250 and `#ord-7712` is ORD-7712.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"(?<!\w)#?\w(?:[\w-]*\w)?(?:[.,]\d+)*")
# Without one of these a text holds no fact, and most texts do not.
_TELLING = re.compile(r"[\d@]")
_DIGIT = re.compile(r"\d")
_ALNUM = re.compile(r"(?=.*\d)(?=.*[a-z])", re.DOTALL)
# 3rd, 8am, 20h, 10kg, 2x, 90s, 5-day, 24-hour: figures of speech and measures, not references.
_UNITS = (
    "st nd rd th am pm h hr hrs hour hours m min mins minute minutes s sec secs d day days w week weeks month "
    "months year years yr yrs k x kg g mg lb lbs oz km cm mm ft in ml l gb mb tb kb px usd eur gbp percent star "
    "stop step part way bag bags"
).split()
_SPOKEN = re.compile(rf"\d+(?:[.,]\d+)?-?(?:{'|'.join(_UNITS)})")
# Digits below which a bare number is a count rather than a reference.
_FEWEST_DIGITS = 3
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d{4}-\d{2}|\d[/.]\d")
# Numbers compared pairwise when a person may have added or subtracted what was said.
_MOST_OPERANDS = 60


def _number(text: str) -> str:
    plain = _THOUSANDS.sub("", text)
    return re.sub(r"\.0+$", "", plain)


def facts_in(text: str) -> list[str]:
    """
    The facts of a text, each in the form they are compared in, in order and without repeats.

    Args:
        text (`str`):
            What somebody said.

    Returns:
        `list[str]`: Lowercase ids and addresses, and numbers without separators.

    Examples:
    ```python
    >>> facts_in("It's ORD-7712, I paid $1,250.00 for 2 bags on May 3rd at 8am.")
    ['ord-7712', '1250']

    ```
    """
    found: dict[str, None] = {}
    if not _TELLING.search(text):
        return []
    lowered = text.casefold()
    for match in _EMAIL.finditer(lowered):
        found[match.group()] = None
    rest = _EMAIL.sub(" ", lowered)
    dated = bool(_MONTH.search(rest))
    for match in _TOKEN.finditer(rest):
        token = match.group().lstrip("#")
        if not _DIGIT.search(token):
            continue
        if _SPOKEN.fullmatch(token):
            continue
        if _ALNUM.match(token):
            # "omar_rossi_1241" and "FQ8APE" are references, "a4" and "b2b" are words.
            word = re.sub(r"[.,]\d+$", "", token) if not token[0].isdigit() else token
            if len(word) >= _FEWEST_DIGITS and (sum(map(str.isdigit, word)) > 1 or len(word) > _FEWEST_DIGITS):
                found[word] = None
            continue
        for group in re.split(r"[-_]", token):
            digits = _number(group)
            if not digits[:1].isdigit() or (len(digits) < _FEWEST_DIGITS and "." not in digits):
                continue
            if _YEAR.fullmatch(digits) and not dated:
                continue  # "since 2019" is small talk; a full date is a fact
            found[digits] = None
    return list(found)


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9@.]", "", text)


class Told:
    """
    Everything that had been said up to a point, to look facts up in.

    Args:
        texts (`Iterable[str]`, *optional*):
            What was said.

    Examples:
    ```python
    >>> told = Told(["Order ORD-7712 costs 120 and shipping 30.50."])
    >>> told.has("7712"), told.has("150.5"), told.has("7713")
    (True, True, False)

    ```
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[str] = list(texts)
        self._read = 0  # texts that `_squeezed` and `_numbers` cover; most facts are found without them
        self._squeezed: set[str] = set()
        self._numbers: set[float] = set()

    def add(self, text: str) -> None:
        """Adds what was said next."""
        self._texts.append(text)

    def has(self, fact: str) -> bool:
        """Whether the fact was said, is a part of something said, or follows from two numbers by plus or minus."""
        edge = r"\d" if fact[:1].isdigit() and fact[-1:].isdigit() else "[a-z0-9]"
        whole = re.compile(rf"(?<!{edge}){re.escape(fact)}(?!{edge})", re.IGNORECASE)
        if any(whole.search(text) for text in self._texts):
            return True
        for text in self._texts[self._read :]:
            self._squeezed.update(_squeezed(found) for found in facts_in(text))
            self._numbers.update(map(float, re.findall(r"\d+(?:\.\d+)?", _THOUSANDS.sub("", text))))
        self._read = len(self._texts)
        if _squeezed(fact) in self._squeezed:
            return True
        return self._follows(float(fact)) if re.fullmatch(r"\d{1,15}(?:\.\d+)?", fact) else False

    def _follows(self, number: float) -> bool:
        if number in self._numbers:
            return True
        close = [n for n in self._numbers if abs(n - number) <= 0.05 * number]
        # Round figures stand for something near them: "about 1000" for 1,023.
        if close and number % 50 == 0:
            return True
        operands = sorted(self._numbers, reverse=True)[:_MOST_OPERANDS]
        return any(
            abs(a + b - number) < 0.005 or abs(a - b - number) < 0.005
            for i, a in enumerate(operands)
            for b in operands[i:]
            if a >= _FEWEST_DIGITS * 3 and b >= _FEWEST_DIGITS * 3  # two small counts reach any number
        )
