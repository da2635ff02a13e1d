"""The canonical form of a row: what is left of a value after any stage of the Hugging Face stack has touched it.

`datasets.Json` keeps 10 decimals, parses floats with an error of one unit in the last place, turns integers beyond
64 bit into strings and refuses lone surrogates. A row therefore takes the form that survives once, at birth, before
a judge, a journal or a file sees it: afterwards every round trip is the identity.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import orjson


# What datasets' JSON encoder keeps of a float.
_DECIMALS = 10
# An IEEE double holds 15 significant decimal digits whatever the value; the 16th is where parsers disagree.
_SIGNIFICANT = "%.15g"
# From here on datasets' encoder switches to an exponent with 9 significant digits.
_HUGE = 1e16
_SIGNIFICANT_HUGE = "%.9g"
# Cells looked through together: enough to make a call cheap, few enough that one odd number costs little.
_BLOCK = 64
_INT64_MIN, _UINT64_MAX = -(1 << 63), (1 << 64) - 1

# The search for such a number is the cost of writing text, so a rough look at the digits comes first: every digit and
# dot as 0, every e as E, the rest blank. Whatever the pattern finds has one of these runs in it.
_DIGITS = bytes(48 if chr(c) in "0123456789." else 69 if chr(c) in "eE" else 32 for c in range(256))
_LONG_NUMBER, _EXPONENT, _NEGATIVE_ZERO = b"0" * 10, b"0E", b"-0.0"
# Numbers that may not be canonical yet: long digit runs, exponents, negative zero. A hit inside a string costs time
# and nothing else.
_SUSPECT = re.compile(rb"(?:^|[:,\[])-?(?:[\d.]{10,}|[\d.]+[eE])|-0\.0")


def canonical_float(value: float) -> float | None:
    """
    The float that survives `datasets.Json` unchanged, `None` for NaN and infinities.

    Examples:
    ```python
    >>> canonical_float(0.1 + 0.2)
    0.3

    ```
    """
    if not math.isfinite(value):
        return None
    pattern = _SIGNIFICANT_HUGE if abs(value) >= _HUGE else _SIGNIFICANT
    return float(pattern % round(value, _DECIMALS)) + 0.0


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        # A surrogate pair split over two escapes is joined; one alone becomes U+FFFD.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def canonical(value: Any) -> Any:
    """
    Canonical copy of a JSON-like value.

    Args:
        value (`Any`):
            Dicts, lists, tuples, strings, numbers, booleans and `None`, nested. Anything else becomes its `str`.

    Returns:
        `Any`: Equal to what a Dataset gives back: floats rounded to 10 decimals and 15 significant digits, NaN and
        infinities as `None`, integers beyond 64 bit and dict keys as strings, lone surrogates as U+FFFD.

    Examples:
    ```python
    >>> canonical({"a": (1, float("nan")), 2: 1 << 70})
    {'a': [1, None], '2': '1180591620717411303424'}

    ```
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(str(value))
    if isinstance(value, int):
        return int(value) if _INT64_MIN <= value <= _UINT64_MAX else str(value)
    if isinstance(value, float):
        return canonical_float(value)
    if isinstance(value, dict):
        return {
            key if type(key) is str and key.isascii() else _text(str(key)): canonical(v) for key, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((canonical(item) for item in value), key=repr)
    return _foreign(value)


def _foreign(value: Any) -> Any:
    """Values that are not JSON: numpy scalars and arrays through their Python form, the rest by `str`."""
    if hasattr(value, "tolist"):  # numpy and torch share this name; importing either here would cost every run
        return canonical(value.tolist())
    if hasattr(value, "model_dump"):  # pydantic objects, which clients return for messages
        return canonical(value.model_dump())
    return _text(str(value))


def dumps(value: Any) -> bytes:
    """
    Canonical JSON text of `value`, UTF-8.

    Examples:
    ```python
    >>> dumps({"x": 0.1 + 0.2})
    b'{"x":0.3}'

    ```
    """
    try:
        text = orjson.dumps(value)
    except TypeError:  # big integers, lone surrogates, foreign types, keys that are not strings
        return orjson.dumps(canonical(value))
    return orjson.dumps(canonical(value)) if _suspicious(text) else text


def _suspicious(text: bytes) -> bool:
    digits = text.translate(_DIGITS)
    rough = _LONG_NUMBER in digits or _EXPONENT in digits or _NEGATIVE_ZERO in text
    return rough and _SUSPECT.search(text) is not None


def dumps_each(values: Sequence[Any]) -> list[bytes]:
    """[`dumps`] of every value of a list, checked together: the cells of a chat are many and short."""
    try:
        texts = [orjson.dumps(value) for value in values]
    except TypeError:
        return [dumps(value) for value in values]
    return [dumps(value) for value in values] if _suspicious(b",".join(texts)) else texts


def dumps_cells(values: Sequence[Any]) -> list[bytes | None]:
    """[`dumps`] of every cell of a column, `None` for an absent one; looked through in blocks, as most are short."""
    out: list[bytes | None] = []
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        present = [value for value in block if value is not None]
        texts = dumps_each(present)
        if len(texts) == len(block):
            out.extend(texts)
        else:
            following = iter(texts)
            out.extend(None if value is None else next(following) for value in block)
    return out


def loads(text: bytes | str) -> Any:
    """JSON text to Python; an integer beyond 64 bit comes back as a string, as it does from a Dataset."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # NaN and Infinity tokens, which Python and many exporters write, and which mean "not a number".
        import json

        return canonical(json.loads(text))
