"""Going on with the run a checkpoint belongs to, when a new record was opened for the process that resumes it."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from whileai_hf.training.runs.place import LOCK, POINTS, RECORD, folder_of
from whileai_hf.training.runs.processes import is_this
from whileai_hf.training.runs.record import RUNNING, STOPPED, change_record, read_record
from whileai_hf.training.runs.run import TrainingRun


def adopt(run: TrainingRun, run_id: str, step: int) -> bool:
    """
    Turns a run that was just opened into the earlier one, and takes along what it holds already.

    Args:
        run ([`TrainingRun`]):
            Opened by the process that resumes.
        run_id (`str`):
            Named by the checkpoint.
        step (`int`):
            Step of the checkpoint.

    Returns:
        `bool`: Whether `run` is the earlier run now. It stays itself when that one is not on this machine, is still
        training elsewhere, or was a run of another name or data set; then a note says where it branched off.
    """
    if run_id == run.id:
        return True
    folder = folder_of(run_id)
    if not (folder / RECORD).exists():
        run.note(f"goes on from step {step} of {run_id}, which this machine has no record of")
        return False
    earlier = read_record(folder)
    elsewhere = earlier.status == RUNNING and not is_this(earlier.process)
    if elsewhere or (earlier.name, earlier.dataset) != (run.name, run.record.dataset):
        run.note(f"goes on from step {step} of {run_id} ({earlier.name}), which stays a record of its own")
        return False
    opened, logged, left = run.record, run.logged(), run.folder
    run.move_to(folder)
    if run.writes:
        for point in logged.points:
            run.add_point(point["step"], {name: v for name, v in point.items() if name not in ("step", "time")})
        for note in logged.notes:
            run.note(note)
        run.change(
            config={**run.record.config, **opened.config},
            summary={**run.record.summary, **opened.summary},
            holdout=opened.holdout or run.record.holdout,
        )
        _leave(left, run_id)
    return True


def _leave(folder: Path, run_id: str) -> None:
    """Removes an empty record, so that nobody takes it for a run; one with rollouts beside it is ended."""
    if {path.name for path in folder.iterdir()} <= {RECORD, POINTS, LOCK}:
        shutil.rmtree(folder)
        return
    reason = f"went on in {run_id}"
    change_record(folder, lambda record: dataclasses.replace(record, status=STOPPED, reason=reason))
