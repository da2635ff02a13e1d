"""Group-relative advantages over the rollouts that were judged."""

from __future__ import annotations

import math
from collections.abc import Sequence


def group_advantages(rewards: Sequence[float | None]) -> list[float]:
    """
    Rewards of one group minus the mean of its judged rollouts.

    A rollout without a verdict is neither in the baseline nor pushed up or down: it gets 0.0. Counting it as reward 0
    would teach inaction wherever the judged rollouts were punished.

    Args:
        rewards (`Sequence[float | None]`):
            Rewards of one group; `None`, `nan` and infinities mean not judged.

    Returns:
        `list[float]`: One advantage per rollout, not divided by the group's spread; all 0.0 when the judged agree.

    Examples:
    ```python
    >>> group_advantages([1.0, None, 0.0])
    [0.5, 0.0, -0.5]

    ```
    """
    judged = [reward for reward in rewards if reward is not None and math.isfinite(reward)]
    if not judged or all(reward == judged[0] for reward in judged):
        return [0.0] * len(rewards)
    baseline = math.fsum(judged) / len(judged)
    return [reward - baseline if reward is not None and math.isfinite(reward) else 0.0 for reward in rewards]
