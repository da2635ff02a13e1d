"""Plugging a monitor into a trainer, and what is wrong with a trainer it cannot be plugged into."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import add_columns, view
from whileai_hf.training.monitor.holdout import check_alike, check_apart, same_rows
from whileai_hf.training.monitor.tape import GOLD, Reward, Tape, reward_name, watched


@dataclasses.dataclass(frozen=True)
class Plug:
    """
    What a monitor brings to a trainer.

    Args:
        tape ([`Tape`]):
            Where rewards are kept.
        holdout (`datasets.Dataset`):
            Held-out rows with their task numbers.
        gold (`Callable`, *optional*):
            Gold as a reward function.
        k (`int`):
            Completions of each held-out row.
        allow_overlap (`bool`):
            Whether training may see held-out tasks.
    """

    tape: Tape
    holdout: Dataset
    gold: Reward | None
    k: int
    allow_overlap: bool


def plug_in(trainer: Any, plug: Plug, wrapped: Sequence[Reward]) -> dict[str, float]:
    """
    Plugs a monitor into a trainer that has not started.

    Args:
        trainer (`trl.GRPOTrainer` or `trl.RLOOTrainer`):
            The trainer.
        plug ([`Plug`]):
            What to plug in.
        wrapped (`Sequence[Callable]`):
            Reward functions that report to the tape already.

    Returns:
        `dict[str, float]`: Weight of each training reward by its name.

    Raises:
        [`ConfigurationError`]: The monitor cannot evaluate this trainer.
    """
    check_kind(trainer)
    names = list(trainer.reward_func_names)
    check_rewards(trainer.reward_funcs, names)
    if not plug.allow_overlap:
        check_apart(plug.holdout, trainer.train_dataset)
    check_alike(plug.holdout, trainer.train_dataset)
    _set_holdout(trainer, plug.holdout)
    mine = {id(reward) for reward in wrapped}
    for index, (reward, name) in enumerate(zip(trainer.reward_funcs, names, strict=True)):
        if id(reward) not in mine:
            trainer.reward_funcs[index] = watched(reward, plug.tape, name)
    weights = dict(zip(names, (float(weight) for weight in trainer.reward_weights), strict=True))
    if plug.gold is not None:
        _add_gold(trainer, plug.gold)
    _set_evaluation(trainer, plug.k)
    return weights


def check_kind(trainer: Any) -> None:
    """Raises for a trainer that samples nothing, or whose evaluation is not TRL's own."""
    from trl.trainer.grpo_trainer import GRPOTrainer
    from trl.trainer.rloo_trainer import RLOOTrainer

    if not isinstance(trainer, GRPOTrainer | RLOOTrainer):
        raise ConfigurationError(
            f"a {type(trainer).__name__} samples nothing that a reward is given for, so there is nothing to monitor; "
            "HackMonitor works with GRPOTrainer and RLOOTrainer"
        )
    if trainer.args.remove_unused_columns:
        raise ConfigurationError(
            "remove_unused_columns=True takes the columns away that rewards and the monitor read; set it to False, "
            "which is the default of these trainers"
        )


def check_rewards(rewards: Any, names: Sequence[str] | None = None) -> None:
    """Raises for reward functions that cannot be told apart, or are none."""
    functions = list(rewards) if isinstance(rewards, list | tuple) else [rewards]
    if not functions or functions == [None]:
        raise ConfigurationError("there is no reward function to watch; pass reward_funcs=")
    for reward in functions:
        if not callable(reward) or isinstance(reward, str) or is_module(reward):
            raise ConfigurationError(
                f"the reward {type(reward).__name__} is a model, of which only means are seen; pass "
                "wai.as_reward(wai.reward_model(...)), a function with a reward per completion"
            )
    known = list(names) if names is not None else [reward_name(reward) for reward in functions]
    for name in known:
        if known.count(name) > 1:
            raise ConfigurationError(
                f"two reward functions are called {name!r}, and the trainer would log them as one; give one of them "
                "another __name__"
            )
    if GOLD in known:
        raise ConfigurationError(
            f"a training reward is called {GOLD!r}, the name under which the monitor's own is logged; rename it"
        )


def is_module(reward: Any) -> bool:
    """Whether it is a torch module, which the trainer feeds with tokens."""
    return any(base.__module__.startswith("torch.nn") for base in type(reward).__mro__)


def _set_holdout(trainer: Any, holdout: Dataset) -> None:
    given = trainer.eval_dataset
    if given is not None and given is not holdout and not same_rows(given, holdout):
        raise ConfigurationError(
            "the trainer has an eval_dataset that is not the monitor's holdout, and it evaluates on one; pass the "
            "same rows as holdout=, or leave eval_dataset out"
        )
    # Of one task the trainer's row is the one it can play: prompts of a rollout function say which task they are.
    trainer.eval_dataset = holdout if given is None else _joined(given, holdout)


def _joined(given: Dataset, holdout: Dataset) -> Dataset:
    """The trainer's rows with the columns that only the monitor's have."""
    added = [name for name in holdout.column_names if name not in given.column_names]
    rows = view(holdout)
    columns = {name: rows.column(name) for name in added}
    return add_columns(given, columns, {name: holdout.features[name] for name in added}) if added else given


def _add_gold(trainer: Any, gold: Reward) -> None:
    """At weight 0: it is measured and never trained on."""
    import torch

    weights = trainer.reward_weights
    trainer.reward_funcs.append(gold)
    trainer.reward_func_names.append(GOLD)
    trainer.reward_processing_classes.append(None)
    trainer.reward_weights = torch.cat([weights, torch.zeros(1, dtype=weights.dtype, device=weights.device)])


def _set_evaluation(trainer: Any, k: int) -> None:
    """Completions per held-out row; the batch has to hold whole groups of them."""
    args = trainer.args
    trainer.num_generations_eval = args.num_generations_eval = k
    while args.per_device_eval_batch_size * args.world_size % k:
        args.per_device_eval_batch_size += 1
    args.eval_on_start = True
