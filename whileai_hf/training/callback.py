"""Puts what a trainer of Transformers or TRL logs on the record of a run.

Importing this module imports transformers, which takes seconds: in this room only it and `watching` do.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import transformers
from transformers import Trainer, TrainerControl, TrainerState, TrainingArguments

from whileai_hf.errors import WhileaiError
from whileai_hf.training.measured import DeadGroups, totals_of, values_of
from whileai_hf.training.runs import TrainingRun, get_run
from whileai_hf.training.runs.adopting import adopt
from whileai_hf.training.runs.record import DONE, STOPPED
from whileai_hf.training.watching import calling_trainer, watch


logger = logging.getLogger(__name__)

# Under this name a checkpoint says which run it belongs to.
_MARK = "whileai_hf_run"
# What a run is compared by, of the hundred and more arguments of a trainer.
_COMPARED = (
    "learning_rate",
    "lr_scheduler_type",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "max_steps",
    "weight_decay",
    "max_grad_norm",
    "seed",
    "beta",
    "loss_type",
    "num_generations",
    "temperature",
    "max_completion_length",
    "num_iterations",
    "reward_weights",
)


class TrainerCallback(transformers.TrainerCallback):
    """
    Keeps the record of a run while a Transformers or TRL trainer works: `trainer.add_callback(TrainerCallback(run))`.

    One point a step: loss, `lr`, gradient norm, epoch, and what GRPO logs besides (rewards, KL, lengths, clipped
    ratio, entropy); an evaluation of the same step joins it under `eval_`. Groups whose rollouts all got the same
    reward are followed as `dead_groups` (share) and `dead_tokens` (what they cost since the last log). Values that
    are `None` are left out, NaN is kept as `None`.

    Training that goes on from a checkpoint goes on in the run the checkpoint belongs to. The run ends `done` with the
    training, `stopped` when it ended before its last step, `failed` with the exception when its loop broke off. Of
    several processes the first one writes. Nothing that goes wrong in here ends the training.

    Args:
        run ([`TrainingRun`] or `str`):
            The run, or its id.
        finish (`bool`, *optional*, defaults to `True`):
            End the run with the training; `False` for a program that has more to say and calls `run.finish` itself.

    Examples:
    ```python
    >>> from whileai_hf.training.runs import training_run
    >>> run = training_run("identity-v1")
    >>> callback = TrainerCallback(run)
    >>> callback.run is run
    True

    ```
    """

    def __init__(self, run: TrainingRun | str, *, finish: bool = True) -> None:
        self.run = get_run(run) if isinstance(run, str) else run
        self._finish = finish
        self._watched: Trainer | None = None
        self._training = self._writes = self._warned = False
        self._dead = DeadGroups()
        self._totals: dict[str, Any] = {}
        self.seconds = 0.0
        """Time spent on the logs of steps since training began."""

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Opens the record, or goes on with that of the checkpoint."""
        self._writes = state.is_world_process_zero
        self._dead, self._totals, self.seconds = DeadGroups(state.num_input_tokens_seen), {}, 0.0
        trainer = calling_trainer()
        if trainer is not None and trainer is not self._watched:
            watch(trainer, self._failed)
            self._watched = trainer
        self._training = True
        self._safely(self._begin, args, state, trainer)

    def _begin(self, args: TrainingArguments, state: TrainerState, trainer: Trainer | None) -> None:
        marks: Any = state.stateful_callbacks  # a list only as long as the state is being made
        earlier = marks.get(_MARK)
        if state.global_step and earlier is not None:
            adopt(self.run, earlier["attributes"]["run"], state.global_step)
        marks[_MARK] = {"args": {}, "attributes": {"run": self.run.id}}
        if not self._writes:
            return
        if "trackio" in (args.report_to or ()):
            self.run.show_elsewhere()
        given: dict[str, Any] = args.to_dict()  # type: ignore[no-untyped-call]
        compared = {name: given[name] for name in _COMPARED if given.get(name) is not None}
        record = self.run.record
        kind = record.trainer or (None if trainer is None else type(trainer).__name__)
        self.run.begin(state.global_step, state.max_steps)
        self.run.change(config={**compared, **record.config}, trainer=kind)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Adds a log to the point of its step."""
        if logs and state.is_world_process_zero:
            began = time.perf_counter()
            self._totals.update(totals_of(logs))
            values = {**values_of(logs), **self._dead.read(logs)}
            if values.keys() - {"epoch"}:  # the log of the totals has a step and nothing to say about it
                self._safely(self.run.add_point, state.global_step, values)
            self.seconds += time.perf_counter() - began

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Ends the run."""
        self._training = False
        if not state.is_world_process_zero:
            return
        early = state.global_step < state.max_steps
        reason = f"training ended at step {state.global_step} of {state.max_steps}" if early else None
        summary = {"steps": state.global_step, **self._totals, **self._dead.summary()}
        if self._finish:
            self._safely(self.run.finish, STOPPED if early else DONE, summary=summary, reason=reason)
        else:
            self._safely(self.run.change, summary={**self.run.record.summary, **summary})

    def _failed(self, error: BaseException) -> None:
        if self._training and self._writes:
            self._training = False
            self._safely(self.run.end_with, error)

    def _safely(self, act: Any, *args: Any, **kwargs: Any) -> None:
        """A record that cannot be written (a full disk, say) is no reason to lose a training."""
        try:
            act(*args, **kwargs)
        except (OSError, WhileaiError) as error:
            if not self._warned:
                logger.warning("%s is not recorded any more (%s: %s)", self.run.id, type(error).__name__, error)
            self._warned = True
