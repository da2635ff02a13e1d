"""`pass_at`: pass@1, pass^k and pass@k of graded rows, each over tasks and each with its interval."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.lists import fetch_columns
from whileai_hf.measure.passes.codes import TASK_COLUMNS, Codes, combine, task_codes
from whileai_hf.measure.passes.notes import MIN_K, ONLY_SPLIT, notes_on_groups, notes_on_rows, notes_on_stops
from whileai_hf.measure.passes.origin import ORIGIN_COLUMNS, count_duplicates, evaluation_codes, origins
from whileai_hf.measure.passes.report import PassAt
from whileai_hf.measure.passes.rewards import Rewards, read_rewards
from whileai_hf.measure.passes.stopped import choose_estimator
from whileai_hf.measure.passes.stops import STOP_COLUMNS, BoolArray, faulty, numbers, read_groups, was_stopped
from whileai_hf.measure.passes.tally import Tally, pass_rate, tally
from whileai_hf.measure.passes.weighing import NOTHING, Weighing
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import pass_at_k, pass_pow_k


_COLUMNS = ("reward", *TASK_COLUMNS, *ORIGIN_COLUMNS, *STOP_COLUMNS)
# Up to here the curve has a point for every size; beyond, for powers of two.
_DENSE_CURVE = 64


def pass_at(
    data: Source | RowView, *, k: int | None = None, threshold: float = 1.0, n_boot: int = 2000, seed: int = 0
) -> PassAt:
    """
    Pass rates of graded rows: how good (pass@1), how reliable (pass^k), how much there is to learn (pass@k).

    The unit is the task (`task_key`), so rephrasings of one situation are repeats of it. A rollout passes when its
    reward is at least `threshold`. Rollouts without a verdict, and those a simulated user spoiled (`sim_ok` is false),
    are left out and counted. Where every planned rollout was run, estimates are unbiased for any number of repeats per
    task (Chen et al. 2021; Yao et al. 2024).

    Where groups were stopped early because of their verdicts (`group_status`), those formulas are wrong: full groups
    are mostly mixed ones, and a group that was unanimous when it was stopped need not have stayed so. pass@1 then is
    that of the rollouts each group got in any case, and the k-way numbers come from the `estimator` named on the
    report: `order_weighted`, `probe_split`, `inverse_probability` or `mixture` (see `stats.stopping`). A task's groups
    (its prompts and runs) count alike.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with a `reward`.
        k (`int`, *optional*):
            Size of the draw for the k-way numbers. Left out, it is the smallest number of scored rollouts among tasks
            that have at least two, within one evaluation where the rows hold several (`runs=3`), or the smallest
            planned number where groups were stopped; the k-way numbers are then given only from 4 on.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass.
        n_boot (`int`, *optional*, defaults to `2000`):
            Resamples behind an interval where the estimator is `mixture`; the others need none.
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
    pass@1 0.75 [0.29, 0.98] | pass^4 0.00 | pass@4 1.00 | headroom 0.25 (4 groups, k=4)

    ```
    """
    _check(k, threshold, n_boot, seed)
    rows = fetch_columns(data, _COLUMNS)
    sample = _read(rows, threshold)
    told = _weighed(sample, k, n_boot, seed) if was_stopped(rows) else _closed(sample, k)
    rewards, spoilt = sample.rewards, int(np.count_nonzero(sample.spoilt))
    duplicates, config = count_duplicates(rows, sample.tasks), origins(rows)
    scored = int(np.count_nonzero(rewards.scored))
    return PassAt(
        **told | {"notes": [*notes_on_rows(rewards, threshold, spoilt, duplicates, config), *told["notes"]]},
        n_rows=len(rows),
        n_scored=scored,
        n_unjudged=len(rows) - scored - spoilt,
        n_sim_faulty=spoilt,
        n_duplicates=duplicates,
        n_tasks=len(sample.tasks.keys),
        config=config,
    )


def _check(k: int | None, threshold: float, n_boot: int, seed: int) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
        raise ConfigurationError(f"k={k!r} is not a number of repeats; pass a whole number from 1 on, or leave it out")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not np.isfinite(threshold):
        raise ConfigurationError(f"threshold={threshold!r} is not a number; pass the reward from which a row passes")

    for name, value, least in (("n_boot", n_boot, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ConfigurationError(f"{name}={value!r}; expected a whole number from {least} on")


@dataclasses.dataclass(frozen=True)
class _Sample:
    """Rows with their tasks and verdicts; rows that were spoilt have none."""

    rows: RowView
    tasks: Codes
    rewards: Rewards
    passed: BoolArray
    spoilt: BoolArray


def _read(rows: RowView, threshold: float) -> _Sample:
    rewards, spoilt = read_rewards(rows), faulty(rows)
    if spoilt.any():
        rewards = dataclasses.replace(rewards, values=np.where(spoilt, np.nan, rewards.values))
    return _Sample(rows, task_codes(rows), rewards, np.greater_equal(rewards.values, threshold), spoilt)


def _closed(sample: _Sample, k: int | None) -> dict[str, Any]:
    """Numbers of rows whose groups all have what they were to have: closed forms over counts."""
    everything = tally(sample.tasks, sample.passed, sample.rewards.scored)
    measured = everything.only(everything.n > 0)
    size = _smallest(sample) if k is None else k
    repeats = None if size > int(everything.n.max()) and k is None else size
    groups = measured if repeats is None else measured.only(measured.n >= repeats)
    told = repeats is not None and (k is not None or repeats >= MIN_K) and bool(groups.keys)
    some, every = partial(pass_at_k, k=repeats or 1), partial(pass_pow_k, k=repeats or 1)
    at_k = groups.mean(some) if told else None
    at_1 = groups.mean(pass_rate)
    intervals = {
        "pass_at_1": measured.interval(pass_rate),
        "pass_pow_k": groups.interval(every) if told else None,
        "pass_at_k": groups.interval(some) if told else None,
    }
    ends = {name: None if found is None else (found.low, found.high) for name, found in intervals.items()}
    notes = notes_on_groups(everything, measured, groups, repeats, k is not None)
    return {
        "pass_at_1": measured.mean(pass_rate),
        "ci95": ends["pass_at_1"],
        "k": repeats,
        "pass_pow_k": groups.mean(every) if told else None,
        "pass_pow_k_ci95": ends["pass_pow_k"],
        "pass_at_k": at_k,
        "pass_at_k_ci95": ends["pass_at_k"],
        "headroom": None if at_k is None or at_1 is None else at_k - at_1,
        "per_task": dict(zip(measured.keys, (measured.c / np.maximum(measured.n, 1)).tolist(), strict=True)),
        "curve": _curve(groups, repeats) if told and repeats is not None else {},
        "n_groups": len(groups.keys),
        "excluded": [] if repeats is None else everything.only(everything.n < repeats).keys,
        "estimator": "closed_form",
        "intervals": {name: None if found is None else found.method for name, found in intervals.items()},
        "stopping": {},
        "notes": [*notes, *([ONLY_SPLIT] if _only_split(sample) else [])],
    }


def _smallest(sample: _Sample) -> int:
    """Fewest scored rollouts of a task that has at least two, within one evaluation where there were several."""
    tasks, evaluation = sample.tasks.index, evaluation_codes(sample.rows)
    unit = tasks if evaluation is None else combine(tasks, evaluation.index)
    n = np.bincount(unit[sample.rewards.scored])
    return int(n[n >= 2].min(initial=np.iinfo(np.int64).max))


def _only_split(sample: _Sample) -> bool:
    """Whether these rows are what is left of a run whose stopped groups were dropped."""
    rows = sample.rows
    if not rows.has("group_probe") or not np.any(numbers(rows, "group_probe") < numbers(rows, "group_planned_k")):
        return False
    groups = read_groups(sample.rows, sample.tasks, sample.rewards.scored, sample.passed)
    return bool(groups.decided.any()) and not bool((groups.decided & groups.unanimous).any())


def _weighed(sample: _Sample, k: int | None, n_boot: int, seed: int) -> dict[str, Any]:
    """Numbers of rows some of whose groups were stopped early."""
    groups = read_groups(sample.rows, sample.tasks, sample.rewards.scored, sample.passed)
    keys = sample.tasks.keys
    by = Weighing(groups, choose_estimator(groups), groups.task, len(keys), n_boot, seed)
    planned = groups.planned[groups.planned >= 2]
    size = k if k is not None else int(planned.min()) if planned.size else None
    counting = by.counting(size or 1)
    known = ~np.isnan(by.rates)
    told = size is not None and (k is not None or size >= MIN_K) and bool(counting.any())
    curve = by.curve(_sizes(size), counting) if told and size is not None else {}
    last = curve[max(curve)] if curve else None
    every, some = (by.number(kind, max(curve)) if curve else NOTHING for kind in ("pow", "at"))
    one = by.pass_1()
    return {
        "pass_at_1": one.value,
        "ci95": one.interval,
        "k": size,
        "pass_pow_k": last["pass_pow"] if last else None,
        "pass_pow_k_ci95": every.interval,
        "pass_at_k": last["pass_at"] if last else None,
        "pass_at_k_ci95": some.interval,
        "headroom": last["pass_at"] - curve[1]["pass_at"] if last else None,
        "per_task": {keys[task]: float(by.rates[task]) for task in np.flatnonzero(known)},
        "curve": curve,
        "n_groups": int(np.count_nonzero(counting)),
        "excluded": [] if size is None else [keys[task] for task in np.flatnonzero(~counting)],
        "estimator": by.estimator,
        "intervals": {
            name: each.method for name, each in (("pass_at_1", one), ("pass_pow_k", every), ("pass_at_k", some))
        },
        "stopping": groups.counts(),
        "notes": notes_on_stops(by, size, int(np.count_nonzero(counting)), k is not None),
    }


def _sizes(k: int) -> list[int]:
    """Sizes the curve has a point for."""
    sizes = [*range(1, min(k, _DENSE_CURVE) + 1)]
    while sizes[-1] * 2 < k:
        sizes.append(sizes[-1] * 2)
    return sizes if sizes[-1] == k else [*sizes, k]


def _curve(groups: Tally, k: int) -> dict[int, dict[str, Any]]:
    return {
        size: {
            "pass_at": groups.mean(partial(pass_at_k, k=size)),
            "pass_pow": groups.mean(partial(pass_pow_k, k=size)),
            "n_groups": len(groups.keys),
        }
        for size in _sizes(k)
    }
