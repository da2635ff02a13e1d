"""The noise floor of a before/after comparison: what re-running the eval alone moves a metric by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import is_real, shown
from whileai_hf.measure.compare.noise import ALL_ALIKE, MIN_RUNS, EvalVariance, Runs, is_zero, per_run
from whileai_hf.measure.metrics import Measured, find_metric
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
        why (`str`, *optional*):
            Why there is none although something was given or played.
    """

    run_std: float | None
    band: float | None
    source: str | None
    why: str | None = None

    def covers(self, delta: float | None) -> bool:
        """Whether a difference lies inside the band."""
        return self.band is not None and delta is not None and abs(delta) <= self.band


NO_FLOOR = Floor(None, None, None)


def read_run_std(run_std: Any, sides: tuple[Measured, Measured]) -> RunStd | None:
    """
    What the caller says of re-run noise, by the names reports use.

    Raises:
        [`ConfigurationError`]: What is no standard deviation, or a metric neither side has; the message names the
            nearest.
    """
    if run_std is None or isinstance(run_std, EvalVariance):
        return run_std
    if not isinstance(run_std, Mapping):
        return _check_spread(run_std)
    known = list(dict.fromkeys([*sides[0].names, *sides[1].names]))

    def find(metric: str) -> str | None:
        return sides[0].find(metric) or sides[1].find(metric)

    return {find_metric(name, [find], lambda: known, "run_std"): _check_spread(one) for name, one in run_std.items()}


def _check_spread(value: Any) -> float:
    if not is_real(value) or value < 0:
        raise ConfigurationError(
            f"run_std={shown(value)} is not a standard deviation; pass a number from 0 on, a dict of them by metric, "
            "or what eval_variance returned"
        )
    return float(value)


def floor_of(metric: str, before: Measured, after: Measured, run_std: RunStd | None) -> Floor:
    """
    The band of one metric.

    A spread that is given counts as known (normal quantile), one computed from runs as estimated (t quantile). Either
    side's mean is over as many evaluations as its rows hold. Evaluations that came out exactly alike estimate nothing:
    copies and a deterministic agent look the same, and only the caller can tell them apart, by `run_std=0`.
    """
    sides = [per_run(side, metric) for side in (before, after)]
    fewer = sum(1.0 / max(1, len(side.names)) for side in sides)
    if isinstance(run_std, EvalVariance):
        return _from_variance(metric, run_std, fewer)
    if isinstance(run_std, Mapping):
        spread = run_std.get(metric)
        return (
            _no_floor(f"run_std= says nothing of {metric}") if spread is None else _floor(spread, _Z, fewer, "given")
        )
    if run_std is not None:
        return _floor(float(run_std), _Z, fewer, "given")
    return _from_runs(sides, fewer)


def _from_variance(metric: str, found: EvalVariance, fewer: float) -> Floor:
    if found.df < _MIN_DF or found.run_std is None:
        return _no_floor(
            f"run_std= comes from {found.n_runs} evaluation(s) and is not used: a spread takes {MIN_RUNS}"
        )
    spread = found.run_std if metric == found.metric else found.metrics.get(metric)
    if spread is None:
        return _no_floor(f"run_std= was measured on {found.metric} and says nothing of {metric}")
    if is_zero(spread, found.runs.values()):
        return _no_floor(ALL_ALIKE)
    return _floor(spread, t_quantile(found.df), fewer, "given")


def _from_runs(sides: list[Runs], fewer: float) -> Floor:
    df = sum(side.df for side in sides)
    if df < _MIN_DF:
        return NO_FLOOR
    spread = math.sqrt(sum(side.squares for side in sides) / df)
    if is_zero(spread, [mean for side in sides for mean in side.means.tolist()]):
        return _no_floor(ALL_ALIKE)
    return _floor(spread, t_quantile(df), fewer, "runs")


def _no_floor(why: str) -> Floor:
    return Floor(None, None, None, why)


def _floor(spread: float, quantile: float, fewer: float, source: str) -> Floor:
    return Floor(spread, quantile * spread * math.sqrt(fewer), source)
