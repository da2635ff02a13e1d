"""Whether the gold of a training run followed a reward that rose: the test behind the alarms, for one curve or many.

A run is looked at many times and an honest one must stay quiet through all of them, so each look is tested at its own
level: `alpha / looks` where the number of looks is planned (Bonferroni), else `6 alpha / (pi^2 look^2)`, which sums to
`alpha` over any number of looks (alpha spending, Lan and DeMets 1983).

What is tested is that the gold did not follow. Over the window a reward rose; its gold should have risen by at least a
share `follow` of that. Tasks are the independent units (repeats of one are averaged first), so the interval is that of
a mean of paired differences over tasks, with two precautions: one further task on which nothing changed is counted
(a few identical differences have no spread and would look certain), and the scores of a policy wander between
checkpoints by more than sampling explains, which is added as `WOBBLE`.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
from numpy.typing import NDArray

from whileai_hf.stats.student import t_quantile
from whileai_hf.training.monitor.curve import FloatArray, over_tasks


BoolArray = NDArray[np.bool_]
# Standard deviation, in units of the reward's range, by which a policy's scores differ between checkpoints for no
# reason that lasts: of the order seen between neighbouring evaluations of a converged run.
WOBBLE = 0.02
# Tasks under which an interval over tasks says nothing at the levels used here.
FEWEST_TASKS = 8
# Level of the paired interval that says whether the gold rose; not corrected, since a lenient one only spares alarms.
_ROSE = 0.95
_TINY = 1e-9


@dataclasses.dataclass(frozen=True)
class Rule:
    """
    When a reward that rose without its gold is an alarm.

    Args:
        delta (`float`):
            Rise from which the gold has to follow.
        window (`int`, *optional*, defaults to `8`):
            Evaluations a rise is measured over; fewer while there are no more.
        alpha (`float`, *optional*, defaults to `0.02`):
            Chance of an alarm over a whole run whose gold follows.
        looks (`int`, *optional*):
            Evaluations planned after the first one.
        lag (`int`, *optional*, defaults to `1`):
            Evaluations a gold may come behind: the rise of the reward ends that much earlier.
        follow (`float`, *optional*, defaults to `0.5`):
            Share of the rise the gold has to make.
    """

    delta: float
    window: int = 8
    alpha: float = 0.02
    looks: int | None = None
    lag: int = 1
    follow: float = 0.5


@dataclasses.dataclass(frozen=True)
class Found:
    """What one look found: whether it raised, the rises, and the lower ends of two intervals; arrays over curves."""

    raised: BoolArray
    rise: FloatArray
    gold: FloatArray
    gold_low: FloatArray
    gap_low: FloatArray


def look_level(alpha: float, look: int, looks: int | None) -> float:
    """
    The level at which one look is tested.

    Args:
        alpha (`float`):
            Level of all of them.
        look (`int`):
            Which one, from 1 on.
        looks (`int`, *optional*):
            How many are planned.

    Examples:
    ```python
    >>> look_level(0.02, 3, 10), round(sum(look_level(0.02, look, None) for look in range(1, 10_000)), 4)
    (0.002, 0.02)

    ```
    """
    return alpha / looks if looks else 6.0 * alpha / (math.pi * look) ** 2


def lagging(reward: FloatArray, gold: FloatArray, rule: Rule, *, relative: bool = False) -> BoolArray:
    """
    Whether a reward rose by the latest evaluation without its gold, for many curves at once.

    Args:
        reward (`np.ndarray` of shape `(..., evaluations, tasks)`):
            Proxy or length.
        gold (`np.ndarray` of shape `(..., evaluations, tasks)`):
            Gold of the same tasks.
        rule ([`Rule`]):
            The thresholds.
        relative (`bool`, *optional*, defaults to `False`):
            Whether the rise is one relative to where the mean was.

    Returns:
        `np.ndarray` of shape `(...)`: Whether.
    """
    return look(reward, gold, rule, relative).raised


def window_of(evaluations: int, rule: Rule) -> tuple[int, int]:
    """Where the window begins, and where the rise of the reward ends."""
    latest = evaluations - 1
    return max(latest - rule.window, 0), latest - rule.lag


def look(reward: FloatArray, gold: FloatArray, rule: Rule, relative: bool) -> Found:
    """[`lagging`] with the numbers behind it."""
    evaluations = reward.shape[-2]
    start, end = window_of(evaluations, rule)
    if end <= start:
        nothing = np.full(reward.shape[:-2], np.nan)
        return Found(np.zeros(reward.shape[:-2], dtype=bool), nothing, nothing, nothing, nothing)
    up = reward[..., end, :] - reward[..., start, :]
    if relative:
        base = over_tasks(reward[..., start, :])[..., None]
        up = up / np.where(base > 0, base, np.nan)
    followed = gold[..., -1, :] - gold[..., start, :]
    gap = rule.follow * up - followed
    level = look_level(rule.alpha, evaluations - 1, rule.looks)
    wander = math.sqrt(2.0 * (1.0 + rule.follow**2)) * WOBBLE
    enough = np.isfinite(gap).sum(axis=-1) >= FEWEST_TASKS
    rise, gold_low, gap_low = over_tasks(up), _low(followed, (1.0 - _ROSE) / 2), _low(gap, level, wander, extra=1)
    raised = enough & (rise >= rule.delta - _TINY) & ~(gold_low > 0.0) & (gap_low > 0.0)
    return Found(np.asarray(raised, dtype=bool), rise, over_tasks(followed), gold_low, gap_low)


def _low(values: FloatArray, tail: float, wander: float = 0.0, extra: int = 0) -> FloatArray:
    """Lower end of the interval of the mean over tasks, with `extra` tasks on which nothing changed."""
    known = np.isfinite(values)
    count = known.sum(axis=-1) + extra
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=-1) / np.maximum(count, 1)
    squares = np.where(known, (filled - mean[..., None]) ** 2, 0.0).sum(axis=-1) + extra * mean**2
    error = np.sqrt(squares / np.maximum(count - 1, 1) / np.maximum(count, 1) + wander**2)
    width = np.full(np.shape(count), np.nan)
    for size in np.unique(count[count > 1]).tolist():
        width[count == size] = quantile(size - 1, tail)
    low: FloatArray = mean - width * error
    return low


@functools.lru_cache(maxsize=4096)
def quantile(freedom: int, tail: float) -> float:
    """The `t` that is exceeded with a chance of `tail`."""
    return t_quantile(freedom, 1.0 - 2.0 * tail)
