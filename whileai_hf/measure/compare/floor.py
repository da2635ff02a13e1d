"""The noise floor of a before/after comparison: what re-running the eval alone moves a metric by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.noise import EvalVariance, Runs, per_run
from whileai_hf.measure.metrics import Measured
from whileai_hf.stats.student import t_quantile


RunStd = float | Mapping[str, float] | EvalVariance
# Two-sided 95% of the normal distribution, for a spread that is given and not estimated here.
_Z = 1.959964
# A band from fewer degrees of freedom is wider than any change (t at 1 is 12.7).
_MIN_DF = 2


@dataclasses.dataclass(frozen=True)
class Floor:
    """
    Re-run noise of one metric.

    Args:
        run_std (`float`, *optional*):
            Standard deviation between evaluations of one model; `None` where nothing says it.
        band (`float`, *optional*):
            Differences up to this are what re-running alone does.
        source (`str`, *optional*):
            `given`, or `runs` when the rows hold several evaluations.
    """

    run_std: float | None
    band: float | None
    source: str | None

    def covers(self, delta: float | None) -> bool:
        """Whether a difference lies inside the band."""
        return self.band is not None and delta is not None and abs(delta) <= self.band


NO_FLOOR = Floor(None, None, None)


def check_run_std(run_std: RunStd | None) -> None:
    """Refuses what is no standard deviation."""
    values = run_std.values() if isinstance(run_std, Mapping) else [run_std]
    for value in values:
        if value is None or isinstance(value, EvalVariance):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise ConfigurationError(
                f"run_std={value!r} is not a standard deviation; pass a number from 0 on, a dict of them by metric, "
                "or what eval_variance returned"
            )


def floor_of(metric: str, before: Measured, after: Measured, run_std: RunStd | None) -> Floor:
    """
    The band of one metric.

    A spread that is given counts as known (normal quantile), one computed from runs as estimated (t quantile). Either
    side's mean is over as many evaluations as its rows hold.
    """
    sides = [per_run(side, metric) for side in (before, after)]
    fewer = sum(1.0 / max(1, len(side.names)) for side in sides)
    if isinstance(run_std, EvalVariance):
        spread = run_std.run_std if metric == run_std.metric else run_std.metrics.get(metric)
        return _floor(spread, t_quantile(run_std.df) if run_std.df >= _MIN_DF else None, fewer, "given")
    if isinstance(run_std, Mapping):
        return _floor(run_std.get(metric), _Z, fewer, "given")
    if run_std is not None:
        return _floor(float(run_std), _Z, fewer, "given")
    return _from_runs(sides, fewer)


def _from_runs(sides: list[Runs], fewer: float) -> Floor:
    df = sum(side.df for side in sides)
    if df < _MIN_DF:
        return NO_FLOOR
    return _floor(math.sqrt(sum(side.squares for side in sides) / df), t_quantile(df), fewer, "runs")


def _floor(spread: float | None, quantile: float | None, fewer: float, source: str) -> Floor:
    if spread is None or quantile is None:
        return NO_FLOOR
    return Floor(spread, quantile * spread * math.sqrt(fewer), source)
