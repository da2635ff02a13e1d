"""Where a push writes its files before they are sent, and what pushes that were killed left there."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


_PREFIX, _LOCK = "whileai-push-", "lock"


@contextmanager
def workplace() -> Iterator[Path]:
    """
    A folder for the length of a push.

    Its lock ends with the process, however that ends, so the next push sees which folders nobody needs any more.
    """
    _clear(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        unlocked = folder / f"{_LOCK}.new"
        with unlocked.open("wb") as file:
            _lock(file)
            unlocked.rename(folder / _LOCK)  # under this name it is locked from the first moment on
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear(place: Path) -> None:
    """Deletes the folders of pushes that are no more; others' folders cannot be opened, and stay."""
    for lock in place.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("r+b") as file:
            if _lock(file):
                shutil.rmtree(lock.parent, ignore_errors=True)


def _lock(file: IO[bytes]) -> bool:
    """Locks a file until it is closed; `False` where that cannot be done, or another process has it."""
    if sys.platform == "win32":
        return False
    import fcntl  # there is none on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
