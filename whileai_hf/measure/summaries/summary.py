"""Metrics of one set of rows, each with its interval over tasks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import shown
from whileai_hf.measure.compare.notes import duplicates, notes_on_copies, notes_on_markers
from whileai_hf.measure.compare.pairing import mean
from whileai_hf.measure.metrics import PASS_AT_1, Measured, TaskMeans, find_metric
from whileai_hf.measure.passes.tally import MIN_GROUPS
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval
from whileai_hf.stats.shares import share_interval
from whileai_hf.stats.student import t_quantile


# Digits of task means that are no rounding.
_DECIMALS = 12


@dataclasses.dataclass(frozen=True)
class MetricLevel(Report):
    """
    One metric of a set of rows.

    Args:
        metric (`str`):
            Its name.
        mean (`float`, *optional*):
            Mean over tasks of the mean of a task's rows; `None` where nothing is measured.
        ci95 (`tuple[float, float]`, *optional*):
            95% interval over tasks; `None` under three tasks, and for values without a known range that are all alike.
        n_tasks (`int`):
            Tasks with the metric.
        n_rows (`int`):
            Rows with it.
        n_missing (`int`):
            Rows without it, left out.
        method (`str`, *optional*):
            How the interval came about: what [`stats.shares.share_interval`] calls it for a metric within 0 to 1 (the
            interval `pass_at` gives), `student_t` for any other.
    """

    metric: str
    mean: float | None
    ci95: Interval | None
    n_tasks: int
    n_rows: int
    n_missing: int
    method: str | None = None

    def __str__(self) -> str:
        if self.mean is None:
            return f"{self.metric}: not measured ({self.n_missing} rows without it)"
        interval = "" if self.ci95 is None else f" [{self.ci95[0]:.3f}, {self.ci95[1]:.3f}]"
        missing = f", {self.n_missing} without it" if self.n_missing else ""
        return f"{self.metric}: {self.mean:.3f}{interval} ({self.n_tasks} tasks, {self.n_rows} rows{missing})"


@dataclasses.dataclass(frozen=True)
class MetricSummary(Report):
    """
    What [`metric_summary`] and [`marker_summary`] return.

    Args:
        metrics (`dict[str, MetricLevel]`):
            Metric to its level.
        n_rows (`int`):
            Rows given.
        n_sim_faulty (`int`):
            Rows a simulated user spoiled, left out of every metric.
        method (`str`):
            What the intervals are.
        notes (`list[str]`):
            What a reader has to know.
    """

    metrics: dict[str, MetricLevel]
    n_rows: int
    n_sim_faulty: int
    method: str
    notes: list[str]

    def __str__(self) -> str:
        lines = [str(level) for level in self.metrics.values()] or ["no metric"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def metric_summary(data: Source | RowView, metrics: Sequence[str] | None = None) -> MetricSummary:
    """
    Every metric of graded rows with a 95% interval over tasks.

    Metrics within 0 to 1 have the interval of `pass_at`, which holds for few tasks and for those that all agree; any
    other has Student's.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.
        metrics (`Sequence[str]`, *optional*):
            Which; left out, `pass_at_1`, `reward` and every marker.

    Returns:
        [`MetricSummary`]: `print` it for one line per metric.

    Raises:
        [`ConfigurationError`]: A metric the rows do not have (the message names the nearest), or what names none.

    Examples:
    ```python
    >>> rows = [{"task_id": t, "reward": t % 2, "markers": {"polite": 1.0}} for t in range(4)]
    >>> print(metric_summary(rows, ["pass_at_1", "polite"]))
    pass_at_1: 0.500 [0.068, 0.932] (4 tasks, 4 rows)
    polite: 1.000 [0.398, 1.000] (4 tasks, 4 rows)

    ```
    """
    asked = [metrics] if isinstance(metrics, str) else metrics
    if asked is not None and not isinstance(asked, Collection):
        raise ConfigurationError(
            f"metrics={shown(metrics)} names no metrics; pass a list of their names, or leave it out"
        )
    side = Measured(data, ["markers", *(asked or ())])
    names = side.names if asked is None else [find_metric(one, [side.find], lambda: side.names) for one in asked]
    return _summary(side, names)


def marker_summary(data: Source | RowView) -> MetricSummary:
    """
    Every marker of rows with a 95% interval over tasks, as [`metric_summary`] gives it.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with `markers`.

    Returns:
        [`MetricSummary`]: Empty, with a note, where no row has a marker.

    Examples:
    ```python
    >>> marker_summary([{"task_id": t, "markers": {"polite": t % 2}} for t in range(4)]).metrics["polite"].mean
    0.5

    ```
    """
    side = Measured(data, ["markers"])
    return _summary(side, _marker_metrics(side))


def marker_names(data: Source | RowView) -> list[str]:
    """
    Names of all markers on rows, sorted.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with `markers`.

    Examples:
    ```python
    >>> marker_names([{"task_id": 1, "markers": {"polite": 1, "honest": 0.5}}])
    ['honest', 'polite']

    ```
    """
    return list(Measured(data, ["markers"]).markers)


def _marker_metrics(side: Measured) -> list[str]:
    return side.names[2:] if side.rows.has("reward") else side.names


def _summary(side: Measured, names: Sequence[str]) -> MetricSummary:
    levels = {name: _level(side, name) for name in names}
    notes = notes_on_copies(duplicates(side))
    if not levels:
        notes.append("no row has a marker; a judge gives them as {'reward': ..., 'markers': {name: value}}")
    told = [marker for name in names if (marker := side.marker_of(name)) is not None]
    notes += notes_on_markers(side, names)
    if told or not levels:
        notes += [
            f"no value of the marker {name} is a number ({odd} are something else): it is no metric"
            for name, odd in side.not_numbers.items()
            if name not in side.markers
        ]
    few = [level for level in levels.values() if 0 < level.n_tasks < MIN_GROUPS]
    if few:
        notes.append(f"an interval takes at least {MIN_GROUPS} tasks")
    alike = [level.metric for level in levels.values() if level.n_tasks >= MIN_GROUPS and level.ci95 is None]
    if alike:
        notes.append(f"all tasks are alike in {', '.join(alike)}, whose range is unknown: nothing gives an interval")
    spoilt = int(np.count_nonzero(side.spoilt))
    return MetricSummary(levels, len(side), spoilt, "95% over tasks: see the method of each metric", notes)


def _level(side: Measured, name: str) -> MetricLevel:
    of = side.means(name)
    known = int(np.count_nonzero(~np.isnan(side.values(name))))
    missing = len(side) - int(np.count_nonzero(side.spoilt)) - known
    middle = mean(of.means)
    interval, method = (None, None) if middle is None else _interval(side, name, of, middle)
    return MetricLevel(name, middle, interval, len(of.keys), known, missing, method)


def _interval(side: Measured, name: str, of: TaskMeans, middle: float) -> tuple[Interval | None, str | None]:
    tasks = of.means.size
    if tasks < MIN_GROUPS:
        return None, None
    if side.is_share(name):
        # Rates of groups that were stopped are weighed, so rollouts are no trials there.
        weighed = side.stopped and name == PASS_AT_1
        trials = None if weighed else int(of.counts.sum())
        # Rates that differ by rounding only would pass for a spread, and a tiny one.
        found = share_interval(*np.unique(of.means.round(_DECIMALS), return_counts=True), trials=trials)
        return (None, None) if found is None else ((found.low, found.high), found.method)
    half = t_quantile(tasks - 1) * float(of.means.std(ddof=1)) / math.sqrt(tasks)
    return ((middle - half, middle + half), "student_t") if half > 0.0 else (None, None)
