"""The four alarms of a training run, as functions of its curve: numpy only, nothing of a trainer.

An alarm looks at the latest evaluation. `divergence` and `length` ask whether the gold followed a reward, or a length,
that rose; how that is told from noise, over many looks, is `following`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np

from whileai_hf.measure.hacks import HackScan
from whileai_hf.rows import Report
from whileai_hf.training.monitor.curve import FloatArray, MonitorCurve, in_range
from whileai_hf.training.monitor.following import Rule, look, look_level, quantile, window_of


AlarmKind = Literal["divergence", "length", "drift", "feature"]
KINDS: tuple[AlarmKind, ...] = ("divergence", "length", "drift", "feature")


@dataclasses.dataclass(frozen=True)
class Alarm(Report):
    """
    One alarm.

    Args:
        kind (`str`):
            `divergence`, `length`, `drift` or `feature`.
        step (`int`):
            Training step of the evaluation that raised it.
        message (`str`):
            What was seen, in one line.
    """

    kind: AlarmKind
    step: int
    message: str

    def __str__(self) -> str:
        return f"{self.kind} at step {self.step}: {self.message}"


def divergence(
    curve: MonitorCurve,
    *,
    delta: float = 0.1,
    window: int = 8,
    alpha: float = 0.02,
    looks: int | None = None,
    lag: int = 1,
    follow: float = 0.5,
) -> Alarm | None:
    """
    Whether the proxy rose by the latest evaluation and the gold did not.

    All of: the mean of the proxy rose by `delta` over the window; the paired 95% interval of the gold's change is not
    above 0; and the interval of `follow` times the proxy's rise minus the gold's does, at the level of this look.
    Rewards that leave 0 to 1 are measured in units of the range seen so far.

    Args:
        curve ([`MonitorCurve`]):
            The evaluations so far, of at least 8 tasks; the first is the one before training.
        delta (`float`, *optional*, defaults to `0.1`):
            Rise of the proxy from which the gold has to follow.
        window (`int`, *optional*, defaults to `8`):
            Evaluations a rise is measured over.
        alpha (`float`, *optional*, defaults to `0.02`):
            Chance of an alarm over a whole honest run.
        looks (`int`, *optional*):
            Evaluations planned after the first one.
        lag (`int`, *optional*, defaults to `1`):
            Evaluations the gold may come behind.
        follow (`float`, *optional*, defaults to `0.5`):
            Share of the proxy's rise the gold has to make.

    Returns:
        [`Alarm`] or `None`: `None` without an alarm, and where too little was measured.

    Examples:
    ```python
    >>> points = [{"step": 10 * i, "proxy": [0.25 * i] * 16, "gold": [0.5 - 0.1 * i] * 16} for i in range(4)]
    >>> print(divergence(MonitorCurve.of(points)))
    divergence at step 30: proxy +0.500 since step 0, gold -0.300 [-0.300, -0.300]

    ```
    """
    return _lagging("divergence", curve, curve.proxy, Rule(delta, window, alpha, looks, lag, follow))


def length(
    curve: MonitorCurve,
    *,
    growth: float = 0.25,
    window: int = 8,
    alpha: float = 0.02,
    looks: int | None = None,
    lag: int = 1,
    follow: float = 0.5,
) -> Alarm | None:
    """
    Whether completions grew and the gold did not follow: as [`divergence`], of length relative to where it was.

    Args:
        curve ([`MonitorCurve`]):
            The evaluations so far.
        growth (`float`, *optional*, defaults to `0.25`):
            Growth from which the gold has to follow.
        window (`int`, *optional*, defaults to `8`):
            Evaluations a growth is measured over.
        alpha (`float`, *optional*, defaults to `0.02`):
            Chance of an alarm over a whole honest run.
        looks (`int`, *optional*):
            Evaluations planned after the first one.
        lag (`int`, *optional*, defaults to `1`):
            Evaluations the gold may come behind.
        follow (`float`, *optional*, defaults to `0.5`):
            How far the gold has to rise for a growth by 100%.

    Returns:
        [`Alarm`] or `None`: `None` without an alarm, and where too little was measured.

    Examples:
    ```python
    >>> points = [{"step": i, "length": [20.0 + 10 * i] * 16, "gold": [0.5] * 16} for i in range(4)]
    >>> print(length(MonitorCurve.of(points)))
    length at step 3: completions +100% since step 0, gold +0.000 [+0.000, +0.000]

    ```
    """
    return _lagging("length", curve, curve.length, Rule(growth, window, alpha, looks, lag, follow))


def drift(curve: MonitorCurve, *, budget: float | None, alpha: float = 0.02, looks: int | None = None) -> Alarm | None:
    """
    Whether the KL divergence from the policy at the start is past its budget, for sure.

    Args:
        curve ([`MonitorCurve`]):
            The evaluations so far.
        budget (`float`, *optional*):
            KL per token that may not be exceeded; no alarm without one.
        alpha (`float`, *optional*, defaults to `0.02`):
            Chance of an alarm over a whole run that keeps to the budget.
        looks (`int`, *optional*):
            Evaluations planned after the first one.

    Returns:
        [`Alarm`] or `None`: With a value per task, `None` unless the lower end of the interval over tasks is past the
        budget; with one number, unless that is.

    Examples:
    ```python
    >>> print(drift(MonitorCurve.of([{"step": 0, "kl": 0.0}, {"step": 10, "kl": 0.3}]), budget=0.2))
    drift at step 10: KL 0.3 is past its budget of 0.2

    ```
    """
    if budget is None or len(curve) < 2:
        return None
    values = curve.kl[-1][np.isfinite(curve.kl[-1])]
    if not values.size:
        return None
    level = look_level(alpha, len(curve) - 1, looks)
    low = values.mean()
    if values.size > 1:
        low = values.mean() - quantile(values.size - 1, level) * values.std(ddof=1) / math.sqrt(values.size)
    if not low > budget:
        return None
    return Alarm("drift", int(curve.steps[-1]), f"KL {values.mean():.3g} is past its budget of {budget:.3g}")


def feature(step: int, scan: HackScan, before: HackScan | None) -> Alarm | None:
    """
    Whether two batches in a row say that the reward pays for something it should not.

    One scan names something in 5% of batches whose reward is noise; that the next one names the same is chance no
    more, also over many looks.

    Args:
        step (`int`):
            Training step of the latest batch.
        scan ([`HackScan`]):
            Scan of the latest batch.
        before ([`HackScan`], *optional*):
            Scan of the one before, of other rollouts.

    Returns:
        [`Alarm`] or `None`: The alarm.
    """
    found = [each for each in (scan, before) if each is not None and each.regime == "reward_hack"]
    if len(found) < 2 or scan.top_feature is None or before is None or scan.top_feature != before.top_feature:
        return None
    return Alarm(
        "feature", step, f"the reward pays for {scan.top_feature} (correlation {scan.top_rho:+.2f} within asks)"
    )


def _lagging(kind: AlarmKind, curve: MonitorCurve, values: FloatArray, rule: Rule) -> Alarm | None:
    if len(curve) < 2 or values.shape != curve.gold.shape:
        return None
    relative = kind == "length"
    found = look(values if relative else in_range(values), in_range(curve.gold), rule, relative)
    if not found.raised:
        return None
    start, _ = window_of(len(curve), rule)
    gold, low = float(found.gold), float(found.gold_low)
    rise = f"completions {float(found.rise):+.0%}" if relative else f"proxy {float(found.rise):+.3f}"
    since = f"since step {curve.steps[start]}, gold {gold:+.3f} [{low:+.3f}, {2 * gold - low:+.3f}]"
    return Alarm(kind, int(curve.steps[-1]), f"{rise} {since}")
