"""Findings that no table shows: faults of single calls, silent rewards, names, columns, what is unchecked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whileai_hf.score.checking.advice import FAULTS
from whileai_hf.score.checking.report import ERROR, WARNING, Finding
from whileai_hf.score.checking.rewards import Reward
from whileai_hf.score.checking.tasks import ProbeTask


# Columns that a trainer takes for its own arguments; the first two it cannot even pass.
_CLASHING, _HIDDEN = ("prompts", "completions"), ("trainer_state", "log_extra", "log_metric", "environments")
# Findings of one kind with different messages that are told of one reward.
_MOST_ALIKE = 2


def faults(reward: Reward) -> Iterator[Finding]:
    """One finding per kind of fault and what it said, with the first reply that brought it up."""
    seen: set[tuple[str, str]] = set()
    for fault, probe, example in reward.noted:
        if (fault.kind, fault.detail) in seen or sum(kind == fault.kind for kind, _ in seen) >= _MOST_ALIKE:
            continue
        seen.add((fault.kind, fault.detail))
        advice = FAULTS[fault.kind]
        severity = advice.judge if reward.is_judge else advice.trainer
        says = fault.detail if fault.kind != "crash" else f"it raises {fault.detail}"
        yield Finding(reward.name, fault.kind, probe, severity, says, advice.what_to_do, example=example)


def constant(reward: Reward, values: Sequence[float]) -> Iterator[Finding]:
    """A reward that says the same of everything, or nothing at all."""
    if values and max(values) > min(values):
        return
    if values:
        says = f"every reply gets {values[0]:g}, right or wrong: there is nothing to learn from"
        what = (
            "Check what it reads; completions are lists of messages when prompts are, and text when prompts are text."
        )
        yield Finding(reward.name, "constant", None, ERROR, says, what, None, len(values))
    elif not any(item.fault.kind == "crash" for item in reward.noted):
        what = "Check the columns it reads: the trainer leaves out every reply without a reward."
        yield Finding(reward.name, "no verdict", None, ERROR, "no reply gets a reward at all", what)


def clashes(tasks: Sequence[ProbeTask]) -> Iterator[Finding]:
    """Columns whose names a trainer needs for itself."""
    columns = {name for task in tasks for name in task.columns}
    for names, severity, says in (
        (_CLASHING, ERROR, "a trainer passes an argument of that name itself and fails"),
        (_HIDDEN, WARNING, "a trainer puts its own argument of that name in its place"),
    ):
        for name in names:
            if name in columns:
                what = "Rename the column."
                yield Finding("dataset", "column", None, severity, f"column {name!r}: {says}", what)


def duplicates(names: Sequence[str]) -> Iterator[Finding]:
    """Rewards that a log cannot tell apart."""
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            says = f"{names.count(name)} rewards are called {name!r}: a trainer logs them as one"
            yield Finding(name, "name", None, ERROR, says, "Give each its own __name__.")


def unchecked(tasks: Sequence[ProbeTask], generic: bool) -> list[str]:
    """What could not be checked on these tasks, and why."""
    notes = []
    if generic:
        notes.append("generic asks: columns, tools and rubrics of yours are not checked; pass dataset=")
    if not any(task.gold for task in tasks) and not any(task.run for task in tasks):
        notes.append(
            "no right reply is known, so paid means a reward of 0.5 and strictness is not checked; pass gold="
        )
    elif any(task.gold for task in tasks) and not any(task.wrong for task in tasks):
        notes.append("all answers are the same, so wrong ones and lists of candidates are not checked")
    return notes
