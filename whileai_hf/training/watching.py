"""Noticing that a trainer's loop broke off. Trainers have no event for it.

A callback learns that training begins and that it ended well. What raises in between ends the loop silently as far
as callbacks go. So the calls of the loop in which other people's code runs (a step with its rewards, an evaluation,
another callback) are watched on that one trainer, and what they raise is reported and raised on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from transformers import Trainer


# Methods of the loop: a batch and its collator, a step with generation and rewards, an evaluation, a log, a save.
_METHODS = ("get_batch_samples", "training_step", "evaluate", "log", "save_model")
Report = Callable[[BaseException], None]


def calling_trainer() -> Trainer | None:
    """The trainer in whose loop this is called: an event hands callbacks everything but it."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer):
            return caller
        frame = frame.f_back  # type: ignore[assignment]
    return None


def watch(trainer: Trainer, report: Report) -> None:
    """Has `report` called with whatever a method of the trainer's loop raises, before it goes on its way."""
    for name in _METHODS:
        setattr(trainer, name, _watched(getattr(trainer, name), report))
    handler: Any = trainer.callback_handler
    handler.call_event = _watched(handler.call_event, report)


def _watched(method: Callable[..., Any], report: Report) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except BaseException as error:
            report(error)
            raise

    return call
