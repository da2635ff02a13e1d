"""`self_check`: what the caller's own eval would say of two identical agents, and of one that is better."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import check_rise, check_whole
from whileai_hf.measure.compare.notes import duplicates, notes_on_copies
from whileai_hf.measure.metrics import PASS_AT_1, Measured, find_metric
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval, wilson
from whileai_hf.stats.mixture import fit_mixture
from whileai_hf.stats.signflip import MIN_PAIRS, sign_flip_rejections


FloatArray = NDArray[np.float64]
# The rise that is looked for where none is named.
_USUAL = 0.05
# Task results drawn in all; more trials than fit in are not made.
_MOST_DRAWN = 20_000_000
_FEWEST_TRIALS = 200
# Task results held at a time.
_BLOCK = 2_000_000
_POWER = 0.8


@dataclasses.dataclass(frozen=True)
class SelfCheck(Report):
    """
    How an eval behaves on agents whose difference is known; what [`self_check`] returns.

    Args:
        metric (`str`):
            The metric resampled.
        n_tasks (`int`):
            Tasks of the eval.
        k (`int`):
            Rollouts per task (the median).
        trials (`int`):
            Comparisons simulated for either number.
        false_positive_rate (`float`, *optional*):
            How often two identical agents are called different; `None` below six tasks, where no verdict is given.
        false_positive_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval.
        effect (`float`, *optional*):
            The rise of interest; `None` where none was named and the rows leave no room for the usual 0.05.
        power (`float`, *optional*):
            How often it is seen.
        power_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval.
        ok (`bool`, *optional*):
            Whether false positives are within 5% (by the interval's lower end) and the power is at least 80%.
        method (`str`):
            How the two sides are drawn.
        notes (`list[str]`):
            What a reader has to know.
    """

    metric: str
    n_tasks: int
    k: int
    trials: int
    false_positive_rate: float | None
    false_positive_ci95: Interval | None
    effect: float | None
    power: float | None
    power_ci95: Interval | None
    ok: bool | None
    method: str
    notes: list[str]

    def __str__(self) -> str:
        if self.false_positive_rate is None:
            line = f"{self.metric}: {self.n_tasks} tasks, no comparison possible"
        else:
            line = (
                f"{self.metric}: {self.n_tasks} tasks, k={self.k}: identical agents differ in "
                f"{self.false_positive_rate:.1%} of {self.trials} trials"
            )
            if self.effect is not None and self.power is not None:
                line += f", a rise of {self.effect:.3f} is seen in {self.power:.1%}"
        return "\n".join([line, *(f"note: {note}" for note in self.notes)])


def self_check(
    data: Source | RowView,
    *,
    effect: float | None = None,
    metric: str = PASS_AT_1,
    trials: int = 1000,
    seed: int = 0,
) -> SelfCheck:
    """
    Compares your eval with itself: how often it would call identical agents different, and what it can see.

    Both sides of a trial are drawn from the rows: tasks with the pass rates the rows suggest (the most likely
    distribution behind counts of passes, which unlike the counts themselves does not mistake 4 of 4 for certainty),
    and as many rollouts per task as they have. Metrics that are no pass or fail are drawn from each task's rollouts.
    The verdict on every trial is the one of [`compare_runs`].

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows of one evaluation.
        effect (`float`, *optional*):
            The rise you care about, above 0; 0.05 when left out, and none where the rows pass too often for that.
        metric (`str`, *optional*, defaults to `"pass_at_1"`):
            What is compared.
        trials (`int`, *optional*, defaults to `1000`):
            Comparisons to simulate.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the resampling.

    Returns:
        [`SelfCheck`]: `print` it.

    Raises:
        [`ConfigurationError`]: An unknown metric, an effect that does not fit, or no trial.

    Examples:
    ```python
    >>> rows = [{"task_id": t, "reward": int((t * 7 + i * 3) % 5 < 3)} for t in range(40) for i in range(4)]
    >>> self_check(rows, effect=0.2).false_positive_rate <= 0.07
    True

    ```
    """
    trials = check_whole("trials", trials, 1)
    check_whole("seed", seed, 0)
    rise = _USUAL if effect is None else check_rise("effect", effect)
    side = Measured(data, [metric])
    name = find_metric(metric, [side.find], lambda: side.names)
    found = side.means(name)
    n_tasks = len(found.keys)
    k = int(np.median(found.counts)) if n_tasks else 0
    if n_tasks < MIN_PAIRS:
        note = f"{n_tasks} task(s) have {name}: below {MIN_PAIRS} no difference can be detected"
        return SelfCheck(name, n_tasks, k, 0, None, None, rise, None, None, None, "none", [note])
    notes = notes_on_copies(duplicates(side))
    most = max(_FEWEST_TRIALS, _MOST_DRAWN // n_tasks)
    if trials > most:
        notes.append(f"{most} trials instead of {trials}: {n_tasks} tasks each")
        trials = most
    if k < 2 and name != PASS_AT_1:
        notes.append("tasks have one rollout each: how far a task repeats itself is not known, so power is overstated")
    draws = _PassFail(found.means, found.counts) if name == PASS_AT_1 else _Resampled(side, name)
    sees = rise <= draws.room + 1e-9
    if not sees and effect is not None:
        raise ConfigurationError(
            f"effect={effect!r} does not fit: these rows pass so often that {draws.room:.3f} is left"
        )
    if not sees:
        notes.append(
            f"a rise of {rise:g} does not fit: these rows pass so often that {draws.room:.3f} is left, so only "
            "identical agents are compared; use harder situations"
        )
    wrong = _rejected(draws, 0.0, trials, n_tasks, seed)
    seen = _rejected(draws, rise, trials, n_tasks, seed) if sees else None
    wrong_ci = wilson(wrong, trials)
    fine = wrong_ci is not None and wrong_ci[0] <= 0.05
    return SelfCheck(
        metric=name,
        n_tasks=n_tasks,
        k=k,
        trials=trials,
        false_positive_rate=wrong / trials,
        false_positive_ci95=wrong_ci,
        effect=rise if sees else None,
        power=None if seen is None else seen / trials,
        power_ci95=None if seen is None else wilson(seen, trials),
        ok=fine and seen / trials >= _POWER if seen is not None else None if fine else False,
        method=draws.method,
        notes=notes,
    )


class _PassFail:
    """Differences of two sides whose tasks pass with chances from the fitted distribution."""

    method = "pass rates from the fitted distribution, passes binomial"

    def __init__(self, means: FloatArray, counts: NDArray[np.int64]) -> None:
        self._counts = counts
        self._fit = fit_mixture(counts, np.round(means * counts).astype(np.int64))
        self.room = max(0.0, 1.0 - float(self._fit.weights @ self._fit.points))

    def draw(self, rise: float, trials: int, generator: np.random.Generator) -> FloatArray:
        fit = self._fit
        place = np.searchsorted(np.cumsum(fit.weights), generator.random((trials, self._counts.size)))
        rate = fit.points[np.minimum(place, fit.points.size - 1)]
        other = np.minimum(rate + rise / self.room * (1.0 - rate), 1.0) if rise else rate
        before, after = generator.binomial(self._counts, rate), generator.binomial(self._counts, other)
        return np.asarray((after - before) / self._counts, dtype=np.float64)


class _Resampled:
    """Differences of two sides that draw each task's rollouts anew."""

    method = "each task's rollouts drawn with replacement, spread made up for the number of rollouts"
    room = math.inf

    def __init__(self, side: Measured, metric: str) -> None:
        values = side.values(metric)
        known = np.flatnonzero(~np.isnan(values))
        order = known[np.argsort(side.tasks.index[known], kind="stable")]
        _, self._start, self._counts = np.unique(side.tasks.index[order], return_index=True, return_counts=True)
        task = np.repeat(np.arange(self._counts.size), self._counts)
        means = np.bincount(task, weights=values[order]) / self._counts
        grown = np.sqrt(self._counts / np.maximum(self._counts - 1, 1))[task]
        # Drawing n of n rollouts again shows (n - 1) / n of their variance.
        self._values = (values[order] - means[task]) * grown
        self._task = task

    def draw(self, rise: float, trials: int, generator: np.random.Generator) -> FloatArray:
        sides = []
        for _ in range(2):
            picked = self._start[self._task] + np.floor(
                generator.random((trials, self._task.size)) * self._counts[self._task]
            ).astype(np.int64)
            sides.append(np.add.reduceat(self._values[picked], self._start, axis=1) / self._counts)
        return np.asarray(sides[1] - sides[0] + rise, dtype=np.float64)


def _rejected(draws: _PassFail | _Resampled, rise: float, trials: int, n_tasks: int, seed: int) -> int:
    """How many of the trials end in a verdict of a difference."""
    generator = np.random.default_rng([seed, int(rise > 0)])
    size = max(1, _BLOCK // n_tasks)
    return sum(
        int(sign_flip_rejections(draws.draw(rise, min(size, trials - start), generator), seed=seed + start).sum())
        for start in range(0, trials, size)
    )
