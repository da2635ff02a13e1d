"""The rows of a Dataset as Arrow tables of some megabytes, whatever its size and after any `select`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from datasets import Dataset


# Bytes in one piece unless said otherwise, and rows at most.
BYTES, _ROWS = 16 << 20, 4096
# Rows that lie further apart than this many times their number are gathered one by one.
_SPREAD = 16


@contextmanager
def lean() -> Iterator[None]:
    """
    The block with memory from the system, which gets back what is no longer used.

    Arrow's own allocator keeps it for later: after half a million rows that is more than is in use.
    """
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def give_back() -> None:
    """Hands back what nobody uses at the moment, as after a step that went through all rows."""
    pa.default_memory_pool().release_unused()


def batches(dataset: Dataset, most: int = BYTES) -> Iterator[pa.Table]:
    """
    The rows in order, in pieces.

    Args:
        dataset (`datasets.Dataset`):
            Any Dataset, whatever its format.
        most (`int`, *optional*, defaults to 16 MiB):
            Bytes in one piece, as far as rows are of one size.

    Returns:
        `Iterator[pyarrow.Table]`: Tables with the columns of the Dataset.
    """
    data = dataset.data
    table = data.table
    size = max(1, min(_ROWS, most * max(table.num_rows, 1) // max(table.nbytes, 1)))
    if dataset._indices is None:
        for start in range(0, table.num_rows, size):
            yield data.fast_slice(start, min(size, table.num_rows - start))
        return
    rows = dataset._indices.column(0)
    for start in range(0, len(rows), size):
        wanted = rows.slice(start, size).to_numpy().astype(np.int64)
        first, last = int(wanted.min()), int(wanted.max())
        if last - first < _SPREAD * size:
            near = data.fast_slice(first, last - first + 1)
            yield near.combine_chunks().take(pa.array(wanted - first))
        else:
            yield data.fast_gather(wanted).combine_chunks()
