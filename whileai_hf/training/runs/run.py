"""One training run: what is logged while it trains, how it ended, and whether it worked."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare import DeltaReport
from whileai_hf.rows import canonical
from whileai_hf.store import Journal
from whileai_hf.training.runs import changes
from whileai_hf.training.runs.place import POINTS, RECORD
from whileai_hf.training.runs.points import TIME, point_line, read_step
from whileai_hf.training.runs.record import (
    DONE,
    ENDINGS,
    FAILED,
    RUNNING,
    STOPPED,
    Record,
    change_record,
    read_record,
    write_record,
)
from whileai_hf.training.runs.recorded import RecordedRun
from whileai_hf.training.runs.tracker import Tracker
from whileai_hf.training.runs.waiting import QUIET_SECONDS, wait_for_end


logger = logging.getLogger(__name__)


class TrainingRun(RecordedRun):
    """
    The record of a training run, as [`training_run`] and [`get_run`] return it.

    It lies in a folder of this machine: every call that adds something has it written before it returns, and nothing
    written is ever taken back, so that a killed process leaves every point readable. As a context manager it ends the
    run: `done`, `failed` with the exception, or `stopped` when it was interrupted.

    Attributes, all of them also keys (`run["status"]`): `id`, `name`, `dataset` (identity of the data), `base_model`,
    `trainer`, `total_steps`, `config`, `status` (`running`, `done`, `failed`, `stopped`), `reason`, `summary`,
    `adapter`, `holdout_summary`, `word`, `series`, `notes`, `alarms`, `url`.

    Args:
        record (`Record`):
            What is known of the run.
        folder (`Path`):
            Where it lies.
        tracker (`Tracker`, *optional*):
            Shows it elsewhere as well.
        writes (`bool`, *optional*, defaults to `True`):
            `False` in all but the first of several processes that train together: they log nothing.
    """

    def __init__(self, record: Record, folder: Path, *, tracker: Tracker | None = None, writes: bool = True) -> None:
        super().__init__(record, folder)
        self.writes = writes
        self._tracker = tracker
        self._journal: Journal | None = None
        self._lock = threading.RLock()

    # Logging.

    def _write(self, entry: bytes) -> None:
        with self._lock:
            if not self.writes:
                return
            if self._journal is None:
                self._journal = Journal(self.folder / POINTS, append=True)
            self._journal.append(entry)

    def log(self, step: int, **values: Any) -> None:
        """
        Adds values to the point of a step.

        Args:
            step (`int`):
                Steps of the optimizer so far.
            **values (`float` or `str`):
                Numbers or texts by name. `None` is no value; NaN and infinities are kept as `None`.

        Raises:
            [`ConfigurationError`]: No step, or a value that is neither a number nor a text.
        """
        self.add_point(step, values)

    def add_point(self, step: int, values: Mapping[str, Any]) -> None:
        """[`log`] for values whose names are not known beforehand."""
        line = point_line(read_step(step), values, time.time())
        if line is None or not self.writes:
            return
        self._write(line)
        if self._tracker is not None:
            sent = {name: value for name, value in orjson.loads(line).items() if name not in ("step", TIME)}
            with self._lock:
                self._tracker.add(read_step(step), {name: v for name, v in sent.items() if v is not None})

    def note(self, text: str) -> None:
        """Adds a text to the summary."""
        self._write(orjson.dumps({"note": canonical(str(text))}))

    def alarm(self, kind: str, step: int, message: str) -> None:
        """Adds an alarm, one line: its kind, the step it fired at, and what it says."""
        alarm = {"kind": _line(kind), "step": read_step(step), "message": _line(message)}
        self._write(orjson.dumps({"alarm": alarm}))
        if self._tracker is not None:
            with self._lock:
                self._tracker.alert(f"{self.name}: {alarm['kind']}", f"step {alarm['step']}: {alarm['message']}")

    def begin(self, step: int = 0, total_steps: int | None = None) -> None:
        """
        Says that training starts, or goes on, behind a step: what was logged for later steps counts no more.

        Args:
            step (`int`, *optional*, defaults to `0`):
                Steps taken already: those of the checkpoint training goes on from.
            total_steps (`int`, *optional*):
                Steps it is meant to take.
        """
        if not self.writes:
            return
        behind = read_step(step)
        if self.logged().begun or behind:
            self._write(orjson.dumps({"rewind": behind}))
        self._write(orjson.dumps({"begin": behind}))
        self.record = change_record(self.folder, lambda record: changes.started(record, total_steps))

    def finish(
        self,
        status: str = DONE,
        *,
        summary: Mapping[str, Any] | None = None,
        adapter: str | None = None,
        reason: str | None = None,
    ) -> None:
        """
        Ends the run. A run that failed or was stopped is not done afterwards, whoever says so.

        Args:
            status (`str`, *optional*, defaults to `"done"`):
                `"done"`, `"failed"` or `"stopped"`.
            summary (`Mapping[str, Any]`, *optional*):
                What to remember; added to what is there.
            adapter (`str`, *optional*):
                Where the trained weights are.
            reason (`str`, *optional*):
                Why it failed or stopped.
        """
        if status not in ENDINGS:
            raise ConfigurationError(f"status is {status!r}; a run ends as one of {', '.join(ENDINGS)}")
        if summary is not None and not isinstance(summary, Mapping):
            raise ConfigurationError(f"summary is a {type(summary).__name__}; pass a dict of names and values")
        if not self.writes:
            return
        said = None if summary is None else dict(canonical(dict(summary)))
        self.record = change_record(
            self.folder, lambda record: changes.ended(record, status, said, adapter and str(adapter), reason)
        )
        if self._tracker is not None and (unsent := self._tracker.close()):
            self.note(f"{unsent} points never reached the tracker; all of them are on disk")
        self.close()

    def __enter__(self) -> TrainingRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            if self.status == RUNNING:
                self.finish()
        else:
            self.end_with(error)

    def end_with(self, error: BaseException) -> None:
        """Ends the run for an exception: `stopped` when somebody interrupted it, else `failed`."""
        stopped = isinstance(error, KeyboardInterrupt)
        text = "interrupted" if stopped else f"{type(error).__name__}: {error}"
        self.finish(STOPPED if stopped else FAILED, reason=_line(text).rstrip(": "))

    def close(self) -> None:
        """Closes the file of points; logging opens it again."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    # Did it work?

    def holdout(
        self,
        before: Any,
        after: Any,
        metric: str = "pass_at_1",
        *,
        n_tasks: int | None = None,
        k: int | None = None,
    ) -> dict[str, Any]:
        """
        Keeps the held-out evaluation before and after training.

        Args:
            before (`float` or [`PassAt`]):
                Before: a pass rate between 0 and 1, or a `pass_at` report, which brings its interval.
            after (`float` or [`PassAt`]):
                Afterwards.
            metric (`str`, *optional*, defaults to `"pass_at_1"`):
                `"loss"` for held-out loss, where lower is better.
            n_tasks (`int`, *optional*):
                Held-out tasks behind each of two numbers; without them there is no interval.
            k (`int`, *optional*):
                Rollouts of each task.

        Returns:
            `dict`: The block, see [`holdout_block`].
        """
        return changes.keep_holdout(self, before, after, metric, n_tasks, k)

    def delta(self, before: Any, after: Any, **arguments: Any) -> DeltaReport:
        """
        [`delta_report`] of the rows before and after, kept on the run; it fills the held-out numbers as well.

        Args:
            before (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
                Held-out rows from before training.
            after (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
                Rows from afterwards, on the same tasks.
            **arguments:
                As for [`delta_report`]: `target`, `must_not_regress`, `by`, ...
        """
        return changes.keep_delta(self, before, after, arguments)

    # Reading.

    def change(self, **fields: Any) -> None:
        """Replaces fields of the record, on disk too."""
        if self.writes:
            self.record = change_record(self.folder, lambda record: dataclasses.replace(record, **fields))

    def refresh(self) -> TrainingRun:
        """Reads the record again; another process may have written it."""
        if self.writes or (self.folder / RECORD).exists():
            self.record = read_record(self.folder)
        return self

    def wait(self, timeout: float | None = None, *, quiet: float | None = QUIET_SECONDS) -> TrainingRun:
        """
        Returns once the run has ended.

        A run that another process trains is waited for as long as that process lives. One that only this process has
        open is waited for as long as it gives a sign of life, since a thread may train it.

        Args:
            timeout (`float`, *optional*):
                Seconds to wait at most.
            quiet (`float`, *optional*, defaults to `600`):
                Seconds without anything written to the run's folder (a point, a rollout, output of its program) after
                which a run without another process is given up; `None` for never.

        Raises:
            `TimeoutError`: It has not ended after `timeout` seconds, or nobody is there who could end it.
        """
        wait_for_end(self, timeout, quiet)
        return self

    def move_to(self, folder: Path) -> None:
        """Becomes the run in another folder: a checkpoint says which run it belongs to."""
        self.close()
        self.folder = folder
        self.record = read_record(folder)

    def show_in(self, tracker: Tracker) -> None:
        """Shows the points from here on in a tracker as well."""
        self._tracker = tracker
        if self.record.url is None and tracker.url is not None:
            self.change(url=tracker.url)

    def show_elsewhere(self) -> None:
        """Leaves showing the run to a reporter of the trainer, which sends the same numbers."""
        self._tracker = None


def start(folder: Path, record: Record, tracker: Tracker | None = None) -> TrainingRun:
    """A new run: its record is written first."""
    write_record(folder, record)
    return TrainingRun(record, folder, tracker=tracker)


def _line(text: Any) -> str:
    return " ".join(str(canonical(str(text))).split())
