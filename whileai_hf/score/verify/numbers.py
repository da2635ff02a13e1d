# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""Numbers as people write them: `1,234.5`, `1 234,5`, `-5`, `.8`, `80%`, `8/10`, `3 x 10^8`, `$1.2 million`, `5 km`.

Values are decimals, so that 0.1 is 0.1 and integers of any length stay exact. What is not a number of its own is left
alone: `ORD-1042`, `v1.2`, `10:30`, `2026-05-05` as a date, the 2 in `x^2`.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from whileai_hf.score.verify.units import CURRENCY_SIGNS, SCALES, Unit, unit


# Digits kept when dividing and scaling; nothing is trapped: what overflows is an infinity, and no number.
ARITHMETIC = Context(prec=60, traps=[])
# Longest run of digits read as a number.
_MOST_CHARS = 4_000

# It begins with a set of characters, which the engine skips to; what may not stand before is asked afterwards.
_NUMBER = re.compile(
    r"([\d.](?<!\w[\d.])(?<![^\W\d_][-._][\d.])(?<!\^[\d.])(?<!\^[-+][\d.])"
    r"(?:(?<=\.)\d++|(?<=\d)\d*+(?:[.,'’_]\d+|[ \u00a0]\d{3}(?!\d))*+))"
    r"(?:[eE]([+-]?\d{1,6})(?![\w.])|\s?(?:[×x*·]|\\times|\\cdot)\s?10\s?\^\s?([+-]?\d{1,6}))?"
    r"(?:\s?[/⁄]\s?(\d+(?:[.,]\d+)?)(?![\w/⁄]))?"
    r"((?<=\d)\s\d+[/⁄]\d+(?![\w/⁄]))?"
    r"(?:\s?(%|‰|percent\b|per cent\b|pct\b))?",
    re.IGNORECASE,
)
# What follows a number that is part of something else: a time, a date, a ratio, an id, a power.
_NO_NUMBER = re.compile(r":\d|[/⁄]\d|\^|-\d{1,4}-\d|[^\W\d_]+\d|-[^\W\d_]+\d")
# Characters behind a number that say at once that it is none of these, and that no unit follows.
_PLAIN_NEXT = frozenset({"", " ", ".", ",", "\n", ")", "%", "*", "$", "}", ";", "!", "?"})
_NO_UNIT_NEXT = frozenset({"", ".", ",", "\n", ")", "%", "*", "}", ";", "!", "?", ":", "="})
# All of a time, a date or an id; the digits in it are no numbers either.
_REST = re.compile(r"[\w:/⁄.^-]*+")
_POWER_OF_TEN = re.compile(r"\^\s?[({]?([+-]?\d{1,5})")
_AFTER = re.compile(r"[ \u00a0-]?(?:(°?[^\W\d_]{1,20})|([$€£¥₹¢]))")
_CODE_BEFORE = re.compile(r"(?:^|[^\w])(US\$|USD|EUR|GBP|JPY|INR)\s?$", re.IGNORECASE)
_GROUPED = {
    mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in (",", ".", " ", "\u00a0", "'", "’")
}
# Indian grouping: 12,34,567.
_LAKHS = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_ENUMERATED = re.compile(r"^([ \t]{0,8})(\d{1,3}[.)])(?=[ \t]+\S)", re.MULTILINE)

# Other signs for the same marks. Thin and narrow spaces only ever group digits.
_SAME = str.maketrans("−–‒﹣－﹘\u202f\u2009\u2007．，％﹪／٫٬＋＄￥～", "------\u00a0\u00a0\u00a0.,%%/.,+$¥~")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_VULGAR = re.compile(r"[¼½¾⅐-⅞]")
_LATEX_NOISE = re.compile(r"\\(?:[,;:! ]|left|right|displaystyle|quad|mathrm|text|textbf|mathbf)|[{}](?=,)|(?<=,)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{\s?(-?[\d.,]{1,40})\s?\}\s?\{\s?([\d.,]{1,40})\s?\}")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac\s?(\d)\s?(\d)")


class Number(NamedTuple):
    """A number in a text."""

    value: Decimal
    percent: bool
    """Whether a percent sign stands behind it; `value` is what stands before the sign."""
    unit: Unit | None
    start: int
    end: int


