"""Numbers that came with rows, kept by name; most rows have those of their neighbours, so many are kept at once."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray


FloatArray = NDArray[np.float64]
NUMBERS = frozenset((bool, int, float))


def number_of(value: Any) -> float | None:
    """A value as a number, `None` for what is none: text, or an integer no double holds."""
    if type(value) not in NUMBERS:
        value = value.item() if isinstance(value, np.bool_ | np.number) else None
        if type(value) not in NUMBERS:
            return None
    try:
        return float(value)
    except OverflowError:
        return None


class _Pending:
    """Values of one name not yet looked at, with the positions of their rows."""

    __slots__ = ("at", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.at: list[int] = []


class Numbers:
    """
    Numbers by name, with the positions of the rows that have one.

    Values are added as they are and looked at when [`settle`] is called.
    """

    def __init__(self) -> None:
        self.pending: defaultdict[object, _Pending] = defaultdict(_Pending)
        self.kept: dict[object, tuple[array[float], array[int]]] = {}
        self.unread: dict[object, int] = {}

    def add(self, name: object, value: Any, at: int) -> None:
        """Takes the value of a row."""
        pending = self.pending[name]
        pending.values.append(value)
        pending.at.append(at)

    def settle(self) -> None:
        """Keeps the numbers among the values added; of the others, those that are not `None` are counted."""
        for name, pending in self.pending.items():
            values, at = _numbers(pending.values, pending.at)
            if unread := sum(value is not None for value in pending.values) - len(values):
                self.unread[name] = self.unread.get(name, 0) + unread
            if len(values):
                kept = self.kept.setdefault(name, (array("d"), array("q")))
                kept[0].frombytes(values.tobytes())
                kept[1].frombytes(np.asarray(at, np.int64).tobytes())
        self.pending.clear()

    def columns(self, n: int, prefix: str = "") -> Iterator[tuple[str, FloatArray]]:
        """Names in order, each with one number per row of `n`, `nan` where there is none."""
        # Sorted, so that the order of the features is not that in which rows happen to show them.
        for name, (values, at) in sorted(
            ((f"{prefix}{name}", kept) for name, kept in self.kept.items()), key=itemgetter(0)
        ):
            column = np.full(n, np.nan)
            column[np.frombuffer(at, np.int64)] = np.frombuffer(values, np.float64)
            yield name, column


def _numbers(values: list[Any], at: list[int]) -> tuple[FloatArray, list[int]]:
    if set(map(type, values)) <= NUMBERS:
        try:
            return np.array(values, np.float64), at
        except OverflowError:
            pass  # an integer no double holds: one by one
    found = [(number, place) for number, place in zip(map(number_of, values), at, strict=True) if number is not None]
    return np.array([number for number, _ in found], np.float64), [place for _, place in found]
