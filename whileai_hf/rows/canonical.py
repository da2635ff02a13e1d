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

import numpy as np
import orjson


# What datasets' JSON encoder keeps of a float.
_DECIMALS = 10
# An IEEE double holds 15 significant decimal digits whatever the value; the 16th is where parsers disagree.
_SIGNIFICANT = "%.15g"
# From here on datasets' encoder switches to an exponent with 9 significant digits.
_HUGE = 1e16
_SIGNIFICANT_HUGE = "%.9g"
# Stands between values written together: a byte that JSON text never holds, an item of the array itself.
MARK = b"\x00"
_MARK = orjson.Fragment(MARK)
_BETWEEN = b"," + MARK + b","
_INT64_MIN, _UINT64_MAX = -(1 << 63), (1 << 64) - 1

# Numbers that may not be canonical yet are long, have an exponent, or are zero below zero. Looking for them would be
# most of the cost of writing text, so it is done on a picture of it: each digit and dot as 0, each e as E, what stands
# before a number as a colon, all but the minus sign blank. A hit inside a string costs time and nothing else.
_DRAWN = dict.fromkeys(b"0123456789.", "0") | dict.fromkeys(b"eE", "E") | dict.fromkeys(b":,[", ":") | {ord("-"): "-"}
_PICTURE = "".join(_DRAWN.get(c, " ") for c in range(256)).encode()
_LONG_NUMBER, _EXPONENT, _NEGATIVE_ZERO = b"0" * 10, b"0E", b"-0.0"
# Bytes from which on a look at all of them at once pays.
_LONG_TEXT = 4096
_SUSPECT = re.compile(rb":-?(?:0{10}|0+E)")


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
    return orjson.dumps(canonical(value)) if _suspicious(b":" + text) else text


def _suspicious(text: bytes) -> bool:
    """Whether JSON text that starts with a bracket, a comma or a colon may hold a number that is not canonical."""
    if _NEGATIVE_ZERO in text:
        return True
    picture = text.translate(_PICTURE)
    # Plain substrings first: the pattern is slow, and nearly no text has either.
    return (_LONG_NUMBER in picture or _EXPONENT in picture) and _SUSPECT.search(picture) is not None


def _may_be_suspicious(text: bytes) -> bool:
    """A quicker look at a long text for the same numbers, inside strings too."""
    if _NEGATIVE_ZERO in text:
        return True
    codes = np.frombuffer(text, np.uint8)
    digits = codes - ord(".") < 12  # a dot, a slash, a digit; what lies below wraps around to above
    run = digits[1:] & digits[:-1]
    for length in (2, 4, 2):  # of 2, of 4, of 8, of 10
        run = run[length:] & run[:-length]
    return bool(run.any() or (digits[:-1] & (codes[1:] == ord("e"))).any())


def dumps_marked(values: Sequence[Any]) -> bytes:
    """
    [`dumps`] of every value as one array with a [`MARK`] between each two, in one call and checked together: a call
    costs several times what a short text does.

    Examples:
    ```python
    >>> dumps_marked([{"a": 1}, None])
    b'[{"a":1},\\x00,null]'

    ```
    """
    marked = [_MARK] * max(2 * len(values) - 1, 0)
    marked[::2] = values
    try:
        text = orjson.dumps(marked)
    except TypeError:
        return _marked([dumps(value) for value in values])
    if (len(text) > _LONG_TEXT and not _may_be_suspicious(text)) or not _suspicious(text):
        return text
    texts = zip(values, text[1:-1].split(_BETWEEN), strict=True)
    return _marked([dumps(value) if _suspicious(b":" + text) else text for value, text in texts])


def _marked(texts: Sequence[bytes]) -> bytes:
    return b"[" + _BETWEEN.join(texts) + b"]"


def dumps_each(values: Sequence[Any]) -> list[bytes]:
    """
    [`dumps`] of every value, by way of [`dumps_marked`].

    Examples:
    ```python
    >>> dumps_each([{"a": 1}, None])
    [b'{"a":1}', b'null']

    ```
    """
    return dumps_marked(values)[1:-1].split(_BETWEEN) if values else []


def loads(text: bytes | str) -> Any:
    """JSON text to Python; an integer beyond 64 bit comes back as a string, as it does from a Dataset."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # NaN and Infinity tokens, which Python and many exporters write, and which mean "not a number".
        import json

        return canonical(json.loads(text))
