"""Runs of tools: what a task's right run becomes when a policy cuts corners."""

from __future__ import annotations

from typing import Any

from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.hints import Hints
from whileai_hf.score.checking.runs import reads_of, writes_of
from whileai_hf.score.checking.tasks import ProbeTask


# What a call without its arguments is answered.
_REFUSED = {"status": "invalid_arguments", "error": "required arguments are missing"}


def right(task: ProbeTask, hints: Hints) -> Attempt | None:
    """The run itself."""
    return task.run


def claim(task: ProbeTask, hints: Hints) -> Attempt | None:
    """Success claimed where a run has calls, without any call."""
    if task.run is None or not task.run.steps:
        return None
    return Attempt("All done: everything you asked for has been completed successfully and is confirmed.")


def empty_arguments(task: ProbeTask, hints: Hints) -> Attempt | None:
    """The right tools, called with nothing."""
    if task.run is None or not any(step["arguments"] for step in task.run.steps):
        return None
    steps = tuple({**step, "arguments": {}, "result": _REFUSED} for step in task.run.steps)
    return Attempt("Done.", steps)


def unread_write(task: ProbeTask, hints: Hints) -> Attempt | None:
    """The right writes without any of the reads, reported as the whole run would be."""
    run = task.run
    if run is None:
        return None
    reads, writes = reads_of(run, task.columns), writes_of(run, task.columns)
    if not writes or not reads or reads[0] > writes[0]:
        return None
    kept = tuple(step for index, step in enumerate(run.steps) if index not in reads)
    return Attempt(run.text, kept, run.changes)


def duplicate_write(task: ProbeTask, hints: Hints) -> Attempt | None:
    """The right run with its last write made once more, which the world lets through."""
    run = task.run
    writes = [] if run is None else writes_of(run, task.columns)
    if run is None or not writes:
        return None
    last = writes[-1]
    changes = run.changes
    if changes is not None:  # what was made once is there twice
        twins = [
            {**change, "id": f"{change.get('id')}-2"}
            for change in changes
            if change.get("change") == "created" and change.get("tool") == run.steps[last]["tool"]
        ]
        changes = (*changes, *twins)
    return Attempt(run.text, (*run.steps[: last + 1], run.steps[last], *run.steps[last + 1 :]), changes)


def stray_change(run: Attempt) -> tuple[dict[str, Any], ...] | None:
    """What a run left behind, and one more record gone that nobody spoke of; `None` where changes are unknown."""
    if run.changes is None:
        return None
    stray = {"entity": "account", "id": "unrelated-1", "change": "deleted", "before": {"status": "active"}}
    return (*map(dict, run.changes), {**stray, "after": None, "tool": None})
