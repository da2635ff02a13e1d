# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""Whether a short text is a formula (`x^2 + 2x + 1`, `3\\sqrt{2}`) and so no number, whatever numbers are in it."""

from __future__ import annotations

import re


# Longer texts are prose, in which a formula is not all there is.
_MOST_CHARS = 300
_SYMBOLS = re.compile(r"\\(?:sqrt|pi|log|ln|sin|cos|tan|exp|infty|theta|alpha|beta)(?![a-z])|√|π|∞|\bsqrt\s?\(")
# What LaTeX writes around numbers and units, and powers of ten and products, which are written with letters.
_DRESS = re.compile(r"\\(?:left|right|displaystyle|text|mathrm|[,;:!%$])(?![a-z])")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{1,40})\}\s?\{([^{}]{1,40})\}")
_POWER_OF_TEN = re.compile(r"(?:\s?(?:[x×*·]|\\times|\\cdot)\s?10\s?\^\s?\{?|(?<=\d)[eE])[+-]?\d{1,6}\}?")
_TIMES = re.compile(r"(?<=\d)\s?(?:[x×]|\\times|\\cdot)(?=\s?\d)")
# "x = ", "f(x) = ", "Area = ": what has the value, not the value.
_NAMED = re.compile(r"\s{0,3}[^\W\d_][\w ]{0,30}(?:\([^\W\d_]\))?\s{0,3}=")
_WORD = re.compile(r"[^\W\d_]{2}")
_ONLY = re.compile(r"[\w\s+*/^().,=·⋅{}²³$−–-]+")
_VARIABLE = re.compile(r"[^\W\d_]")
_OPERATOR = re.compile(r"[+*/^·⋅²³−–-]|\d\s?[xyz]")
# A number with its unit: "5 m", "9.8 m/s^2", "-3 °C".
_UNIT = r"[a-wA-W]\}?(?:[²³]|\^\{?-?\d\}?)?"
_MEASURE = re.compile(rf"[-+−]?[\s$€£(]{{0,3}}\d[\d.,/ ]*[\s){{}}]{{0,6}}{_UNIT}(?:\s?[/*·]\s?{_UNIT}){{0,3}}")


def is_formula(text: str) -> bool:
    r"""
    Whether a text is a formula with a variable, a root or a constant, and nothing else.

    Examples:
    ```python
    >>> [is_formula(text) for text in ("x^2 + 2x + 1", r"3\sqrt{2}", "2x", "x^2 + y^2 = 25")]
    [True, True, True, True]
    >>> [is_formula(text) for text in ("x = 5", "9.8 m/s^2", "3 x 10^8", "2e-5", r"\frac{1}{2}", "5 - 2 apples")]
    [False, False, False, False, False, False]

    ```
    """
    text = text.strip().strip("$").strip(" .")
    if not text or len(text) > _MOST_CHARS:
        return False
    named = _NAMED.match(text)
    value = _FRACTION.sub(r"\1/\2", text[named.end() :] if named else text)
    value = _TIMES.sub("*", _POWER_OF_TEN.sub("", _DRESS.sub(" ", value)))
    if _SYMBOLS.search(value):
        return _WORD.search(_SYMBOLS.sub(" ", value)) is None
    if _WORD.search(value) or not _ONLY.fullmatch(value) or not _VARIABLE.search(value):
        return False
    return _OPERATOR.search(value) is not None and not _MEASURE.fullmatch(value.strip())
