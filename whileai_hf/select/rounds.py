"""`next_round`: the task set of the next round of training, out of the graded rows of the last."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from datasets import Dataset

from whileai_hf.errors import DataError
from whileai_hf.measure.hacks.sampling import ask_codes
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.features import task_features
from whileai_hf.rows.privileged import HIDDEN_KEYS
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Source
from whileai_hf.select.config import BAND, check_band
from whileai_hf.select.emitting import emit
from whileai_hf.select.pool import open_tasks
from whileai_hf.select.scheduling import curriculum, levels_of


@dataclasses.dataclass(frozen=True)
class NextRound(Report):
    """
    What [`next_round`] returns beside the tasks.

    Args:
        n_tasks_in (`int`):
            Tasks of the last round.
        n_tasks (`int`):
            Tasks of the next.
        n_prompts (`int`):
            Their prompts: one row each.
        n_solved (`int`):
            Tasks above the band.
        n_not_ready (`int`):
            Tasks below it.
        n_unmeasured (`int`):
            Tasks with fewer than two graded rollouts.
        prompt_set_sha (`str`):
            Names the set of prompts, whatever their order: rounds with the same name train on the same tasks.
        eval_sourced (`int`):
            Rows whose reward came from an evaluation.
        warnings (`list[str]`):
            What may be wrong with the choice.
        notes (`list[str]`):
            What a reader has to know.
    """

    n_tasks_in: int
    n_tasks: int
    n_prompts: int
    n_solved: int
    n_not_ready: int
    n_unmeasured: int
    prompt_set_sha: str
    eval_sourced: int
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.n_tasks} of {self.n_tasks_in} tasks ({self.n_prompts} prompts) for the next round | "
            f"{self.n_solved} solved | {self.n_not_ready} not ready | {self.n_unmeasured} unmeasured | prompt set "
            f"{self.prompt_set_sha}"
        ]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


@no_collection()
def next_round(data: Source | RowView, *, band: Sequence[float] = BAND) -> tuple[Dataset, NextRound]:
    """
    The tasks worth rolling out again: those inside the band, from easy to hard.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows of the last round, all of them: a selection has lost the tasks to compare with.
        band (`Sequence[float]`, *optional*, defaults to `(0.2, 0.8)`):
            Lowest and highest mean reward of a task that is played again.

    Returns:
        `tuple[Dataset, NextRound]`: One row per prompt with what describes the task, for `simulate(tasks=)`, and what
        was left out. Without a task in the band the Dataset is empty.

    Raises:
        [`ConfigurationError`]: An impossible band.
        [`DataError`]: The rows have no prompts.

    Examples:
    ```python
    >>> passes = {"where is A1?": 2, "where is A2?": 4}
    >>> rows = [{"prompt": ask, "reward": int(i < c)} for ask, c in passes.items() for i in range(4)]
    >>> tasks, report = next_round(rows)
    >>> tasks[:], report.n_solved
    ({'prompt': ['where is A1?']}, 1)

    ```
    """
    check_band(band)
    floor, solved = band
    pool = open_tasks(data)
    if not pool.view.has("prompt"):
        raise DataError("the rows have no column 'prompt', so there is nothing to play again; pass rollouts")
    found = curriculum(pool.view, solved=solved, floor=floor)
    rates = levels_of(pool)[0].rates
    wanted = set(found.schedule)
    chosen = np.array([key in wanted for key in pool.tasks.keys], dtype=bool)
    first = np.unique(ask_codes(pool.view, pool.tasks), return_index=True)[1].astype(np.int64)
    first = first[chosen[pool.tasks.index[first]]]
    rows = first[np.argsort(-rates[pool.tasks.index[first]], kind="stable")]
    emitted = emit(pool.view, rows)[0]
    names = [name for name in (*task_features(), "task_id") if name not in HIDDEN_KEYS]
    tasks = emitted.select_columns([name for name in names if name in emitted.column_names])
    prompts = pool.view.column("prompt")
    asks = sorted(repr((pool.tasks.keys[pool.tasks.index[row]], prompts[row])) for row in rows.tolist())
    return tasks, NextRound(
        n_tasks_in=found.n_tasks,
        n_tasks=found.n_trainable,
        n_prompts=int(rows.size),
        n_solved=found.n_solved,
        n_not_ready=found.n_not_ready,
        n_unmeasured=len(found.unmeasured),
        prompt_set_sha=digest(*asks),
        eval_sourced=found.eval_sourced,
        warnings=[*found.warnings, *([] if rows.size else ["no task is inside the band: there is nothing to play"])],
        notes=found.notes,
    )
