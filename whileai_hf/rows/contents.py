"""A hash of rows that does not depend on how they are cut into batches, shards or row groups.

Every level of every column is one stream of bytes (lengths, validity, values), hashed as it comes by; batches only
decide how much of a stream is fed at a time. Values count to the last bit, JSON as the text it is kept as.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


_ArrowArray = Any  # pyarrow has no types that can be read here

# Bytes of the digest: 128 bits, so that no two pushes meet by chance.
_SIZE = 16


class ContentDigest:
    """
    The digest of a table that comes in pieces.

    Examples:
    ```python
    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1, 2, None], "b": [["x"], [], ["y", "z"]]})
    >>> whole, pieces = ContentDigest(), ContentDigest()
    >>> whole.update(table)
    >>> for start in range(3):
    ...     pieces.update(table.slice(start, 1))
    >>> whole.hexdigest() == pieces.hexdigest()
    True

    ```
    """

    def __init__(self) -> None:
        self._streams: dict[str, Any] = {}
        self._rows = 0

    def update(self, table: pa.Table) -> None:
        """Adds the rows of a table; its columns are those of the tables before."""
        self._rows += table.num_rows
        for name, column in zip(table.column_names, table.columns, strict=True):
            for chunk in column.chunks:
                self._add(name, chunk)

    def hexdigest(self) -> str:
        """The digest of the rows so far, in their order."""
        total = hashlib.blake2b(digest_size=_SIZE)
        total.update(str(self._rows).encode())
        for path, stream in self._streams.items():
            total.update(path.encode("utf-8", "surrogatepass") + b"\0" + stream.digest())
        return total.hexdigest()

    def _feed(self, path: str, content: Any) -> None:
        if path not in self._streams:
            self._streams[path] = hashlib.blake2b(digest_size=_SIZE)
        self._streams[path].update(content)

    def _add(self, path: str, array: _ArrowArray) -> None:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array, kind = array.storage, array.storage.type
        if pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
            kind = array.type
        self._feed(f"{path}?", np.asarray(array.is_valid()).astype(np.uint8).tobytes())
        if pa.types.is_struct(kind):
            for field, child in zip(kind, array.flatten(), strict=True):
                self._add(f"{path}.{field.name}", child)
        elif _is_list(kind):
            lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
            self._feed(f"{path}[]", lengths.to_numpy().tobytes())
            self._add(f"{path}[]", array.flatten())
        elif not pa.types.is_null(kind):
            self._feed(f"{path}:{_name(kind)}", _values(array, kind))
            if _is_text(kind):
                lengths = pc.fill_null(pc.binary_length(_binary(array)), 0).cast(pa.int64())
                self._feed(f"{path}#", lengths.to_numpy().tobytes())


def _is_list(kind: _ArrowArray) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _is_text(kind: _ArrowArray) -> bool:
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_string_view,
        pa.types.is_binary_view,
    )
    return any(test(kind) for test in tests)


def _name(kind: _ArrowArray) -> str:
    """The type of values, the same for those that differ only in how Arrow lays them out."""
    if _is_text(kind):
        return "text" if "string" in str(kind) else "bytes"
    return str(kind)


def _binary(array: _ArrowArray) -> _ArrowArray:
    return array.cast(pa.binary() if array.type in (pa.string(), pa.binary()) else pa.large_binary())


def _values(array: _ArrowArray, kind: _ArrowArray) -> Any:
    """The bytes of the values one after another; nothing (text) or zeros (numbers) for those that are null."""
    if _is_text(kind):
        array = _binary(array)
        if array.null_count:
            array = pc.fill_null(array, b"")
        width = np.int64 if array.type == pa.large_binary() else np.int32
        _, ends, data = array.buffers()
        if data is None or not len(array):
            return b""
        offsets = np.frombuffer(ends, width)[array.offset : array.offset + len(array) + 1]
        return memoryview(data)[int(offsets[0]) : int(offsets[-1])]
    if pa.types.is_boolean(kind):
        return pc.fill_null(array, False).cast(pa.uint8()).to_numpy().tobytes()
    size, buffer = kind.bit_width // 8, array.buffers()[1]
    if buffer is None or not len(array):
        return b""
    cells = np.frombuffer(buffer, np.uint8)[array.offset * size : (array.offset + len(array)) * size]
    if not array.null_count:
        return cells.tobytes()
    valid = np.asarray(array.is_valid()).astype(bool)
    return np.where(valid[:, None], cells.reshape(-1, size), 0).astype(np.uint8).tobytes()


def digest_of(*parts: str) -> str:
    """One digest over several, in their order."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=_SIZE).hexdigest()
