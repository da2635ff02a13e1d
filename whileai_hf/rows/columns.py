"""The one place that reads and writes JSON text in Arrow columns.

Decoding a row through `datasets` costs 300-470 us, reading the raw text and parsing it with orjson about a tenth of
that, and most stages need only one or two columns. So columns are built from JSON text, read as JSON text, and parsed
here and nowhere else.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset, DatasetInfo, Features, Json, List, Value
from datasets.fingerprint import generate_random_fingerprint

from whileai_hf.errors import DataError
from whileai_hf.rows.canonical import canonical, dumps_cells, dumps_each, loads
from whileai_hf.rows.features import known_features


Feature = Any  # datasets has no common base class for its feature types

# Rows per batch when a Dataset is read row by row: keeps the decoded part of a large Dataset to a few megabytes.
READ_BATCH = 1000


@contextmanager
def _no_collection() -> Iterator[None]:
    """JSON values have no cycles, yet the collector would look for some all the time: half of the cost."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def json_array(texts: Sequence[bytes | str | None]) -> pa.Array:
    """An `arrow.json` column from JSON texts (`None` for an absent cell)."""
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts, pa.string()))


def json_list_array(cells: Sequence[Sequence[bytes | str] | None]) -> pa.Array:
    """A list-of-`arrow.json` column; each cell is a sequence of JSON texts, or `None`."""
    offsets: list[int | None] = []
    flat: list[bytes | str] = []
    for cell in cells:
        offsets.append(None if cell is None else len(flat))
        if cell is not None:
            flat.extend(cell)
    offsets.append(len(flat))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), json_array(flat))


def is_json(feature: Feature) -> bool:
    return isinstance(feature, Json)


def is_json_list(feature: Feature) -> bool:
    return isinstance(feature, List) and isinstance(feature.feature, Json)


def _finite(value: Any) -> Any:
    """NaN and infinities are absent numbers; every other float of a typed column is kept to the last bit."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A column of text or numbers; its values are looked at one by one only where Arrow does not take them so."""
    try:
        array = pa.array(values, kind, from_pandas=True)  # NaN is no value
        if not pa.types.is_floating(kind) or not pc.any(pc.is_inf(array)).as_py():
            return array
    except UnicodeEncodeError:  # a lone surrogate
        pass
    return pa.array([canonical(v) if isinstance(v, str) else _finite(v) for v in values], kind)


def encode_column(values: Sequence[Any], feature: Feature) -> pa.Array:
    """
    Python values to an Arrow array of the given feature.

    Args:
        values (`Sequence[Any]`):
            One value per row.
        feature (`datasets` feature):
            `Json()`, `List(Json())` or any other feature.

    Returns:
        `pyarrow.Array`: Json cells hold canonical JSON text.
    """
    if is_json(feature):
        return json_array(dumps_cells(values))
    if is_json_list(feature):
        return json_list_array([None if cell is None else dumps_each(cell) for cell in values])
    if isinstance(feature, Value):
        return _plain_array(values, feature.pa_type)
    return pa.array(values, Features({"x": feature}).arrow_schema.field("x").type)


def _texts(array: pa.Array) -> list[str | None] | None:
    """The JSON text of each cell, `None` for a column that holds no JSON."""
    kind = array.type
    if isinstance(kind, pa.JsonType):
        return array.storage.to_pylist()  # type: ignore[no-any-return]
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and isinstance(kind.value_type, pa.JsonType):
        # One text per cell, not per element: parsing is quicker when it is not called for every message.
        cells = array.cast(pa.list_(pa.string())).to_pylist()
        return [None if cell is None else "[" + ",".join(cell) + "]" for cell in cells]
    return None


def _parse_all(texts: list[str | None], share: bool) -> list[Any]:
    """Parses a run of cells; with `share`, equal neighbours (the tools of one agent) are parsed once."""
    out: list[Any] = []
    last_text: str | None = None
    last: Any = None
    for text in texts:
        if text is None:
            out.append(None)
        elif share and text == last_text:
            out.append(last)
        else:
            last_text, last = text, loads(text)
            out.append(last)
    return out


def decode_column(column: pa.Array | pa.ChunkedArray, share: bool = True) -> list[Any]:
    """
    An Arrow column as Python values, JSON cells parsed.

    Args:
        column (`pyarrow.Array` or `pyarrow.ChunkedArray`):
            The column.
        share (`bool`, *optional*, defaults to `True`):
            Let cells with equal text next to each other be one object. For readers that change nothing.

    Returns:
        `list`: One value per row.
    """
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in decode_column(chunk, share)]
    texts = _texts(column)
    return list(column.to_pylist()) if texts is None else _parse_all(texts, share)


