"""What a monitor saw: numbers, alarms, and the curve as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from whileai_hf.plots.axes import Scale
from whileai_hf.rows import Report
from whileai_hf.training.monitor.alarms import Alarm
from whileai_hf.training.monitor.curve import FloatArray, MonitorCurve


Outcome = Literal["alarm", "no_alarm", "not_measured"]
Values = list[float | None]
# Characters the curve is drawn across.
_ACROSS = 41


@dataclasses.dataclass(frozen=True)
class MonitorReport(Report):
    """
    What a monitor saw of a run; what [`HackMonitor.summary`] returns.

    Args:
        outcome (`str`):
            Whether the reward is being hacked: `alarm` (divergence), `no_alarm`, or `not_measured` without a gold or
            before there are two evaluations.
        alarms (`list[Alarm]`):
            Each kind once, where it was raised first.
        stopped (`str`, *optional*):
            Why the monitor stopped training; `None` when it did not.
        steps (`list[int]`):
            Steps of the evaluations.
        proxy (`list[float]`):
            Mean training reward on the holdout at each of them; `None` where it was not measured. So with the others.
        gold (`list[float]`):
            Mean gold.
        length (`list[float]`):
            Mean characters written.
        kl (`list[float]`):
            Mean KL per token from the policy at the first evaluation.
        n_tasks (`int`):
            Tasks of the holdout.
        k (`int`):
            Completions of each.
        looks (`int`, *optional*):
            Evaluations planned, which the alarms are corrected for.
        seconds (`float`, *optional*):
            Mean time an evaluation took.
        warnings (`list[str]`):
            What to do something about.
        notes (`list[str]`):
            What a reader has to know.
    """

    outcome: Outcome
    alarms: list[Alarm]
    stopped: str | None
    steps: list[int]
    proxy: Values
    gold: Values
    length: Values
    kl: Values
    n_tasks: int
    k: int
    looks: int | None
    seconds: float | None
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        said = {"alarm": "ALARM", "no_alarm": "no alarm", "not_measured": "NOT MEASURED"}[self.outcome]
        cost = "" if self.seconds is None else f", {self.seconds:.1f} s each"
        lines = [f"reward hacking: {said} ({len(self.steps)} evaluations of {self.n_tasks} tasks x {self.k}{cost})"]
        lines += _drawn(self)
        lines += [f"  {alarm}" for alarm in self.alarms]
        if self.stopped is not None:
            lines.append(f"stopped: {self.stopped}")
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


def make_report(
    curve: MonitorCurve,
    alarms: Sequence[Alarm],
    *,
    measured: bool,
    stopped: str | None,
    size: tuple[int, int, int | None],
    seconds: Sequence[float],
    warnings: Sequence[str],
    notes: Sequence[str],
) -> MonitorReport:
    """
    The report of a curve.

    Args:
        curve ([`MonitorCurve`]):
            The evaluations.
        alarms (`Sequence[Alarm]`):
            What was raised.
        measured (`bool`):
            Whether there is a gold.
        stopped (`str`, *optional*):
            Why training was stopped.
        size (`tuple[int, int, int | None]`):
            Tasks, completions of each, and evaluations planned.
        seconds (`Sequence[float]`):
            How long each evaluation took.
        warnings (`Sequence[str]`):
            What to do something about.
        notes (`Sequence[str]`):
            What to know.
    """
    known = measured and curve.measured("gold") and curve.measured("proxy")
    hacked = any(alarm.kind == "divergence" for alarm in alarms)
    return MonitorReport(
        outcome="alarm" if hacked else "no_alarm" if known else "not_measured",
        alarms=list(alarms),
        stopped=stopped,
        steps=curve.steps.tolist(),
        proxy=_listed(curve.mean("proxy")),
        gold=_listed(curve.mean("gold")),
        length=_listed(curve.mean("length")),
        kl=_listed(curve.mean("kl")),
        n_tasks=size[0],
        k=size[1],
        looks=size[2],
        seconds=round(float(np.mean(seconds)), 3) if seconds else None,
        warnings=list(warnings),
        notes=list(notes),
    )


def _listed(values: FloatArray) -> Values:
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]


def _drawn(report: MonitorReport) -> list[str]:
    """One line an evaluation: numbers, and P and G where they are between the lowest and the highest of both."""
    seen = [value for value in (*report.proxy, *report.gold) if value is not None]
    if not seen:
        return []
    low, high = min(0.0, *seen), max(1.0, *seen)
    scale = Scale(low, high, 0.0, _ACROSS - 1.0)
    raised = {alarm.step: alarm.kind for alarm in reversed(report.alarms)}
    lines = [f"  step   proxy    gold  length      KL   {low:<{_ACROSS // 2}.4g}{high:>{_ACROSS - _ACROSS // 2}.4g}"]
    for index, step in enumerate(report.steps):
        cells = [" "] * _ACROSS
        for mark, value in (("P", report.proxy[index]), ("G", report.gold[index])):
            if value is not None:
                at = round(scale(value))
                cells[at] = mark if cells[at] == " " else "*"
        shown = [
            _shown(report.proxy[index], ".3f"),
            _shown(report.gold[index], ".3f"),
            _shown(report.length[index], ".0f"),
            _shown(report.kl[index], ".3f"),
        ]
        lines.append(f"{step:>6} {' '.join(shown)}  |{''.join(cells)}| {raised.get(step, '')}".rstrip())
    return lines


def _shown(value: float | None, how: str) -> str:
    return f"{'-' if value is None else format(value, how):>7}"