def plainer(text: str) -> str:
    """
    The text with one sign per meaning: minus signs, full-width and Arabic marks, raised digits, LaTeX numbers; and
    without the numbers of a numbered list.
    """
    if not text.isascii():
        text = text.translate(_SAME)
        text = _RAISED.sub(lambda match: "^" + unicodedata.normalize("NFKC", match.group()).replace("−", "-"), text)
        text = _VULGAR.sub(lambda match: " " + unicodedata.normalize("NFKC", match.group()), text)
    if "\\" in text or "{" in text:
        text = text.replace("{,}", ",").replace("\\$", "$").replace("\\%", "%").replace("^{", "^")
        text = _SHORT_FRACTION.sub(r"\1/\2", _FRACTION.sub(r"\1/\2", text))
        text = _LATEX_NOISE.sub("", text)
    # One enumerated line alone may as well be the answer itself.
    if "\n" in text and len(_ENUMERATED.findall(text)) > 1:
        text = _ENUMERATED.sub(r"\1", text)
    return text


def numbers(text: str, *, decimal: Literal[".", ","] = ".") -> list[Number]:
    """
    The numbers in a text, in order.

    Args:
        text (`str`):
            Text that went through [`plainer`].
        decimal (`"."` or `","`, *optional*, defaults to `"."`):
            The decimal mark where the digits allow both readings: `1,234`, `1.234`.

    Returns:
        `list[Number]`: With their places.

    Examples:
    ```python
    >>> [str(number.value) for number in numbers("1 234,5 of .8 and 1,2,3; ORD-12 at 10:30")]
    ['1234.5', '0.8', '1', '2', '3']

    ```
    """
    found: list[Number] = []
    past = 0
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if start < past:
            continue
        if text[end : end + 1] in _PLAIN_NEXT or not _NO_NUMBER.match(text, end):
            found += _read(text, match, decimal)
            continue
        if match.group(1) == "10" and (power := _POWER_OF_TEN.match(text, end)) is not None:
            negative, start, _ = _before(text, start)
            value = ARITHMETIC.scaleb(Decimal(-1 if negative else 1), Decimal(power.group(1)))
            found.append(Number(value, False, None, start, power.end()))
        rest = _REST.match(text, end)
        past = rest.end() if rest is not None else end
    return found


def _read(text: str, match: re.Match[str], decimal: str) -> list[Number]:
    digits, e, ten, over, mixed, percent = match.groups()
    if len(digits) > _MOST_CHARS:
        return []
    plain = digits.isdigit() or (decimal == "." and digits.replace(".", "", 1).isdigit())  # nearly always
    value = Decimal(digits) if plain else _value(digits, decimal)
    if value is None:
        return _parts(match, decimal)
    start, end = match.span()
    if plain and match.lastindex == 1:  # nearly always, too: nothing belongs to the digits but a sign
        negative, start, measure = _before(text, start)
        if text[end : end + 1] not in _NO_UNIT_NEXT:
            value, behind, end = _behind(text, end, value)
            measure = measure or behind
        return [Number(-value if negative else value, False, measure, start, end)]
    if e or ten:
        value = ARITHMETIC.scaleb(value, Decimal(e or ten))
    if over:
        value = ARITHMETIC.divide(value, _value(over, decimal) or Decimal(0))
    if mixed:
        above, _, below = mixed.strip().replace("⁄", "/").partition("/")
        value = ARITHMETIC.add(value, ARITHMETIC.divide(Decimal(above), Decimal(below)))
    negative, start, measure = _before(text, start)
    if text[end : end + 1] not in _NO_UNIT_NEXT:
        value, behind, end = _behind(text, end, value)
        measure = measure or behind
    if not value.is_finite():
        return []
    if percent == "‰":
        value = ARITHMETIC.scaleb(value, Decimal(-1))
    return [Number(-value if negative else value, percent is not None, measure, start, end)]


def _value(digits: str, decimal: str) -> Decimal | None:
    """The value of digits with marks in between; `None` when they are several numbers or none."""
    if "_" in digits:
        digits = digits.replace("_", "")
    for mark in " \u00a0'’":
        if mark in digits:
            whole, point, fraction = _split(digits)
            if not _GROUPED[mark].fullmatch(whole) or not (fraction.isdigit() or not point):
                return None
            return Decimal(f"{whole.replace(mark, '')}.{fraction or 0}")
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        group, point = (",", ".") if digits.rfind(".") > digits.rfind(",") else (".", ",")
        whole, _, fraction = digits.rpartition(point)
        return _number(whole, group, fraction) if point not in whole else None
    mark, count = (",", commas) if commas else (".", dots)
    if _grouping(digits, mark) and (count > 1 or mark != decimal):
        return Decimal(digits.replace(mark, ""))
    if count == 1:
        return Decimal(digits.replace(",", "."))
    return None if count else Decimal(digits)


def _split(digits: str) -> tuple[str, str, str]:
    at = max(digits.rfind("."), digits.rfind(","))
    return (digits, "", "") if at < 0 else (digits[:at], digits[at], digits[at + 1 :])


