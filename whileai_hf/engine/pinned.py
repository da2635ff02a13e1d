"""Tasks the caller gives: a task Dataset, an earlier run, a list or a path, played again as they are."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from datasets import Features

from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.given import check_prompts, fit_tasks, foreign_features
from whileai_hf.rows import group_keys, view
from whileai_hf.rows.features import known_features, task_features
from whileai_hf.rows.identity import TaskKey
from whileai_hf.rows.view import Row, RowView
from whileai_hf.store import read_privileged


@dataclasses.dataclass(frozen=True)
class PinnedTasks:
    """
    Tasks in the order given.

    `repeats` is the `k` the source planned, or how often it ran its most repeated prompt; `None` when it is a task set
    and not a run.
    """

    tasks: list[Row]
    repeats: int | None
    foreign: Features


def pin(source: Any) -> PinnedTasks:
    """
    Tasks out of any rows.

    Args:
        source (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Task rows, or rollouts of an earlier run (each prompt once; what only a judge may see is read back from
            the run store).

    Raises:
        [`DataError`]: A row without a prompt.
    """
    rows = view(source)
    check_prompts(rows)
    ran = rows.has("final_text") or rows.has("steps")
    # What a run did and what was thought of it is about its own rollouts, not about the tasks.
    names = [name for name in rows.columns if not ran or _describes_task(name)]
    keys = group_keys(rows)
    counts = Counter(keys)
    first: dict[tuple[TaskKey, str], Row] = {}
    for key, row in zip(keys, rows.rows(names), strict=True):
        first.setdefault(key, row)
    foreign = Features({name: feature for name, feature in foreign_features(rows).items() if name in names})
    tasks = list(fit_tasks(first.values(), foreign))
    if ran:
        _restore_privileged(rows, tasks)
    planned = [k for k in rows.column("group_planned_k") if k]
    return PinnedTasks(tasks, max(planned or counts.values()) if ran else None, foreign)


def _describes_task(name: str) -> bool:
    return name in task_features() or name not in known_features()


def _restore_privileged(rows: RowView, tasks: list[Row]) -> None:
    known: dict[tuple[Any, str], Row] = {}
    for run in dict.fromkeys(rows.column("run_id")):
        if run:
            known.update(read_privileged(run))
    for task in tasks:
        task.update(known.get((task.get("scenario_id"), task["prompt"]), {}))


def config_for(pinned: PinnedTasks, config: SimulationConfig) -> SimulationConfig:
    """The knobs of a pinned run: repeats are inherited from the source unless given, the budget is all of it."""
    repeats = config.repeats or pinned.repeats or config.topology().repeats
    budget = config.budget or len(pinned.tasks) * repeats
    return dataclasses.replace(config, repeats=repeats, phrasings=1, situations=None, budget=budget)
