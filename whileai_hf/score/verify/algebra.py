r"""Whether two formulas are one, decided in microseconds where they are nothing but sums, products and powers.

A formula is evaluated modulo a large prime, its letters and pi standing for fixed large numbers: equal formulas have
equal values, and different ones differ but for a chance of about 1e-36. What is not plain algebra, or can be read in
two ways (`1/2x`, `2\frac{1}{2}`, `x^12`, `f(x)`), is left to math-verify.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


_PRIME = 2**127 - 1
# Longest formula, in characters, and deepest brackets that are looked at here.
_MOST_CHARS, _MOST_DEPTH = 200, 20
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,30}(?:\.\d{1,30})?)|(?P<letter>[A-Za-z]|\\pi(?![A-Za-z])|π)|(?P<frac>\\frac(?=\s?\{))"
    r"|(?P<power>\^(?:\{\s?(?P<braced>-?\d{1,3})\s?\}|(?P<digit>\d)(?!\d)))|(?P<times>\*(?!\*)|\\cdot(?![A-Za-z])|\\times(?![A-Za-z]))"
    r"|(?P<sign>[-+/(){}]))"
)
# Letters that are constants or functions to a mathematician.
_SPECIAL = frozenset("eidfgh")


class _Value(NamedTuple):
    """A formula's value, its letters, and whether another value surely means another formula."""

    value: int
    letters: frozenset[str]
    exact: bool


def same_algebra(one: str, other: str) -> bool | None:
    r"""
    Whether two formulas are equal.

    Args:
        one (`str`):
            A formula, without signs around it.
        other (`str`):
            Another.

    Returns:
        `bool` or `None`: `None` when this is not plain algebra, or a difference may be one of writing.

    Examples:
    ```python
    >>> same_algebra("(x+1)^2", "x^2+2x+1"), same_algebra("2x+1", "2x+2"), same_algebra(r"\sqrt{2}", "2")
    (True, False, None)

    ```
    """
    a, b = _evaluated(one), _evaluated(other)
    if a is None or b is None:
        return None
    if a.value == b.value:
        return True
    return False if a.exact and b.exact and a.letters == b.letters else None


@lru_cache(maxsize=8192)
def _evaluated(text: str) -> _Value | None:
    if len(text) > _MOST_CHARS:
        return None
    try:
        reader = _Reader(text)
        value = reader.total()
    except _NotPlain:
        return None
    if reader.token is not None:
        return None
    letters = frozenset(reader.letters)
    return _Value(value, letters, reader.whole and not reader.words and not letters & _SPECIAL)


class _NotPlain(Exception):
    """The formula has something that is not plain algebra."""


def _inverse(value: int) -> int:
    if value % _PRIME == 0:
        raise _NotPlain
    return pow(value, -1, _PRIME)


class _Reader:
    """A recursive descent over the tokens of one formula."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text.strip(), 0, 0
        self.letters: set[str] = set()
        self.whole, self.words = True, False
        self.token: re.Match[str] | None = None
        self._next()

    def _next(self) -> None:
        if self.at >= len(self.text):
            self.token = None
            return
        self.token = _TOKEN.match(self.text, self.at)
        if self.token is None:
            raise _NotPlain
        self.at = self.token.end()

    def _is(self, signs: str) -> bool:
        return self.token is not None and self.token["sign"] is not None and self.token["sign"] in signs

    def total(self) -> int:
        value = self._product()
        while self._is("+-"):
            assert self.token is not None
            minus = self.token["sign"] == "-"
            self._next()
            part = self._product()
            value = (value - part if minus else value + part) % _PRIME
        return value

    def _product(self) -> int:
        minus = False
        if self._is("+-"):
            assert self.token is not None
            minus = self.token["sign"] == "-"
            self._next()
        value, number = self._power()
        divided = False
        while self.token is not None and not self._is("+-)}"):
            if self._is("/"):
                self._next()
                part, _ = self._power()
                value, divided = value * _inverse(part) % _PRIME, True
                continue
            if self.token["times"] is not None:
                self._next()
                divided = False
            elif divided or (number and (self.token["number"] or self.token["frac"])):
                raise _NotPlain  # 1/2x; a mixed number; two numbers side by side
            part, number = self._power()
            value = value * part % _PRIME
        return -value % _PRIME if minus else value

    def _power(self) -> tuple[int, bool]:
        """The value of a factor with its exponent, and whether it is a bare number."""
        value, number = self._factor()
        if self.token is not None and self.token["power"] is not None:
            exponent = int(self.token["braced"] or self.token["digit"])
            value = pow(value if exponent >= 0 else _inverse(value), abs(exponent), _PRIME)
            number = False
            self._next()
            if self.token is not None and self.token["power"] is not None:
                raise _NotPlain
        return value, number

    def _factor(self) -> tuple[int, bool]:
        token = self.token
        if token is None:
            raise _NotPlain
        if (digits := token["number"]) is not None:
            self._next()
            whole, _, decimals = digits.partition(".")
            self.whole = self.whole and not decimals
            return int(whole + decimals) * _inverse(10 ** len(decimals)) % _PRIME, True
        if (letter := token["letter"]) is not None:
            self._next()
            letter = "π" if letter == "\\pi" else letter
            self.letters.add(letter)
            self.words = self.words or (self.token is not None and self.token["letter"] is not None)
            if letter in "fgh" and self._is("("):
                raise _NotPlain
            return pow(7919, 3 + 1009 * ord(letter) ** 2, _PRIME), False
        if token["frac"] is not None:
            self._next()
            above = self._bracketed("{}")
            return above * _inverse(self._bracketed("{}")) % _PRIME, False
        if self._is("("):
            return self._bracketed("()"), False
        if self._is("{"):
            return self._bracketed("{}"), False
        raise _NotPlain

    def _bracketed(self, pair: str) -> int:
        self.depth += 1
        if not self._is(pair[0]) or self.depth > _MOST_DEPTH:
            raise _NotPlain
        self._next()
        value = self.total()
        if not self._is(pair[1]):
            raise _NotPlain
        self._next()
        self.depth -= 1
        return value
