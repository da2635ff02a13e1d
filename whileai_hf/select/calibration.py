"""The difficulty stamp: how often the policy solved a row's task, measured before anything was dropped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.hacks.numbers import number_of
from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.measure.passes.stopped import choose_estimator
from whileai_hf.measure.passes.stops import read_groups, was_stopped
from whileai_hf.measure.passes.tally import tally
from whileai_hf.measure.passes.weighing import Weighing
from whileai_hf.rows.texts import json_cells
from whileai_hf.select.pool import Pool, cells
from whileai_hf.select.rates import mean_per_code
from whileai_hf.stats import Interval, wilson


# Below this many rollouts a task's pass rate can be off by 0.3, more than half the usual band.
SURE_ROLLOUTS = 16
# Of a rate: enough to tell counts apart, and short enough to be written without a second look at the number.
_DECIMALS = 7
# A stamp of more rollouts than this was not counted: a double holds every whole number only up to here.
_MOST_ROLLOUTS = 2**53
# Mean rewards closer than this are one number, rounded or not.
_SAME = 1e-6


def carried_stamps(pool: Pool) -> list[dict[str, Any] | None]:
    """The stamp each task's first row came with, `None` without one."""
    if not pool.view.has("calibration"):
        return [None] * len(pool.tasks.keys)
    first = np.unique(pool.tasks.index, return_index=True)[1].astype(np.int64)
    return [dict(cell) if isinstance(cell, Mapping) else None for cell in cells(pool.view, "calibration", first)]


def still_holds(stamp: Mapping[str, Any] | None, n: int, policy: Any = None, mean: float | None = None) -> bool:
    """
    Whether a stamp rests on more rollouts than are here, so that measuring anew would only lose some, or on as many
    with the same mean reward. A stamp of another policy says nothing about this one.

    Examples:
    ```python
    >>> still_holds({"n": 8, "pass_rate": 0.5}, 5), still_holds({"n": 8, "pass_rate": 0.5}, 16), still_holds({}, 0)
    (True, False, False)

    ```
    """
    if stamp is None or (policy is not None and stamp.get("policy_version") not in (None, policy)):
        return False
    seen, rate = number_of(stamp.get("n")), number_of(stamp.get("pass_rate"))
    if seen is None or rate is None or not 0 <= rate <= 1 or not 1 <= seen <= _MOST_ROLLOUTS:
        return False
    told = number_of(stamp.get("mean_reward", rate))
    agrees = mean is not None and told is not None and abs(told - mean) < _SAME
    return seen > n or (seen == n and agrees)


def task_stamps(pool: Pool, threshold: float) -> list[dict[str, Any] | None]:
    """
    One stamp per task, over all graded rollouts as given; `None` for a task without one.

    A stamp that rows came with stays while it rests on more rollouts than there are here. The pass rate of a task
    whose groups may have been stopped early by their verdicts is that of the rollouts it got in any case
    (`pass_at(rows).per_task`): full groups are mostly mixed ones, so passes over rollouts would be off.

    Args:
        pool (`Pool`):
            The rows given.
        threshold (`float`):
            Reward from which a rollout counts as a pass.

    Returns:
        `list`: `task_id`, `n` and `passes` (graded rollouts and how many passed), `pass_rate`, `pass_rate_ci95`
        (Wilson), `mean_reward`, `n_probe` (rollouts the pass rate rests on, `None` for all) and `policy_version`
        (`None` when the task's rollouts come from several policies).
    """
    counts = tally(pool.tasks, np.greater_equal(pool.judged.values, threshold), pool.counted)
    means = mean_per_code(pool.tasks.index, pool.judged.values, pool.counted, len(counts.keys))
    means = means.round(_DECIMALS).tolist()
    policy, carried, probes = _policies(pool), carried_stamps(pool), _probed(pool, threshold)
    stamps: list[dict[str, Any] | None] = []
    for task, (n, c) in enumerate(zip(counts.n.tolist(), counts.c.tolist(), strict=True)):
        old = carried[task]
        if still_holds(old, n, policy[task]):
            stamps.append(old)
            continue
        if not n:
            stamps.append(None)
            continue
        stamps.append(
            {
                **(old or {}),
                "task_id": counts.keys[task],
                "n": n,
                "passes": c,
                "pass_rate": round(c / n, _DECIMALS),
                "pass_rate_ci95": _interval(c, n),
                "mean_reward": means[task],
                "n_probe": None,
                "policy_version": policy[task],
                **probes.get(task, {}),
            }
        )
    return stamps


