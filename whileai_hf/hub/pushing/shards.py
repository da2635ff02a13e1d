"""A split as Parquet files on disk, written piece by piece, with the digest of its rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset

from whileai_hf.errors import DataError
from whileai_hf.hub.pushing.batches import BYTES, batches
from whileai_hf.rows.contents import ContentDigest


@dataclasses.dataclass(frozen=True)
class Written:
    """
    A split that lies on disk.

    Args:
        files (`list[Path]`):
            Its Parquet files, in order.
        digest (`str`):
            Hash of its rows.
        rows (`int`):
            Number of its rows.
    """

    files: list[Path]
    digest: str
    rows: int

    def paths(self, config_name: str, split: str) -> list[str]:
        """Where the files go in the repo."""
        folder = "data" if config_name == "default" else config_name
        total = len(self.files)
        return [f"{folder}/{split}-{number:05d}-of-{total:05d}.parquet" for number in range(total)]


def write_split(dataset: Dataset, folder: Path, max_shard_size: int) -> Written:
    """
    Writes a split.

    Args:
        dataset (`datasets.Dataset`):
            Its rows.
        folder (`Path`):
            An empty folder.
        max_shard_size (`int`):
            Bytes of rows, in memory, after which a file ends.

    Raises:
        [`DataError`]: A column Parquet cannot hold.
    """
    schema = dataset.features.arrow_schema
    digest = ContentDigest()
    files: list[Path] = []
    rows = size = 0
    writer: pq.ParquetWriter | None = None
    try:
        for piece in batches(dataset, min(BYTES, max_shard_size)):
            table = piece.cast(schema)
            if writer is None or size >= max_shard_size:
                if writer is not None:
                    writer.close()
                files.append(folder / f"{len(files):05d}.parquet")
                writer, size = _open(files[-1], schema), 0
            digest.update(table)
            writer.write_table(table)
            rows += table.num_rows
            size += table.nbytes
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"the rows cannot be written as Parquet ({error}); leave that column out") from error
    finally:
        if writer is not None:
            writer.close()
    return Written(files, digest.hexdigest(), rows)


def _open(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # Chunks that follow the content: the Hub then keeps and sends only what changed since the push before.
    return pq.ParquetWriter(path, schema, compression="zstd", use_content_defined_chunking=True, write_page_index=True)
