"""Numbers a schema accepts, of the size the parameter's name suggests."""

from __future__ import annotations

import math
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox.naming import word_set, words_of


_MONEY = word_set("amount price total cost fee balance refund budget salary value")
_COUNTS = word_set("count limit max quantity number size page results top lines total")
_IDS = word_set("id ids")
# What is drawn from without bounds, and the width of a half-open range that lies elsewhere.
_ANY_NUMBER = (1.0, 100.0)
_SPAN = 1000.0


def _bound(schema: dict[str, Any], inclusive: str, exclusive: str, sign: int) -> tuple[float | None, bool]:
    """The tighter of the two bounds on one side and whether the bound itself is excluded."""
    closed, opened = schema.get(inclusive), schema.get(exclusive)
    if isinstance(opened, bool) or opened is None:
        # Draft 4 wrote the exclusive bound as a boolean beside the bound.
        return closed, opened is True
    if closed is not None and sign * closed > sign * opened:
        return closed, False
    return opened, True


def _range(schema: dict[str, Any], usual: tuple[float, float]) -> tuple[float, float, bool, bool]:
    """The range to draw from and which of its ends are excluded."""
    low, open_low = _bound(schema, "minimum", "exclusiveMinimum", 1)
    high, open_high = _bound(schema, "maximum", "exclusiveMaximum", -1)
    if low is None and high is None:
        return usual[0], usual[1], False, False
    if low is None:
        assert high is not None
        low = usual[0] if high > usual[0] else high - _SPAN
    if high is None:
        high = usual[1] if low < usual[1] else low + _SPAN
    elif high - low > _SPAN and low <= usual[0] and usual[1] <= high:
        # A technical bound ("at most 999999") says nothing about size.
        low = usual[0] if low < usual[0] else low
        high, open_high = usual[1], open_high and high == usual[1]
    return low, high, open_low, open_high


def _usual(name: str, whole: bool) -> tuple[float, float]:
    words = frozenset(words_of(name))
    if words & _IDS:
        return 1000, 99999
    if "year" in words:
        return 2024, 2026
    if words & _MONEY and not (whole and "total" in words):
        return 5, 500
    return (1, 20) if words & _COUNTS else _ANY_NUMBER


def integer(schema: dict[str, Any], name: str, draws: Draws) -> int:
    """
    A whole number.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> integer({"exclusiveMinimum": 3, "maximum": 4.5}, "count", rng(0, "x"))
    4

    ```
    """
    low, high, open_low, open_high = _range(schema, _usual(name, whole=True))
    first = math.floor(low) + 1 if open_low else math.ceil(low)
    last = math.ceil(high) - 1 if open_high else math.floor(high)
    step = schema.get("multipleOf")
    if step:
        first, last = math.ceil(first / step), math.floor(last / step)
        return int(draws.integer(first, max(first, last)) * step)
    return draws.integer(first, max(first, last))


def number(schema: dict[str, Any], name: str, draws: Draws) -> float | int:
    """
    A number: money with cents, anything else whole where the bounds leave room.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> 0 < number({"exclusiveMinimum": 0, "maximum": 0.5}, "share", rng(0, "x")) <= 0.5
    True

    ```
    """
    low, high, open_low, open_high = _range(schema, _usual(name, whole=False))
    step = schema.get("multipleOf")
    if step:
        first, last = math.ceil(low / step) + open_low, math.floor(high / step) - open_high
        return float(draws.integer(first, max(first, last)) * step)
    money = bool(_MONEY.intersection(words_of(name)))
    if not money and math.floor(high) - open_high > math.ceil(low) + open_low:
        return integer(schema, name, draws)
    value = round(low + (high - low) * draws.random(), 2)
    if not (low <= value <= high) or (open_low and value == low) or (open_high and value == high):
        return low + (high - low) / 2
    return value
