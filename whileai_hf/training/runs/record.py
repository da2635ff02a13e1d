"""`run.json`: what a run is and how it ended. Replaced whole, so that a reader never sees half of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import orjson
from huggingface_hub.utils import WeakFileLock  # type: ignore[attr-defined]  # public, and not in their __all__

from whileai_hf.errors import DataError
from whileai_hf.rows import canonical
from whileai_hf.store.runs import replace_file
from whileai_hf.training.runs.place import LOCK, POINTS, RECORD, runs_folder
from whileai_hf.training.runs.processes import is_alive


RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"
ENDINGS = (DONE, FAILED, STOPPED)


@dataclasses.dataclass(frozen=True)
class Record:
    """The fields of `run.json`; see [`TrainingRun`] for what they mean."""

    id: str
    name: str
    dataset: str | None = None
    base_model: str | None = None
    trainer: str | None = None
    total_steps: int | None = None
    config: dict[str, Any] = dataclasses.field(default_factory=dict)
    status: str = RUNNING
    reason: str | None = None
    summary: dict[str, Any] = dataclasses.field(default_factory=dict)
    adapter: str | None = None
    holdout: dict[str, Any] | None = None
    delta: dict[str, Any] | None = None
    count: int = 0
    created: float = 0.0
    process: dict[str, Any] | None = None
    launch: str | None = None
    url: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {field.name: canonical(getattr(self, field.name)) for field in dataclasses.fields(self)}


def read_record(folder: Path) -> Record:
    """
    The record in a folder. A run that claims to be running, while its process is gone, has failed.

    Raises:
        [`DataError`]: The folder holds no record that can be read.
    """
    record = written_record(folder)
    if record.status == RUNNING and not is_alive(record.process, _touched(folder)):
        record = dataclasses.replace(record, status=FAILED, reason=_crash(record.process))
    return record


def written_record(folder: Path) -> Record:
    """
    The record in a folder as it stands there, for whoever knows better than the process list whether the run goes on.

    Raises:
        [`DataError`]: The folder holds no record that can be read.
    """
    path = folder / RECORD
    try:
        values = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read as the record of a training run ({error}); delete its folder"
        ) from error
    known = {field.name for field in dataclasses.fields(Record)}
    return Record(**{name: value for name, value in values.items() if name in known})


def _touched(folder: Path) -> float:
    times = [path.stat().st_mtime for path in (folder / POINTS, folder / RECORD) if path.exists()]
    return max(times, default=0.0)


def _crash(process: Mapping[str, Any] | None) -> str:
    which = f" {process['pid']} on {process['host']}" if process else ""
    return f"crashed: process{which} ended without finishing the run"


def write_record(folder: Path, record: Record) -> None:
    """Writes a record."""
    replace_file(folder / RECORD, orjson.dumps(record.to_dict(), option=orjson.OPT_INDENT_2))


def change_record(folder: Path, change: Callable[[Record], Record]) -> Record:
    """Reads, changes and writes a record while no other process does."""
    with WeakFileLock(folder / LOCK):
        record = change(read_record(folder))
        write_record(folder, record)
    return record


def store_lock() -> AbstractContextManager[Any]:
    """Held while a run is looked for and, if there is none, made: two processes must not both make it."""
    runs_folder().mkdir(parents=True, exist_ok=True)
    lock: AbstractContextManager[Any] = WeakFileLock(runs_folder() / LOCK)
    return lock
