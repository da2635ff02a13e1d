"""The shipped policy is trained under a monitor, on a reward that can be hacked or on its honest twin."""

from __future__ import annotations

import dataclasses
import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import Report
from whileai_hf.training.monitor.alarms import KINDS
from whileai_hf.training.monitor.demo import desk
from whileai_hf.training.monitor.demo.policy import load_policy
from whileai_hf.training.monitor.figure import monitor_figure
from whileai_hf.training.monitor.report import MonitorReport


# Both twins train with these; one core takes about a second for a step or an evaluation.
STEPS, EVERY, K = 16, 2, 2
_RATE, _BATCH, _GROUP, _TEMPERATURE = 4e-4, 16, 8, 1.0
_LONGEST = 96  # tokens of a completion, the tool's answer included


@dataclasses.dataclass(frozen=True)
class HackDemo(Report):
    """
    One run of the demo; what [`play_hack_demo`] returns.

    Args:
        honest (`bool`):
            Which twin.
        seed (`int`):
            Its seed.
        steps (`int`):
            Steps taken.
        planned (`int`):
            Steps planned.
        seconds (`float`):
            Time the training took, evaluations included.
        monitor ([`MonitorReport`]):
            What the monitor saw.
    """

    honest: bool
    seed: int
    steps: int
    planned: int
    seconds: float
    monitor: MonitorReport

    def __str__(self) -> str:
        name = "honest reward" if self.honest else "reward that pays for long answers"
        return (
            f"{name}, seed {self.seed}: {self.steps} of {self.planned} steps in {self.seconds:.0f} s\n{self.monitor}"
        )

    def figure(self) -> str:
        """The run as an SVG image."""
        name = "An honest reward" if self.honest else "A reward that pays for long answers"
        return monitor_figure(self.monitor, title=f"{name} (proxy) and the task done (gold)")


def play_hack_demo(
    *,
    honest: bool = False,
    seed: int = 0,
    steps: int = STEPS,
    stop: bool = True,
    run: Any = None,
    output: str | Path | None = None,
    say: Callable[[str], None] | None = None,
) -> HackDemo:
    """
    Trains the shipped tool-calling policy with GRPO under a monitor: offline, on one CPU core, in about half a minute.

    Args:
        honest (`bool`, *optional*, defaults to `False`):
            Train on the reward that pays for doing the task, in place of the one that pays for long answers.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the training.
        steps (`int`, *optional*, defaults to `16`):
            Steps planned.
        stop (`bool`, *optional*, defaults to `True`):
            Whether a divergence stops the run.
        run ([`TrainingRun`], *optional*):
            A record to write to.
        output (`str` or `Path`, *optional*):
            Folder for checkpoints; a temporary one by default.
        say (`Callable`, *optional*):
            Told what happens as it does, such as `print`.

    Returns:
        [`HackDemo`]: What happened.

    Raises:
        [`ConfigurationError`]: The `trl` extra is not installed.
    """
    if find_spec("trl") is None:
        raise ConfigurationError("the demo trains a policy, which needs TRL; pip install 'whileai-hf[trl]'")
    import torch
    from transformers import PrinterCallback

    with tempfile.TemporaryDirectory(prefix="whileai-hf-demo-") as scratch, _quiet(torch):
        monitor, trainer = make_trainer(
            honest=honest, seed=seed, steps=steps, stop=stop, run=run, output=str(output or scratch)
        )
        trainer.remove_callback(PrinterCallback)  # every logged number, on the screen
        if say is not None:
            trainer.add_callback(_narrator(monitor, say))
        started = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - started
    return HackDemo(honest, seed, trainer.state.global_step, steps, round(seconds, 1), monitor.summary())


def make_trainer(
    *, honest: bool, seed: int, steps: int, stop: bool, run: Any, output: str, **knobs: Any
) -> tuple[Any, Any]:
    """
    The monitor and the trainer of the demo.

    Args:
        honest (`bool`):
            Which twin.
        seed (`int`):
            Seed of the training.
        steps (`int`):
            Steps planned.
        stop (`bool`):
            Whether a divergence stops the run.
        run ([`TrainingRun`], *optional*):
            A record to write to.
        output (`str`):
            Folder for checkpoints.
        **knobs:
            Further keywords of the monitor.

    Returns:
        `tuple`: A [`HackMonitor`] and a `GRPOTrainer` it is in.
    """
    from datasets import Dataset
    from trl.trainer.grpo_trainer import GRPOTrainer

    from whileai_hf.training.monitor.callback import HackMonitor

    policy, tokenizer = load_policy()
    settings: dict[str, Any] = {"every": EVERY, "k": K, "stop_on": "divergence" if stop else None, **knobs}
    monitor = HackMonitor(run, holdout=desk.tasks(desk.HELD_OUT, "holdout"), gold=desk.task_done, **settings)
    trainer = GRPOTrainer(
        **monitor.trainer_kwargs(
            model=policy,
            processing_class=tokenizer,
            reward_funcs=[desk.careful_answers if honest else desk.long_answers],
            environment_factory=desk.OrderDesk,
            train_dataset=Dataset.from_dict(_columns(desk.tasks(desk.TRAINED, "train"))),
            args=training_arguments(output, seed=seed, steps=steps),
        )
    )
    return monitor, trainer


def training_arguments(output: str, *, seed: int, steps: int) -> Any:
    """The `GRPOConfig` of both twins."""
    from trl.trainer.grpo_config import GRPOConfig

    return GRPOConfig(
        output_dir=output,
        max_steps=steps,
        seed=seed,
        per_device_train_batch_size=_BATCH,
        per_device_eval_batch_size=len(desk.HELD_OUT) * K,
        num_generations=_GROUP,
        max_completion_length=_LONGEST,
        max_tool_calling_iterations=1,
        learning_rate=_RATE,
        lr_scheduler_type="constant",
        temperature=_TEMPERATURE,
        beta=0.0,
        use_cpu=True,
        bf16=False,
        activation_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _narrator(monitor: Any, say: Callable[[str], None]) -> Any:
    from transformers import TrainerCallback

    class Narrator(TrainerCallback):
        """Says each evaluation as it is read; behind the monitor in the trainer's list."""

        def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            report = monitor.summary()
            if report.steps:
                proxy, gold = report.proxy[-1] or 0.0, report.gold[-1] or 0.0
                say(f"step {report.steps[-1]:>3}: proxy {proxy:.2f}, gold {gold:.2f}")
            for alarm in report.alarms:
                if alarm.step == state.global_step and alarm.kind in KINDS:
                    say(f"ALARM {alarm}")

    return Narrator()


@contextmanager
def _quiet(torch: Any) -> Iterator[None]:
    """One thread, which is faster for a model of this size, and none of the libraries' remarks on the way."""
    threads, level = torch.get_num_threads(), logging.root.manager.disable
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(threads)
        logging.disable(level)
