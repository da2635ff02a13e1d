"""The pass report: one record, one line of text."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.rows import Report
from whileai_hf.stats import Interval


def number(value: float | None) -> str:
    """Two decimals, or n/a for what was not measured."""
    return "n/a" if value is None else f"{value:.2f}"


@dataclasses.dataclass(frozen=True)
class PassAt(Report):
    """
    Pass rates of graded rows; what [`pass_at`] returns.

    Args:
        pass_at_1 (`float`, *optional*):
            Mean over tasks of the pass rate of a task's scored rollouts; where groups were stopped early, of those
            they got whatever came of them. `None` when nothing is graded.
        ci95 (`tuple[float, float]`, *optional*):
            95% interval of `pass_at_1` over tasks; `None` under three tasks.
        k (`int`, *optional*):
            Repeats behind the k-way numbers; `None` when no task has two scored rollouts (planned ones where groups
            were stopped early).
        pass_pow_k (`float`, *optional*):
            Chance that all of k rollouts of a task pass.
        pass_pow_k_ci95 (`tuple[float, float]`, *optional*):
            Its interval over groups.
        pass_at_k (`float`, *optional*):
            Chance that at least one of k rollouts of a task passes.
        pass_at_k_ci95 (`tuple[float, float]`, *optional*):
            Its interval over groups.
        headroom (`float`, *optional*):
            pass@k minus pass@1, both over the tasks that have k scored rollouts: what a grouped update can learn from.
        per_task (`dict`):
            Task key to pass rate over that task's scored rollouts. Tasks without one are absent. Where groups were
            stopped early, what is expected of the probe: the mean over tasks is `pass_at_1`.
        curve (`dict[int, dict]`):
            For sizes 1..k `{"pass_at", "pass_pow", "n_groups"}`, all over the same groups as k, so that the curve is
            monotone. Beyond 64 only powers of two and k itself. Empty where the k-way numbers are `None`.
        n_rows (`int`):
            Rows given.
        n_scored (`int`):
            Rows with a verdict.
        n_unjudged (`int`):
            Rows without a verdict, left out of every number.
        n_sim_faulty (`int`):
            Rows left out because the simulated user was at fault (`sim_ok` is false), whatever their verdict.
        n_duplicates (`int`):
            Rows that repeat a rollout already seen. They are counted in the numbers.
        n_tasks (`int`):
            Distinct tasks, ungraded ones included.
        n_groups (`int`):
            Tasks with at least k scored rollouts (one, when k is `None`); where groups were stopped early, tasks that
            count in the numbers at k.
        excluded (`list`):
            Keys of the other tasks.
        config (`dict`):
            Distinct policy, judge and temperature values found on the rows.
        estimator (`str`):
            How the k-way numbers came about: `closed_form` where every planned rollout was run; else `order_weighted`,
            `probe_split`, `inverse_probability` or `mixture`, explained in the notes.
        intervals (`dict[str, str]`):
            Method behind the interval of each of the three numbers: `wilson` or `clopper_pearson` over tasks,
            `wilson_effective` or `clopper_pearson_effective` with as many independent trials as leave the mean as
            uncertain (Korn and Graubard 1998), `student_t` of weighted groups, `bootstrap` of the mixture; see
            `stats.shares`.
        stopping (`dict[str, int]`):
            Groups that ended `complete`, `stopped`, `partial` (rollouts lost) and `cut` (by the end of the run); empty
            where none was stopped early.
        notes (`list[str]`):
            What a reader has to know about the numbers.
    """

    pass_at_1: float | None
    ci95: Interval | None
    k: int | None
    pass_pow_k: float | None
    pass_pow_k_ci95: Interval | None
    pass_at_k: float | None
    pass_at_k_ci95: Interval | None
    headroom: float | None
    per_task: dict[Any, float]
    curve: dict[int, dict[str, Any]]
    n_rows: int
    n_scored: int
    n_unjudged: int
    n_sim_faulty: int
    n_duplicates: int
    n_tasks: int
    n_groups: int
    excluded: list[Any]
    config: dict[str, list[Any]]
    estimator: str
    intervals: dict[str, str | None]
    stopping: dict[str, int]
    notes: list[str]

    def __str__(self) -> str:
        interval = "" if self.ci95 is None else f" [{self.ci95[0]:.2f}, {self.ci95[1]:.2f}]"
        k = "k" if self.k is None else self.k
        size = f"{self.n_groups} group{'s' * (self.n_groups != 1)}" + ("" if self.k is None else f", k={self.k}")
        size += "" if self.estimator == "closed_form" else f", {self.estimator}"
        line = (
            f"pass@1 {number(self.pass_at_1)}{interval} | pass^{k} {number(self.pass_pow_k)} | "
            f"pass@{k} {number(self.pass_at_k)} | headroom {number(self.headroom)} ({size})"
        )
        return "\n".join([line, *(f"note: {note}" for note in self.notes)])
