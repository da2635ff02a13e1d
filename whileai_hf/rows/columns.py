"""The one place that reads JSON text in Arrow columns, and with `texts` the one that writes it.

Decoding a row through `datasets` costs 300-470 us, reading the raw text and parsing it with orjson about a tenth of
that, and most stages need only one or two columns. So columns are built from JSON text, read as JSON text, and parsed
here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset, DatasetInfo, Features, Json, List, Value
from datasets.fingerprint import generate_random_fingerprint

from whileai_hf.errors import DataError
from whileai_hf.rows.canonical import canonical, loads
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.features import known_features
from whileai_hf.rows.inference import as_declared
from whileai_hf.rows.inference import infer_feature as infer_feature
from whileai_hf.rows.lists import read_columns
from whileai_hf.rows.texts import json_array as json_array
from whileai_hf.rows.texts import json_cells, json_lists
from whileai_hf.rows.texts import json_list_array as json_list_array


Feature = Any  # datasets has no common base class for its feature types

# Rows per batch when a Dataset is read row by row: keeps the decoded part of a large Dataset to a few megabytes.
READ_BATCH = 1000
# Rows of JSON written into one array: its text has to fit 2 GB, and stays in memory twice while it is put together.
_JSON_ROWS = 8192
# What Arrow raises for values of another type or size than the column's.
_MISFIT = (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError)
# Characters of a cell that an error quotes.
_QUOTE = 60


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
        return json_cells(values)
    if is_json_list(feature):
        return json_lists(values)
    if isinstance(feature, Value):
        return _plain_array(values, feature.pa_type)
    kind = Features({"x": feature}).arrow_schema.field("x").type
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # a lone surrogate
        return pa.array(canonical(values), kind)


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


def _children(kind: pa.DataType) -> list[pa.DataType]:
    """The types of what a value of this type is made of."""
    if pa.types.is_struct(kind):
        return [kind.field(index).type for index in range(kind.num_fields)]
    nested = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return [kind.value_type] if nested else []


def _has_json(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.JsonType) or any(map(_has_json, _children(kind)))


def _parsed_within(value: Any, kind: pa.DataType) -> Any:
    """A value of a struct type with the JSON text inside it parsed, as `datasets` makes of mixed types in files."""
    if value is None or not _has_json(kind):
        return value
    if isinstance(kind, pa.JsonType):
        return loads(value)
    if isinstance(value, dict):
        return {name: _parsed_within(item, kind.field(name).type) for name, item in value.items()}
    return [_parsed_within(item, kind.value_type) for item in value]


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
    if texts is not None:
        return _parse_all(texts, share)
    cells = list(column.to_pylist())
    return [_parsed_within(cell, column.type) for cell in cells] if _has_json(column.type) else cells


def decode_table(
    table: pa.Table, columns: Sequence[str] | None = None, share: bool = True
) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow table as dicts, [`READ_BATCH`] at a time; `share` as in [`decode_column`]."""
    names = list(table.column_names if columns is None else columns)
    for start in range(0, table.num_rows, READ_BATCH):
        batch = table.slice(start, READ_BATCH)
        with no_collection():
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


def to_dataset(rows: Sequence[Mapping[str, Any]], features: Features | None = None) -> Dataset:
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
    known = {**known_features(), **declared}
    final: dict[str, Feature] = {}
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {}
    with no_collection():
        columns = read_columns(rows)
        for name in dict.fromkeys(chain(declared, columns)):
            values = columns.get(name) or [None] * len(rows)
            final[name], arrays[name] = _encode_foreign(name, values, known.get(name))
    return dataset_from_table(pa.table(arrays), Features(final))


def _encode(values: Sequence[Any], feature: Feature, most: int = _JSON_ROWS) -> pa.Array | pa.ChunkedArray:
    """[`encode_column`], JSON in runs of at most `most` rows and of as few as one array holds the text of."""
    if not (is_json(feature) or is_json_list(feature)):
        return encode_column(values, feature)
    if len(values) <= most:
        try:
            return encode_column(values, feature)
        except pa.ArrowCapacityError:
            if len(values) == 1:
                raise
            most = (len(values) + 1) // 2
    runs = [_encode(values[start : start + most], feature, most) for start in range(0, len(values), most)]
    parts = [run.chunks if isinstance(run, pa.ChunkedArray) else [run] for run in runs]
    return pa.chunked_array(list(chain.from_iterable(parts)))


def _encode_foreign(
    name: str, values: Sequence[Any], declared: Feature | None
) -> tuple[Feature, pa.Array | pa.ChunkedArray]:
    """Encodes with the declared feature, or an inferred one where the values do not fit (a foreign `tools` string)."""
    if declared is not None:
        try:
            return declared, _encode(values, declared)
        except _MISFIT:
            pass  # somebody else's column of the same name, or an int beyond 64 bit, which is text: infer instead
    feature = infer_feature(values)
    try:
        return feature, _encode(as_declared(values, feature), feature)
    except _MISFIT as error:
        raise DataError(
            f"column {name!r} cannot be stored in a Dataset: {_misfit(values, feature)}{error}; "
            "give its cells one type, such as text"
        ) from error


def _misfit(values: Sequence[Any], feature: Feature) -> str:
    """Which cell is the first that does not fit, in words; nothing where each does by itself."""
    for row, value in enumerate(values):
        try:
            encode_column([value], feature)
        except _MISFIT:
            text = repr(value)
            return f"row {row} holds {text if len(text) <= _QUOTE else text[:_QUOTE] + '...'}: "
    return ""


def replace_columns(table: pa.Table, columns: Mapping[str, pa.Array[Any]]) -> pa.Table:
    """A table with columns put in the place of those of the same name, or behind the others."""
    for name, array in columns.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, array)
        else:
            table = table.append_column(name, array)
    return table


@no_collection()
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
