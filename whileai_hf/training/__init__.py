"""The trainer's side: a record of every run, a callback, a recorder of sampled rollouts, and the monitor that stops a
run whose reward is being hacked.

Nothing here imports torch, transformers or trl before a trainer is there: names load on first use. What a trainer
loads (data sets, worlds, reward functions) is made in `export`; what the numbers mean is `measure`.
To add a name, write it in a module of this room and name it in `_EXPORTS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from whileai_hf.training.callback import TrainerCallback
    from whileai_hf.training.launching import train
    from whileai_hf.training.monitor import HackMonitor
    from whileai_hf.training.recorder import RolloutRecorder
    from whileai_hf.training.runs import TrainingRun, attach_delta, attach_holdout, get_run, list_runs, training_run
    from whileai_hf.training.serving import models, serve, unserve

_EXPORTS = {
    "HackMonitor": "monitor",
    "RolloutRecorder": "recorder",
    "TrainerCallback": "callback",
    "TrainingRun": "runs",
    "attach_delta": "runs",
    "attach_holdout": "runs",
    "get_run": "runs",
    "list_runs": "runs",
    "models": "serving",
    "serve": "serving",
    "train": "launching",
    "training_run": "runs",
    "unserve": "serving",
}

__all__ = [
    "HackMonitor",
    "RolloutRecorder",
    "TrainerCallback",
    "TrainingRun",
    "attach_delta",
    "attach_holdout",
    "get_run",
    "list_runs",
    "models",
    "serve",
    "train",
    "training_run",
    "unserve",
]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{module}"), name)