def _number(whole: str, group: str, fraction: str) -> Decimal | None:
    if not _grouping(whole, group):
        return None
    return Decimal(f"{whole.replace(group, '')}.{fraction}")


def _grouping(digits: str, mark: str) -> bool:
    if digits[0] == "0":
        return False
    return _GROUPED[mark].fullmatch(digits) is not None or (mark == "," and _LAKHS.fullmatch(digits) is not None)


def _parts(match: re.Match[str], decimal: str) -> list[Number]:
    """The members of a list written without spaces (`1,2,3`), or of digits that only look grouped (`2024 100`)."""
    digits, start = match.group(1), match.start()
    marks = [mark for mark in ", \u00a0" if mark in digits]
    if not marks:
        return []
    found: list[Number] = []
    at = start
    for piece in digits.split(marks[-1]):
        value = _value(piece, decimal) if piece else None
        if value is None:
            return []
        found.append(Number(value, False, None, at, at + len(piece)))
        at += len(piece) + 1
    return found


def _before(text: str, start: int) -> tuple[bool, int, Unit | None]:
    """Whether a minus sign stands before the digits, where the number begins, and its currency."""
    last = text[start - 1] if start else ""
    if last in " (" and (start < 2 or text[start - 2] not in CURRENCY_SIGNS + "-DdRrPpYy$"):  # nearly always
        return False, start, None
    if last in CURRENCY_SIGNS and start > 2 and text[start - 2] == " " and text[start - 3].isalpha():
        return False, start - 1, unit(last)
    negative, currency = False, None
    start, negative = _signed(text, start)
    head = text[max(0, start - 5) : start]
    if head[-1:] in CURRENCY_SIGNS and head:
        currency = unit(head[-1])
        start -= 1
        start -= text[max(0, start - 2) : start].upper() == "US" and 2
    elif (code := _CODE_BEFORE.search(head)) is not None:
        currency = unit(code.group(1))
        start -= len(head) - code.start(1)
    elif head[-2:-1] and head[-2:-1] in CURRENCY_SIGNS and head[-1] == " ":
        currency = unit(head[-2])
        start -= 2
    if currency is not None and not negative:
        start, negative = _signed(text, start)
    return negative, start, currency


def _signed(text: str, start: int) -> tuple[int, bool]:
    sign = text[start - 1] if start else ""
    if sign in "+-" and sign:
        before = text[start - 2] if start > 1 else ""
        # Behind a digit, a word or a bracket it is an operator or a range.
        return (start, False) if before and (before.isalnum() or before in ")]}%") else (start - 1, sign == "-")
    if sign == " " and text[start - 2 : start - 1] == "-" and start >= 2:
        # A dash with a space is a sign behind "=", or before a number alone; at the head of a line it is a bullet.
        ahead = text[max(0, start - 60) : start - 2].rstrip(" ")[-1:]
        if ahead in "=:(" and (ahead or "\n" not in text):
            return start - 2, True
    return start, False


def _behind(text: str, end: int, value: Decimal) -> tuple[Decimal, Unit | None, int]:
    """The value scaled by a word such as "million", the unit behind it, and where the number ends."""
    match = _AFTER.match(text, end)
    if match is None:
        return value, None, end
    word = match.group(1)
    scale = SCALES.get(word.casefold()) if word else None
    if scale is None:
        measure = unit(word or match.group(2))
        return value, measure, match.end() if measure is not None else end
    return ARITHMETIC.multiply(value, scale), measured(text, match.end())[0], match.end()


def measured(text: str, end: int) -> tuple[Unit | None, int]:
    """The unit behind a number that ends there, and where it ends itself."""
    match = _AFTER.match(text, end)
    measure = unit(match.group(1) or match.group(2)) if match is not None else None
    return measure, match.end() if match is not None and measure is not None else end


@lru_cache(maxsize=8192)
def whole_number(text: str, decimal: Literal[".", ","] = ".") -> Number | None:
    """
    The number a text is, apart from white space, dollars around a formula and a full stop; `None` for any other text.

    Examples:
    ```python
    >>> whole_number(" $1,234$ ").value, whole_number("42 and more")
    (Decimal('1234'), None)

    ```
    """
    plain = plainer(text).strip().strip("$").rstrip(".").strip()
    if not plain or len(plain) > _MOST_CHARS or not (plain[-1] == "%" or plain[-1].isdigit()):
        return None
    found = numbers(plain, decimal=decimal)
    if len(found) != 1 or plain[: found[0].start].strip() or plain[found[0].end :].strip("% "):
        return None
    return found[0]
