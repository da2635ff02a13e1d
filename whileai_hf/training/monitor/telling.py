"""Saying what a monitor saw: on the record of the run, in the log, and as an alert of the tracker in use."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from whileai_hf.training.monitor.alarms import Alarm
from whileai_hf.training.monitor.curve import over_tasks
from whileai_hf.training.monitor.report import MonitorReport
from whileai_hf.training.runs import TrainingRun


logger = logging.getLogger(__name__)

# Series of a point by their name on the record.
_NAMES = {"proxy": "proxy_reward", "gold": "gold_reward", "length": "holdout_length", "kl": "holdout_kl"}


class Teller:
    """
    Says what a monitor saw.

    Args:
        run ([`TrainingRun`], *optional*):
            The record; without one there is the log alone.
    """

    def __init__(self, run: TrainingRun | None) -> None:
        self.run = run
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        """Warns of something, once."""
        if text not in self.warnings:
            self.warnings.append(text)
            logger.warning("%s", text)

    def point(self, step: int, point: Mapping[str, Any], seconds: float) -> None:
        """Adds the means of an evaluation to the record."""
        if self.run is not None:
            means = {name: over_tasks(np.asarray(point[key])) for key, name in _NAMES.items() if key in point}
            values = {name: float(mean) for name, mean in means.items() if np.isfinite(mean)}
            self.run.log(step, **values, monitor_seconds=round(seconds, 3))

    def alarm(self, alarm: Alarm, args: Any) -> None:
        """Raises an alarm: one line on the record, one in the log, an alert in Trackio where it is in use."""
        logger.warning("%s", alarm)
        if self.run is not None:
            self.run.alarm(alarm.kind, alarm.step, alarm.message)
        if "trackio" in (args.report_to or ()):
            import trackio

            trackio.alert(title=f"HackMonitor: {alarm.kind}", text=str(alarm), level=trackio.AlertLevel.WARN)

    def stop(self, reason: str) -> None:
        """Ends the record as stopped: the first reason that is given stays."""
        if self.run is not None:
            self.run.finish("stopped", reason=reason)

    def end(self, report: MonitorReport) -> None:
        """Leaves the outcome on the record."""
        if self.run is not None:
            said = {"outcome": report.outcome, "alarms": [str(alarm) for alarm in report.alarms]}
            self.run.change(summary={**self.run.record.summary, "hack_monitor": {**said, "n_tasks": report.n_tasks}})
