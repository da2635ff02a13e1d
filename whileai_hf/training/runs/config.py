"""Knobs of a training run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypedDict


@dataclasses.dataclass(frozen=True)
class TrainingRunConfig:
    """
    Knobs of [`training_run`]; also taken as keywords.

    Args:
        parameters (`Mapping[str, Any]`, *optional*):
            What the run is made with (learning rate, seed, ...), kept on its record.
        report_to (`str`, *optional*):
            `"trackio"` shows the run there as well, when it is installed.
        project (`str`, *optional*):
            Trackio project.
        space_id (`str`, *optional*):
            Space that shows the Trackio project.
        resume (`bool` or `str`, *optional*, defaults to `False`):
            Go on with an earlier run: one by its id, or with `True` the latest of this name and data set.
        fresh (`bool`, *optional*, defaults to `False`):
            Start a run of its own, even if one is training on the same data set right now.
    """

    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    report_to: str | None = dataclasses.field(default=None, metadata={"help": "trackio, or nothing"})
    project: str | None = dataclasses.field(default=None, metadata={"help": "Trackio project"})
    space_id: str | None = dataclasses.field(default=None, metadata={"help": "Space that shows the Trackio project"})
    resume: bool | str = dataclasses.field(default=False, metadata={"help": "go on with an earlier run"})
    fresh: bool = dataclasses.field(default=False, metadata={"help": "start a run of its own in any case"})


class TrainingRunKnobs(TypedDict, total=False):
    """The same as keywords."""

    parameters: Mapping[str, Any]
    report_to: str | None
    project: str | None
    space_id: str | None
    resume: bool | str
    fresh: bool
