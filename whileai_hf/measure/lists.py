"""Lists of dicts of which a few columns are read, once and in one pass.

What costs time in a long list is touching its rows: they do not fit the processor's cache. Everything a report needs
is therefore fetched together, and whatever else the rows hold is not looked at until somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import repeat
from operator import contains, itemgetter
from typing import Any

from whileai_hf.measure.passes.codes import FetchedView
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Source


# Rows read at a time; below the 700 new objects after which CPython looks for garbage.
_FETCH = 256


class ListView(RowView):
    """
    A view of a list of dicts with some columns fetched.

    Args:
        rows (`Sequence[dict]`):
            At least one row.
        names (`Sequence[str]`):
            Columns that will be read.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
        self.source = rows
        present = [name for name in names if name in rows[0]]
        absent = [name for name in names if name not in rows[0]]
        self._cells: dict[str, list[Any]] = {name: [] for name in present}
        self._absent: set[str] = set(absent)
        self._fetch(rows, present, absent)

    def _fetch(self, rows: Sequence[Mapping[str, Any]], present: list[str], absent: list[str]) -> None:
        # One name more than there are, so that a single one gives tuples, too.
        getter = itemgetter(*present, *present[:1]) if present else None
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            for name in absent:
                if name in self._absent and any(map(contains, part, repeat(name))):
                    self._absent.discard(name)  # rows of several kinds: read when asked for
            if getter is None:
                continue
            try:
                cells = list(map(getter, part))
            except KeyError:
                cells = [(*map(row.get, present), None) for row in part]
            for name, column in zip(present, zip(*cells, strict=True), strict=False):
                self._cells[name].extend(column)

    @cached_property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """All columns any row has."""
        return RowView(self.source).columns

    def has(self, name: str) -> bool:
        """Whether any row has the column."""
        return name in self._cells or (name not in self._absent and name in self.columns)

    def require(self, name: str, what_to_do: str) -> list[Any]:
        """The column, or an error that says what to do about it; see [`RowView.require`]."""
        return self.column(name) if self.has(name) else super().require(name, what_to_do)

    def column(self, name: str, default: Any = None) -> list[Any]:
        """One column as Python values; see [`RowView.column`]."""
        if default is None and name in self._cells:
            return self._cells[name]
        return [row.get(name, default) for row in self.source]


def fetch_columns(data: Source | RowView, names: Sequence[str]) -> RowView:
    """
    Rows in any form with the named columns at hand.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id or `RowView`):
            The rows.
        names (`Sequence[str]`):
            Columns that will be read; those no row has are ignored.

    Examples:
    ```python
    >>> fetch_columns([{"reward": 1, "other": 2}], ["reward"]).column("reward")
    [1]

    ```
    """
    if type(data) is list and data and set(map(type, data)) == {dict}:
        return ListView(data, list(dict.fromkeys(names)))
    rows = view(data)
    return FetchedView(rows, list(dict.fromkeys(names)))
