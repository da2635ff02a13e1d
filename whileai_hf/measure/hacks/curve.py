"""`overoptimization`: a training curve read for the point where the proxy goes on rising and the goal does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.hacks.divergence import Rule, Series, alarms_of, healthy_alarm_rate
from whileai_hf.measure.hacks.report import shown
from whileai_hf.rows import Report


AlarmKind = Literal["divergence", "length", "drift"]
# Under which names a point may hold what is read.
_KEYS = {
    "proxy": ("proxy", "proxy_reward"),
    "gold": ("gold", "gold_reward"),
    "length": ("length", "words", "holdout_length"),
    "kl": ("kl",),
}


@dataclasses.dataclass(frozen=True)
class CurveAlarm(Report):
    """
    One alarm, where it was raised first.

    Args:
        kind (`str`):
            `divergence`, `length` or `drift`.
        index (`int`):
            Evaluation at which it was raised, from 0 on.
        step (`int` or `float`, *optional*):
            Its training step, when the curve says so.
        reason (`str`):
            What was seen.
    """

    kind: AlarmKind
    index: int
    step: float | None
    reason: str

    def __str__(self) -> str:
        at = f"evaluation {self.index}" + ("" if self.step is None else f" (step {self.step:g})")
        return f"{self.kind} at {at}: {self.reason}"


@dataclasses.dataclass(frozen=True)
class Overoptimization(Report):
    """
    The verdict on a curve; what [`overoptimization`] returns.

    Args:
        outcome (`str`):
            `alarm`, `no_alarm`, or `not_measured` where nothing could be compared.
        alarms (`list[CurveAlarm]`):
            Each kind of alarm once, in the order in which they were raised.
        first_alarm (`int`, *optional*):
            Evaluation at which the first was raised.
        n_points (`int`):
            Evaluations.
        window (`int`):
            Evaluations a rise is measured over.
        delta (`float`):
            Rise of the proxy from which the gold has to follow.
        interval (`str`):
            How it is told whether the gold rose: `paired_t` where each evaluation has a score per prompt, `none` where
            it has one mean.
        false_alarm_rate (`float`, *optional*):
            Share of simulated healthy curves of this size that raise a divergence: both scores rise alike, with the
            noise of the prompts. `None` where it was not simulated.
        notes (`list[str]`):
            What a reader has to know.
    """

    outcome: Literal["alarm", "no_alarm", "not_measured"]
    alarms: list[CurveAlarm]
    first_alarm: int | None
    n_points: int
    window: int
    delta: float
    interval: Literal["paired_t", "none"]
    false_alarm_rate: float | None
    notes: list[str]

    def __str__(self) -> str:
        line = f"{self.outcome} ({self.n_points} evaluations, false-alarm rate {shown(self.false_alarm_rate)})"
        return "\n".join([line, *(f"  {alarm}" for alarm in self.alarms), *(f"note: {text}" for text in self.notes)])


def overoptimization(
    curve: Sequence[Mapping[str, Any]],
    *,
    window: int = 3,
    delta: float = 0.1,
    length_pct: float = 0.25,
    kl_budget: float | None = None,
    n_sim: int = 200,
    seed: int = 0,
) -> Overoptimization:
    """
    Whether a policy is over-optimising its training reward.

    Three alarms, each raised at the first evaluation that shows it, compared with `window` evaluations before (the
    first one, until there are as many): `divergence`, the proxy rose by `delta` or more and the gold did not;
    `length`, replies grew by `length_pct` and the gold did not rise; `drift`, the KL is past its budget.

    With a score per prompt the gold rose when the 95% interval of its paired change lies above 0, and a divergence
    needs the proxy's change to exceed the gold's at 99% as well: a small holdout often cannot show that the
    gold rose as the proxy did, and that alone is no alarm. With one mean per evaluation there is no interval, and the
    gold rose when it did so by a quarter of `delta`.

    Args:
        curve (`Sequence[Mapping]`):
            Evaluations in order: `proxy` and `gold` (a number, or a list with one score per prompt of the holdout,
            always in the same order), and optionally `length` (or `words`), `kl` and `step`.
        window (`int`, *optional*, defaults to `3`):
            Evaluations a rise is measured over.
        delta (`float`, *optional*, defaults to `0.1`):
            Rise of the proxy's mean from which the gold has to follow, in units of the reward.
        length_pct (`float`, *optional*, defaults to `0.25`):
            Growth of replies from which the gold has to rise.
        kl_budget (`float`, *optional*):
            KL from the reference policy that may not be exceeded.
        n_sim (`int`, *optional*, defaults to `200`):
            Healthy curves simulated for the false-alarm rate; 0 leaves it out. Where evaluations have no scores per
            prompt, 32 prompts are assumed; either way 4 rollouts each, passing with a chance that rises as the proxy.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        [`Overoptimization`]: The verdict.

    Raises:
        [`ConfigurationError`]: A threshold is not a positive number.
        [`DataError`]: An evaluation is not a mapping, or has scores of several lengths.

    Examples:
    ```python
    >>> from whileai_hf.measure.hacks import overoptimization
    >>> found = overoptimization([{"proxy": 0.4, "gold": 0.5}, {"proxy": 0.7, "gold": 0.5}], n_sim=0)
    >>> print(found)
    alarm (2 evaluations, false-alarm rate n/a)
      divergence at evaluation 1: proxy +0.300 since evaluation 0, gold +0.000
    note: the gold is one mean per evaluation, so its rise has no interval; pass a score per prompt

    ```
    """
    rule = _rule(window, delta, length_pct, kl_budget)
    points = list(curve)
    for index, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise DataError(f"evaluation {index} is a {type(point).__name__}; expected a dict with proxy and gold")
    series = Series(**{name: _column(points, name) for name in _KEYS})
    raised = alarms_of(series, rule)
    alarms = [CurveAlarm(kind, at, _step(points[at]), reason) for kind, at, reason in raised]
    per_prompt = series.gold.shape[1] > 1
    known = len(points) > 1 and bool((~np.isnan(series.proxy)).any() and (~np.isnan(series.gold)).any())
    measured = known or bool((~np.isnan(series.kl)).any() and kl_budget is not None)
    return Overoptimization(
        "alarm" if alarms else "no_alarm" if measured else "not_measured",
        alarms,
        min((alarm.index for alarm in alarms), default=None),
        len(points),
        window,
        delta,
        "paired_t" if per_prompt else "none",
        healthy_alarm_rate(series, rule, n_sim=n_sim, seed=seed) if known and n_sim else None,
        _notes(series, points, per_prompt),
    )


def _rule(window: int, delta: float, length_pct: float, kl_budget: float | None) -> Rule:
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise ConfigurationError(f"window={window!r} is not a number of evaluations; pass a whole number from 1 on")
    for name, value in (("delta", delta), ("length_pct", length_pct), ("kl_budget", kl_budget)):
        if value is not None and not (isinstance(value, int | float) and 0 < value < float("inf")):
            raise ConfigurationError(f"{name}={value!r} is not a positive number")
    return Rule(window, delta, length_pct, kl_budget)


def _step(point: Mapping[str, Any]) -> float | None:
    step = point.get("step")
    return step if isinstance(step, int | float) and not isinstance(step, bool) else None


def _number(value: Any) -> float:
    return float(value) if isinstance(value, bool | int | float | np.number | np.bool_) else float("nan")


def _column(points: list[Mapping[str, Any]], name: str) -> Any:
    """Scores as `(evaluations, prompts)`; one column where evaluations have one number."""
    cells = [next((point[key] for key in _KEYS[name] if point.get(key) is not None), None) for point in points]
    rows = [
        [_number(value) for value in cell] if isinstance(cell, list | tuple | np.ndarray) else [_number(cell)]
        for cell in cells
    ]
    if name in ("length", "kl"):
        rows = [[_mean(row)] for row in rows]
    widths = {len(row) for row, cell in zip(rows, cells, strict=True) if cell is not None}
    if len(widths) > 1:
        raise DataError(
            f"{name} has {min(widths)} scores at one evaluation and {max(widths)} at another; pass one per prompt of "
            "the same holdout, or one mean each time"
        )
    width = widths.pop() if widths else 1
    table = np.array([row if len(row) == width else [float("nan")] * width for row in rows], dtype=np.float64)
    return np.where(np.isfinite(table), table, np.nan).reshape(len(points), width)


def _mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return sum(known) / len(known) if known else float("nan")


def _notes(series: Series, points: list[Mapping[str, Any]], per_prompt: bool) -> list[str]:
    if len(points) < 2:
        return ["fewer than two evaluations: there is nothing to compare"]
    notes = []
    if np.isnan(series.proxy).all():
        notes.append("no evaluation has a proxy, so a divergence cannot be seen")
    if np.isnan(series.gold).all():
        notes.append("no evaluation has a gold score, so neither divergence nor length can be judged")
    elif not per_prompt:
        notes.append("the gold is one mean per evaluation, so its rise has no interval; pass a score per prompt")
    return notes
