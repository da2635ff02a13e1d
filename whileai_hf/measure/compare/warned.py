"""What speaks against the headline of a before/after comparison, in sentences."""

from __future__ import annotations

from whileai_hf.measure.compare.changes import DeltaReport
from whileai_hf.measure.compare.notes import LOW_SHARE


def warnings_on(report: DeltaReport, undetermined: str, no_floor: str | None) -> list[str]:
    """
    What speaks against the headline, the gravest first.

    Args:
        report ([`DeltaReport`]):
            The report, its warnings still empty.
        undetermined (`str`):
            Why nothing is said of target and proxy; empty where something is.
        no_floor (`str`, *optional*):
            Why what says how far the eval moves by itself was not used.
    """
    found = [
        f"{name} must not regress and fell by {abs(report.metrics[name].delta or 0.0):.3f}"
        for name in report.regressed
    ]
    if report.over_optimization == "over_optimized":
        found.append(f"{report.proxy} rose and {report.target} did not: the proxy is being over-optimised")
    if undetermined:
        found.append(f"whether {report.proxy} rose alone cannot be told: {undetermined}")
    found += [f"{name} fell by {abs(report.metrics[name].delta or 0.0):.3f}" for name in report.dropped]
    found += _on_guards(report)
    if report.groups_down:
        found.append(f"{report.target} fell within {', '.join(report.groups_down)}")
    if no_floor is not None:
        found.append(no_floor)
    if report.verdict == "moved_unreplicated":
        found.append(
            "one evaluation a side: re-running the eval alone may move it as far; simulate(tasks=..., runs=3) on both "
            "sides, or run_std=, settles it"
            if max(report.n_runs.values()) < 2
            else "nothing says how far re-running the eval alone moves it; run_std= settles it"
        )
    if report.ceiling:
        found.append(
            f"{report.target} was near its ceiling before: there is little improvement this eval could show; use "
            "harder situations"
        )
    if report.paired_share is not None and report.paired_share < LOW_SHARE:
        found.append(f"only {report.paired_share:.0%} of the tasks are on both sides: run both on the same tasks")
    return found


def _on_guards(report: DeltaReport) -> list[str]:
    guarded = [change for change in report.metrics.values() if change.role == "guard"]
    fell = [
        f"{change.metric} fell by its own interval, though not after correction for {len(report.metrics) - 1} metrics"
        for change in guarded
        if not change.down and not change.within_noise and change.ci95 is not None and change.ci95[1] < 0.0
    ]
    return fell + [
        f"{change.metric} must not regress and could not be tested: {change.n_paired} shared task(s) have it"
        for change in guarded
        if change.p_value is None
    ]
