"""Which tasks are worth exporting: those whose measured difficulty leaves something to learn.

A task that every rollout solves, or none, has no advantage: all its rollouts get the same update, which is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.engine.pinned import Group
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.rows import RowView, group_keys, task_key


@dataclass
class Measured:
    """What the rollouts of a task showed."""

    place: int
    """Place of the first rollout."""
    rewards: list[float] = field(default_factory=list)
    passing: int | None = None
    """Place of the first rollout that passed."""

    @property
    def mean(self) -> float:
        """Mean reward."""
        return sum(self.rewards) / len(self.rewards)

    @property
    def mixed(self) -> bool:
        """Whether the rewards differ, so that there is an advantage."""
        return len(set(self.rewards)) > 1


@dataclass
class Gate:
    """
    The tasks that passed the gate, and what became of the others.

    `graded_mixed` is `None` where nothing was graded.
    """

    entries: list[TaskEntry]
    measured: Mapping[Group, Measured]
    dropped: dict[str, int]
    graded_mixed: int | None
    warnings: list[str]


def group_of(entry: TaskEntry) -> Group:
    """Task and ask of an entry."""
    return task_key(entry.task), entry.task["prompt"]


def measure(rows: RowView, threshold: float) -> dict[Group, Measured]:
    """The rewards of every task, in the order of the rows; empty for rows that no judge has seen."""
    if not rows.has("reward"):
        return {}
    statuses = rows.column("rollout_status")
    found: dict[Group, Measured] = {}
    for place, (key, reward) in enumerate(zip(group_keys(rows), rows.column("reward"), strict=True)):
        seen = found.setdefault(key, Measured(place))
        if isinstance(reward, int | float) and statuses[place] in (None, "ok"):
            seen.rewards.append(float(reward))
            if seen.passing is None and reward >= threshold:
                seen.passing = place
    return found if any(seen.rewards for seen in found.values()) else {}


def pass_gate(
    entries: Sequence[TaskEntry], rows: RowView, band: Sequence[float] | None, threshold: float, defaulted: bool
) -> Gate:
    """
    Applies the difficulty band.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.
        rows ([`RowView`]):
            What they were read from: graded rollouts, or the tasks alone.
        band (`Sequence[float]`, *optional*):
            Lowest and highest mean reward; `None` keeps every task.
        threshold (`float`):
            Reward from which a rollout counts as a pass.
        defaulted (`bool`):
            Whether the band is nobody's choice, so that it may be left out where it cannot be applied.

    Raises:
        [`ConfigurationError`]: A band was asked for and nothing is graded.
        [`DataError`]: No task is left.
    """
    measured = measure(rows, threshold)
    ran = rows.has("final_text") or rows.has("steps")
    if not measured:
        if ran and band is not None:
            raise ConfigurationError(
                "the rows are rollouts without rewards, so nothing says how hard their tasks are; grade them first "
                "(wai.grade(data)), or pass band=None to export every task"
            )
        if band is not None and not defaulted:
            raise ConfigurationError(
                f"band={tuple(band)} needs graded rollouts, and these are tasks nobody played; simulate and grade "
                "them first, or leave band out"
            )
        note = (
            "difficulty was not measured: there are no rewards, so no task was dropped for being too easy or too hard"
        )
        return Gate(list(entries), {}, {}, None, [note])
    mixed = sum(seen.mixed for seen in measured.values())
    if band is None:
        return Gate(list(entries), measured, {}, mixed, [])
    return _banded(entries, measured, band, mixed)


def _banded(
    entries: Sequence[TaskEntry], measured: Mapping[Group, Measured], band: Sequence[float], mixed: int
) -> Gate:
    dropped = dict.fromkeys(("ungraded", "too_easy", "too_hard", "unanimous"), 0)
    kept: list[TaskEntry] = []
    singles = 0
    for entry in entries:
        reason = _reason(measured.get(group_of(entry)), band)
        if reason is None:
            kept.append(entry)
            singles += len(measured[group_of(entry)].rewards) == 1
        else:
            dropped[reason] += 1
    if not kept:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in dropped.items() if count)
        raise DataError(
            f"the gate drops all {len(entries)} tasks ({counts}); play harder or easier tasks, widen "
            f"band={tuple(band)}, or pass band=None to export them as they are"
        )
    warnings = []
    if singles:
        warnings.append(
            f"{singles} of {len(kept)} tasks were played once, which measures no difficulty; play each 8 to 16 times"
        )
    return Gate(kept, measured, dropped, mixed, warnings)


def _reason(seen: Measured | None, band: Sequence[float]) -> str | None:
    """Why a task is dropped."""
    if seen is None or not seen.rewards:
        return "ungraded"
    low, high = band
    if seen.mean < low:
        return "too_hard"
    if seen.mean > high:
        return "too_easy"
    if seen.mixed or len(seen.rewards) == 1:
        return None
    if seen.mean <= 0.0:
        return "too_hard"
    return "too_easy" if seen.mean >= 1.0 else "unanimous"


def calibration(entry: TaskEntry, seen: Measured | None, stamp: Any) -> dict[str, Any] | None:
    """How hard a task was for the policy that was measured: the stamp it came with, or the rewards themselves."""
    if isinstance(stamp, Mapping):
        return dict(stamp)
    if seen is None or not seen.rewards:
        return None
    passes = sum(reward >= 1.0 for reward in seen.rewards)
    return {
        "task_id": task_key(entry.task),
        "n": len(seen.rewards),
        "pass_rate": passes / len(seen.rewards),
        "mean_reward": seen.mean,
    }
