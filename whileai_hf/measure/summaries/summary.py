"""Metrics of one set of rows, each with its interval over tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from whileai_hf.measure.compare.pairing import mean
from whileai_hf.measure.metrics import Measured, find_metric
from whileai_hf.measure.passes.tally import MIN_GROUPS
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval, bootstrap_mean_ci


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
            Percentile bootstrap over tasks; `None` under three tasks.
        n_tasks (`int`):
            Tasks with the metric.
        n_rows (`int`):
            Rows with it.
        n_missing (`int`):
            Rows without it, left out.
    """

    metric: str
    mean: float | None
    ci95: Interval | None
    n_tasks: int
    n_rows: int
    n_missing: int

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


def metric_summary(
    data: Source | RowView, metrics: Sequence[str] | None = None, *, n_boot: int = 2000, seed: int = 0
) -> MetricSummary:
    """
    Every metric of graded rows with a 95% bootstrap interval over tasks.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.
        metrics (`Sequence[str]`, *optional*):
            Which; left out, `pass_at_1`, `reward` and every marker.
        n_boot (`int`, *optional*, defaults to `2000`):
            Resamples behind each interval.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        [`MetricSummary`]: `print` it for one line per metric.

    Raises:
        [`ConfigurationError`]: A metric the rows do not have; the message names the nearest.

    Examples:
    ```python
    >>> rows = [{"task_id": t, "reward": t % 2, "markers": {"polite": 1.0}} for t in range(4)]
    >>> print(metric_summary(rows, ["pass_at_1", "polite"]))
    pass_at_1: 0.500 [0.000, 1.000] (4 tasks, 4 rows)
    polite: 1.000 [1.000, 1.000] (4 tasks, 4 rows)
    note: fewer than 10 tasks: an interval over so few covers less than 95%

    ```
    """
    asked = [metrics] if isinstance(metrics, str) else metrics
    side = Measured(data, ["markers", *(asked or ())])
    names = side.names if asked is None else [find_metric(one, [side.find], lambda: side.names) for one in asked]
    return _summary(side, names, n_boot, seed)


def marker_summary(data: Source | RowView, *, n_boot: int = 2000, seed: int = 0) -> MetricSummary:
    """
    Every marker of rows with a 95% bootstrap interval over tasks.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with `markers`.
        n_boot (`int`, *optional*, defaults to `2000`):
            Resamples behind each interval.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        [`MetricSummary`]: Empty, with a note, where no row has a marker.

    Examples:
    ```python
    >>> marker_summary([{"task_id": t, "markers": {"polite": t % 2}} for t in range(4)]).metrics["polite"].mean
    0.5

    ```
    """
    side = Measured(data, ["markers"])
    return _summary(side, _marker_metrics(side), n_boot, seed)


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


def _summary(side: Measured, names: Sequence[str], n_boot: int, seed: int) -> MetricSummary:
    levels: dict[str, MetricLevel] = {}
    for name in names:
        of = side.means(name)
        enough = of.means.size >= MIN_GROUPS
        interval = bootstrap_mean_ci(of.means, n_boot=n_boot, seed=seed) if enough else None
        known = int(np.count_nonzero(~np.isnan(side.values(name))))
        missing = len(side) - int(np.count_nonzero(side.spoilt)) - known
        levels[name] = MetricLevel(name, mean(of.means), interval, len(of.keys), known, missing)
    notes = []
    if not levels:
        notes.append("no row has a marker; a judge gives them as {'reward': ..., 'markers': {name: value}}")
    if any(MIN_GROUPS <= level.n_tasks < 10 for level in levels.values()):
        notes.append("fewer than 10 tasks: an interval over so few covers less than 95%")
    if any(0 < level.n_tasks < MIN_GROUPS for level in levels.values()):
        notes.append(f"an interval takes at least {MIN_GROUPS} tasks")
    spoilt = int(np.count_nonzero(side.spoilt))
    return MetricSummary(levels, len(side), spoilt, "percentile bootstrap over tasks, 95%", notes)
