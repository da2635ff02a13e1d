"""`group_signal`: in how many groups the rewards differ, which is all a group-relative update can learn from."""

from __future__ import annotations

import dataclasses

import numpy as np

from whileai_hf.measure.passes.codes import TASK_COLUMNS, FetchedView, group_codes, task_codes
from whileai_hf.measure.passes.report import number
from whileai_hf.measure.passes.rewards import GRADE_FIRST, read_rewards
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval, wilson


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
    notes: list[str]

    def __str__(self) -> str:
        interval = self.mixed_rate_ci95
        spread = "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
        line = (
            f"{self.mixed} mixed | {self.all_pass} all pass | {self.all_fail} all fail | {self.single} single | "
            f"{self.ungraded} ungraded ({self.n_groups} groups, mixed rate {number(self.mixed_rate)}{spread})"
        )
        return "\n".join([line, *(f"note: {note}" for note in self.notes)])


def group_signal(data: Source | RowView, *, threshold: float = 1.0) -> GroupSignal:
    """
    How many groups carry a gradient.

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
    rows = FetchedView(view(data), ("reward", *TASK_COLUMNS))
    rewards = read_rewards(rows)
    groups = group_codes(rows, task_codes(rows))
    size = int(groups.max()) + 1
    scored = rewards.scored
    n = np.bincount(groups[scored], minlength=size)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, groups[scored], rewards.values[scored])
    np.maximum.at(high, groups[scored], rewards.values[scored])
    flat = (n >= 2) & (low == high)
    mixed = int(np.count_nonzero((n >= 2) & (low != high)))
    compared = int(np.count_nonzero(n >= 2))
    unjudged = int(np.count_nonzero(~scored))
    notes = []
    if unjudged == len(rows):
        notes.append(f"not graded: none of the {len(rows)} rows has a reward; {GRADE_FIRST}")
    elif unjudged:
        notes.append(f"{unjudged} of {len(rows)} rollouts have no verdict; they are left out")
    if unjudged < len(rows) and not compared:
        notes.append("no group has two scored rollouts: repeat each prompt to see whether its rewards differ")
    return GroupSignal(
        n_groups=size,
        mixed=mixed,
        all_pass=int(np.count_nonzero(flat & (low >= threshold))),
        all_fail=int(np.count_nonzero(flat & (low < threshold))),
        single=int(np.count_nonzero(n == 1)),
        ungraded=int(np.count_nonzero(n == 0)),
        mixed_rate=mixed / compared if compared else None,
        mixed_rate_ci95=wilson(mixed, compared),
        notes=notes,
    )
