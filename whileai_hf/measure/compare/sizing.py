"""How many tasks an eval needs, and what it can see with those it has."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.compare.arguments import check_whole, is_real, shown
from whileai_hf.measure.compare.notes import duplicates, notes_on_copies
from whileai_hf.measure.metrics import PASS_AT_1, Measured
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats.power import MOST_SIMULATED, Population, smallest_effect, tasks_needed
from whileai_hf.stats.signflip import MIN_PAIRS


# Without rows to learn from: a task's difficulty is unknown, and what is assumed is said on the report.
_BASE, _K, _SPREAD = 0.6, 4, 0.3


@dataclasses.dataclass(frozen=True)
class EvalSize(Report):
    """
    Power of an eval; what [`detectable_effect`] and [`holdout_size`] return.

    Args:
        n_tasks (`int`, *optional*):
            Tasks of the eval; `None` where it was asked for.
        effect (`float`, *optional*):
            Rise of pass@1; `None` where it was asked for.
        power (`float`):
            Chance that such a rise is seen (verdict at 5%).
        paired (`float` or `int`, *optional*):
            The answer when both sides run the same tasks: the smallest rise seen, or the tasks needed. `None` where
            there is none: below 6 tasks the test rejects nothing, and a small eval may not even see a rise to 1.
        unpaired (`float` or `int`, *optional*):
            The answer when either side has its own tasks (tasks of each side).
        base (`float`):
            Pass rate before the change.
        k (`int`):
            Rollouts per task and side.
        spread (`float`):
            Standard deviation of pass rates between tasks.
        method (`str`):
            What `paired` comes from.
        notes (`list[str]`):
            What was assumed.
    """

    n_tasks: int | None
    effect: float | None
    power: float
    paired: float | int | None
    unpaired: float | int | None
    base: float
    k: int
    spread: float
    method: str
    notes: list[str]

    def __str__(self) -> str:
        given = f"pass@1 {self.base:.2f}, k={self.k}, spread {self.spread:.2f}"
        if self.effect is None:
            paired, unpaired = ("nothing" if x is None else f"{x:+.3f}" for x in (self.paired, self.unpaired))
            line = (
                f"{self.n_tasks} tasks see {paired} paired, {unpaired} unpaired, at {self.power:.0%} power ({given})"
            )
        else:
            line = (
                f"a rise of {self.effect:.3f} takes {self.paired} tasks paired, {self.unpaired} a side unpaired, at "
                f"{self.power:.0%} power ({given})"
            )
        return "\n".join([line, *(f"note: {note}" for note in self.notes)])


@dataclasses.dataclass(frozen=True)
class _Eval:
    population: Population
    n_tasks: int | None
    notes: list[str]


def _learn(data: Source | RowView | None, base: float | None, k: int | None, spread: float | None) -> _Eval:
    """The population: what the caller says, else what the rows say, else what is usual."""
    given = {"base": base, "spread": spread, "k": k}
    for name, value in given.items():
        if value is not None and not is_real(value):
            raise ConfigurationError(f"{name}={shown(value)} is not a number; leave it out to have it read from rows")
    notes: list[str] = []
    found: tuple[float, int, float] | None = None
    n_tasks = None
    if data is not None:
        side = Measured(data)
        means = side.means(PASS_AT_1)
        n_tasks = len(means.keys)
        if not n_tasks:
            raise DataError("none of the rows has a verdict; grade the rows first: wai.grade(data, judge=...)")
        found = _moments(means.means, means.counts)
        notes += notes_on_copies(duplicates(side))
    else:
        missing = [name for name, value in (("base", base), ("k", k), ("spread", spread)) if value is None]
        if missing:
            notes.append(
                f"assumed, since no rows were given: {', '.join(missing)}; pass your eval's rows to have it read"
            )
    told = found or (_BASE, _K, _SPREAD)
    rate = told[0] if base is None else base
    width = min(told[2], 0.95 * math.sqrt(max(0.0, rate * (1.0 - rate)))) if spread is None else spread
    if found is not None and base is None and not 0.0 < rate < 1.0:
        raise DataError(
            f"every rollout of these rows has the same verdict (pass@1 {rate:g}), so they do not say how an eval with "
            "room would vary; use harder or easier situations, or pass base="
        )
    return _Eval(Population(rate, told[1] if k is None else k, width), n_tasks, notes)


def _moments(
    means: np.ndarray[tuple[int], np.dtype[np.float64]], counts: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[float, int, float]:
    base, k = float(means.mean()), max(1, int(np.median(counts)))
    repeated = counts > 1
    if means.size < 3 or not repeated.any():
        return base, k, min(_SPREAD, 0.95 * math.sqrt(max(0.0, base * (1.0 - base))))
    # Variance of task means less what rollouts alone would give them.
    within = means[repeated] * (1.0 - means[repeated]) / (counts[repeated] - 1)
    between = float(means.var(ddof=1)) - float(within.mean())
    return base, k, min(math.sqrt(max(0.0, between)), 0.95 * math.sqrt(max(0.0, base * (1.0 - base))))


def detectable_effect(
    eval_size: int | Source | RowView,
    *,
    base: float | None = None,
    k: int | None = None,
    spread: float | None = None,
    power: float = 0.8,
    seed: int = 0,
) -> EvalSize:
    """
    The smallest rise of pass@1 an eval sees, with the test [`compare_runs`] makes.

    Args:
        eval_size (`int` or rows in any form):
            Tasks of the eval, or its graded rows, from which the number of tasks, `base`, `k` and `spread` are read.
        base (`float`, *optional*):
            Pass rate before the change; 0.6 when nothing says it.
        k (`int`, *optional*):
            Rollouts per task and side; 4 when nothing says it.
        spread (`float`, *optional*):
            Standard deviation of pass rates between tasks; 0.3 when nothing says it.
        power (`float`, *optional*, defaults to `0.8`):
            Chance that the rise is seen.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        [`EvalSize`]: `paired` and `unpaired` rises.

    Examples:
    ```python
    >>> found = detectable_effect(100, base=0.6, k=4, spread=0.0)
    >>> round(found.paired, 2), round(found.unpaired, 2)
    (0.1, 0.09)
    >>> detectable_effect(5).paired is None
    True

    ```
    """
    check_whole("seed", seed, 0)
    if is_real(eval_size) and not isinstance(eval_size, int | np.integer):
        raise ConfigurationError(f"eval_size={shown(eval_size)} is not a number of tasks; pass 1 or more, or rows")
    rows = None if isinstance(eval_size, int | np.integer) else eval_size
    known = _learn(rows, base, k, spread)
    n_tasks = int(eval_size) if isinstance(eval_size, int | np.integer) else known.n_tasks
    if n_tasks is None or n_tasks < 1 or isinstance(eval_size, bool):
        raise ConfigurationError(f"eval_size={shown(eval_size)} is not a number of tasks; pass 1 or more, or rows")
    people = known.population
    paired, unpaired = (
        smallest_effect(n_tasks, people, power=power, paired=how, seed=seed) if n_tasks >= MIN_PAIRS else None
        for how in (True, False)
    )
    notes = list(known.notes)
    if n_tasks < MIN_PAIRS:
        notes.append(f"{n_tasks} task(s): below {MIN_PAIRS} the test cannot reject anything at 5%, at any effect")
    elif paired is None:
        notes.append(
            f"not even a rise from {people.base:.2f} to 1 is seen {power:.0%} of the time with {n_tasks} tasks"
        )
    return EvalSize(
        n_tasks, None, power, paired, unpaired, people.base, people.k, people.spread, _method(n_tasks), notes
    )


def holdout_size(
    effect: float = 0.05,
    *,
    data: Source | RowView | None = None,
    base: float | None = None,
    k: int | None = None,
    spread: float | None = None,
    power: float = 0.8,
    seed: int = 0,
) -> EvalSize:
    """
    How many tasks an eval needs so that a rise of pass@1 is seen.

    Args:
        effect (`float`, *optional*, defaults to `0.05`):
            The rise, above 0.
        data (rows in any form, *optional*):
            A pilot of the eval, from which `base`, `k` and `spread` are read.
        base (`float`, *optional*):
            As in [`detectable_effect`].
        k (`int`, *optional*):
            As in [`detectable_effect`].
        spread (`float`, *optional*):
            As in [`detectable_effect`].
        power (`float`, *optional*, defaults to `0.8`):
            Chance that the rise is seen.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        [`EvalSize`]: `paired` and `unpaired` numbers of tasks.

    Examples:
    ```python
    >>> found = holdout_size(0.05, base=0.6, k=4, spread=0.3)
    >>> found.paired < found.unpaired
    True

    ```
    """
    if not is_real(effect) or effect <= 0:
        raise ConfigurationError(
            f"effect={shown(effect)} is not a rise; pass a number above 0, such as 0.05, and rows as data="
        )
    check_whole("seed", seed, 0)
    known = _learn(data, base, k, spread)
    people = known.population
    paired, unpaired = (tasks_needed(effect, people, power=power, paired=how, seed=seed) for how in (True, False))
    return EvalSize(
        None, effect, power, paired, unpaired, people.base, people.k, people.spread, _method(paired), known.notes
    )


def _method(n_tasks: int) -> str:
    return (
        "the sign-flip test, simulated" if n_tasks <= MOST_SIMULATED else "normal approximation of the sign-flip test"
    )
