"""Keeping what only a judge may see off the rows this room returns.

The columns go as a whole. Foreign rows may carry the same keys deep inside their JSON cells; a look at the raw text
finds those, and only a column that has them is decoded. Arrow structs are not searched.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from datasets import Dataset

from whileai_hf.rows import add_columns, scrub
from whileai_hf.rows.columns import arrow_column, decode_column, encode_column, is_json, is_json_list
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS


# How such a key looks in JSON text. A text that only says so costs a decode and nothing else.
_KEYS = tuple(f'"{name}"'.encode() for name in PRIVILEGED_COLUMNS)
# Bytes of text searched at a time: a copy of them is made.
_WINDOW = 1 << 24
# What the end of a window has to be searched again with.
_OVERLAP = max(map(len, _KEYS))


def _mentions(column: pa.ChunkedArray[Any]) -> bool:
    """Whether a key occurs in the text of a column, looked for in the bytes as they lie, other rows' included."""
    for chunk in column.chunks:
        texts = chunk.storage if isinstance(chunk.type, pa.JsonType) else chunk.values.storage
        data = texts.buffers()[2]
        for start in range(0, data.size if data is not None else 0, _WINDOW):
            window = data[start : start + _WINDOW + _OVERLAP].to_pybytes()
            if any(key in window for key in _KEYS):
                return True
    return False


def without_privileged(dataset: Dataset) -> Dataset:
    """
    The rows without the privileged columns, and without their keys inside JSON cells.

    Args:
        dataset (`datasets.Dataset`):
            Any rows.

    Returns:
        `datasets.Dataset`: `dataset` itself when there is nothing to take away.

    Examples:
    ```python
    >>> from whileai_hf.rows import open_rows
    >>> rows = open_rows([{"prompt": "x", "privileged": {}, "meta": {"privileged": 1, "n": 2}}])
    >>> without_privileged(rows)[0]
    {'prompt': 'x', 'meta': {'n': 2}}

    ```
    """
    named = [name for name in PRIVILEGED_COLUMNS if name in dataset.column_names]
    if named:
        dataset = dataset.remove_columns(named)
    # The whole table is searched, whatever is selected of it: taking the selection first would copy every column.
    table = dataset.data.table
    clean: dict[str, Any] = {}
    for name, feature in dataset.features.items():
        if (is_json(feature) or is_json_list(feature)) and _mentions(table.column(name)):
            values = decode_column(arrow_column(dataset, name))
            clean[name] = encode_column([scrub(value) for value in values], feature)
    features = {name: dataset.features[name] for name in clean}
    return add_columns(dataset, clean, features) if clean else dataset
