"""`curriculum`: which tasks to train on now, from easy to hard, which are solved, and which come too early."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import SURE_ROLLOUTS, Difficulty, difficulty
from whileai_hf.select.config import BAND
from whileai_hf.select.emitting import emit
from whileai_hf.select.pool import Pool, open_tasks
from whileai_hf.select.rates import Scale, on_scale, reward_scale
from whileai_hf.select.summary import eval_rows, eval_warning
from whileai_hf.select.verdicts import odd_rewards


# One rollout says whether a task can be solved, not how often.
_MIN_ROLLOUTS = 2


@dataclasses.dataclass(frozen=True)
class Curriculum(Report):
    """
    What [`curriculum`] returns. Every task is in one of `schedule`, `retired`, `not_ready` and `unmeasured`.

    Args:
        schedule (`list`):
            Ids of the trainable tasks, easy to hard.
        tiers (`list[list]`):
            The schedule in parts of nearly equal size; tasks that are equally hard may be in two.
        retired (`list`):
            Tasks solved more often than `solved`, the most often first.
        not_ready (`list`):
            Tasks solved less often than `floor`, the nearest first.
        unmeasured (`list`):
            Tasks with fewer than two graded rollouts.
        rates (`dict`):
            Task to its mean reward, of every measured task.
        n_tasks (`int`):
            Tasks given.
        n_trainable (`int`):
            Tasks in the schedule.
        n_solved (`int`):
            Retired tasks.
        n_not_ready (`int`):
            Tasks that come too early.
        n_in_band (`int`):
            Trainable tasks solved 20% to 80% of the time, whatever `solved` and `floor` are.
        n_stamped (`int`):
            Tasks whose rate was read off the stamp they came with, which saw more rollouts than are here.
        eval_sourced (`int`):
            Rows whose reward came from an evaluation.
        solved (`float`):
            Rate above which a task is retired.
        floor (`float`):
            Rate below which a task is not ready.
        warnings (`list[str]`):
            What may be wrong with following it.
        notes (`list[str]`):
            What a reader has to know.
    """

    schedule: list[Any]
    tiers: list[list[Any]]
    retired: list[Any]
    not_ready: list[Any]
    unmeasured: list[Any]
    rates: dict[Any, float]
    n_tasks: int
    n_trainable: int
    n_solved: int
    n_not_ready: int
    n_in_band: int
    n_stamped: int
    eval_sourced: int
    solved: float
    floor: float
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.n_trainable} of {self.n_tasks} tasks to train on, easy to hard, {self.n_in_band} of them solved "
            f"20-80% of the time | {self.n_solved} solved (above {self.solved:g}) | {self.n_not_ready} not ready "
            f"(below {self.floor:g}) | {len(self.unmeasured)} unmeasured"
        ]
        for number, tier in enumerate(self.tiers, 1):
            if tier:
                lines.append(
                    f"  tier {number}: {len(tier)} tasks, {self.rates[tier[0]]:.2f} to {self.rates[tier[-1]]:.2f}"
                )
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


@no_collection()
def curriculum(
    data: Source | RowView, *, solved: float = BAND[1], floor: float = BAND[0], tiers: int = 3
) -> Curriculum:
    """
    Sorts graded tasks by how hard they are for the policy.

    The defaults are the edges of the band of [`optimize`], and difficulty is the mean reward here, too: the two agree
    on which tasks are trainable.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, several of each task.
        solved (`float`, *optional*, defaults to `0.8`):
            Tasks above are retired.
        floor (`float`, *optional*, defaults to `0.2`):
            Tasks below are not ready.
        tiers (`int`, *optional*, defaults to `3`):
            Parts of the schedule.

    Returns:
        [`Curriculum`]: The report; `print` it.

    Raises:
        [`ConfigurationError`]: Not `0 <= floor < solved <= 1`, or no tier.
        [`MissingColumnError`]: The rows have no reward, or nothing that names their task.

    Examples:
    ```python
    >>> passes = {"easy": 3, "hard": 1, "done": 4, "early": 0}
    >>> rows = [{"task_id": task, "reward": int(i < c)} for task, c in passes.items() for i in range(4)]
    >>> found = curriculum(rows)
    >>> found.schedule, found.retired, found.not_ready
    (['easy', 'hard'], ['done'], ['early'])

    ```
    """
    check_edges(solved, floor)
    if isinstance(tiers, bool) or not isinstance(tiers, int) or tiers < 1:
        raise ConfigurationError(f"tiers={tiers!r} is not a number of parts; pass 1 or more")
    pool = open_tasks(data)
    levels, scale = levels_of(pool)
    keys, rates = pool.tasks.keys, levels.rates
    measured = (levels.n >= _MIN_ROLLOUTS) & ~np.isnan(rates)
    above, below = measured & (rates > solved), measured & (rates < floor)
    order = np.argsort(-np.nan_to_num(rates), kind="stable").astype(np.int64)
    schedule = order[(measured & ~above & ~below)[order]]

    def named(tasks: IntArray) -> list[Any]:
        return [keys[task] for task in tasks.tolist()]

    low, high = BAND
    eval_sourced = eval_rows(pool.view, np.flatnonzero(pool.counted).astype(np.int64))
    return Curriculum(
        schedule=named(schedule),
        tiers=[named(part) for part in np.array_split(schedule, tiers)],
        retired=named(order[above[order]]),
        not_ready=named(order[below[order]]),
        unmeasured=named(np.flatnonzero(~measured).astype(np.int64)),
        rates={keys[task]: float(rates[task]) for task in np.flatnonzero(measured).tolist()},
        n_tasks=len(keys),
        n_trainable=int(schedule.size),
        n_solved=int(np.count_nonzero(above)),
        n_not_ready=int(np.count_nonzero(below)),
        n_in_band=int(np.count_nonzero((rates[schedule] >= low) & (rates[schedule] <= high))),
        n_stamped=levels.n_stamped,
        eval_sourced=eval_sourced,
        solved=solved,
        floor=floor,
        warnings=[
            *odd_rewards(pool.view, pool.judged),
            *eval_warning(eval_sourced, "rows"),
            *_guessed(levels, measured),
        ],
        notes=scale.note,
    )


def check_edges(solved: float, floor: float) -> None:
    """
    Refuses edges that leave no room between them.

    Raises:
        [`ConfigurationError`]: Not `0 <= floor < solved <= 1`.
    """
    numbers = all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in (solved, floor))
    if not numbers or not 0 <= floor < solved <= 1:
        raise ConfigurationError(
            f"solved={solved!r} and floor={floor!r} are no pass rates with 0 <= floor < solved <= 1; the defaults are "
            f"{BAND[1]} and {BAND[0]}"
        )


def levels_of(pool: Pool) -> tuple[Difficulty, Scale]:
    """Difficulty of every task, 0 to 1."""
    found = difficulty(pool)
    scale = reward_scale(pool.judged.values[pool.counted])
    return found._replace(rates=on_scale(found.rates, scale)), scale


def _guessed(levels: Difficulty, measured: Any) -> list[str]:
    few = int(np.count_nonzero(measured & (levels.n < SURE_ROLLOUTS)))
    if not few:
        return []
    least = int(levels.n[measured].min())
    return [
        f"{few} tasks were measured from fewer than {SURE_ROLLOUTS} rollouts (as few as {least}): a pass rate can be "
        "off by 0.3, so some are on the wrong side of an edge"
    ]


@no_collection()
def retire_solved(data: Source | RowView, *, solved: float = BAND[1]) -> Dataset:
    """
    Leaves out the tasks that the policy already solves.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        solved (`float`, *optional*, defaults to `0.8`):
            Tasks solved more often, over two graded rollouts or more, are left out.

    Returns:
        `datasets.Dataset`: All rows of the other tasks, without what only a judge may see.

    Examples:
    ```python
    >>> passes = {"done": 4, "half": 2}
    >>> rows = [{"task_id": task, "reward": int(i < c)} for task, c in passes.items() for i in range(4)]
    >>> set(retire_solved(rows)["task_id"])
    {'half'}

    ```
    """
    check_edges(solved, 0.0)
    pool = open_tasks(data)
    levels, _ = levels_of(pool)
    done = (levels.n >= _MIN_ROLLOUTS) & (levels.rates > solved)
    return emit(pool.view, np.flatnonzero(~done[pool.tasks.index]).astype(np.int64))[0]
