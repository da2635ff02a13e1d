# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""Which number a reply states as its answer, and which ones it denies."""

from __future__ import annotations

import numbers as abstract
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from whileai_hf.score.verify.denials import denied, may_deny
from whileai_hf.score.verify.formulas import is_formula
from whileai_hf.score.verify.numbers import Number, numbers, plainer
from whileai_hf.score.verify.numerals import may_be_numeral, numerals
from whileai_hf.score.verify.stated import LIST_GAP, MOST_ANSWERS, closing, stated


Reading = Number | str
"""The number a text states, or the reason why it states none."""

# A reply without a marked answer is searched from its end, this many characters at first.
_TAIL = 2_000
_SEVERAL = "the reply names several numbers"
_DENIES = "the reply denies the number it names"
_CHAIN = frozenset("0123456789.,+-*/×÷·^()%$€£¥₹ \u00a0x\\=")
# What stands between a part and its whole: "5 remain of the original 12", "3 of a total of 8".
_OF_WHOLE = re.compile(
    r"[^.,;:!?=\n]{0,40}?\bof\s(?:the|an?|all|those|these|his|her|their|its|my|our)"
    r"(?:\s(?:original|initial|total|full|whole|entire|starting|available|possible|given|first|overall|maximum)){0,2}"
    r"(?:\sof)?\s[$€£¥₹*]{0,3}"
)
_WORD = re.compile(r"[\s*_$(]{0,4}([^\W\d_]{3,9})\b")
_ALSO_DENIED = re.compile(r"[\s$*]{0,4}(?:,\s?)?(?:or|nor|and)\s[$*]{0,3}")


def gold_number(gold: Any, decimal: Literal[".", ","] = ".") -> Reading:
    """The number a gold answer is: of a text, the one it states (`#### 42` behind a worked solution)."""
    if isinstance(gold, str):
        return _gold_text(gold, decimal)
    if type(gold) is int or isinstance(gold, Decimal):
        value = Decimal(gold)
    elif type(gold) is not float and (isinstance(gold, bool) or not isinstance(gold, abstract.Real)):
        return f"the gold answer {gold!r:.60} is no number"
    else:
        value = Decimal(repr(float(gold)))
    return Number(value, False, None, 0, 0) if value.is_finite() else "the gold answer is not finite"


@lru_cache(maxsize=8192)
def _gold_text(gold: str, decimal: Literal[".", ","]) -> Reading:
    answers = stated(gold)
    if is_formula(answers[-1] if answers else gold):
        return "the gold answer is a formula"
    return stated_number(gold, decimal)


def stated_number(reply: str, decimal: Literal[".", ","] = ".") -> Reading:
    r"""
    The number a reply states as its answer.

    Args:
        reply (`str`):
            What the agent said.
        decimal (`"."` or `","`, *optional*, defaults to `"."`):
            The decimal mark where both readings are possible.

    Returns:
        [`Number`] or `str`: The number, or the reason why there is none.

    Examples:
    ```python
    >>> stated_number("The answer is 6 * 7 = 42, not 41.").value, stated_number("3 + 4 = 7").value
    (Decimal('42'), Decimal('7'))
    >>> stated_number("It is 41 or 42.")
    'the reply names several numbers'

    ```
    """
    answers = stated(reply)
    if answers:
        if len(answers) > MOST_ANSWERS and len({" ".join(answer.split()) for answer in answers}) > MOST_ANSWERS:
            return _SEVERAL
        said = _in_words(answers[-1]) or _read(answers[-1], decimal, _first)
        if said is not None and said != _DENIES:
            return said
    if len(reply) > 2 * _TAIL:
        tail = reply[reply.rfind("\n", 0, len(reply) - _TAIL) + 1 :][-4 * _TAIL :]
        said = _read(tail, decimal, _last)
        if said is not None:
            return said
    said = _read(reply, decimal, _last)
    return "the reply has no number" if said is None else said


def denied_numbers(reply: str, decimal: Literal[".", ","] = ".") -> list[Number]:
    """
    The numbers a reply denies where it states its answer.

    Examples:
    ```python
    >>> [str(number.value) for number in denied_numbers("It is 80. No, it is neither 80 nor 75.")]
    ['80', '75']

    ```
    """
    text = plainer(closing(reply))
    return _denied(text, numbers(text, decimal=decimal) or numerals(text))


def _read(
    text: str, decimal: Literal[".", ","], choose: Callable[[str, list[Number]], Number | str]
) -> Reading | None:
    """The number chosen of those in a text, in words where it has no digits; `None` when it has none at all."""
    plain = plainer(text)
    found = numbers(plain, decimal=decimal) or numerals(plain)
    if not found:
        return None
    if may_deny(plain):
        wrong = _denied(plain, found)
        found = [number for number in found if number not in wrong]
    return choose(plain, found) if found else _DENIES


def _in_words(answer: str) -> Number | None:
    """The number an answer begins with in words, whatever digits follow."""
    word = _WORD.match(answer)
    return next(iter(numerals(answer)), None) if word is not None and may_be_numeral(word.group(1)) else None


def _denied(text: str, found: list[Number]) -> list[Number]:
    wrong: list[Number] = []
    for number in found:
        with_last = bool(wrong) and _ALSO_DENIED.fullmatch(text, wrong[-1].end, number.start) is not None
        if with_last or denied(text, number.start, number.end):
            wrong.append(number)
    return wrong


def _first(text: str, found: list[Number]) -> Number | str:
    """The number of a marked answer: its first, or the right-hand side when that begins an equation."""
    at = 0
    for later in range(1, len(found)):
        between = text[found[at].end : found[later].start]
        if "=" in between and set(text[found[at].start : found[later].start]) <= _CHAIN:
            at = later
    if at + 1 < len(found) and _listed(text, found[at], found[at + 1]):
        return _SEVERAL
    return found[at]


def _last(text: str, found: list[Number]) -> Number | str:
    """The last number, or the part of a whole that stands last."""
    if len(found) == 1:
        return found[0]
    if _OF_WHOLE.fullmatch(text, found[-2].end, found[-1].start) is not None:
        return _last(text, found[:-1])
    return _SEVERAL if _listed(text, found[-2], found[-1]) else found[-1]


def _listed(text: str, one: Number, other: Number) -> bool:
    """Whether two different numbers stand next to each other as members of a list or ends of a range."""
    if one[:3] == other[:3] or other.start - one.end > 40:
        return False
    gap = text[one.end : other.start]
    if LIST_GAP.fullmatch(gap) is None:
        return False
    if "\n" not in gap:
        return True
    # Lines of a list hold nothing but their number; a last line on its own below a sentence is the answer.
    line = text[text.rfind("\n", 0, one.start) + 1 : one.start]
    return not any(map(str.isalnum, line))
