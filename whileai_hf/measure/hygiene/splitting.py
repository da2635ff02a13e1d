"""Train and holdout by task, the same tomorrow as today."""

from __future__ import annotations

import math

import numpy as np
from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.passes.codes import task_codes
from whileai_hf.rows import open_rows, view
from whileai_hf.rows.rng import unit
from whileai_hf.rows.view import Source


def split(data: Source, *, holdout: float = 0.2, seed: int = 0) -> DatasetDict:
    """
    Rows in two parts, every task wholly in one of them.

    The side of a task is a hash of its key and the seed: a task is held out when its hash, a number in [0, 1), is
    below `holdout`. So adding rows or tasks, shuffling, or running again on another machine moves no task, and a
    larger holdout contains a smaller one. The share of tasks held out is `holdout` on average, not exactly.

    Where no task falls on a side, the one whose hash is closest goes there (the smallest hash to the holdout, the
    largest to train), so that neither is empty; only this one task may change sides when tasks are added.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows of at least two tasks. The task is `scenario_id`, else `task_id`, else the prompt.
        holdout (`float`, *optional*, defaults to `0.2`):
            Expected share of tasks to hold out, between 0 and 1.
        seed (`int`, *optional*, defaults to `0`):
            Another seed gives another split.

    Returns:
        `DatasetDict`: `"train"` and `"holdout"`, rows in their order. Rows of a list become Datasets, whose numbers
        are canonical: floats keep 10 decimals and 15 digits.

    Raises:
        [`ConfigurationError`]: `holdout` outside (0, 1).
        [`DataError`]: All rows belong to one task.
        [`MissingColumnError`]: Nothing names the tasks.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import split
    >>> parts = split([{"task_id": task, "prompt": f"Ask {task}"} for task in (0, 0, 1, 1, 2, 2)], holdout=0.3)
    >>> sorted(parts), len(parts["train"]) + len(parts["holdout"])
    (['holdout', 'train'], 6)

    ```
    """
    given = isinstance(holdout, int | float) and not isinstance(holdout, bool)
    if not given or not math.isfinite(holdout) or not 0.0 < holdout < 1.0:
        raise ConfigurationError(f"holdout={holdout!r} is not a share of the tasks; pass a number between 0 and 1")
    rows = view(data)
    tasks = task_codes(rows)
    if len(tasks.keys) < 2:
        raise DataError(
            f"all {len(rows)} rows belong to the task {tasks.keys[0]!r:.80}, which cannot be on two sides; split rows "
            "of several tasks, or give each row its own task_id when the rows are separate items"
        )
    place = np.array([unit(seed, "split", "" if key is None else key) for key in tasks.keys])
    held = place < holdout
    if not held.any():
        held[np.argmin(place)] = True
    elif held.all():
        held[np.argmax(place)] = False
    out = held[tasks.index]
    everything = open_rows(rows.source)
    return DatasetDict(train=everything.select(np.flatnonzero(~out)), holdout=everything.select(np.flatnonzero(out)))
