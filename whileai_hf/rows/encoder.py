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

from whileai_hf.rows.canonical import canonical, dumps
from whileai_hf.rows.columns import encode_column, is_json, is_json_list, json_array, json_list_array


Cells = list[Any]

_JSON, _JSON_LIST, _PLAIN = range(3)


class RowEncoder:
    """
    Encodes row dicts under fixed features.

    Args:
        features (`datasets.Features`):
            The columns, in order. Keys of a row that are not among them are dropped.
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self._plan = [
            (name, orjson.dumps(name) + b":", _JSON if is_json(f) else _JSON_LIST if is_json_list(f) else _PLAIN)
            for name, f in features.items()
        ]

    def encode(self, row: dict[str, Any], raw: dict[str, tuple[Any, bytes]] | None = None) -> tuple[Cells, bytes]:
        """
        Encodes one row.

        Args:
            row (`dict`):
                Column values.
            raw (`dict[str, tuple]`, *optional*):
                Columns already encoded as `(cell, text)`, for values that are the same on every row.

        Returns:
            `tuple[list, bytes]`: The Arrow cells in column order, and the JSON line.
        """
        cells: Cells = []
        parts: list[bytes] = []
        raw = raw or {}
        for name, key, kind in self._plan:
            if name in raw:
                cell, text = raw[name]
            else:
                cell, text = _encode(row.get(name), kind)
            cells.append(cell)
            parts.append(key + text)
        return cells, b"{" + b",".join(parts) + b"}"

    def encode_cell(self, name: str, value: Any) -> tuple[Any, bytes]:
        """One column's `(cell, text)`, to be passed as `raw` for every row that shares the value."""
        kind = next(kind for column, _, kind in self._plan if column == name)
        return _encode(value, kind)

    def table(self, rows: Sequence[Cells]) -> pa.Table:
        """The Arrow table of encoded rows."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self._plan)
        arrays = []
        for (name, _, kind), cells in zip(self._plan, columns, strict=True):
            if kind == _JSON:
                arrays.append(json_array(cells))
            elif kind == _JSON_LIST:
                arrays.append(json_list_array(cells))
            else:
                arrays.append(encode_column(cells, self.features[name]))
        return pa.table(arrays, names=list(self.features))


def _encode(value: Any, kind: int) -> tuple[Any, bytes]:
    if value is None:
        return None, b"null"
    if kind == _JSON:
        text = dumps(value)
        return text, text
    if kind == _JSON_LIST:
        items = [dumps(item) for item in value]
        return items, b"[" + b",".join(items) + b"]"
    try:
        return value, orjson.dumps(value)
    except TypeError:
        value = canonical(value)
        return value, orjson.dumps(value)
