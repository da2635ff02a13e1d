"""Rows to bytes, once: the same pass gives a row's journal line and its Arrow cells.

A run writes every row twice, as a line that survives a crash and as a row of the finished Dataset. Encoding each JSON
value once for both halves the cost of a rollout that does little else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
from datasets import Features

from whileai_hf.rows.canonical import canonical, dumps, dumps_each
from whileai_hf.rows.columns import encode_column, is_json, is_json_list, json_array, json_list_array


Cells = list[Any]
_NULL = b"null"


class RowEncoder:
    """
    Encodes row dicts under fixed features.

    Args:
        features (`datasets.Features`):
            The columns. Keys of a row that are not among them are dropped.
        constant (`dict`, *optional*):
            Columns that are the same on every row: encoded here, once.
        late (`Sequence[str]`, *optional*):
            Plain columns whose values are known only after the row has been written down: [`complete`] adds them.
    """

    def __init__(self, features: Features, constant: dict[str, Any] | None = None, late: Sequence[str] = ()) -> None:
        self.features = features
        names = list(features)
        self._late = [names.index(name) for name in late]
        self._late_names = tuple(late)
        constant = constant or {}
        self._blank: Cells = [None] * len(features)
        self._plain: list[tuple[int, str]] = []
        self._json: list[tuple[int, str, bytes, bool]] = []
        head: list[bytes] = []
        for index, (name, feature) in enumerate(features.items()):
            key = orjson.dumps(name) + b":"
            nested = is_json(feature) or is_json_list(feature)
            if name in constant:
                cell, text = _encode_json(constant[name], is_json_list(feature)) if nested else _encode(constant[name])
                self._blank[index] = cell
                head.append(key + text)
            elif nested:
                self._json.append((index, name, b"," + key, is_json_list(feature)))
            elif name not in self._late_names:
                self._plain.append((index, name))
        self._head = b"{" + b"".join(part + b"," for part in head)

    def encode(self, row: dict[str, Any]) -> tuple[Cells, bytes]:
        """
        Encodes one row.

        Args:
            row (`dict`):
                Values of the columns that are not constant; absent ones are `None`.

        Returns:
            `tuple[list, bytes]`: The Arrow cells in column order, and the JSON line.
        """
        cells = self._blank.copy()
        plain = {name: row.get(name) for _, name in self._plain}
        try:
            text = orjson.dumps(plain)
        except TypeError:  # a lone surrogate, a number beyond 64 bit
            plain = canonical(plain)
            text = orjson.dumps(plain)
        for index, name in self._plain:
            cells[index] = plain[name]
        parts = [self._head, text[1:-1]]
        for index, name, key, is_list in self._json:
            value = row.get(name)
            if value is None:
                parts += (key, _NULL)
            else:
                cells[index], text = _encode_json(value, is_list)
                parts += (key, text)
        parts.append(b"}")
        return cells, b"".join(parts)

    def complete(self, cells: Cells, line: bytes, values: Sequence[Any]) -> tuple[Cells, bytes]:
        """
        Adds the late columns to an encoded row.

        Args:
            cells (`list`):
                The row's cells; changed in place.
            line (`bytes`):
                Its JSON line.
            values (`Sequence`):
                JSON values of the late columns, in their order.

        Returns:
            `tuple[list, bytes]`: The cells, and the whole line.
        """
        for index, value in zip(self._late, values, strict=True):
            cells[index] = value
        if not self._late:
            return cells, line
        tail = orjson.dumps(dict(zip(self._late_names, values, strict=True)))
        return cells, line[:-1] + b"," + tail[1:]

    def table(self, rows: Sequence[Cells]) -> pa.Table:
        """The Arrow table of encoded rows."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.features)
        arrays = []
        for (name, feature), cells in zip(self.features.items(), columns, strict=True):
            if is_json(feature):
                arrays.append(json_array(cells))
            elif is_json_list(feature):
                arrays.append(json_list_array(cells))
            else:
                arrays.append(encode_column(cells, self.features[name]))
        return pa.table(arrays, names=list(self.features))


def _encode(value: Any) -> tuple[Any, bytes]:
    value = canonical(value)
    return value, orjson.dumps(value)


def _encode_json(value: Any, is_list: bool) -> tuple[Any, bytes]:
    if value is None:
        return None, _NULL
    if not is_list:
        text = dumps(value)
        return text, text
    items = dumps_each(value)
    return items, b"[" + b",".join(items) + b"]"
