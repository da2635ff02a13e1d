"""Rows of any origin, with the columns an export reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from datasets import Dataset, Features

from whileai_hf.rows import RowView, task_key
from whileai_hf.rows.features import known_features
from whileai_hf.rows.privileged import scrub_text
from whileai_hf.rows.view import Row
from whileai_hf.select.structs import is_filled, unfilled


# Columns that hold nested values, in which a struct type leaves the keys of one row on all.
_NESTED = ("messages", "prompt", "completion", "chosen", "rejected", "tools", "steps")


def filled_columns(features: Features, names: Iterable[str]) -> list[str]:
    """Those of some columns that hold a conversation or tools in a struct type."""
    return [name for name in names if name in _NESTED and name in features and is_filled(features[name])]


def read_rows(view: RowView, columns: Sequence[str]) -> Iterator[Row]:
    """
    The rows with some of their columns.

    Struct columns of a foreign Dataset give every row the keys of all rows, filled with `None`; those are taken out.
    A `null` that was written, such as the `default` of a parameter, is stored as that filling is and goes with it.
    """
    if not isinstance(view.source, Dataset):
        yield from view.rows()  # they are there; a copy of some columns costs more than it saves
        return
    names = [name for name in columns if view.has(name)]
    features = view.source.features
    filled = filled_columns(features, names)
    for row in view.rows(names):
        yield {**row, **{name: unfilled(row[name], features[name]) for name in filled}} if filled else row


class LateColumn:
    """
    A column that is decoded when its first cell is asked for.

    Args:
        view (`RowView`):
            The rows.
        name (`str`):
            The column; every cell of one that is not there is `None`.
    """

    def __init__(self, view: RowView, name: str) -> None:
        self._view, self._name = view, name
        self._cells: list[Any] | None = None

    def cell(self, index: int) -> Any:
        """The value in row `index`."""
        if not self._view.has(self._name):
            return None
        if self._cells is None:
            self._cells = [row.get(self._name) for row in read_rows(self._view, (self._name,))]
        return self._cells[index]


def foreign_columns(view: RowView) -> list[str]:
    """Columns that are not part of the row schema: those of the user's own tasks."""
    known = known_features()
    return [name for name in view.columns if name not in known and name != "task_id"]


def text_or_none(value: Any) -> str | None:
    """An identifier as text."""
    return value if value is None or type(value) is str else str(value)


def task_text(row: Row, ask: str) -> str:
    """[`task_key`] as text, the `ask` for a row that names neither task nor prompt."""
    key = row.get("scenario_id")
    if type(key) is not str:  # rows of a run have one
        key = task_key(row)
    return scrub_text(ask if key == "" or not isinstance(key, str | int) else str(key))
