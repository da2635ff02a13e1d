"""Arrow arrays of JSON text, written without a Python object for each text.

Values go to text a block at a time, and Arrow takes the text as it lies: it is known to be UTF-8, and neither looked
through nor copied value by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from whileai_hf.rows.canonical import dumps_each


# Values that go to text in one call: enough to make the call cheap, few enough that the text stays in the cache.
_BLOCK = 1024
# What the offsets of a string array reach.
_MOST_BYTES = (1 << 31) - 1

_Offsets = np.ndarray[Any, np.dtype[np.int64]]


def _joined(values: Sequence[Any]) -> tuple[bytes, _Offsets]:
    """The JSON texts of values one behind the other, and where each begins; the last offset is where they end."""
    parts: list[bytes] = []
    lengths: list[int] = [0]
    for start in range(0, len(values), _BLOCK):
        texts = dumps_each(values[start : start + _BLOCK])
        lengths.extend(map(len, texts))
        parts.append(b"".join(texts))
    return b"".join(parts), np.cumsum(lengths, dtype=np.int64)


def _strings(data: bytes, offsets: _Offsets, present: np.ndarray[Any, np.dtype[np.bool_]] | None) -> pa.Array[Any]:
    if len(data) > _MOST_BYTES:
        raise pa.ArrowCapacityError(f"{len(data)} bytes of JSON do not fit one array; write the rows in parts")
    validity = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
    return pa.ExtensionArray.from_storage(pa.json_(), texts)


def json_cells(values: Sequence[Any]) -> pa.Array[Any]:
    """An `arrow.json` column of the canonical JSON text of each value, `None` for an absent cell."""
    given = [value for value in values if value is not None]
    data, offsets = _joined(given)
    if len(given) == len(values):
        return _strings(data, offsets, None)
    present = np.fromiter((value is not None for value in values), np.bool_, len(values))
    # An absent cell ends where the one before it ended.
    return _strings(data, offsets[np.append(0, np.cumsum(present))], present)


def json_lists(cells: Sequence[Sequence[Any] | None]) -> pa.Array[Any]:
    """
    A list-of-`arrow.json` column; each cell is a sequence of values, or `None`.

    Raises:
        [`TypeError`]: A cell is no sequence of values: a number, text, an object.
        [`pyarrow.ArrowCapacityError`]: The text is more than one array holds.
    """
    for kind in set(map(type, cells)):
        if issubclass(kind, str | bytes | Mapping):
            raise TypeError(f"a cell is a {kind.__name__}, not a list")
    given = [cell for cell in cells if cell is not None]
    data, offsets = _joined(list(chain.from_iterable(given)))
    texts = _strings(data, offsets, None)
    lengths = [0, *(0 if cell is None else len(cell) for cell in cells)]
    mask = None if len(given) == len(cells) else pa.array([cell is None for cell in cells])
    return pa.ListArray.from_arrays(pa.array(np.cumsum(lengths), pa.int32()), texts, mask=mask)


def json_shared(values: Sequence[Any]) -> pa.Array[Any]:
    """[`json_cells`] of a column in which many cells are one and the same object: each object is written once."""
    places: dict[int, int] = {}
    which = [places.setdefault(id(value), len(places)) for value in values]
    if len(places) == len(values):
        return json_cells(values)
    objects = dict(zip(map(id, values), values, strict=True))
    return json_cells([objects[each] for each in places]).take(pa.array(which, pa.int64()))


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
