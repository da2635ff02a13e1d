"""What a rollout of the desk is worth: the library's checklist, and no refusal without a look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.score.conduct import task_checklist


def reward(row: Mapping[str, Any]) -> dict[str, Any]:
    """
    Grades one rollout.

    The checklist takes a reply that tells of trouble at its word where several things were asked for or the record is
    missing. Here it has to come from somewhere: where a right desk makes calls, at least one is about the same order.

    Args:
        row (`Mapping`):
            The rollout with the task's `expected_calls`.

    Returns:
        `dict`: The verdict of the checklist with one more marker, `tried`.
    """
    verdict = task_checklist(dict(row))
    due = {str(value) for call in row.get("expected_calls") or () for value in call["arguments"].values()}
    tried = not due or any(due & _values(step) for step in row.get("steps") or ())
    made = {**verdict, "markers": {**(verdict.get("markers") or {}), "tried": float(tried)}}
    if tried or not verdict["reward"]:
        return made
    return {**made, "reward": 0.0, "reason": "nothing was looked up", "failure_class": "not_tried"}


def _values(step: Mapping[str, Any]) -> set[str]:
    arguments = step.get("arguments")
    return {str(value) for value in arguments.values()} if isinstance(arguments, Mapping) else set()
