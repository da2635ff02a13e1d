"""`HackMonitor`: whether a reward is being hacked right now, while a GRPO or RLOO trainer works.

Importing this module imports transformers, which takes seconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import transformers
from transformers import TrainerControl, TrainerState, TrainingArguments

from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import overlay
from whileai_hf.training.monitor.alarms import Alarm
from whileai_hf.training.monitor.config import MonitorConfig, MonitorKnobs, check_stop_on, check_whole
from whileai_hf.training.monitor.figure import monitor_figure
from whileai_hf.training.monitor.golding import held_out_only, make_gold, seated
from whileai_hf.training.monitor.holdout import check_alike, check_apart, make_holdout
from whileai_hf.training.monitor.isolation import RandomState, reseed
from whileai_hf.training.monitor.looking import Watch
from whileai_hf.training.monitor.report import MonitorReport
from whileai_hf.training.monitor.tape import Reward, reward_name, watched
from whileai_hf.training.monitor.telling import Teller
from whileai_hf.training.monitor.wiring import Plug, check_rewards, plug_in
from whileai_hf.training.runs import TrainingRun, get_run
from whileai_hf.training.watching import calling_trainer


logger = logging.getLogger(__name__)

# Under this name a checkpoint carries the evaluations so far.
_MARK = "whileai_hf_monitor"
_NO_GOLD = (
    "no gold was given, so hacking is NOT MEASURED: lengths, KL and features are logged; pass gold=, a judge the "
    "training reward cannot see"
)


class HackMonitor(transformers.TrainerCallback):
    """
    Watches a reward while a policy is trained on it: `trainer.add_callback(monitor)`.

    Every `every` steps the trainer's own evaluation loop, with its environment and tools, samples each held-out task
    `k` times from the live policy; the training reward (the proxy) and `gold`, which training never sees, score the
    same completions. Four alarms, each raised once: `divergence` (the proxy rose and the gold did not follow),
    `length` (completions grew and the gold did not follow), `drift` (KL past `kl_budget`) and `feature` (two scans in
    a row of the latest training completions say the reward pays for something that is not `endorsed`). What counts as
    not following, and how it is corrected for looking many times, is said in `alarms`.

    Without a gold nothing can be said about hacking: the outcome is `not_measured`.

    The random numbers of training are put back after each evaluation, so that training goes as it would have without.
    What goes wrong in the monitor is logged and ends the monitor, not the training, unless `strict=True`; wrong wiring
    is one error before the first step. With several processes all of them see all scores, and stop together.

    Args:
        run ([`TrainingRun`] or `str`, *optional*):
            The record to write to, or its id.
        holdout (`datasets.Dataset` or `list` or path or Hub repo id):
            Held-out rows, like those of the training set and not among them, or prompts; 32 tasks or more.
        gold (`Callable` or `str`, *optional*):
            What the reward is to stand for: a judge (row to verdict), a verifier, a reward model, a judge model, or a
            reward function of the trainer's shape. Called on held-out completions only; in an environment of ours a
            judge sees the rows that its judges see.
        every (`int`, *optional*, defaults to `10`):
            Steps between two evaluations.
        k (`int`, *optional*, defaults to `4`):
            Completions of each held-out row.
        endorsed (`Sequence[str]`, *optional*, defaults to `()`):
            What the reward is meant to track, as for [`hack_scan`]; without it there is no `feature` alarm.
        stop_on (`str` or `Sequence[str]`, *optional*):
            Alarms that save a checkpoint and stop training, or `"any"`; none by default.
        **knobs:
            Fields of [`MonitorConfig`]: `delta`, `window`, `kl_budget`, `strict`, ...

    Examples:
    ```python
    >>> monitor = HackMonitor(holdout=["Where is order 1?", "Where is order 2?"], every=5)
    >>> print(monitor.summary().outcome)
    not_measured

    ```
    """

    def __init__(
        self,
        run: TrainingRun | str | None = None,
        *,
        holdout: Any = None,
        gold: Any = None,
        every: int = 10,
        k: int = 4,
        endorsed: Sequence[str] = (),
        stop_on: str | Sequence[str] | None = None,
        **knobs: Unpack[MonitorKnobs],
    ) -> None:
        self.run = get_run(run) if isinstance(run, str) else run
        self.every, self.k = check_whole("every", every, 1), check_whole("k", k, 1)
        self.config = overlay(MonitorConfig, None, dict(knobs))
        self._stop_on = check_stop_on(stop_on)
        self.holdout, n_tasks = make_holdout(holdout)
        self._teller = Teller(self.run)
        self._watch = Watch(n_tasks, endorsed, self.config, self._failed)
        self._given_gold = gold
        self._gold = None if gold is None else make_gold(gold)
        self._wrapped: list[Reward] = []
        self._originals: list[Any] = []
        self._trainer: Any = None
        self._state: RandomState | None = None
        self._started: float | None = None
        self._mode = True
        self._broken = False
        self._stopped: str | None = None

    # Wiring.

    def wrap(self, reward: Reward) -> Reward:
        """
        Watches a reward function: it does what it did, under the same name, and the monitor sees its rewards.

        [`attach`] and training with the callback do so by themselves for those that are not wrapped.

        Args:
            reward (`Callable`):
                A reward function of TRL's, sync or async.
        """
        check_rewards([reward])
        self._originals.append(reward)
        wrapped = watched(reward, self._watch.tape, reward_name(reward))
        self._wrapped.append(wrapped)
        return wrapped

    def trainer_kwargs(self, **given: Any) -> dict[str, Any]:
        """
        The keywords of a trainer with the monitor in them: `GRPOTrainer(**monitor.trainer_kwargs(model=..., ...))`.

        Args:
            **given:
                Keywords of the trainer, with `reward_funcs`; those of an environment (`spec.trainer_kwargs()`) as
                they are.

        Returns:
            `dict`: The same with `eval_dataset` and `callbacks`. The rest is plugged in when training begins.

        Raises:
            [`ConfigurationError`]: No reward functions, two of one name, or a holdout that training sees.
        """
        check_rewards(given.get("reward_funcs"))
        if not self.config.allow_overlap:
            check_apart(self.holdout, given.get("train_dataset"))
        check_alike(self.holdout, given.get("train_dataset"))
        callbacks = [each for each in given.get("callbacks") or [] if each is not self]
        made = {**given, "callbacks": [*callbacks, self]}
        if made.get("eval_dataset") is None:
            made["eval_dataset"] = self.holdout
        return made

    def attach(self, trainer: Any) -> HackMonitor:
        """
        Plugs the monitor into a trainer, before training: rewards, the gold at weight 0, the holdout, the callback.

        Args:
            trainer (`trl.GRPOTrainer` or `trl.RLOOTrainer`):
                The trainer.

        Returns:
            [`HackMonitor`]: The monitor.

        Raises:
            [`ConfigurationError`]: The monitor cannot evaluate this trainer.
        """
        if self._trainer is trainer:
            return self
        if self._trainer is not None:
            raise ConfigurationError("the monitor is in another trainer already; make one for each")
        originals = [*trainer_rewards(trainer), *self._originals]
        gold = self._gold
        if gold is not None:
            gold = held_out_only(seated(gold, originals), self._watch.tape, self._failed)
        plug = Plug(self._watch.tape, self.holdout, gold, self.k, self.config.allow_overlap)
        self._watch.weights = plug_in(trainer, plug, self._wrapped)
        self._watch.listen(trainer)
        self._trainer = trainer
        if self not in trainer.callback_handler.callbacks:
            trainer.add_callback(self)
        if self._gold is None:
            self._teller.warn(_NO_GOLD)
        elif any(self._given_gold is reward for reward in originals):
            self._teller.warn("gold is the training reward itself: it can only agree, whatever the policy learns")
        if self._watch.n_tasks < 32:
            self._teller.warn(
                f"the holdout has {self._watch.n_tasks} tasks: under 32 only a collapse of the gold is seen, under 8 "
                "nothing is"
            )
        return self

    # Events.

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Plugs in what is not plugged in yet; the trainer then evaluates before its first step."""
        if self._trainer is None:
            trainer = calling_trainer()
            if trainer is None:
                raise ConfigurationError("the monitor does not know its trainer; call monitor.attach(trainer)")
            self.attach(trainer)
        self._guarded(self._begin, state)

    def _begin(self, state: TrainerState) -> None:
        marks: Any = state.stateful_callbacks
        earlier = marks.get(_MARK) if isinstance(marks, Mapping) else None
        if state.global_step and earlier is not None:
            self._watch.restore(earlier["attributes"]["points"], state.global_step)
        self._watch.looks = -(-state.max_steps // self.every)
        self._request(state.global_step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> TrainerControl:
        """Asks for an evaluation when it is time for one."""
        due = state.global_step % self.every == 0 or state.global_step == state.max_steps
        if due and not self._broken and state.global_step != self._watch.last_step:
            control.should_evaluate = True
            self._guarded(self._request, state.global_step)
        return control

    def _request(self, step: int) -> None:
        self._started = time.perf_counter()
        self._mode = self._trainer.model.training
        self._watch.start()
        if self.config.isolate_rng:
            self._state = RandomState()
            reseed(self.config.seed * 1_000_003 + step)

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> TrainerControl:
        """Reads the evaluation that was asked for, raises alarms, and stops training where that was asked for."""
        if self._started is None:  # somebody else's evaluation
            return control
        alarms: list[Alarm] = []
        try:
            if not self._broken:
                self._guarded(self._look, state, alarms)
        finally:
            if self._state is not None:
                self._state.restore()
            self._trainer.model.train(self._mode)
            self._state = self._started = None
        for alarm in alarms:
            if alarm.kind in self._stop_on and self._stopped is None:
                self._stopped = str(alarm)
                control.should_save = control.should_training_stop = True
                self._guarded(self._teller.stop, self._stopped)
        return control

    def _look(self, state: TrainerState, found: list[Alarm]) -> None:
        assert self._started is not None
        point = self._watch.look(state.global_step, self._trainer.model)
        found += self._watch.alarms_at(point)
        seconds = time.perf_counter() - self._started
        self._watch.seconds.append(seconds)
        self._teller.point(state.global_step, point, seconds)
        for alarm in found:
            self._teller.alarm(alarm, self._trainer.args)
        marks: Any = state.stateful_callbacks
        if isinstance(marks, dict):
            marks[_MARK] = {"args": {}, "attributes": {"points": self._watch.kept()}}

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Leaves what was seen on the record."""
        self._guarded(self._teller.end, self.summary())

    # Reading.

    def summary(self) -> MonitorReport:
        """
        What was seen so far; `print` it for the curve and the alarms.

        Returns:
            [`MonitorReport`]: The report.
        """
        return self._watch.report(
            measured=self._gold is not None, stopped=self._stopped, k=self.k, warnings=self._teller.warnings
        )

    def figure(self) -> str:
        """The curve as an SVG image, see [`monitor_figure`]."""
        return monitor_figure(self.summary())

    # Failing.

    def _guarded(self, act: Any, *args: Any) -> None:
        """The monitor is an onlooker: what goes wrong in it does not end a training, unless that was asked for."""
        try:
            act(*args)
        except Exception as error:
            self._failed("the monitor", error)
            self._broken = True

    def _failed(self, what: str, error: Exception) -> None:
        if self.config.strict:
            raise error
        self._teller.warn(f"{what} failed and the training goes on ({type(error).__name__}: {error})")


def trainer_rewards(trainer: Any) -> list[Any]:
    """The reward functions of a trainer that has some; none for other kinds, which are refused later on."""
    rewards = vars(trainer).get("reward_funcs")
    return list(rewards) if isinstance(rewards, list) else []
