"""Columns as integer codes, so that grouping a million rows is numpy work and not a Python loop.

Arrow columns of strings or integers are dictionary-encoded where they lie; everything else goes through one dict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.rows import RowView, task_keys
from whileai_hf.rows.columns import arrow_column
from whileai_hf.rows.identity import hashable


IntArray = NDArray[np.int64]
ArrowColumn = Any  # pyarrow's stubs know neither dictionary chunks nor extension storage
# Rows read at a time from a list of dicts; below the 700 new objects after which CPython looks for garbage.
_FETCH = 256
# Where the identity of a task may stand, in order of preference (`rows.task_key`).
TASK_COLUMNS = ("scenario_id", "task_id", "prompt")


class FetchedView(RowView):
    """
    A view whose named columns are read once, and from Python rows in a single pass.

    A large list of dicts does not fit the processor's cache, so that every further pass over it costs as much as the
    first.

    Args:
        view (`RowView`):
            The rows.
        names (`Sequence[str]`):
            Columns that will be read; those no row has are ignored.
    """

    def __init__(self, view: RowView, names: Sequence[str]) -> None:
        self.source, self.columns = view.source, view.columns
        self._reads, self._whole = 0, None
        self._cells: dict[str, list[Any]] = {}
        if not isinstance(view.source, Dataset | pa.Table):
            self._cells = {name: [] for name in names if view.has(name)}
            self._fetch(view.source)

    def _fetch(self, rows: Sequence[Mapping[str, Any]]) -> None:
        names = list(self._cells)
        if not names:
            return
        getter = itemgetter(*names, names[0])  # one name more, so that a single name gives tuples, too
        # Few rows at a time: the tuples are gone before the garbage collector, which walks every row, counts them.
        for start in range(0, len(rows), _FETCH):
            part = rows[start : start + _FETCH]
            try:
                cells = list(map(getter, part))
            except KeyError:  # rows of several kinds
                cells = [(*map(row.get, names), None) for row in part]
            for name, column in zip(names, zip(*cells, strict=True), strict=False):
                self._cells[name].extend(column)

    def column(self, name: str, default: Any = None) -> list[Any]:
        """One column as Python values; see [`RowView.column`]."""
        return self._cells[name] if default is None and name in self._cells else super().column(name, default)


@dataclasses.dataclass(frozen=True)
class Codes:
    """`keys[index[i]]` is the value of row i; keys are distinct and in order of first appearance."""

    index: IntArray
    keys: list[Any]


def arrow_of(view: RowView, name: str) -> ArrowColumn | None:
    """The raw Arrow column behind a view, `None` for rows that are Python dicts or lack the column."""
    if not view.has(name):
        return None
    if isinstance(view.source, Dataset):
        return arrow_column(view.source, name)
    return view.source.column(name) if isinstance(view.source, pa.Table) else None


def _plain(column: ArrowColumn) -> bool:
    kind: pa.DataType = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))


def encode_values(values: Sequence[Any], name: str) -> Codes:
    """
    Codes of Python values.

    Args:
        values (`Sequence`):
            One hashable value per row; of the column `prompt` also lists of messages.
        name (`str`):
            Column they come from, for the error.

    Raises:
        [`DataError`]: A value cannot be compared (a list or a dict).
    """
    try:
        keys = list(dict.fromkeys(values))
    except TypeError as error:
        if name == "prompt":  # a conversational prompt is a list of messages
            return encode_values([hashable(value) for value in values], "")
        raise DataError(
            f"column {name!r} holds a value that cannot identify a row ({error}); use text or numbers"
        ) from error
    lookup = dict(zip(keys, range(len(keys)), strict=True))
    return Codes(np.fromiter(map(lookup.__getitem__, values), np.int64, len(values)), keys)


def encode_arrow(column: ArrowColumn) -> Codes:
    """Codes of an Arrow column of strings or integers; nulls share one code, the last."""
    encoded = column.dictionary_encode()  # all chunks come back with one dictionary
    if not encoded.num_chunks:
        return Codes(np.empty(0, np.int64), [])
    keys: list[Any] = encoded.chunk(encoded.num_chunks - 1).dictionary.to_pylist()
    parts = [chunk.indices.fill_null(len(keys)).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    if column.null_count:
        keys.append(None)
    return Codes(np.concatenate(parts).astype(np.int64), keys)


def column_codes(view: RowView, name: str) -> Codes:
    """Codes of one column; a column nobody has is one value, `None`."""
    if not view.has(name):
        return Codes(np.zeros(len(view), np.int64), [None])
    column = arrow_of(view, name)
    if column is not None and _plain(column):
        return encode_arrow(column)
    return encode_values(view.column(name), name)


def task_codes(view: RowView) -> Codes:
    """Codes of every row's task (`rows.task_key`)."""
    first = next((name for name in TASK_COLUMNS if view.has(name)), None)
    if first is None:
        have = ", ".join(view.columns) or "none"
        raise MissingColumnError(
            f"the rows have none of the columns {', '.join(TASK_COLUMNS)} (columns: {have}), so nothing says which "
            "rows belong to one task; name the task in one of them"
        )
    column = arrow_of(view, first)
    if column is not None and column.null_count == 0 and _plain(column):
        return encode_arrow(column)
    if column is None:
        cells = view.column(first)
        if set(map(type, cells)) == {str}:  # the usual case: no other column can matter
            return encode_values(cells, first)
    return encode_values(task_keys(view), first)


def combine(*parts: IntArray) -> IntArray:
    """
    One code per distinct combination, in order of first appearance.

    Args:
        *parts (`np.ndarray` of shape `(rows,)`):
            Codes of the same rows.

    Returns:
        `np.ndarray`: Codes from 0 on.

    Examples:
    ```python
    >>> import numpy as np
    >>> combine(np.array([4, 4, 1]), np.array([0, 1, 0])).tolist()
    [0, 1, 2]

    ```
    """
    joint = parts[0]
    for part in parts[1:]:
        if part.max(initial=0) == 0:
            continue  # one value throughout tells nothing apart
        # Renumbering in between keeps the product of two code ranges within 64 bit.
        joint = np.unique(joint, return_inverse=True)[1] * (int(part.max(initial=0)) + 1) + part
    _, first, inverse = np.unique(joint, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return rank[inverse]


def group_codes(view: RowView, tasks: Codes) -> IntArray:
    """Codes of every row's group: one prompt of one task."""
    return combine(tasks.index, column_codes(view, "prompt").index)