def stamp_column(stamps: list[dict[str, Any] | None], tasks: IntArray) -> ArrowColumn:
    """The stamps of some rows' tasks; one text per task, however many of its rows there are."""
    wanted, which = np.unique(tasks, return_inverse=True)
    return json_cells([stamps[task] for task in wanted.tolist()]).take(pa.array(which))


def _probed(pool: Pool, threshold: float) -> dict[int, dict[str, Any]]:
    """What the stamps say about tasks with groups that were, or might have been, stopped by their verdicts."""
    if not was_stopped(pool.view):
        return {}
    passed = np.greater_equal(pool.judged.values, threshold)
    groups = read_groups(pool.view, pool.tasks, pool.counted, passed)
    size = len(pool.tasks.keys)
    weighing = Weighing(groups, choose_estimator(groups), groups.task, size, 0, 0)
    if not weighing.probes_known:
        return {}
    n, c, probed = (np.zeros(size, np.int64) for _ in range(3))
    np.add.at(n, groups.task, np.where(groups.probed, groups.probe_n, groups.n)[groups.kind])
    np.add.at(c, groups.task, np.where(groups.probed, groups.probe_c, groups.c)[groups.kind])
    np.add.at(probed, groups.task, groups.probed[groups.kind])
    told = np.flatnonzero((probed > 0) & (n > 0) & ~np.isnan(weighing.rates))
    return {task: _of_probe(int(n[task]), int(c[task]), float(weighing.rates[task])) for task in told.tolist()}


@lru_cache(maxsize=4096)
def _interval(c: int, n: int) -> Interval:
    low, high = wilson(c, n) or (0.0, 1.0)
    return round(low, _DECIMALS), round(high, _DECIMALS)


def _of_probe(n: int, c: int, rate: float) -> dict[str, Any]:
    low, high = _interval(c, n)
    rate = round(rate, _DECIMALS)
    # The rate is a mean over the orders the verdicts may have come in, the interval is of the one they came in.
    return {"pass_rate": rate, "pass_rate_ci95": (min(low, rate), max(high, rate)), "n_probe": n}


class Difficulty(NamedTuple):
    """Mean reward of every task (`nan` unmeasured), the rollouts it rests on, and how many were read off stamps."""

    rates: NDArray[np.float64]
    n: IntArray
    n_stamped: int


def difficulty(pool: Pool) -> Difficulty:
    """The difficulty of every task, from its stamp where that still holds."""
    size = len(pool.tasks.keys)
    n = np.bincount(pool.tasks.index[pool.counted], minlength=size).astype(np.int64)
    rates = mean_per_code(pool.tasks.index, pool.judged.values, pool.counted, size)
    read, carried = 0, {task: stamp for task, stamp in enumerate(carried_stamps(pool)) if stamp}
    policy = _policies(pool) if carried else []
    for task, stamp in carried.items():
        if still_holds(stamp, int(n[task]), policy[task], float(rates[task])):
            mean = number_of(stamp.get("mean_reward"))
            rates[task] = mean if mean is not None and np.isfinite(mean) else stamp["pass_rate"]
            n[task] = int(stamp["n"])
            read += 1
    return Difficulty(rates, n, read)


def _policies(pool: Pool) -> list[Any]:
    """The policy of each task, `None` where it is unknown or there are several."""
    codes = pool.codes("policy_version")
    size = len(pool.tasks.keys)
    low, high = np.full(size, len(codes.keys)), np.full(size, -1)
    np.minimum.at(low, pool.tasks.index[pool.counted], codes.index[pool.counted])
    np.maximum.at(high, pool.tasks.index[pool.counted], codes.index[pool.counted])
    return [codes.keys[a] if a == b else None for a, b in zip(low.tolist(), high.tolist(), strict=True)]
