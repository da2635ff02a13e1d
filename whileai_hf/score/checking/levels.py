"""From which reward on a reply counts as paid.

Rewards have no common scale, so the right replies set it: paid is more than half of what they earn. Of the sum of
several rewards it is more than nine tenths, because one part of it is meant to be paid without the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


# Shares of the way from the lowest reward to that of a right reply.
HALF, NEARLY_ALL = 0.5, 0.9
# Where no right reply is known.
_UNKNOWN = 0.5
# Relative slack for rewards that went through 32-bit floats.
_SLACK = 1e-6

Rewards = Mapping[str, Sequence[float | None]]
"""Per way of replying, one reward per task; `None` also where the reply makes no sense for a task."""


@dataclass(frozen=True)
class Level:
    """From where on a reply is paid."""

    value: float
    inclusive: bool
    top: float | None
    """What a right reply earns; `None` when none is known."""

    def paid(self, reward: float) -> bool:
        """Whether a reward counts as paid."""
        slack = _SLACK * max(1.0, abs(self.value))
        return reward >= self.value - slack if self.inclusive else reward > self.value + slack


def level_of(rewards: Rewards, right: Iterable[str], threshold: float | None, share: float = HALF) -> Level:
    """
    The level of one reward.

    Args:
        rewards (`dict[str, list]`):
            What it gave, per way of replying.
        right (`Iterable[str]`):
            Which of those are right replies.
        threshold (`float`, *optional*):
            The level when the caller says it.
        share (`float`, *optional*, defaults to `HALF`):
            How far on the way to a right reply's reward it lies otherwise.

    Examples:
    ```python
    >>> level = level_of({"empty": [0.0, 0.0], "answer": [2.0, 2.0], "boxed": [0.0, 0.0]}, ["answer", "boxed"], None)
    >>> level.value, level.paid(1.0), level.paid(2.0)
    (1.0, False, True)

    ```
    """
    by_task = zip(*(rewards[name] for name in right if name in rewards), strict=True)
    best = [max(given) for task in by_task if (given := [reward for reward in task if reward is not None])]
    top = statistics.median(best) if best else None
    if threshold is not None:
        return Level(threshold, True, top)
    if top is None:
        return Level(_UNKNOWN, True, None)
    known = [reward for given in rewards.values() for reward in given if reward is not None]
    floor = min(known)
    if max(known) == floor:  # nothing tells the replies apart
        return Level(_UNKNOWN, True, top)
    base = floor if top <= 0 or floor > 0 else 0.0  # a reward that punishes still starts to pay above zero
    return Level(base + share * (top - base), False, top)
