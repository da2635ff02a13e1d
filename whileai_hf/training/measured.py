"""What of a trainer's logs goes on the record, and what they say about groups that taught nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.training.runs.points import STEP, TIME, is_loggable


# A trainer's last log: totals of the whole training, not values of a step.
_TOTALS = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos", "train_loss")
_NAMES = {"learning_rate": "lr"}
_DEAD_SHARE, _TOKENS = "frac_reward_zero_std", "num_tokens"


def values_of(logs: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a step under the names of the record; what is no single number or text is left out."""
    return {
        _NAMES.get(name, name): value
        for name, value in logs.items()
        if name not in _TOTALS and name not in (STEP, TIME) and value is not None and is_loggable(value)
    }


def totals_of(logs: Mapping[str, Any]) -> dict[str, Any]:
    """The totals in a log."""
    return {name: logs[name] for name in _TOTALS if logs.get(name) is not None and is_loggable(logs[name])}


class DeadGroups:
    """
    Groups whose rollouts all got the same reward: no advantage, so nothing is learnt from the tokens they took.

    The trainer says which share of the groups between two logs was dead, and how many tokens it has seen. Their cost
    is that share of the tokens in between; groups are taken to be equally long.

    Args:
        tokens (`float`, *optional*, defaults to 0):
            Tokens seen before the first log, by the training a checkpoint continues.

    Examples:
    ```python
    >>> dead = DeadGroups()
    >>> dead.read({"frac_reward_zero_std": 0.25, "num_tokens": 1000})
    {'dead_groups': 0.25, 'dead_tokens': 250}
    >>> dead.read({"frac_reward_zero_std": 1.0, "num_tokens": 1600})
    {'dead_groups': 1.0, 'dead_tokens': 600}
    >>> dead.summary()
    {'dead_groups': 0.625, 'dead_tokens': 850}

    ```
    """

    def __init__(self, tokens: float = 0) -> None:
        self._seen = tokens
        self._shares: list[float] = []
        self._tokens = 0

    def read(self, logs: Mapping[str, Any]) -> dict[str, Any]:
        """What a log says about them; empty for a trainer without groups and for an evaluation."""
        share, seen = logs.get(_DEAD_SHARE), logs.get(_TOKENS)
        if share is None:
            return {}
        self._shares.append(float(share))
        if seen is None:
            return {"dead_groups": share}
        cost = round(float(share) * max(0.0, float(seen) - self._seen))
        self._seen = float(seen)
        self._tokens += cost
        return {"dead_groups": share, "dead_tokens": cost}

    def summary(self) -> dict[str, Any]:
        """Mean share and total cost; empty where nothing was read."""
        if not self._shares:
            return {}
        return {"dead_groups": sum(self._shares) / len(self._shares), "dead_tokens": self._tokens}
