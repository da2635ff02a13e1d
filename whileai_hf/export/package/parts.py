"""Train and holdout of an environment: every task on one side, none in both, and no near-copy across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.errors import DataError
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.measure.hygiene import contamination_report, split
from whileai_hf.rows import task_key


@dataclass(frozen=True)
class Parts:
    """The two sides, and what was taken off the first."""

    train: list[TaskEntry]
    holdout: list[TaskEntry]
    in_both: int
    near_copies: int


def divide(entries: Sequence[TaskEntry], share: float, seed: int) -> tuple[list[TaskEntry], list[TaskEntry]]:
    """
    Splits tasks by scenario; a twin goes where the task goes that it is the twin of.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.
        share (`float`):
            Expected share to hold out; 0 holds none out.
        seed (`int`):
            Another seed gives another split.

    Raises:
        [`DataError`]: There is one task, which cannot be on two sides.
    """
    if share == 0:
        return list(entries), []
    roots = [str(entry.task.get("twin_of") or task_key(entry.task)) for entry in entries]
    if len(set(roots)) < 2:
        raise DataError(
            f"holdout={share} of one task: {roots[0]!r:.60} cannot be on both sides; export more tasks, pass other "
            "tasks as holdout=, or holdout=0"
        )
    parts = split([{"task_id": root, "place": place} for place, root in enumerate(roots)], holdout=share, seed=seed)
    held = set(parts["holdout"]["place"])
    return (
        [entry for place, entry in enumerate(entries) if place not in held],
        [entry for place, entry in enumerate(entries) if place in held],
    )


def apart(train: Sequence[TaskEntry], holdout: Sequence[TaskEntry]) -> Parts:
    """
    Takes off the training side what the holdout has as well: the task itself, or a near copy of its ask.

    Raises:
        [`DataError`]: Nothing is left to train on.
    """
    if not holdout:
        return Parts(list(train), [], 0, 0)
    held = {key for entry in holdout for key in _keys(entry)}
    kept = [entry for entry in train if not held.intersection(_keys(entry))]
    in_both = len(train) - len(kept)
    near = 0
    if kept:
        asks: list[dict[str, Any]] = [{"prompt": entry.task["prompt"]} for entry in kept]
        against = [{"prompt": entry.task["prompt"]} for entry in holdout]
        copies = set(contamination_report(asks, against).rows)
        near = len(copies)
        kept = [entry for place, entry in enumerate(kept) if place not in copies]
    if not kept:
        raise DataError(
            f"all {len(train)} training tasks are in the holdout too ({in_both} by name, {near} by their ask); "
            "hold out other tasks"
        )
    return Parts(kept, list(holdout), in_both, near)


def _keys(entry: TaskEntry) -> set[str]:
    own = {str(task_key(entry.task))}
    twin = entry.task.get("twin_of")
    return own if twin is None else {*own, str(twin)}
