"""Selected rows as a Dataset: the columns they came with, those a selection adds, and nothing only a judge may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from datasets import Dataset, Json, Value

from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.rows import RowView, add_columns, select_rows, to_dataset
from whileai_hf.rows.columns import arrow_column, decode_column
from whileai_hf.rows.privileged import HIDDEN_KEYS, PRIVILEGED_KEYS, may_hide
from whileai_hf.rows.scrubbing import scrub_cell
from whileai_hf.select.structs import is_filled, unfilled


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
# Rows whose text is looked through at a time.
_ROWS = 64
# A key as JSON writes it; in JSON text that is a string of JSON, its quotes are escaped.
_NAMES = (b'"vector"', *(f"{name}{end}".encode() for name in sorted(PRIVILEGED_KEYS) for end in ('"', "\\")))


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
    whole = [name for name in dataset.column_names if name in HIDDEN_KEYS]
    if whole:
        dataset = dataset.remove_columns(whole)
    inside = [name for name in dataset.column_names if _hides(dataset, name)]
    if inside:
        dataset = add_columns(
            dataset,
            {name: [scrub_cell(name, cell) for cell in _decoded(dataset, name)] for name in inside},
            {name: dataset.features[name] for name in inside if not is_filled(dataset.features[name])},
        )
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
        return [name for name in dataset.column_names if name in HIDDEN_KEYS or _hides(dataset, name)]
    found = {name for name in view.columns if name in HIDDEN_KEYS}
    given = view.rows()
    while rows := list(islice(given, _ROWS)):
        if _may_hold(rows):
            for row in rows:
                found.update(name for name, value in row.items() if name not in found and _holds(name, value))
    return [name for name in view.columns if name in found]


def _may_hold(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a hidden key stands anywhere in the text of some rows: quicker to look through than their values."""
    try:
        said = orjson.dumps(rows, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return True  # values JSON does not know: look at them one by one
    return any(name in said for name in _NAMES)


def _holds(name: str, cell: Any) -> bool:
    """Whether a cell holds what only a judge may see."""
    if isinstance(cell, str) and not may_hide(cell):
        return False
    return not _same(scrub_cell(name, cell), cell)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, for which a tuple is a list."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other or bool(one == other) or (one != one and other != other)


def _decoded(dataset: Dataset, name: str) -> list[Any]:
    """A column as Python values, of a struct without what its type filled in."""
    cells, feature = decode_column(arrow_column(dataset, name)), dataset.features[name]
    return [unfilled(cell, feature) for cell in cells] if is_filled(feature) else cells


def _hides(dataset: Dataset, name: str) -> bool:
    """Whether a column holds a hidden key, in its type or in its text."""
    column = arrow_column(dataset, name)
    if not _names_hidden(column.type) and not any(map(_mentions, chain.from_iterable(map(_texts, column.chunks)))):
        return False
    return any(_holds(name, cell) for cell in _decoded(dataset, name))


def _texts(chunk: ArrowColumn) -> Iterator[ArrowColumn]:
    """All strings of a column, whatever they are inside of."""
    kind = chunk.type
    if isinstance(kind, pa.JsonType):
        yield chunk.storage
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield chunk
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _texts(chunk.flatten())
    elif pa.types.is_struct(kind):
        yield from chain.from_iterable(map(_texts, chunk.flatten()))


def _mentions(texts: ArrowColumn) -> bool:
    """Whether a hidden key stands anywhere in some strings: looked for in all their bytes at once."""
    if not len(texts):
        return False
    if not pa.types.is_string(texts.type):
        texts = texts.cast(pa.string())
    _, ends, data = texts.buffers()
    if data is None:
        return False
    offsets = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    said = memoryview(data)[int(offsets[0]) : int(offsets[-1])].tobytes()
    return any(name in said for name in _NAMES)


def _names_hidden(kind: pa.DataType) -> bool:
    """Whether a struct in a type has a hidden key."""
    if pa.types.is_struct(kind):
        return any(field.name in HIDDEN_KEYS or _names_hidden(field.type) for field in kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _names_hidden(kind.value_type)
    return False
