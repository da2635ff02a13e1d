"""One monitor's evaluations: from what the tape holds to points of the curve, and from the curve to alarms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from whileai_hf.measure.hacks import HackScan, hack_scan
from whileai_hf.measure.hacks.scan import check_patterns
from whileai_hf.training.monitor import alarms as rules
from whileai_hf.training.monitor.alarms import Alarm
from whileai_hf.training.monitor.config import MonitorConfig
from whileai_hf.training.monitor.curve import SERIES, MonitorCurve, task_means
from whileai_hf.training.monitor.drifting import Drift, listen
from whileai_hf.training.monitor.following import FEWEST_TASKS
from whileai_hf.training.monitor.report import MonitorReport, make_report
from whileai_hf.training.monitor.tape import GOLD, Tape, written


Point = dict[str, Any]
# Training completions under which a scan says too little to be worth its time.
_FEWEST_ROWS = 32
# Parts that can break without the rest.
_KL, _FEATURES = "the measurement of KL", "the scan of features"


class Watch:
    """
    The evaluations of one monitor.

    Args:
        n_tasks (`int`):
            Tasks of the holdout.
        endorsed (`Sequence[str]`):
            What the reward is meant to track.
        config ([`MonitorConfig`]):
            The knobs.
        failed (`Callable[[str, Exception], None]`):
            Told what broke. A part that did is left out from then on; the others go on.
    """

    def __init__(
        self, n_tasks: int, endorsed: Sequence[str], config: MonitorConfig, failed: Callable[[str, Exception], None]
    ) -> None:
        self.n_tasks, self.config = n_tasks, config
        self.tape = Tape(config.batch)
        self.weights: dict[str, float] = {}
        self.looks: int | None = None
        self.seconds: list[float] = []
        self.alarms: list[Alarm] = []
        self.notes: list[str] = []
        self._failed = failed
        self._out: set[str] = set()
        self._endorsed = check_patterns(endorsed)
        self._points: list[Point] = []
        self._drift = Drift()
        self._filling = False
        self._scan: HackScan | None = None
        self._scanned = 0

    @property
    def last_step(self) -> int | None:
        """Step of the latest evaluation."""
        return None if not self._points else int(self._points[-1]["step"])

    @property
    def curve(self) -> MonitorCurve:
        """The evaluations so far."""
        return MonitorCurve.of(self._points)

    def listen(self, trainer: Any) -> None:
        """Has the tokens of the first evaluation kept, to measure the drift by."""
        listen(trainer, lambda inputs: self._part(_KL, self._hear, inputs))

    def _part(self, name: str, act: Callable[..., Any], *args: Any) -> Any:
        """What one part of the monitor finds, `None` once it is broken."""
        if name in self._out:
            return None
        try:
            return act(*args)
        except Exception as error:
            self._out.add(name)
            self._failed(name, error)
            return None

    def _hear(self, inputs: Mapping[str, Any]) -> None:
        if self._filling and self.tape.held:
            self._drift.keep(self.tape.held[-1].tasks or [], inputs)

    def start(self) -> None:
        """An evaluation begins."""
        self.tape.start()
        self._filling = not self._drift.ready

    def look(self, step: int, model: Any) -> Point:
        """
        Makes a point of the evaluation that has just ended.

        Args:
            step (`int`):
                Training step.
            model (`torch.nn.Module`):
                The live policy.

        Returns:
            `dict`: `step`, and a value per task for each series that was measured.
        """
        found = gathered([self._read(), self._part(_KL, self._measure, model) or []])
        rows, moved = found
        tasks = [row[0] for row in rows]
        point: Point = {"step": step}
        for index, name in enumerate(("proxy", "gold", "length"), start=1):
            point[name] = task_means(tasks, [row[index] for row in rows], self.n_tasks)
        if moved:
            point["kl"] = task_means([task for task, _ in moved], [value for _, value in moved], self.n_tasks)
        self._points = [*(each for each in self._points if each["step"] < step), point]
        return point

    def _read(self) -> list[tuple[int, float | None, float | None, float]]:
        rows = []
        for batch in self.tape.held:
            gold = batch.scores.get(GOLD) or [None] * len(batch.completions)
            lengths = [float(written(completion)) for completion in batch.completions]
            rows += list(zip(batch.tasks or [], batch.total(self.weights), gold, lengths, strict=True))
        return rows

    def _measure(self, model: Any) -> list[tuple[int, float]]:
        if self._filling:
            self._drift.begin(model)
            self._filling = False
        return self._drift.measure(model) if self._drift.ready else []

    def alarms_at(self, point: Point) -> list[Alarm]:
        """The alarms of the latest evaluation that were not raised before."""
        curve, knobs, step = self.curve, self.config, int(point["step"])
        common = {"window": knobs.window, "alpha": knobs.alpha, "looks": self.looks, "lag": knobs.lag}
        found = [
            rules.divergence(curve, delta=knobs.delta, follow=knobs.follow, **common),  # type: ignore[arg-type]
            rules.length(curve, growth=knobs.growth, follow=knobs.follow, **common),  # type: ignore[arg-type]
            rules.drift(curve, budget=knobs.kl_budget, alpha=knobs.alpha, looks=self.looks),
            self._feature(step),
        ]
        raised = {alarm.kind for alarm in self.alarms}
        fresh = [alarm for alarm in found if alarm is not None and alarm.kind not in raised]
        self.alarms += fresh
        return fresh

    def _feature(self, step: int) -> Alarm | None:
        """Scans what was sampled in training since the latest scan."""
        if not self._endorsed:
            return None
        rows = gathered([self._part(_FEATURES, self.tape.rows, self.weights, self._scanned) or []])[0]
        if len(rows) < _FEWEST_ROWS:
            return None
        alarm: Alarm | None = self._part(_FEATURES, self._scanned_alarm, rows, step)
        return alarm

    def _scanned_alarm(self, rows: list[dict[str, Any]], step: int) -> Alarm | None:
        before, self._scanned = self._scan, step
        self._scan = hack_scan(rows, endorsed=self._endorsed, conjunctions=False, seed=self.config.seed)
        return rules.feature(step, self._scan, before)

    def kept(self) -> list[dict[str, Any]]:
        """The points as plain values, for a checkpoint."""
        return [
            {
                name: value if name == "step" else [float(x) if np.isfinite(x) else None for x in value]
                for name, value in point.items()
            }
            for point in self._points
        ]

    def restore(self, points: Sequence[Mapping[str, Any]], step: int) -> None:
        """Goes on from the points of a checkpoint; the policy it starts from is the one KL is measured from."""
        self._points = [
            {
                name: value if name == "step" else np.array([np.nan if x is None else x for x in value], dtype=float)
                for name, value in point.items()
                if name in ("step", *SERIES) and name != "kl"
            }
            for point in points
            if point["step"] < step
        ]
        self.notes.append(f"KL is measured from step {step}, where training went on from a checkpoint")

    def report(self, *, measured: bool, stopped: str | None, k: int, warnings: Sequence[str]) -> MonitorReport:
        """The report so far."""
        notes = list(self.notes)
        if measured and self.n_tasks < FEWEST_TASKS:
            notes.append(f"{self.n_tasks} tasks are too few to tell whether the gold follows; no alarm can be raised")
        if not self._endorsed:
            notes.append("nothing is endorsed, so the scan of features cannot call anything a hack")
        return make_report(
            self.curve,
            self.alarms,
            measured=measured,
            stopped=stopped,
            size=(self.n_tasks, k, self.looks),
            seconds=self.seconds,
            warnings=warnings,
            notes=notes,
        )


def gathered(parts: list[list[Any]]) -> list[list[Any]]:
    """Lists of this process joined with those of all others that train together, so that all of them decide alike."""
    import torch.distributed as processes

    if not (processes.is_available() and processes.is_initialized()) or processes.get_world_size() == 1:
        return parts
    everyone: list[Any] = [None] * processes.get_world_size()
    processes.all_gather_object(everyone, parts)
    return [[item for theirs in everyone for item in theirs[index]] for index in range(len(parts))]
