"""Rows to disk as they land: a line in the journal first, then a batch in an Arrow file.

The journal is what survives a crash: rollouts in the order in which they came, each written once it has. The Arrow
file is what the finished Dataset maps into memory, so that a long run holds no more than one batch of rows. When the
run is over, the journal is replaced by the same rows in task order, with what was decided about their groups.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
from datasets import Dataset, DatasetInfo
from datasets.table import MemoryMappedTable

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.encoder import Cells, RowEncoder
from whileai_hf.store import Journal, read_lines, run_folder


# Rows per Arrow record batch: small enough to forget, large enough that a column costs little per row.
BATCH_ROWS = 1000
# Bytes of rows after which a batch is written early: an Arrow string column holds at most 2 GiB.
BATCH_BYTES = 64 << 20
_JOURNAL = "rollouts.jsonl"


def journal_path(run_id: str, output: str | None) -> Path:
    """Where the rows of a run land: the caller's file, or one in the local run store."""
    return Path(output) if output else run_folder(run_id) / _JOURNAL


def check_output(output: str | None, resume: str | None) -> None:
    """
    Refuses to write over the rows of a run that was cut off.

    Raises:
        [`ConfigurationError`]: The file holds such rows, and this call does not take them up.
    """
    path = None if output is None else Path(output)
    if path is None or not path.is_file() or (resume is not None and path.resolve() == Path(resume).resolve()):
        return
    first = next(read_lines(path), b"")
    # What is decided about a group is written when it ends; a journal does without.
    if first.startswith(b"{") and b'"run_id":"run-' in first and b'"group_status":' not in first:
        raise ConfigurationError(
            f"output={output!r} holds the rows of a run that was cut off; go on with resume={output!r}, or remove the "
            "file to start anew"
        )


class Recorder:
    """
    Takes encoded rows, gives a Dataset.

    Args:
        run_id (`str`):
            Names the folder in the local run store.
        encoder ([`RowEncoder`]):
            Knows the columns.
        output (`str`, *optional*):
            Where the journal goes; without it, into the run store.
        append (`bool`, *optional*, defaults to `False`):
            Keep the rows that are in the journal.
    """

    def __init__(self, run_id: str, encoder: RowEncoder, output: str | None = None, append: bool = False) -> None:
        folder = run_folder(run_id)
        self._encoder = encoder
        self.journal = Journal(journal_path(run_id, output), append)
        self._folder = folder
        # Files of their own until they are whole: an earlier Dataset of the same run may still be mapped by somebody.
        self._temporary = _temporary(folder, ".arrow.tmp")
        self._lines = _temporary(self.journal.path.parent, ".jsonl.tmp")
        self._final = self._lines.open("wb")
        self._cells: list[Cells] = []
        self._bytes = 0
        self._content = blake2b(digest_size=8)
        self._writer = pa.ipc.new_stream(str(self._temporary), encoder.table([]).schema)

    def land(self, lines: Sequence[bytes]) -> None:
        """Writes rollouts down as they come, all at once, since every write lets the agents' threads go first."""
        self.journal.append(*lines)

    def add(self, rows: Sequence[tuple[Cells, bytes]]) -> None:
        """Adds whole rows, in the order of the Dataset."""
        if not rows:
            return
        lines = [line for _, line in rows]
        self._final.write(b"\n".join((*lines, b"")))
        for cells, line in rows:
            self._content.update(line)
            self._cells.append(cells)
            self._bytes += len(line)
            if len(self._cells) >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
                self._flush()

    def _flush(self) -> None:
        if self._cells:
            self._writer.write_table(self._encoder.table(self._cells))
            self._cells, self._bytes = [], 0

    def dataset(self, description: str) -> Dataset:
        """Closes the files and opens what was written as a Dataset."""
        self._flush()
        self.close()
        # A file for each content: a Dataset of an earlier run, pickled to another process, must find its own rows.
        target = self._folder / f"rollouts-{self._content.hexdigest()}.arrow"
        os.replace(self._temporary, target)
        os.replace(self._lines, self.journal.path)
        return Dataset(
            MemoryMappedTable.from_file(str(target)),
            info=DatasetInfo(features=self._encoder.features, description=description),
            # Named after the content: a `map` over an equal run, today or next week, is answered from the cache.
            fingerprint=self._content.hexdigest(),
        )

    def close(self) -> None:
        """Closes the files; the journal keeps its rows."""
        self._writer.close()
        self._final.close()
        self.journal.close()

    def discard(self) -> None:
        """Closes the files and removes all but the journal (after an error)."""
        self.close()
        self._temporary.unlink(missing_ok=True)
        self._lines.unlink(missing_ok=True)


def _temporary(folder: Path, suffix: str) -> Path:
    handle, name = tempfile.mkstemp(dir=folder, prefix=".rollouts-", suffix=suffix)
    os.close(handle)
    os.chmod(name, 0o666 & ~_umask())
    return Path(name)


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
