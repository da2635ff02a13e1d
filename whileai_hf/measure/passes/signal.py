"""`group_signal`: in how many groups the rewards differ, which is all a group-relative update can learn from."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from whileai_hf.measure.lists import fetch_columns
from whileai_hf.measure.passes.codes import TASK_COLUMNS, Codes, group_codes, task_codes
from whileai_hf.measure.passes.report import number
from whileai_hf.measure.passes.rewards import GRADE_FIRST, Rewards, read_rewards
from whileai_hf.measure.passes.stopped import choose_estimator
from whileai_hf.measure.passes.stops import STOP_COLUMNS, BoolArray, faulty, read_groups, was_stopped
from whileai_hf.measure.passes.weighing import NOTHING, Number, Weighing
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval, wilson


# Resamples behind the interval of the expected mixed rate.
_N_BOOT = 2000


@dataclasses.dataclass(frozen=True)
class GroupSignal(Report):
    """
    Groups by what their rewards say; the five counts add up to `n_groups`.

    Args:
        n_groups (`int`):
            Groups: one prompt of one task each.
        mixed (`int`):
            Rewards differ: there is a gradient.
        all_pass (`int`):
            All scored rollouts have the same reward, at or above the threshold.
        all_fail (`int`):
            All scored rollouts have the same reward, below the threshold.
        single (`int`):
            One scored rollout: nothing to compare.
        ungraded (`int`):
            No scored rollout.
        mixed_rate (`float`, *optional*):
            Mixed among groups with at least two scored rollouts; `None` when there is none.
        mixed_rate_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval.
        stopped (`int`):
            Groups that were stopped early: unanimous among the rollouts they got, which is not unanimous at k.
        saved (`int`):
            Rollouts not run because their group was stopped.
        expected_mixed_rate (`float`, *optional*):
            Share of groups that neither pass throughout nor fail throughout when every one gets its k rollouts,
            estimated as in [`pass_at`]; `None` where no group was stopped, since `mixed_rate` says it then.
        expected_mixed_rate_ci95 (`tuple[float, float]`, *optional*):
            Its interval.
        notes (`list[str]`):
            What a reader has to know.
    """

    n_groups: int
    mixed: int
    all_pass: int
    all_fail: int
    single: int
    ungraded: int
    mixed_rate: float | None
    mixed_rate_ci95: Interval | None
    stopped: int
    saved: int
    expected_mixed_rate: float | None
    expected_mixed_rate_ci95: Interval | None
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.mixed} mixed | {self.all_pass} all pass | {self.all_fail} all fail | {self.single} single | "
            f"{self.ungraded} ungraded ({self.n_groups} groups, mixed rate {number(self.mixed_rate)}"
            f"{_spread(self.mixed_rate_ci95)})"
        ]
        if self.stopped:
            lines.append(
                f"{self.stopped} stopped early | {self.saved} rollouts saved | expected mixed rate at k "
                f"{number(self.expected_mixed_rate)}{_spread(self.expected_mixed_rate_ci95)}"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _spread(interval: Interval | None) -> str:
    return "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"


def group_signal(data: Source | RowView, *, threshold: float = 1.0) -> GroupSignal:
    """
    How many groups carry a gradient.

    Rollouts without a verdict, and those a simulated user spoiled (`sim_ok` is false), are left out. Groups that were
    stopped early are counted by the rollouts they have; what they would be at k is estimated.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with a `reward`.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a group of equal rewards counts as passed.

    Returns:
        [`GroupSignal`]: Counts of groups.

    Raises:
        [`MissingColumnError`]: The rows have no reward column.

    Examples:
    ```python
    >>> rewards = {"a": [1, 0], "b": [1, 1], "c": [0, 0], "d": [None, 1]}
    >>> print(group_signal([{"prompt": p, "reward": r} for p, given in rewards.items() for r in given]))
    1 mixed | 1 all pass | 1 all fail | 1 single | 0 ungraded (4 groups, mixed rate 0.33 [0.06, 0.79])
    note: 1 of 8 rollouts have no verdict; they are left out

    ```
    """
    rows = fetch_columns(data, ("reward", *TASK_COLUMNS, *STOP_COLUMNS, "lineage"))
    rewards, spoilt = read_rewards(rows), faulty(rows)
    rewards = dataclasses.replace(rewards, values=np.where(spoilt, np.nan, rewards.values))
    tasks = task_codes(rows)
    groups = group_codes(rows, tasks)
    size, scored = int(groups.max()) + 1, rewards.scored
    n = np.bincount(groups[scored], minlength=size)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, groups[scored], rewards.values[scored])
    np.maximum.at(high, groups[scored], rewards.values[scored])
    flat = (n >= 2) & (low == high)
    mixed = int(np.count_nonzero((n >= 2) & (low != high)))
    compared = int(np.count_nonzero(n >= 2))
    outlook = _outlook(rows, tasks, rewards, threshold) if was_stopped(rows) else None
    return GroupSignal(
        n_groups=size,
        mixed=mixed,
        all_pass=int(np.count_nonzero(flat & (low >= threshold))),
        all_fail=int(np.count_nonzero(flat & (low < threshold))),
        single=int(np.count_nonzero(n == 1)),
        ungraded=int(np.count_nonzero(n == 0)),
        mixed_rate=mixed / compared if compared else None,
        mixed_rate_ci95=wilson(mixed, compared),
        stopped=0 if outlook is None else outlook.stopped,
        saved=0 if outlook is None else outlook.saved,
        expected_mixed_rate=None if outlook is None else outlook.rate.value,
        expected_mixed_rate_ci95=None if outlook is None else outlook.rate.interval,
        notes=_notes(scored, spoilt, compared) + ([] if outlook is None else outlook.notes),
    )


class _Outlook(NamedTuple):
    """What stopping has saved, and what it hides."""

    stopped: int
    saved: int
    rate: Number
    notes: list[str]


def _outlook(rows: RowView, tasks: Codes, rewards: Rewards, threshold: float) -> _Outlook:
    groups = read_groups(rows, tasks, rewards.scored, np.greater_equal(rewards.values, threshold))
    count = groups.kind.size
    by = Weighing(groups, choose_estimator(groups), np.arange(count), count, _N_BOOT, seed=0)
    stopped = groups.total(groups.stopped)
    planned = groups.planned[groups.planned >= 2]
    k = int(planned.min()) if planned.size else None
    notes = []
    if stopped:
        notes.append(
            f"{stopped} groups were stopped early and count by the rollouts they have: those "
            "that are unanimous need not be at k, and full groups are mostly mixed ones"
        )
    return _Outlook(
        stopped,
        int((np.maximum(groups.planned - groups.size, 0) * groups.times)[groups.stopped].sum()),
        NOTHING if k is None else by.number("mixed", k),
        notes,
    )


def _notes(scored: BoolArray, spoilt: BoolArray, compared: int) -> list[str]:
    notes = []
    total, faults = scored.size, int(np.count_nonzero(spoilt))
    unjudged = total - int(np.count_nonzero(scored)) - faults
    if unjudged == total:
        notes.append(f"not graded: none of the {total} rows has a reward; {GRADE_FIRST}")
    elif unjudged:
        notes.append(f"{unjudged} of {total} rollouts have no verdict; they are left out")
    if faults:
        notes.append(f"{faults} of {total} rollouts failed by the simulated user (sim_ok is false); they are left out")
    if unjudged < total and not compared:
        notes.append("no group has two scored rollouts: repeat each prompt to see whether its rewards differ")
    return notes
