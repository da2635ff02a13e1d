"""Starting a run, and finding one again."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.knobs import overlay
from whileai_hf.measure.compare import DeltaReport
from whileai_hf.rows import canonical
from whileai_hf.rows.rng import digest
from whileai_hf.training.runs.changes import started
from whileai_hf.training.runs.config import TrainingRunConfig, TrainingRunKnobs
from whileai_hf.training.runs.identity import dataset_identity
from whileai_hf.training.runs.place import RECORD, folder_of, known_ids
from whileai_hf.training.runs.processes import is_job, launch, rank, this_process
from whileai_hf.training.runs.record import (
    RUNNING,
    Record,
    change_record,
    read_record,
    store_lock,
    written_record,
)
from whileai_hf.training.runs.run import TrainingRun, logger, start
from whileai_hf.training.runs.tracker import Tracker, check_tracker


# Seconds the other processes of one training wait for the first to have written the record.
_WAIT_FOR_FIRST = 30.0
_LOOK_AGAIN = 0.2


def training_run(
    name: str,
    *,
    dataset: Any = None,
    base_model: Any = None,
    trainer: str | None = None,
    total_steps: int | None = None,
    config: TrainingRunConfig | None = None,
    **knobs: Unpack[TrainingRunKnobs],
) -> TrainingRun:
    """
    A record to train into: append-only, on this machine, readable while the training runs and after it was killed.

    A data set that is training already gives that run. Of several processes that train together the first one writes.

    Args:
        name (`str`):
            What to call it.
        dataset (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            What it trains on: of a Dataset and of a list the rows count, else the name.
        base_model (`str`, *optional*):
            The model it starts from.
        trainer (`str`, *optional*):
            What trains: `"trl"`, `"grpo"`, ...
        total_steps (`int`, *optional*):
            Steps it is meant to take.
        config ([`TrainingRunConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`TrainingRunConfig`] by name.

    Returns:
        [`TrainingRun`]: Log into it, or hand it to [`TrainerCallback`].

    Raises:
        [`ConfigurationError`]: No name, an unknown knob or tracker, or a count that is none.

    Examples:
    ```python
    >>> with training_run("sft-v3", dataset=[{"prompt": "Hi"}], total_steps=2) as run:
    ...     for step in (1, 2):
    ...         run.log(step, loss=1 / step)
    >>> run.status, run.series
    ('done', [{'step': 1, 'loss': 1.0}, {'step': 2, 'loss': 0.5}])

    ```
    """
    settings = overlay(TrainingRunConfig, config, knobs)
    _check(name, total_steps, settings)
    identity = dataset_identity(dataset)
    record = Record(
        id="",
        name=str(canonical(name)),
        dataset=identity,
        base_model=None if base_model is None else str(base_model),
        trainer=None if trainer is None else str(trainer),
        total_steps=total_steps,
        config=dict(settings.parameters),
        launch=launch(),
    )
    if rank():
        return _beside_the_first(record)
    shown = check_tracker(settings.report_to)
    with store_lock():
        run = _found(record, settings) or _new(record)
    if run.record.process == this_process() and shown:
        run.show_in(Tracker(run.id, settings.project, settings.space_id, run.record.config))
    return run


def _check(name: str, total_steps: int | None, settings: TrainingRunConfig) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(f"name is {name!r}; give the run a name")
    if not isinstance(settings.parameters, Mapping):
        kind = type(settings.parameters).__name__
        raise ConfigurationError(f"parameters is a {kind}; pass a dict of what the run is made with")
    if total_steps is not None and (
        isinstance(total_steps, bool) or not isinstance(total_steps, int) or total_steps < 1
    ):
        raise ConfigurationError(f"total_steps is {total_steps!r}; expected a count from 1 on")


def _records() -> list[tuple[Path, Record]]:
    found = []
    for run_id in known_ids():
        folder = folder_of(run_id)
        try:
            found.append((folder, read_record(folder)))
        except DataError as error:
            logger.warning("%s", error)
    return sorted(found, key=lambda item: (item[1].created, item[1].count))


def _found(record: Record, settings: TrainingRunConfig) -> TrainingRun | None:
    """The run to go on with: one asked for, or one that trains on this data set now."""
    if isinstance(settings.resume, str):
        return _again(get_run(settings.resume))
    same = [item for item in _records() if item[1].dataset == record.dataset]
    if settings.resume:
        ended = [item for item in same if item[1].name == record.name and item[1].status != RUNNING]
        if ended:
            return _again(TrainingRun(ended[-1][1], ended[-1][0]))
    if settings.fresh or record.dataset is None:
        return None
    for folder, other in reversed(same):
        if other.status == RUNNING:
            if other.name != record.name:
                logger.warning(
                    "%r is training on this data set already: %r goes into its record (%s); fresh=True starts one of "
                    "its own",
                    other.name,
                    record.name,
                    other.id,
                )
            return TrainingRun(other, folder)
    return None


def _again(run: TrainingRun) -> TrainingRun:
    if run.status == RUNNING and run.record.process != this_process():
        raise ConfigurationError(f"{run.id} is training in another process; wait for it, or start a run of its own")
    run.record = change_record(run.folder, started)
    return run


def _new(record: Record) -> TrainingRun:
    count = 0
    while (folder := folder_of(_id(record, count))).joinpath(RECORD).exists():
        count += 1
    folder.mkdir(parents=True, exist_ok=True)
    made = Record(
        **{
            **vars(record),
            "id": folder.name,
            "count": count,
            "created": time.time(),
            "process": this_process(),
        }
    )
    return start(folder, made)


def _id(record: Record, count: int) -> str:
    return f"run-{digest(record.name, record.dataset, count)}"


def _beside_the_first(record: Record) -> TrainingRun:
    """The run the first process of this training has opened; on a machine that cannot see it, a silent one."""
    until = time.monotonic() + _WAIT_FOR_FIRST
    while time.monotonic() < until:
        for folder, other in reversed(_records()):
            same = (other.name, other.dataset, other.launch) == (record.name, record.dataset, record.launch)
            if same and other.status == RUNNING:
                return TrainingRun(other, folder, writes=False)
        time.sleep(_LOOK_AGAIN)
    silent = f"run-{digest(record.name, record.dataset, record.launch)}"
    return TrainingRun(Record(**{**vars(record), "id": silent}), folder_of(silent), writes=False)


def get_run(run_id: str) -> TrainingRun:
    """
    A run of this machine by its id.

    Args:
        run_id (`str`):
            Its id.

    Returns:
        [`TrainingRun`]: A [`JobRun`] while a job on the Hub trains it, so that `refresh` and `wait` ask there.

    Raises:
        [`SourceNotFoundError`]: There is none; the message names the nearest.
    """
    folder = folder_of(str(run_id))
    if not (folder / RECORD).exists():
        near = difflib.get_close_matches(str(run_id), known_ids(), n=1)
        hint = f"did you mean {near[0]}?" if near else "list_runs() has those of this machine"
        raise SourceNotFoundError(f"no training run {run_id!r} on this machine; {hint}")
    written = written_record(folder)
    if written.status == RUNNING and is_job(written.process):
        from whileai_hf.training.launching.jobs import JobRun  # it is made of runs

        return JobRun(written, folder)
    return TrainingRun(read_record(folder), folder)


def list_runs(*, name: str | None = None, status: str | None = None) -> list[TrainingRun]:
    """
    The runs of this machine, the latest first.

    Args:
        name (`str`, *optional*):
            Only those of this name.
        status (`str`, *optional*):
            Only those with this status.
    """
    return [
        TrainingRun(record, folder)
        for folder, record in reversed(_records())
        if (name is None or record.name == name) and (status is None or record.status == status)
    ]


def attach_holdout(
    run_id: str,
    before: Any,
    after: Any,
    metric: str = "pass_at_1",
    *,
    n_tasks: int | None = None,
    k: int | None = None,
) -> dict[str, Any]:
    """[`TrainingRun.holdout`] of a run that has ended, by its id."""
    return get_run(run_id).holdout(before, after, metric, n_tasks=n_tasks, k=k)


def attach_delta(run_id: str, before: Any, after: Any, **arguments: Any) -> DeltaReport:
    """[`TrainingRun.delta`] of a run that has ended, by its id."""
    return get_run(run_id).delta(before, after, **arguments)
