"""`train`: one of the training programs on some data, and the run it goes into."""

from __future__ import annotations

import logging
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, Unpack

from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import nearest, overlay
from whileai_hf.rows import open_rows
from whileai_hf.training.launching.command import program_flags
from whileai_hf.training.launching.config import BASE_MODEL, PLACES, TrainConfig, TrainKnobs, method_of
from whileai_hf.training.launching.jobs import start_job
from whileai_hf.training.launching.locating import find_program
from whileai_hf.training.runs import TrainingRun, get_run, list_runs, training_run


logger = logging.getLogger(__name__)

OUTPUT_LOG = "output.log"
_DATA, _WEIGHTS = "data", "weights"


def train(
    data: Any,
    method: str = "sft",
    *,
    base_model: str = BASE_MODEL,
    where: str = "subprocess",
    name: str | None = None,
    wait: bool = False,
    config: TrainConfig | None = None,
    **knobs: Unpack[TrainKnobs],
) -> TrainingRun:
    """
    Starts one of the training programs (`trainers/*.py`) and returns its run.

    The held-out tasks, `holdout=`, default to the split beside the training rows (`holdout`, `eval`, `test`,
    `validation`), else to a fifth of the tasks; they are played and graded before and after, and `run.word` says
    whether it worked. Data that is training already gives that run.

    Args:
        data (`datasets.Dataset`, `DatasetDict`, `list[dict]`, path or `namespace/name[@tag]`):
            Graded rollouts; for GRPO tasks do as well; for DPO and reward models pairs do.
        method (`str`, *optional*, defaults to `"sft"`):
            `"sft"`, `"dpo"`, `"kto"`, `"reward"` (or `"rm"`) or `"grpo"`.
        base_model (`str`, *optional*, defaults to `"Qwen/Qwen3-0.6B"`):
            Model to start from: a repo or a folder.
        where (`str`, *optional*, defaults to `"subprocess"`):
            `"subprocess"`: in a process of its own, whose output goes to `output.log` in the run's folder;
            `"inline"`: here, and when `train` returns it is done; `"jobs"`: as a job on the Hub, which needs data and
            model there and `push_to=`.
        name (`str`, *optional*):
            Name of the run; method and data without.
        wait (`bool`, *optional*, defaults to `False`):
            Return when the run has ended.
        config ([`TrainConfig`], *optional*):
            Further knobs as one object.
        **knobs:
            Fields of [`TrainConfig`]: `epochs`, `steps`, `learning_rate`, `beta`, `generations`, `seed`, `holdout`,
            `reward`, `gold`, `push_to`, `flags` (any flag of the program), ...

    Returns:
        [`TrainingRun`]: `run.wait()`, then `run.word`, `run.holdout_summary`, `run.adapter`; a [`JobRun`] for a job.

    Raises:
        [`ConfigurationError`]: An unknown method or knob, one that the method does not heed, or something a job on the
            Hub could not reach.
    """
    settings = overlay(TrainConfig, config, knobs, _flag_hint)
    method = method_of(method)
    if where not in PLACES:
        raise ConfigurationError(f"where={where!r}; train runs programs {', '.join(map(repr, PLACES))}")
    program = find_program(method)
    called = name or f"{method} on {_name_of(data)}"
    if where == "jobs":
        flags = program_flags(method, str(data), base_model, settings, run=None, name=called, here=False)
        run: TrainingRun = start_job(program, flags, data, base_model, called, method, settings)
        return run.wait() if wait else run
    # Before a run is opened: a knob that makes no sense leaves no record.
    program_flags(method, "data", base_model, settings, run=None, name=called, here=where == "inline")
    running = {run.id for run in list_runs(status="running")}
    run = training_run(called, dataset=_identified(data), base_model=base_model, trainer=method)
    if run.id in running:
        logger.warning("%s trains on this data already", run.id)
        return run.wait() if wait else run
    try:
        settings = overlay(TrainConfig, settings, {"output": settings.output or str(run.folder / _WEIGHTS)})
        place = _stored(data, run.folder)
        here = where == "inline"
        flags = program_flags(method, place, base_model, settings, run=run.id, name=called, here=here)
        if here:
            runpy.run_path(str(program), run_name=f"whileai_hf_{method}")["main"](flags)
            return get_run(run.id)
        _spawn(run, program, flags)
    except BaseException as error:
        run.end_with(error)
        raise
    return run.wait() if wait else run


def _spawn(run: TrainingRun, program: Path, flags: list[str]) -> None:
    """Starts the program in a session of its own, so that an interrupt meant for this one does not reach it."""
    run.close()
    command = [sys.executable, "-m", "whileai_hf.training.launching.child", run.id, str(program), *flags]
    with (run.folder / OUTPUT_LOG).open("ab") as output:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def _flag_hint(name: str) -> str:
    from dataclasses import fields

    known = [field.name for field in fields(TrainConfig)]
    return f"{nearest(name, known)}; flags of TRL go into flags={{{name!r}: ...}}"


def _name_of(data: Any) -> str:
    return Path(data).name if isinstance(data, str | Path) else f"{len(_identified(data))} rows"


def _identified(data: Any) -> Any:
    """What says which data it is: of a source with splits its training rows."""
    if isinstance(data, DatasetDict):
        return data["train"] if "train" in data else next(iter(data.values()))
    return data


def _stored(data: Any, folder: Path) -> str:
    """The data where another process finds it."""
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        return str(path.resolve()) if path.exists() else str(data)
    rows = data if isinstance(data, DatasetDict) else open_rows(data)
    rows.save_to_disk(str(folder / _DATA))
    return str(folder / _DATA)
