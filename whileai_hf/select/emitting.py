"""Selected rows as a Dataset: the columns they came with, those a selection adds, and nothing only a judge may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from datasets import Dataset, Json, Value

from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.rows import RowView, add_columns, scrub, select_rows, to_dataset
from whileai_hf.rows.columns import arrow_column, decode_column
from whileai_hf.rows.privileged import PRIVILEGED_KEYS


_FEATURES = {
    "calibration": Json(),
    "reward": Value("float64"),
    "reward_before_penalty": Value("float64"),
    "quality": Value("float64"),
    "n0": Value("int64"),
    "n1": Value("int64"),
    "reward_mean": Value("float64"),
    "reward_std": Value("float64"),
}
# What `rows.scrub` takes away; `vector` is a raw embedding.
HIDDEN = PRIVILEGED_KEYS | {"vector"}
# Rows whose text is looked through at a time.
_ROWS = 64
_NAMES = tuple(f'"{name}"'.encode() for name in sorted(HIDDEN))


def emit(view: RowView, rows: IntArray, columns: Mapping[str, ArrowColumn] | None = None) -> tuple[Dataset, list[str]]:
    """
    Some rows as a Dataset with columns added or replaced.

    Args:
        view (`RowView`):
            The rows given. They are not modified.
        rows (`np.ndarray`):
            Rows to keep, in order.
        columns (`Mapping[str, pyarrow.Array]`, *optional*):
            One value per kept row each.

    Returns:
        `tuple[Dataset, list[str]]`: The Dataset, and the columns left out or cleared because they held what only a
        judge may see. Of a Dataset only the new columns take memory: it is indexed, not copied.
    """
    new = dict(columns or {})
    source = view.source
    if not isinstance(source, Dataset):
        picked = select_rows(view, rows.tolist()) if rows.size else _empty(view)
        return _cleared(add_columns(picked, new, _FEATURES) if new else picked)
    place = rows if source._indices is None else source._indices.column(0).to_numpy()[rows].astype(np.int64)
    base = Dataset(source.data, info=source.info.copy(), split=source.split)
    # Position of every row among the kept; null for the others, whose new cells are then null.
    position = np.full(base.num_rows, -1, np.int64)
    position[place] = np.arange(place.size)
    spread = pa.array(position, mask=position < 0)
    arrays = {name: column.take(spread) for name, column in new.items()}
    return _cleared((add_columns(base, arrays, _FEATURES) if arrays else base).select(place.tolist()))


def _empty(view: RowView) -> Dataset:
    """No rows, but the columns of the rows given, typed by their first value."""
    first: dict[str, Any] = {}
    for row in view.rows():
        first.update((name, value) for name, value in row.items() if first.get(name) is None)
        if len(first) == len(view.columns) and None not in first.values():
            break
    return to_dataset([first]).select([])


def _cleared(dataset: Dataset) -> tuple[Dataset, list[str]]:
    whole = [name for name in dataset.column_names if name in HIDDEN]
    if whole:
        dataset = dataset.remove_columns(whole)
    inside = [name for name in dataset.column_names if _hides(arrow_column(dataset, name))]
    if inside:
        dataset = add_columns(dataset, {name: scrub(decode_column(arrow_column(dataset, name))) for name in inside})
    return dataset, [*whole, *inside]


def hidden_columns(view: RowView) -> list[str]:
    """
    Columns that hold what only a judge may see, at any depth.

    Args:
        view (`RowView`):
            The rows.
    """
    if isinstance(view.source, Dataset):
        dataset = view.source
        return [name for name in dataset.column_names if name in HIDDEN or _hides(arrow_column(dataset, name))]
    found = {name for name in view.columns if name in HIDDEN}
    given = view.rows()
    while rows := list(islice(given, _ROWS)):
        if _may_hold(rows):
            for row in rows:
                found.update(name for name, value in row.items() if name not in found and _holds(value))
    return [name for name in view.columns if name in found]


def _may_hold(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a hidden key stands anywhere in the text of some rows: quicker to look through than their values."""
    try:
        said = orjson.dumps(rows, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return True  # values JSON does not know: look at them one by one
    return any(name in said for name in _NAMES)


def _holds(value: Any) -> bool:
    """Whether a Python value has a hidden key somewhere."""
    if isinstance(value, dict):
        return not HIDDEN.isdisjoint(value) or any(map(_holds, value.values()))
    return isinstance(value, list | tuple) and any(map(_holds, value))


def _hides(column: pa.ChunkedArray) -> bool:
    """Whether JSON text, or a struct, of a column holds a hidden key."""
    if _struct_hides(column.type):
        return True
    return any(_mentions(_texts(chunk)) and any(map(_holds, decode_column(chunk))) for chunk in column.chunks)


def _texts(chunk: ArrowColumn) -> ArrowColumn | None:
    """The strings behind a column of JSON, `None` for others."""
    kind = chunk.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _texts(chunk.flatten())
    return chunk.storage if isinstance(kind, pa.JsonType) else None


def _mentions(texts: ArrowColumn | None) -> bool:
    """Whether a hidden key stands anywhere in some strings: looked for in all their bytes at once."""
    if texts is None or not len(texts):
        return False
    if not pa.types.is_string(texts.type):
        texts = texts.cast(pa.string())
    _, ends, data = texts.buffers()
    if data is None:
        return False
    offsets = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    said = memoryview(data)[int(offsets[0]) : int(offsets[-1])].tobytes()
    return any(name in said for name in _NAMES)


def _struct_hides(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        # JSON inside a struct is not looked through in bulk: such a column is read row by row.
        return any(
            field.name in HIDDEN or isinstance(field.type, pa.JsonType) or _struct_hides(field.type) for field in kind
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _struct_hides(kind.value_type)
    return False
