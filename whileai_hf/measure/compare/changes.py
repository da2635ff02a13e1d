"""The report of a before/after comparison."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.measure.compare.comparison import band, p_text, plain, points
from whileai_hf.rows import Report
from whileai_hf.stats import Interval


@dataclasses.dataclass(frozen=True)
class MetricDelta(Report):
    """
    One metric before and after.

    Args:
        metric (`str`):
            Its name.
        role (`str`):
            `target`, `guard` (must not regress), `proxy` or `other`.
        verdict (`str`):
            `moved`, `moved_unreplicated`, `moved_the_wrong_way`, `within_eval_noise`, `no_change_detected` or
            `insufficient_data`; see [`delta_report`].
        before (`float`, *optional*):
            Mean over shared tasks.
        after (`float`, *optional*):
            The same afterwards.
        delta (`float`, *optional*):
            `after - before`.
        ci95 (`tuple[float, float]`, *optional*):
            Interval of the sign-flip test, not corrected for the number of metrics; widened where fewer than eight
            tasks differ.
        p_value (`float`, *optional*):
            Its p-value.
        p_adjusted (`float`, *optional*):
            The p-value after Benjamini-Hochberg over all metrics but the target; the target's own is `p_value`.
        bootstrap_ci95 (`tuple[float, float]`, *optional*):
            Paired bootstrap, for comparison.
        n_paired (`int`):
            Tasks measured on both sides.
        run_std (`float`, *optional*):
            Standard deviation between runs of the same eval, `None` when nothing says it.
        noise_band (`float`, *optional*):
            What re-running the eval moves the difference by, at 95%.
        within_noise (`bool`, *optional*):
            Whether `delta` lies inside that band; `None` without one.
    """

    metric: str
    role: str
    verdict: str
    before: float | None
    after: float | None
    delta: float | None
    ci95: Interval | None
    p_value: float | None
    p_adjusted: float | None
    bootstrap_ci95: Interval | None
    n_paired: int
    run_std: float | None
    noise_band: float | None
    within_noise: bool | None

    @property
    def up(self) -> bool:
        """Whether it rose beyond chance."""
        return self.p_adjusted is not None and self.p_adjusted <= 0.05 and (self.delta or 0.0) > 0

    @property
    def down(self) -> bool:
        """Whether it fell beyond chance."""
        return self.p_adjusted is not None and self.p_adjusted <= 0.05 and (self.delta or 0.0) < 0

    def __str__(self) -> str:
        noise = "" if self.noise_band is None else f" noise {self.noise_band:.3f}"
        adjusted = "" if self.p_adjusted == self.p_value else f" adjusted {p_text(self.p_adjusted)}"
        role = "" if self.role == "other" else f" ({self.role})"
        return (
            f"{self.metric}{role}: {plain(self.before)} -> {plain(self.after)} {points(self.delta)} {band(self.ci95)} "
            f"p={p_text(self.p_value)}{adjusted}{noise} {self.verdict}"
        )


@dataclasses.dataclass(frozen=True)
class DeltaReport(Report):
    """
    What training changed; what [`delta_report`] returns.

    Args:
        target (`str`):
            The metric that was meant to move.
        verdict (`str`):
            Its verdict word.
        headline (`str`):
            `PASS` (the target moved, replicated, and nothing guarded fell), `FAIL` (a guarded metric fell, the target
            fell, or the proxy rose without it) or `INCONCLUSIVE`.
        delta (`float`, *optional*):
            Change of the target.
        ci95 (`tuple[float, float]`, *optional*):
            Its interval.
        metrics (`dict[str, MetricDelta]`):
            Every metric compared, the target first.
        regressed (`list[str]`):
            Guarded metrics that fell.
        dropped (`list[str]`):
            Other metrics that fell.
        groups (`dict[str, MetricDelta]`):
            With `by=`, the target within each group.
        groups_down (`list[str]`):
            Groups in which it fell.
        ceiling (`bool`, *optional*):
            Whether `before` leaves little room: a mean of 0.9 or more, or fewer than 20 shared tasks, and under half
            of all, below 1. `None` where it was not measured, or is no rate.
        proxy (`str`, *optional*):
            The metric training pushed on.
        over_optimization (`str`, *optional*):
            `over_optimized` (the proxy rose, and the target fell or is shown to have stayed within 0.1 of where it
            was), `in_step` (both rose), `proxy_not_up`, or `undetermined` (the proxy rose, and the rows do not say
            whether the target did); `None` without a proxy.
        run_std (`float`, *optional*):
            Run-to-run standard deviation of the target.
        run_std_source (`str`, *optional*):
            `given` or `runs` (computed from `eval_run` on the rows); `None` without one.
        noise_band (`float`, *optional*):
            Band of the target.
        n_runs (`dict[str, int]`):
            Evaluations on either side.
        n_paired (`int`):
            Tasks on which the target is measured on both sides.
        paired_share (`float`, *optional*):
            Those as a share of the tasks of either side.
        correction (`str`):
            How several metrics were corrected for.
        config (`dict[str, dict]`):
            What the rows of `before` and `after` were produced with.
        warnings (`list[str]`):
            What speaks against the headline.
        notes (`list[str]`):
            What else a reader has to know.
    """

    target: str
    verdict: str
    headline: str
    delta: float | None
    ci95: Interval | None
    metrics: dict[str, MetricDelta]
    regressed: list[str]
    dropped: list[str]
    groups: dict[str, MetricDelta]
    groups_down: list[str]
    ceiling: bool | None
    proxy: str | None
    over_optimization: str | None
    run_std: float | None
    run_std_source: str | None
    noise_band: float | None
    n_runs: dict[str, int]
    n_paired: int
    paired_share: float | None
    correction: str
    config: dict[str, dict[str, list[Any]]]
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"{self.headline}: {self.target} {self.verdict} ({self.n_paired} shared tasks)"]
        lines += [f"  {metric}" for metric in self.metrics.values()]
        lines += [f"  [{name}] {group}" for name, group in self.groups.items()]
        lines.append(f"  {self.correction}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
