"""An append-only file of lines that survives the process being killed.

What is acknowledged went out in one unbuffered `write()`, so a `kill -9` loses nothing of it; `fsync` runs
now and then, so a power cut loses at most the last second or so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from whileai_hf.errors import DataError


# Lines and seconds between two fsyncs: one every row costs more than ten times the writing itself.
_SYNC_LINES = 256
_SYNC_SECONDS = 1.0
_TAIL_BLOCK = 1 << 16


class Journal:
    """
    Appends lines to a file.

    Args:
        path (`str` or `Path`):
            The file; its folder is made when absent. A torn last line of an earlier run is cut off.
        append (`bool`, *optional*, defaults to `False`):
            Keep what is there instead of starting anew.

    Examples:
    ```python
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> with Journal(path) as journal:
    ...     journal.append(b'{"n": 1}')
    >>> path.read_text()
    '{"n": 1}\\n'

    ```
    """

    def __init__(self, path: str | os.PathLike[str], append: bool = False) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab" if append else "wb", buffering=0)
        except OSError as error:
            raise DataError(f"cannot write rows to {self.path}: {error.strerror}; choose another output") from error
        if append:
            self._cut_torn_line()
        self._unsynced = 0
        self._synced_at = time.monotonic()

    def _cut_torn_line(self) -> None:
        size = self.path.stat().st_size
        end = size
        with self.path.open("rb") as file:
            while end > 0:
                start = max(0, end - _TAIL_BLOCK)
                file.seek(start)
                newline = file.read(end - start).rfind(b"\n")
                if newline >= 0:
                    end = start + newline + 1
                    break
                end = start
        if end != size:
            self._file.truncate(end)

    def append(self, *lines: bytes) -> None:
        """Writes lines (without their newlines) in one call and returns when the operating system has them."""
        if not lines:
            return
        self._file.write(b"\n".join((*lines, b"")))
        self._unsynced += len(lines)
        if self._unsynced >= _SYNC_LINES and time.monotonic() - self._synced_at >= _SYNC_SECONDS:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._unsynced = 0
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Syncs and closes; a second call does nothing."""
        if not self._file.closed:
            self._sync()
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The whole lines of a journal; a torn last line (a killed writer) is left out."""
    with Path(path).open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line[:-1]
