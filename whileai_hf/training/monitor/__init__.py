"""Whether a reward is being hacked while a policy is trained on it.

[`HackMonitor`] is the callback of a GRPO or RLOO trainer; `alarms` and `following` are the arithmetic, numpy alone, to
be read and tested without a trainer; [`play_hack_demo`] plays a run that is being hacked. Judging graded rows or a
curve from elsewhere is `measure.hacks`; the record a monitor writes to is `training.runs`.

Names load on first use: the callback imports transformers, which takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from whileai_hf.training.monitor.alarms import Alarm, divergence, drift, feature, length
    from whileai_hf.training.monitor.callback import HackMonitor
    from whileai_hf.training.monitor.config import MonitorConfig
    from whileai_hf.training.monitor.curve import MonitorCurve
    from whileai_hf.training.monitor.demo.play import HackDemo, play_hack_demo
    from whileai_hf.training.monitor.figure import monitor_figure
    from whileai_hf.training.monitor.report import MonitorReport

_EXPORTS = {
    "Alarm": "alarms",
    "HackDemo": "demo.play",
    "HackMonitor": "callback",
    "MonitorConfig": "config",
    "MonitorCurve": "curve",
    "MonitorReport": "report",
    "divergence": "alarms",
    "drift": "alarms",
    "feature": "alarms",
    "length": "alarms",
    "monitor_figure": "figure",
    "play_hack_demo": "demo.play",
}

__all__ = [
    "Alarm",
    "HackDemo",
    "HackMonitor",
    "MonitorConfig",
    "MonitorCurve",
    "MonitorReport",
    "divergence",
    "drift",
    "feature",
    "length",
    "monitor_figure",
    "play_hack_demo",
]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{module}"), name)