def decode_table(
    table: pa.Table, columns: Sequence[str] | None = None, share: bool = True
) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow table as dicts, [`READ_BATCH`] at a time; `share` as in [`decode_column`]."""
    names = list(table.column_names if columns is None else columns)
    for start in range(0, table.num_rows, READ_BATCH):
        batch = table.slice(start, READ_BATCH)
        with _no_collection():
            decoded = [decode_column(batch.column(name), share) for name in names]
        for values in zip(*decoded, strict=True):
            yield dict(zip(names, values, strict=True))


def arrow_table(dataset: Dataset) -> pa.Table:
    """The rows of a Dataset as raw Arrow, whatever its format and after any `select` or `shuffle`."""
    table = dataset.data.table
    if dataset._indices is None:
        return table
    # Taking rows through datasets gives a chunk for each of them, over which everything later is slow.
    return table.take(dataset._indices.column(0))


def arrow_column(dataset: Dataset, name: str) -> pa.ChunkedArray:
    """One column of a Dataset as raw Arrow."""
    column = dataset.data.table.column(name)
    return column if dataset._indices is None else column.take(dataset._indices.column(0))


def dataset_from_table(table: pa.Table, features: Features, description: str = "") -> Dataset:
    """A Dataset over an Arrow table that already has the storage types of `features`."""
    return Dataset(
        table.replace_schema_metadata(None),
        info=DatasetInfo(features=features, description=description),
        # A table in memory has no cache to find again; hashing it would cost as much as building it.
        fingerprint=generate_random_fingerprint(),
    )


def infer_feature(values: Sequence[Any]) -> Feature:
    """
    The feature of a column nobody declared: plain Arrow types where Arrow agrees on one, `Json` for nested values.

    Args:
        values (`Sequence[Any]`):
            All values of the column.

    Returns:
        `datasets` feature: `Value(...)`, `List(Value(...))`, `List(Json())` or `Json()`. A column that mixes numbers
        and text becomes strings.
    """
    present = [value for value in values if value is not None]
    if any(isinstance(value, dict) for value in present):
        return Json()
    if any(isinstance(value, list | tuple) for value in present):
        if not all(isinstance(value, list | tuple) for value in present):
            return Json()
        items = [item for value in present for item in value]
        inner = infer_feature(items)
        return List(inner) if isinstance(inner, Value) else List(Json())
    if all(isinstance(value, str) for value in present):
        return Value("string")
    if all(isinstance(value, bool) for value in present):
        return Value("bool")
    if all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        fits = all(-(1 << 63) <= value < (1 << 63) for value in present)
        return Value("int64") if fits else Value("string")
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return Value("float64")
    return Value("string")


def _as_declared(values: Sequence[Any], feature: Feature) -> Sequence[Any]:
    """Values of a mixed column as text, since the column was inferred to be one of strings."""
    if isinstance(feature, Value) and feature.dtype == "string":
        return [value if value is None or isinstance(value, str) else str(value) for value in values]
    return values


def to_dataset(rows: Sequence[dict[str, Any]], features: Features | None = None) -> Dataset:
    """
    Row dicts to a Dataset: known columns get their declared type, foreign ones are kept with an inferred type.

    Args:
        rows (`Sequence[dict]`):
            Row dicts; keys may differ from row to row.
        features (`datasets.Features`, *optional*):
            Columns that must exist, in this order, even when no row has them.

    Returns:
        `datasets.Dataset`: One row per dict, cells in canonical form.
    """
    declared = features or Features({})
    names = dict.fromkeys(declared)
    for row in rows:
        names.update(dict.fromkeys(row))
    known = {**known_features(), **declared}
    final: dict[str, Feature] = {}
    arrays: dict[str, pa.Array] = {}
    with _no_collection():
        for name in names:
            values = [row.get(name) for row in rows]
            final[name], arrays[name] = _encode_foreign(name, values, known.get(name))
    return dataset_from_table(pa.table(arrays), Features(final))


def _encode_foreign(name: str, values: Sequence[Any], declared: Feature | None) -> tuple[Feature, pa.Array]:
    """Encodes with the declared feature, or an inferred one where the values do not fit (a foreign `tools` string)."""
    if declared is not None:
        try:
            return declared, encode_column(values, declared)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
            pass  # somebody else's column of the same name: infer instead
    feature = infer_feature(values)
    try:
        return feature, encode_column(_as_declared(values, feature), feature)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise DataError(f"column {name!r} cannot be stored in a Dataset: {error}") from error


def replace_columns(table: pa.Table, columns: Mapping[str, pa.Array[Any]]) -> pa.Table:
    """A table with columns put in the place of those of the same name, or behind the others."""
    for name, array in columns.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, array)
        else:
            table = table.append_column(name, array)
    return table


def add_columns(dataset: Dataset, columns: dict[str, Any], features: dict[str, Feature] | None = None) -> Dataset:
    """
    A Dataset with columns added or replaced.

    Args:
        dataset (`datasets.Dataset`):
            Any Dataset; its `info.description` (the run report) is kept.
        columns (`dict[str, Sequence | pyarrow.Array]`):
            One value per row each; lists are encoded, Arrow arrays taken as they are.
        features (`dict`, *optional*):
            Feature of each new column; a known column keeps its declared type, others are inferred.

    Returns:
        `datasets.Dataset`: A new Dataset over the same memory for the untouched columns.
    """
    table = arrow_table(dataset)
    final = dict(dataset.features)
    known = {**known_features(), **(features or {})}
    for name, values in columns.items():
        if isinstance(values, pa.Array | pa.ChunkedArray):
            feature, array = (
                known.get(name) or Features.from_arrow_schema(pa.schema({name: values.type}))[name],
                values,
            )
        else:
            feature, array = _encode_foreign(name, values, known.get(name))
        if len(array) != table.num_rows:
            raise DataError(f"column {name!r} has {len(array)} values for {table.num_rows} rows; give one per row")
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, array)
        else:
            table = table.append_column(name, array)
        final[name] = feature
    return dataset_from_table(table, Features(final), dataset.info.description)
