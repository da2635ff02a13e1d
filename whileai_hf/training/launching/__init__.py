"""Starting a training program, and what all of these programs share.

[`train`] starts one of `trainers/*.py` here, in a process of its own or as a job on the Hub, and returns the run.
[`TrainingProgram`] is what such a program is made of besides its trainer: the rows and the held-out tasks, the record,
the held-out evaluation before and after, the card, the push. To add a method, write `trainers/<method>.py` and name it
in `config.METHODS`. Serving what was trained is `training.serving`.

Names load on first use: what a program needs imports torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from whileai_hf.training.launching.arguments import ProgramArguments
    from whileai_hf.training.launching.config import TrainConfig
    from whileai_hf.training.launching.jobs import JobRun
    from whileai_hf.training.launching.program import TrainingProgram
    from whileai_hf.training.launching.starting import train

_EXPORTS = {
    "JobRun": "jobs",
    "ProgramArguments": "arguments",
    "TrainConfig": "config",
    "TrainingProgram": "program",
    "train": "starting",
}

__all__ = ["JobRun", "ProgramArguments", "TrainConfig", "TrainingProgram", "train"]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{module}"), name)
