"""From which reward on a rollout passes, where tasks stand between never and always, and how many tasks are enough."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.audit.report import TaskNeed
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.stats.power import Population, smallest_effect, tasks_needed
from whileai_hf.stats.signflip import MIN_PAIRS


FloatArray = NDArray[np.float64]
# Pass rates between which a task has something to teach.
LOW, HIGH = 0.2, 0.8
# Share of rollouts that have to reach full marks for them to be what a pass is.
_REACHED = 0.05
# Distinct rewards that are marks; more are measurements.
_MARKS = 10
# Share of its largest value that the spread of pass rates may have; at the largest a task passes always or never.
_MOST_SPREAD = 0.95
_POWER = 0.8


def pass_threshold(rewards: FloatArray) -> float | None:
    """
    The reward from which a rollout passes, where the rewards say so.

    Args:
        rewards (`np.ndarray`):
            Rewards, none of them `nan`.

    Returns:
        `float`, *optional*: The higher of two values; full marks, where there are few marks or they end at 1, and
        some reach them.

    Examples:
    ```python
    >>> pass_threshold(np.array([-1.0, 1.0])), pass_threshold(np.array([0.0, 0.3, 1.0]))
    (1.0, 1.0)
    >>> pass_threshold(np.linspace(0.1, 0.7, 50)) is None
    True

    ```
    """
    levels = np.unique(rewards)
    if levels.size < 2:
        return 1.0 if levels.size and 0.0 <= levels[0] <= 1.0 else None
    full = float(levels[-1])
    told = levels.size == 2 or full == 1.0 or levels.size <= _MARKS
    return full if told and (levels.size == 2 or np.mean(rewards == full) >= _REACHED) else None


def pass_band(sample: Sample, threshold: float) -> dict[str, int] | None:
    """Tasks with two scored rollouts or more by their pass rate; `None` without any."""
    n = np.bincount(sample.tasks[sample.scored], minlength=sample.n_tasks)
    c = np.bincount(sample.tasks[sample.scored & (sample.rewards >= threshold)], minlength=sample.n_tasks)
    told = n >= 2
    if not told.any():
        return None
    rate = c[told] / n[told]
    inside = int(np.count_nonzero((rate >= LOW) & (rate <= HIGH)))
    below = int(np.count_nonzero(rate < LOW))
    return {"below": below, "inside": inside, "above": int(told.sum()) - inside - below}


def task_need(sample: Sample, threshold: float | None, effect: float, seed: int) -> TaskNeed:
    """
    How many tasks an evaluation with rollouts like these needs.

    Args:
        sample ([`Sample`]):
            The rows.
        threshold (`float`, *optional*):
            Reward from which a rollout passes; without one, the mean reward is compared.
        effect (`float`):
            Change to be seen.
        seed (`int`):
            Seed of the simulation.
    """
    tasks, rewards = sample.tasks[sample.scored], sample.rewards[sample.scored]
    n = np.bincount(tasks)
    n = n[n > 0]
    k, count = int(np.median(n)), int(n.size)
    if threshold is None:
        return _of_rewards(tasks, rewards, k, count, effect)
    rates = np.bincount(tasks, rewards >= threshold)[np.bincount(tasks) > 0] / n
    order = np.lexsort((n, rates))  # the same sums, and so the same simulation, in any order of tasks
    rates, n = rates[order], n[order]
    base, notes = float(rates.mean()), []
    if not 0.0 < base < 1.0 or effect > 1.0 - base:
        notes.append(f"from a pass rate of {base:.2f} there is no room for a rise of {effect:g}")
        return TaskNeed(effect, None, None, count, k, "sign_flip_power", notes)
    population = Population(base, k, _spread(rates, n, base))
    needed, least = _sizes(effect, count, population, seed)
    if least is None:
        notes.append(f"with {count} tasks no rise is seen in four of five comparisons")
    return TaskNeed(effect, needed, least, count, k, "sign_flip_power", notes)


@lru_cache(maxsize=64)  # seconds of simulation, and the same rows are often looked at again with other knobs
def _sizes(effect: float, count: int, population: Population, seed: int) -> tuple[int, float | None]:
    needed = tasks_needed(effect, population, power=_POWER, seed=seed)
    return needed, smallest_effect(count, population, power=_POWER, seed=seed)


def _spread(rates: FloatArray, n: NDArray[np.int64], base: float) -> float:
    """Standard deviation of the tasks' true pass rates: what they differ by, less what rollouts differ by."""
    several = n >= 2
    if np.count_nonzero(several) < 2:
        return 0.0
    p, size = rates[several], n[several]
    between = float(np.var(p, ddof=1) - np.mean(p * (1.0 - p) / (size - 1)))
    return min(math.sqrt(max(between, 0.0)), _MOST_SPREAD * math.sqrt(base * (1.0 - base)))


def _of_rewards(tasks: NDArray[np.int64], rewards: FloatArray, k: int, count: int, effect: float) -> TaskNeed:
    width = float(np.ptp(rewards))
    n = np.bincount(tasks)
    mean = np.bincount(tasks, rewards) / np.maximum(n, 1)
    free = int((n[n > 0] - 1).sum())
    if width == 0.0 or not free:
        note = "rewards do not differ" if width == 0.0 else "no task has two rollouts, so their noise is not known"
        return TaskNeed(effect, None, None, count, k, "normal", [note])
    noise = float(((rewards - mean[tasks]) ** 2).sum()) / free
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(_POWER)
    error = z * math.sqrt(2.0 * noise / k) / width
    return TaskNeed(
        effect, max(MIN_PAIRS, math.ceil((error / effect) ** 2)), error / math.sqrt(count), count, k, "normal", []
    )
