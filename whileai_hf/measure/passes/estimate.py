"""`pass_at`: pass@1, pass^k and pass@k of graded rows, each over tasks and each with its interval."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.passes.codes import TASK_COLUMNS, FetchedView, task_codes
from whileai_hf.measure.passes.origin import ORIGIN_COLUMNS, count_duplicates, origins
from whileai_hf.measure.passes.report import PassAt
from whileai_hf.measure.passes.rewards import GRADE_FIRST, Rewards, read_rewards
from whileai_hf.measure.passes.tally import MIN_GROUPS, Tally, pass_rate, tally
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import pass_at_k, pass_pow_k


_COLUMNS = ("reward", *TASK_COLUMNS, *ORIGIN_COLUMNS)
# With fewer repeats per task the k-way numbers say little more than pass@1 and move a lot from run to run.
MIN_K = 4
# Up to here the curve has a point for every size; beyond, for powers of two.
_DENSE_CURVE = 64
# Below this many tasks a 95% bootstrap interval over tasks is too narrow (it covers 85-94% in simulation).
_FEW_TASKS = 10


def pass_at(
    data: Source | RowView, *, k: int | None = None, threshold: float = 1.0, n_boot: int = 2000, seed: int = 0
) -> PassAt:
    """
    Pass rates of graded rows: how good (pass@1), how reliable (pass^k), how much there is to learn (pass@k).

    The unit is the task (`task_key`), so rephrasings of one situation are repeats of it. A rollout passes when its
    reward is at least `threshold`. Rollouts without a verdict are left out and counted. Estimates are unbiased for any
    number of repeats per task (Chen et al. 2021; Yao et al. 2024), provided that repeats were not stopped early
    because of their results.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with a `reward`.
        k (`int`, *optional*):
            Size of the draw for the k-way numbers. Left out, it is the smallest number of scored rollouts among tasks
            that have at least two, and the k-way numbers are given only from 4 on.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass.
        n_boot (`int`, *optional*, defaults to `2000`):
            Bootstrap resamples behind each interval.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        [`PassAt`]: The report; `print` it for the one-line form. What cannot be told is `None`, with a note.

    Raises:
        [`MissingColumnError`]: The rows have no reward column.
        [`DataError`]: There are no rows.
        [`ConfigurationError`]: `k` is not a whole number from 1 on, or `threshold` is not a finite number.

    Examples:
    ```python
    >>> rows = [{"task_id": task, "reward": int(task != i)} for task in range(4) for i in range(4)]
    >>> print(pass_at(rows))
    pass@1 0.75 [0.75, 0.75] | pass^4 0.00 | pass@4 1.00 | headroom 0.25 (4 groups, k=4)
    note: 4 tasks: an interval over so few covers less than 95%
    note: every task has the same pass rate, so the interval of pass@1 has no width; that is not certainty

    ```
    """
    _check(k, threshold)
    rows = FetchedView(view(data), _COLUMNS)
    rewards = read_rewards(rows)
    tasks = task_codes(rows)
    everything = tally(tasks, np.greater_equal(rewards.values, threshold), rewards.scored)
    measured = everything.only(everything.n > 0)
    size = k if k is not None else int(measured.n[measured.n >= 2].min(initial=np.iinfo(np.int64).max))
    repeats = None if size > int(everything.n.max()) and k is None else size
    groups = measured if repeats is None else measured.only(measured.n >= repeats)
    told = repeats is not None and (k is not None or repeats >= MIN_K) and bool(groups.keys)
    some, every = partial(pass_at_k, k=repeats or 1), partial(pass_pow_k, k=repeats or 1)
    at_k = groups.mean(some) if told else None
    at_1 = groups.mean(pass_rate)
    duplicates = count_duplicates(rows, tasks)
    config = origins(rows)
    return PassAt(
        pass_at_1=measured.mean(pass_rate),
        ci95=measured.interval(pass_rate, n_boot, seed),
        k=repeats,
        pass_pow_k=groups.mean(every) if told else None,
        pass_pow_k_ci95=groups.interval(every, n_boot, seed) if told else None,
        pass_at_k=at_k,
        pass_at_k_ci95=groups.interval(some, n_boot, seed) if told else None,
        headroom=None if at_k is None or at_1 is None else at_k - at_1,
        per_task=dict(zip(measured.keys, (measured.c / np.maximum(measured.n, 1)).tolist(), strict=True)),
        curve=_curve(groups, repeats) if told and repeats is not None else {},
        n_rows=len(rows),
        n_scored=int(np.count_nonzero(rewards.scored)),
        n_unjudged=int(np.count_nonzero(~rewards.scored)),
        n_duplicates=duplicates,
        n_tasks=len(everything.keys),
        n_groups=len(groups.keys),
        excluded=[] if repeats is None else everything.only(everything.n < repeats).keys,
        config=config,
        notes=[
            *_notes_on_rows(rewards, threshold, duplicates, config),
            *_notes_on_groups(everything, measured, groups, repeats, k is not None),
        ],
    )


def _check(k: int | None, threshold: float) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
        raise ConfigurationError(f"k={k!r} is not a number of repeats; pass a whole number from 1 on, or leave it out")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not np.isfinite(threshold):
        raise ConfigurationError(f"threshold={threshold!r} is not a number; pass the reward from which a row passes")


def _curve(groups: Tally, k: int) -> dict[int, dict[str, Any]]:
    sizes = [*range(1, min(k, _DENSE_CURVE) + 1)]
    while sizes[-1] * 2 < k:
        sizes.append(sizes[-1] * 2)
    if sizes[-1] != k:
        sizes.append(k)
    return {
        size: {
            "pass_at": groups.mean(partial(pass_at_k, k=size)),
            "pass_pow": groups.mean(partial(pass_pow_k, k=size)),
            "n_groups": len(groups.keys),
        }
        for size in sizes
    }


def _notes_on_rows(rewards: Rewards, threshold: float, duplicates: int, config: dict[str, list[Any]]) -> list[str]:
    notes = []
    total = rewards.values.size
    unjudged = int(np.count_nonzero(~rewards.scored))
    if unjudged == total:
        notes.append(f"not graded: none of the {total} rows has a reward; {GRADE_FIRST}")
    elif unjudged:
        notes.append(f"{unjudged} of {total} rollouts have no verdict; they are left out, not counted as failures")
    if rewards.not_numbers:
        notes.append(f"{rewards.not_numbers} rewards are not numbers and are read as no verdict")
    if rewards.partial:
        notes.append(f"{rewards.partial} rewards are neither 0 nor 1; a pass is a reward of at least {threshold:g}")
    if duplicates:
        notes.append(
            f"{duplicates} duplicate (task, trial){'s' * (duplicates != 1)}: a rollout is counted more than once, "
            "so these are not independent repeats; drop the copies"
        )
    for name, what in (("policy_version", "policies"), ("judge_version", "judge versions")):
        if len(config.get(name, [])) > 1:
            notes.append(f"the rows mix {len(config[name])} {what}: the numbers describe none of them")
    return notes


def _notes_on_groups(everything: Tally, measured: Tally, groups: Tally, k: int | None, asked: bool) -> list[str]:
    if not measured.keys:
        return []
    notes = []
    absent = len(everything.keys) - len(measured.keys)
    if absent:
        notes.append(f"{absent} of {len(everything.keys)} tasks have no scored rollout")
    if k is None:
        notes.append("no task has two scored rollouts: pass^k and pass@k need repeats")
    elif not groups.keys:
        notes.append(f"no task has {k} scored rollouts: pass^{k} and pass@{k} are not given")
    elif not asked and k < MIN_K:
        notes.append(
            f"k is {k}: below {MIN_K} repeats pass^k and pass@k are not given; pass k={k} to have them anyway"
        )
    if k is not None and groups.keys and len(groups.keys) < len(everything.keys):
        left_out = len(everything.keys) - len(groups.keys)
        notes.append(
            f"{left_out} of {len(everything.keys)} tasks have fewer than {k} scored rollouts and are left out at k={k}"
        )
    return notes + _notes_on_intervals(measured, groups, k is not None)


def _notes_on_intervals(measured: Tally, groups: Tally, repeated: bool) -> list[str]:
    notes = []
    count = len(measured.keys)
    if count < MIN_GROUPS:
        notes.append(f"{count} task{'s' * (count != 1)}: no interval, it takes at least {MIN_GROUPS}")
    elif repeated and len(groups.keys) < MIN_GROUPS:
        notes.append(f"{len(groups.keys)} group(s): no interval on pass^k and pass@k, it takes at least {MIN_GROUPS}")
    if MIN_GROUPS <= count < _FEW_TASKS:
        notes.append(f"{count} tasks: an interval over so few covers less than 95%")
    if count >= MIN_GROUPS and np.unique(measured.c / measured.n).size == 1:
        notes.append(
            "every task has the same pass rate, so the interval of pass@1 has no width; that is not certainty"
        )
    return notes
