"""Arrow arrays of JSON text, written without a Python object for each text.

Values go to text a block at a time, and Arrow takes what lies between the marks: it is known to be UTF-8, and not
looked through. An object that many cells share, like the tools of one agent, is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whileai_hf.rows.canonical import MARK, dumps_marked


# Values that go to text in one call: enough to make the call cheap, few enough that the text stays in the cache.
_BLOCK = 4096
# What the offsets of a string array reach.
_MOST_BYTES = (1 << 31) - 1
# Cells from which it is told whether they share objects: those of an agent or of a group lie next to each other.
_PROBE = 64

_Offsets = np.ndarray[Any, np.dtype[np.int64]]


def _check_size(size: int) -> None:
    if size > _MOST_BYTES:
        raise pa.ArrowCapacityError(f"{size} bytes of JSON do not fit one array; write the rows in parts")


def _block(values: Sequence[Any]) -> pa.Array[Any]:
    """The JSON texts of some values, at least one."""
    text = dumps_marked(values)
    _check_size(len(text))
    marks = np.flatnonzero(np.frombuffer(text, np.uint8) == MARK[0])
    # Where the texts and what is between them begin, in turn; each ends where the next begins.
    bounds = np.empty(2 * len(values), np.int32)
    bounds[0], bounds[-1] = 1, len(text) - 1
    bounds[1:-1:2], bounds[2:-1:2] = marks - 1, marks + 2
    in_turn = pa.Array.from_buffers(pa.string(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(text)])
    return in_turn.take(pa.array(np.arange(0, len(bounds), 2)))


def _texts(values: Iterable[Any]) -> pa.Array[Any]:
    """The JSON texts of values, one behind the other."""
    left = iter(values)
    blocks = [_block(block) for block in iter(lambda: list(islice(left, _BLOCK)), [])]
    if not blocks:
        return pa.array([], pa.string())
    _check_size(sum(block.buffers()[2].size for block in blocks))
    return pa.concat_arrays(blocks)


def _distinct(cells: Sequence[Any]) -> tuple[Sequence[Any], pa.Array[Any] | None]:
    """The cells to be written, and which of them stands in each row; no answer when all do, in their order."""
    if type(cells) is not list:
        cells = list(cells)  # of what makes a cell anew whenever it is asked for it, ids tell nothing
    if type(None) not in set(map(type, cells)) and len(set(map(id, cells[:_PROBE]))) == len(cells[:_PROBE]):
        return cells, None
    places: dict[int, int] = {}
    which = [None if cell is None else places.setdefault(id(cell), len(places)) for cell in cells]
    given = {id(cell): cell for cell in cells if cell is not None}
    return list(given.values()), pa.array(which, pa.int64())


def _placed(written: pa.Array[Any], which: pa.Array[Any] | None, ends: _Offsets) -> pa.Array[Any]:
    """What was written once, in each row it stands in; `ends` is how many bytes there are up to each."""
    if which is None:
        return written
    _check_size(int(np.diff(ends)[which.drop_null()].sum()))
    return written.take(which)


def _ends(texts: pa.Array[Any]) -> _Offsets:
    return np.cumsum(np.append(0, pc.binary_length(texts)), dtype=np.int64)


def json_cells(values: Sequence[Any]) -> pa.Array[Any]:
    """An `arrow.json` column of the canonical JSON text of each value, `None` for an absent cell."""
    given, which = _distinct(values)
    texts = _texts(given)
    return pa.ExtensionArray.from_storage(pa.json_(), _placed(texts, which, _ends(texts)))


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
    given, which = _distinct(cells)
    texts = _texts(chain.from_iterable(given))
    begins = np.cumsum([0, *map(len, given)])
    items = pa.ExtensionArray.from_storage(pa.json_(), texts)
    lists = pa.ListArray.from_arrays(pa.array(begins, pa.int32()), items)
    return _placed(lists, which, _ends(texts)[begins])


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
