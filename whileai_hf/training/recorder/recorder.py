"""Keeps every completion a GRPO run samples, as rows the rest of the library reads."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.store import Journal
from whileai_hf.training.recorder.batches import EVAL, TRAIN, Batch
from whileai_hf.training.recorder.functions import caller_of, is_async, is_model, name_of, weights_of
from whileai_hf.training.recorder.reading import Row, file_of, mark_line, number_all, read_rows, rows_dataset
from whileai_hf.training.runs import TrainingRun
from whileai_hf.training.runs.processes import rank


logger = logging.getLogger(__name__)

RewardFunction = Callable[..., Any]
PHASES = (TRAIN, EVAL)
# Columns a row has in any case.
_OWN = frozenset({"phase", "step", "reward", "rewards", "judge_status", "run_id", "policy_version", "model_version"})
# Rows kept in memory, as text, for readers that look at the latest ones every few steps. Some megabytes.
_LATEST = 1024


class RolloutRecorder:
    """
    Records every sampled completion of a GRPO (or RLOO) run: train and evaluation, all rows, messages as messages,
    the reward of every function, the step and the task.

    Wrap the reward functions before the trainer is made, or hand it the trainer afterwards:

        recorder = RolloutRecorder(run)
        trainer = GRPOTrainer(model, reward_funcs=[recorder.wrap(concise), recorder.wrap(gold)], ...)

    Rows go to a file in the run's folder as they come, one line each, and are read back with [`dataset`]. Nothing is
    drawn at random, and what the functions return reaches the trainer untouched.

    Args:
        run ([`TrainingRun`] or path):
            The run, or a folder.
        weights (`Sequence[float]` or `Mapping[str, float]`, *optional*):
            Weights of the functions, in the order they were wrapped or by name. Left out, those of the trainer; 1
            each where no trainer calls.
        keep (`Sequence[str]`, *optional*):
            Columns of the data set to keep besides those of a task; they may give the answer away.

    Examples:
    ```python
    >>> import tempfile
    >>> recorder = RolloutRecorder(tempfile.mkdtemp())
    >>> @recorder.wrap
    ... def short(prompts, completions, **columns):
    ...     return [1.0 if len(text) < 5 else None for text in completions]
    >>> short(prompts=["Hi", "Hi"], completions=["Yes", "Certainly"], task_id=["a", "a"])
    [1.0, None]
    >>> rows = recorder.dataset()
    >>> rows["final_text"][:], rows["reward"][:], rows["task_id"][:]
    (['Yes', 'Certainly'], [1.0, None], ['a', 'a'])

    ```
    """

    def __init__(
        self,
        run: TrainingRun | str | os.PathLike[str],
        *,
        weights: Sequence[float] | Mapping[str, float] | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        self._run = run if isinstance(run, TrainingRun) else None
        self._place = None if isinstance(run, TrainingRun) else Path(run)
        self._weights = weights
        self._keep = tuple(keep)
        if taken := sorted(set(self._keep) & _OWN):
            raise ConfigurationError(f"keep names {', '.join(taken)}, which rows have in any case; rename the column")
        self._functions: dict[str, tuple[RewardFunction, RewardFunction]] = {}
        self._trained: dict[str, float] | None = None
        self._open: Batch | None = None
        self._journal: Journal | None = None
        self._latest: deque[bytes] = deque(maxlen=_LATEST)
        self._training: Any = None  # state of the training the latest batch belongs to
        self._seen: Any = None  # state of the latest batch, of an evaluation too
        self._since = 0  # lines written since that state came up
        self._warned = False
        self._lock = threading.RLock()
        self.n_rows = 0
        """Rows written by this process."""
        self.seconds = 0.0
        """Time spent recording, without the reward functions."""

    @property
    def folder(self) -> Path:
        """Where the rows are: with a run, in its folder, also when that turns out to be an earlier one's."""
        return self._run.folder if self._run is not None else Path(self._place or ".")

    # Recording.

    def wrap(self, function: RewardFunction, name: str | None = None) -> RewardFunction:
        """
        A reward function that does the same, and has what it was called with and what it returned recorded.

        Args:
            function (`Callable`):
                Sync or async, called with keywords as TRL does.
            name (`str`, *optional*):
                What the trainer calls it; its own name without.

        Returns:
            `Callable`: Under the same name, async if the function is.

        Raises:
            [`ConfigurationError`]: It cannot be called, or another function of this name was wrapped: a trainer would
                throw both into one metric.
        """
        if not callable(function):
            raise ConfigurationError(f"a reward function is a {type(function).__name__}; pass something to call")
        name = name_of(function) if name is None else name
        if name in self._functions:
            earlier, wrapped = self._functions[name]
            if function is earlier or function is wrapped:
                return wrapped
            raise ConfigurationError(
                f"two reward functions are called {name!r}, and a trainer would log them as one; rename one of them"
            )
        wrapped = self._wrapped(function, name)
        self._functions[name] = (function, wrapped)
        return wrapped

    def _wrapped(self, function: RewardFunction, name: str) -> RewardFunction:
        if is_async(function):

            async def recorded(prompts: Any, completions: Any, **columns: Any) -> Any:
                self._sampled(name, prompts, completions, columns)
                rewards = await function(prompts=prompts, completions=completions, **columns)
                self._scored(name, completions, rewards)
                return rewards

        else:

            def recorded(prompts: Any, completions: Any, **columns: Any) -> Any:  # type: ignore[misc]
                self._sampled(name, prompts, completions, columns)
                rewards = function(prompts=prompts, completions=completions, **columns)
                self._scored(name, completions, rewards)
                return rewards

        functools.update_wrapper(recorded, function, updated=())  # an instance's attributes are not the function's
        recorded.__name__ = name
        return recorded

    def attach(self, trainer: Any) -> None:
        """
        Records a trainer that is there already: every reward function it has, an environment's own included.

        Args:
            trainer (`trl.GRPOTrainer` or `trl.RLOOTrainer`):
                A trainer with reward functions; reward models stay as they are, and rows then have no `reward`.
        """
        for at, (name, function) in enumerate(zip(trainer.reward_func_names, trainer.reward_funcs, strict=True)):
            known = any(function is wrapped for _, wrapped in self._functions.values())
            if not known and not is_model(function):
                trainer.reward_funcs[at] = self.wrap(function, name)
        self._trained = weights_of(trainer)

    def _sampled(self, name: str, prompts: Any, completions: Any, columns: Mapping[str, Any]) -> None:
        began = time.perf_counter()
        with self._lock:
            if self._open is None or not self._open.takes(completions, name):
                self._write_open()
                self._open = Batch(prompts, completions, columns, caller_of(columns), self._keep)
        self.seconds += time.perf_counter() - began

    def _scored(self, name: str, completions: Any, rewards: Any) -> None:
        began = time.perf_counter()
        with self._lock:
            if self._open is not None and self._open.takes(completions, name):
                # What is no list of rewards is the trainer's to complain about.
                self._open.rewards[name] = list(rewards) if isinstance(rewards, Iterable) else []
                if self._open.rewards.keys() >= self._expected(self._open):
                    self._write_open()
        self.seconds += time.perf_counter() - began

    def _expected(self, batch: Batch) -> set[str]:
        trained = batch.caller.weights
        return {name for name in self._functions if trained is None or name in trained} or set(self._functions)

    def _weights_for(self, batch: Batch) -> dict[str, float]:
        if isinstance(self._weights, Mapping):
            return dict(self._weights)
        if self._weights is not None:
            if len(self._weights) != len(self._functions):
                raise ConfigurationError(
                    f"{len(self._weights)} weights for {len(self._functions)} reward functions; give one for each"
                )
            return dict(zip(self._functions, self._weights, strict=True))
        return batch.caller.weights or self._trained or dict.fromkeys(self._functions, 1.0)

    def _write_open(self) -> None:
        batch, self._open = self._open, None
        if batch is None:
            return
        lines = batch.lines(self._weights_for(batch), self._known(batch.step))
        if batch.state is not self._seen:
            self._seen, self._since = batch.state, 0
        try:
            journal = self._file()
            if not all(batch.evaluating) and batch.state is not self._training:
                self._training = batch.state
                if journal.path.stat().st_size:
                    journal.append(mark_line(batch.step, self._since))
                    self._latest.clear()
            journal.append(*lines)
        except (OSError, DataError) as error:  # a full disk is no reason to lose a training
            if not self._warned:
                logger.warning("rollouts are not recorded any more (%s: %s)", type(error).__name__, error)
            self._warned = True
            return
        self._latest.extend(lines)
        self._since += len(lines)
        self.n_rows += len(lines)

    def _known(self, step: int) -> dict[str, Any]:
        if self._run is None:
            return {"policy_version": f"step-{step}"}
        model = self._run.record.base_model
        known = {"run_id": self._run.id, "policy_version": f"{self._run.id}@{step}"}
        return {**known, "model_version": model} if model else known

    def _file(self) -> Journal:
        path = file_of(self.folder, rank())
        if self._journal is None or self._journal.path != path:
            self.close_file()
            self._journal = Journal(path, append=True)
        return self._journal

    def close_file(self) -> None:
        """Closes the file; recording opens it again."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def close(self) -> None:
        """Writes what is still open and closes the file."""
        with self._lock:
            self._write_open()
            self.close_file()

    # Reading.

    def dataset(self, phase: str | None = None) -> Dataset:
        """
        Everything recorded so far, by every process and every attempt that still counts.

        Args:
            phase (`str`, *optional*):
                `"train"` or `"eval"`; both without.

        Returns:
            `datasets.Dataset`: Rollout rows in the order of training, with `step` (steps of the optimizer the
            policy had taken), `phase`, `split` and the columns of the task where the data set has them, `rewards` by
            function, and `reward`, their sum as the trainer weighs it. `policy_version` names run and step.
        """
        _check_phase(phase)
        with self._lock:
            self._write_open()
        return rows_dataset(read_rows(self.folder, phase))

    def latest(self, n: int, phase: str | None = None) -> list[Row]:
        """
        The last rows this process recorded, oldest first.

        Args:
            n (`int`):
                At most this many. More than a thousand are read from the file.
            phase (`str`, *optional*):
                `"train"` or `"eval"`; both without.
        """
        _check_phase(phase)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ConfigurationError(f"n is {n!r}; expected a count of rows from 1 on")
        with self._lock:
            self._write_open()
            lines = list(self._latest)
        rows = number_all(lines, phase)
        if len(rows) < n and len(lines) == _LATEST:
            rows = list(deque(read_rows(self.folder, phase), maxlen=n))
        return rows[-n:]


def _check_phase(phase: str | None) -> None:
    if phase is not None and phase not in PHASES:
        raise ConfigurationError(f"phase is {phase!r}; expected one of {', '.join(PHASES)}, or none for both")
