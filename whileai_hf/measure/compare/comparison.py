"""The report of a comparison of two runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.rows import Report
from whileai_hf.stats import Interval


def points(value: float | None) -> str:
    """A difference with its sign, three decimals; n/a for none."""
    return "n/a" if value is None else f"{value:+.3f}"


def band(interval: Interval | None) -> str:
    """An interval of differences in brackets; n/a for none."""
    return "n/a" if interval is None else f"[{interval[0]:+.3f}, {interval[1]:+.3f}]"


def plain(value: float | None) -> str:
    """A mean, three decimals; n/a for none."""
    return "n/a" if value is None else f"{value:.3f}"


def p_text(value: float | None) -> str:
    """A p-value, never rounded to zero or over the 5% line."""
    if value is None:
        return "n/a"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


@dataclasses.dataclass(frozen=True)
class RunComparison(Report):
    """
    How two runs differ on one metric; what [`compare_runs`] returns. Differences are `b` minus `a`.

    Args:
        metric (`str`):
            What is compared.
        verdict (`str`):
            `b_better`, `a_better`, `no_difference_detected` (the interval covers zero, which is not equality), or
            `insufficient_data` (fewer than six shared tasks).
        delta (`float`, *optional*):
            Mean difference over shared tasks; between all tasks of either side where the data is insufficient.
        ci95 (`tuple[float, float]`, *optional*):
            All mean differences the sign-flip test does not reject at 5%, widened where fewer than eight tasks differ.
            It covers zero exactly when `p_value` is above 0.05.
        p_value (`float`, *optional*):
            Two-sided p-value of that test; `None` with insufficient data.
        method (`str`, *optional*):
            What `ci95` and `p_value` come from.
        bootstrap_ci95 (`tuple[float, float]`, *optional*):
            Percentile bootstrap of the paired difference over tasks, for comparison; no verdict is taken from it.
        mean_a (`float`, *optional*):
            Mean of the first run over the tasks compared.
        mean_b (`float`, *optional*):
            Mean of the second.
        paired (`bool`):
            Whether the numbers are over shared tasks.
        n_paired (`int`):
            Tasks both runs have measured.
        n_tasks_a (`int`):
            Tasks the first run has measured.
        n_tasks_b (`int`):
            Tasks the second has.
        paired_share (`float`, *optional*):
            `n_paired` as a share of the tasks of either run.
        within (`float`, *optional*):
            The margin asked for.
        equivalence (`str`, *optional*):
            `equivalent` (the difference is shown to be smaller than the margin), `not_shown` or `insufficient_data`;
            `None` when no margin was given.
        equivalence_p (`float`, *optional*):
            p-value of the two one-sided tests; `None` where few tasks differ on a metric without a known range, which
            shows nothing of other tasks.
        ci90 (`tuple[float, float]`, *optional*):
            The 90% interval, which lies within the margin when `equivalent`.
        n_unjudged (`dict[str, int]`):
            Rows of `a` and `b` without the metric, left out.
        n_sim_faulty (`dict[str, int]`):
            Rows a simulated user spoiled, left out.
        n_duplicates (`dict[str, int]`):
            Rows that repeat a rollout already seen; they are counted.
        config (`dict[str, dict]`):
            What either side's rows were produced with.
        notes (`list[str]`):
            What a reader has to know.
    """

    metric: str
    verdict: str
    delta: float | None
    ci95: Interval | None
    p_value: float | None
    method: str | None
    bootstrap_ci95: Interval | None
    mean_a: float | None
    mean_b: float | None
    paired: bool
    n_paired: int
    n_tasks_a: int
    n_tasks_b: int
    paired_share: float | None
    within: float | None
    equivalence: str | None
    equivalence_p: float | None
    ci90: Interval | None
    n_unjudged: dict[str, int]
    n_sim_faulty: dict[str, int]
    n_duplicates: dict[str, int]
    config: dict[str, dict[str, list[Any]]]
    notes: list[str]

    @property
    def note(self) -> str:
        """All notes in one text."""
        return " ".join(f"{note}." for note in self.notes)

    def __str__(self) -> str:
        tasks = f"{self.n_paired} shared tasks" if self.paired else f"{self.n_tasks_a} and {self.n_tasks_b} tasks"
        lines = [
            f"{self.metric}: {self.verdict} | {plain(self.mean_a)} -> {plain(self.mean_b)}, "
            f"{points(self.delta)} {band(self.ci95)} p={p_text(self.p_value)} ({tasks})"
        ]
        if self.method is not None:
            boot = "" if self.bootstrap_ci95 is None else f"; paired bootstrap {band(self.bootstrap_ci95)}"
            lines.append(f"95% by {self.method}{boot}")
        if self.equivalence is not None:
            lines.append(
                f"within {self.within:g}: {self.equivalence} (p={p_text(self.equivalence_p)}, 90% {band(self.ci90)})"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
