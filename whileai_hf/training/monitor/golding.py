"""The gold of a monitor: any judge as a reward function that scores held-out completions and nothing else."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment.rewards import EnvironmentRows, is_reward_function
from whileai_hf.score.choosing import choose_judge
from whileai_hf.score.config import GradingConfig
from whileai_hf.score.verify.reward import JudgeReward, as_reward
from whileai_hf.training.monitor.tape import GOLD, TASK_COLUMN, Reward, Tape, is_async_reward


Failed = Callable[[str, Exception], None]


def make_gold(gold: Any) -> Reward:
    """
    What was given as gold, as a reward function.

    Args:
        gold (`Any`):
            A judge (row to verdict), a verifier, a judge model, a reward model, or a reward function of TRL's shape.

    Raises:
        [`ConfigurationError`]: It is none of them.
    """
    if isinstance(gold, JudgeReward) or is_reward_function(gold):
        reward: Reward = gold
        return reward
    if isinstance(gold, str | Model | ScriptedModel):
        gold = choose_judge(gold, None, GradingConfig())
    if not callable(gold) or isinstance(gold, type):
        raise ConfigurationError(
            f"gold={gold!r:.80} scores nothing; pass a judge (a callable of a row), a verifier, a reward model, or a "
            "reward function of the trainer's shape"
        )
    return as_reward(gold, name=GOLD)


def seated(gold: Reward, rewards: Sequence[Any]) -> Reward:
    """
    The gold as a judge of the environment that is trained in: it then sees the rows the training judges see, with the
    world and what only a judge may see, and not the bare transcript.

    Args:
        gold (`Callable`):
            From [`make_gold`].
        rewards (`Sequence[Callable]`):
            The training rewards, wrapped or not.
    """
    if not isinstance(gold, JudgeReward) or isinstance(gold.rows, EnvironmentRows):
        return gold
    for reward in map(_unwrapped, rewards):
        if isinstance(reward, JudgeReward) and isinstance(reward.rows, EnvironmentRows):
            return as_reward(gold.judge, name=gold.__name__, concurrency=gold.concurrency, rows=reward.rows)
    return gold


def _unwrapped(reward: Any) -> Any:
    """What recorders and monitors wrapped."""
    while inspect.isfunction(reward) and "__wrapped__" in vars(reward):
        reward = vars(reward)["__wrapped__"]
    return reward


def held_out_only(reward: Reward, tape: Tape, failed: Failed) -> Reward:
    """
    A gold that is asked about held-out completions alone: its verdicts can be dear, and training must not see them.

    Args:
        reward (`Callable`):
            The gold as a reward function.
        tape ([`Tape`]):
            Where its scores go.
        failed (`Callable`):
            Told what the gold raises; the completions then have no gold score.
    """
    awaits = is_async_reward(reward)

    @functools.wraps(reward)
    def called(prompts: Any, completions: Any, **columns: Any) -> Any:
        if TASK_COLUMN not in columns:
            return [None] * len(completions)
        try:
            values = reward(prompts=prompts, completions=completions, **columns)
            if awaits:  # here: a trainer made without async rewards has no loop to await them on
                values = wait_for(values)
            tape.take(GOLD, prompts, completions, columns, values)
        except Exception as error:
            failed("the gold", error)
            return [None] * len(completions)
        return values

    called.__name__ = GOLD
    return called
