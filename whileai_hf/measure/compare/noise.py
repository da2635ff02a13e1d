"""How much an evaluation moves when nothing but its dice change: the spread between runs of the same eval."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.compare.comparison import plain
from whileai_hf.measure.metrics import PASS_AT_1, REWARD, Measured, find_metric
from whileai_hf.measure.passes.codes import column_codes
from whileai_hf.measure.passes.origin import inner_codes
from whileai_hf.measure.passes.rewards import GRADE_FIRST
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats.student import t_quantile


FloatArray = NDArray[np.float64]
# A spread from fewer runs is hardly known: from two it is off by a factor of 30 one time in 40.
MIN_RUNS = 3
# Share of the largest mean below which a spread is rounding.
_ROUNDING = 1e-12
ALL_ALIKE = (
    "the evaluations came out exactly alike (run_std 0), as copies of one do, and as those of a deterministic agent: "
    "no estimate of what re-running does; pass run_std=0 if agent and judge are deterministic"
)


@dataclasses.dataclass(frozen=True)
class EvalVariance(Report):
    """
    Spread between evaluations of the same model; what [`eval_variance`] returns.

    Args:
        metric (`str`):
            The metric of `run_std`.
        run_std (`float`, *optional*):
            Sample standard deviation of one evaluation's mean around the others'; `None` under three evaluations.
        df (`int`):
            Degrees of freedom behind it.
        n_runs (`int`):
            Evaluations.
        runs (`dict[str, float]`):
            Evaluation to its mean of the metric.
        metrics (`dict[str, float]`):
            Metric to its own run-to-run standard deviation, for every metric all evaluations have.
        n_tasks (`int`):
            Tasks every evaluation has measured; means are over those.
        rerun_band (`float`, *optional*):
            Two single evaluations differ by less than this 95 times in 100 (t quantile times `run_std` times
            `sqrt(2)`).
        notes (`list[str]`):
            What a reader has to know.
    """

    metric: str
    run_std: float | None
    df: int
    n_runs: int
    runs: dict[str, float]
    metrics: dict[str, float]
    n_tasks: int
    rerun_band: float | None
    notes: list[str]

    def __str__(self) -> str:
        means = ", ".join(plain(value) for value in self.runs.values())
        spread = "not measured" if self.run_std is None else f"{self.run_std:.4f}"
        band = "" if self.rerun_band is None else f"; two runs differ by less than {self.rerun_band:.3f} at 95%"
        lines = [
            f"{self.metric}: run_std {spread} over {self.n_runs} evaluations ({means}; {self.n_tasks} tasks){band}"
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


@dataclasses.dataclass(frozen=True)
class Runs:
    """
    Means of one metric per evaluation, over the tasks all of them have.

    Args:
        names (`list[str]`):
            Evaluations.
        means (`np.ndarray`):
            Their means.
        n_tasks (`int`):
            Tasks behind each mean.
        n_left_out (`int`):
            Tasks some evaluation lacks.
        n_untagged (`int`):
            Rows that say no evaluation although others do; they belong to none.
    """

    names: list[str]
    means: FloatArray
    n_tasks: int
    n_left_out: int
    n_untagged: int = 0

    @property
    def df(self) -> int:
        """Degrees of freedom of their spread."""
        return max(0, len(self.names) - 1)

    @property
    def squares(self) -> float:
        """Sum of squared deviations from their mean."""
        return float(((self.means - self.means.mean()) ** 2).sum()) if self.names else 0.0


def run_labels(side: Measured) -> tuple[NDArray[np.int64], list[Any]]:
    """The evaluation of every row: `lineage.eval_run`, else a column `eval_run`; rows without one are evaluation 0."""
    codes = inner_codes(side.rows, "lineage", "eval_run") if side.rows.has("lineage") else None
    if (codes is None or codes.keys == [None]) and side.rows.has("eval_run"):
        codes = column_codes(side.rows, "eval_run")
    if codes is None:
        return np.zeros(len(side), np.int64), [None]
    return codes.index, codes.keys


def is_zero(spread: float, means: Iterable[float]) -> bool:
    """Whether a spread of means is none but for rounding."""
    return spread <= _ROUNDING * max([1.0, *(abs(mean) for mean in means)])


def per_run(side: Measured, metric: str) -> Runs:
    """Means of a metric per evaluation found on the rows."""
    run, keys = run_labels(side)
    values = side.values(metric)
    known = ~np.isnan(values)
    untagged = np.zeros(len(side), bool)
    if None in keys and len(keys) > 1:
        untagged = known & (run == keys.index(None))
        known &= ~untagged
    size, tasks = len(keys), len(side.tasks.keys)
    joint = side.tasks.index[known] * size + run[known]
    counts = np.bincount(joint, minlength=size * tasks).reshape(tasks, size)
    sums = np.bincount(joint, weights=values[known], minlength=size * tasks).reshape(tasks, size)
    used = counts.sum(axis=0) > 0
    counts, sums = counts[:, used], sums[:, used]
    left_out = int(untagged.sum())
    if not used.any():
        return Runs([], np.empty(0), 0, 0, left_out)
    whole, some = (counts > 0).all(axis=1), (counts > 0).any(axis=1)
    names = [str(key) for key, there in zip(keys, used, strict=True) if there]
    if not whole.any():
        return Runs([], np.empty(0), 0, int(some.sum()), left_out)
    means = (sums[whole] / counts[whole]).mean(axis=0)
    return Runs(names, means, int(whole.sum()), int(some.sum() - whole.sum()), left_out)


def _apart(sides: list[Measured], metric: str) -> Runs:
    """Means of a metric of evaluations given one by one."""
    means = [side.means(metric) for side in sides]
    shared = set(means[0].keys).intersection(*(one.keys for one in means[1:]))
    every = set().union(*(one.keys for one in means))
    names = [str(place + 1) for place in range(len(sides))]
    if not shared:
        return Runs([], np.empty(0), 0, len(every))
    values = [float(one.means[np.array([key in shared for key in one.keys], dtype=bool)].mean()) for one in means]
    return Runs(names, np.array(values), len(shared), len(every) - len(shared))


def eval_variance(*runs: Source | RowView, metric: str = PASS_AT_1) -> EvalVariance:
    """
    An eval's own spread: how far its number moves when the same model is evaluated again.

    Pass one set of rows that holds several evaluations (`simulate(..., runs=3)` stamps `lineage.eval_run`), or several
    sets, each one evaluation of the same model on the same tasks.

    Args:
        *runs (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The evaluations.
        metric (`str`, *optional*, defaults to `"pass_at_1"`):
            The metric `run_std` is of; the spread of all others is in `metrics`.

    Returns:
        [`EvalVariance`]: Pass it to `delta_report(run_std=...)`. `run_std` is `None` under three evaluations.

    Raises:
        [`ConfigurationError`]: No rows given, or an unknown metric.
        [`DataError`]: The evaluations share no task.

    Examples:
    ```python
    >>> rows = [{"task_id": t, "reward": int((t + r) % 3 > 0), "eval_run": r} for t in range(8) for r in (1, 2, 3)]
    >>> round(eval_variance(rows).run_std, 4)
    0.0722

    ```
    """
    if not runs:
        raise ConfigurationError("eval_variance got no rows; pass rows with three or more evaluations, or each apart")
    sides = [Measured(run, [metric]) for run in runs]
    shared = [name for name in sides[0].names if all(name in side.names for side in sides[1:])]
    name = find_metric(metric, [side.find for side in sides], lambda: shared)

    def spread(of: str) -> Runs:
        return per_run(sides[0], of) if len(sides) == 1 else _apart(sides, of)

    found = spread(name)
    if not found.names and found.n_left_out:
        raise DataError(
            f"the evaluations share none of their {found.n_left_out} tasks; evaluate the same tasks each time "
            "(simulate(tasks=..., runs=3))"
        )
    enough = len(found.names) >= MIN_RUNS
    others = {one: spread(one) for one in shared} if enough else {}
    run_std = math.sqrt(found.squares / found.df) if enough else None
    notes = []
    if not found.names:
        what = GRADE_FIRST if name in (PASS_AT_1, REWARD) else f"none of the rows has {name}"
        notes.append(f"nothing is measured: {what}")
    if run_std is not None and is_zero(run_std, found.means.tolist()):
        notes.append(ALL_ALIKE)
    if found.n_untagged:
        notes.append(f"{found.n_untagged} row(s) say no eval_run although others do; they belong to no evaluation")
    if not enough:
        notes.append(
            f"{len(found.names)} evaluation(s): a spread takes at least {MIN_RUNS}; simulate(tasks=..., runs=3) plays "
            "the same tasks three times"
        )
    if found.n_left_out:
        notes.append(f"{found.n_left_out} task(s) are missing in some evaluation and are left out")
    return EvalVariance(
        metric=name,
        run_std=run_std,
        df=found.df,
        n_runs=len(found.names),
        runs=dict(zip(found.names, found.means.tolist(), strict=True)),
        metrics={one: math.sqrt(of.squares / of.df) for one, of in others.items() if len(of.names) >= MIN_RUNS},
        n_tasks=found.n_tasks,
        rerun_band=None if run_std is None else t_quantile(found.df) * run_std * math.sqrt(2.0),
        notes=notes,
    )
