"""Which data a run trains on: the same rows are the same data set, wherever they were loaded from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import Dataset, IterableDataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps


# Rows hashed at a time: their Arrow buffers are copied once.
_BATCH = 1000
_LENGTH = 16  # hexadecimal digits


class _Hashed:
    """A file that only keeps the hash of what is written to it."""

    def __init__(self) -> None:
        self.hash = blake2b(digest_size=_LENGTH // 2)
        self.closed = False

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return len(data)

    def flush(self) -> None:
        return None

    def close(self) -> None:
        self.closed = True


def _rows_digest(dataset: Dataset) -> str:
    names = sorted(dataset.column_names)
    sink = _Hashed()
    plain = dataset.with_format("arrow").select_columns(names) if names else dataset.with_format("arrow")
    for table in plain.iter(batch_size=_BATCH):
        # Taking every row writes the buffers anew: those of a slice start wherever the rows before it ended.
        whole = table.combine_chunks().take(pa.array(range(table.num_rows))).replace_schema_metadata(None)
        with pa.ipc.new_stream(sink, whole.schema) as stream:
            stream.write_table(whole.combine_chunks())
    return sink.hash.hexdigest()


def dataset_identity(dataset: Any) -> str | None:
    """
    A short text that is equal for equal data sets.

    Args:
        dataset (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            The training data. Of a Dataset and of a list the rows count, of a path or repo id the name.

    Returns:
        `str`: The identity; `None` without a data set, and for a stream, whose rows nobody has seen.

    Examples:
    ```python
    >>> dataset_identity([{"prompt": "Hi"}]) == dataset_identity([{"prompt": "Hi"}])
    True
    >>> dataset_identity("my-org/refunds")
    'my-org/refunds'

    ```
    """
    if dataset is None:
        return None
    if isinstance(dataset, str | os.PathLike):
        path = Path(dataset).expanduser()
        return f"file:{path.resolve()}" if path.exists() else str(dataset)
    if isinstance(dataset, Dataset):
        return f"rows:{len(dataset)}:{_rows_digest(dataset)}"
    if isinstance(dataset, IterableDataset):
        return None
    if isinstance(dataset, Sequence):
        lines = blake2b(digest_size=_LENGTH // 2)
        for row in dataset:
            lines.update(dumps(row) + b"\n")
        return f"list:{len(dataset)}:{lines.hexdigest()}"
    raise ConfigurationError(
        f"dataset is a {type(dataset).__name__}; pass the training Dataset, a list of rows, a path or a repo id"
    )
