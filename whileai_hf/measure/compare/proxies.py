"""Whether the metric training pushed on rose alone: that takes evidence about the target, not a lack of it."""

from __future__ import annotations

from whileai_hf.measure.compare.changes import MetricDelta


# Rise of a target between 0 and 1 that an interval has to rule out before the target counts as flat.
FLAT = 0.1


def over_optimization(
    target: MetricDelta, proxy: MetricDelta | None, *, share: bool, ceiling: bool | None
) -> tuple[str | None, str]:
    """
    A word on target and proxy, and the reason where nothing can be said.

    The two are never compared with each other: they may be in different units, and a judge that goes from 0.1 to 0.95
    while the target doubles is no alarm. What counts is whether the target rose, fell, or is shown to have stayed.

    Args:
        target ([`MetricDelta`]):
            The metric that was meant to move.
        proxy ([`MetricDelta`], *optional*):
            The one training pushed on.
        share (`bool`):
            Whether the target lies within 0 to 1, so that a rise of [`FLAT`] means something.
        ceiling (`bool`, *optional*):
            Whether the target had little room before.

    Returns:
        `tuple[str | None, str]`: `over_optimized`, `in_step`, `proxy_not_up` or `undetermined`, `None` without a
        proxy; the reason is empty but for `undetermined`.
    """
    if proxy is None:
        return None, ""
    if proxy.p_value is None or target.p_value is None:
        return "undetermined", "too few tasks are shared"
    if not proxy.up or proxy.within_noise:
        return "proxy_not_up", ""
    if target.up and not target.within_noise:
        return "in_step", ""
    if target.down and not target.within_noise:
        return "over_optimized", ""
    if ceiling:
        return "undetermined", f"{target.metric} had no room to follow"
    if not share:
        return "undetermined", f"{target.metric} has no known range, so no change of it is known to be small"
    high = None if target.ci95 is None else target.ci95[1]
    if high is None or high >= FLAT:
        return "undetermined", f"a rise of {target.metric} by {FLAT:g} or more is not ruled out; use more tasks"
    return "over_optimized", ""
