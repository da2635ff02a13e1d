"""One prompt and its rollouts: how many there are to be, which have come, and how it ended."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from whileai_hf.engine.player import PlayedRow, Task


@dataclass(eq=False, slots=True)
class Group:
    """
    The rollouts of one prompt.

    Args:
        number (`int`):
            Place of the task in the run, from 0.
        task (`Mapping`):
            The task.
        k (`int`):
            Rollouts planned.
        probe (`int`):
            Rollouts it gets whatever comes of them.
        eval_run (`int`, *optional*):
            Which playing of the whole task set it belongs to, where there are several.
    """

    number: int
    task: Task
    k: int
    probe: int
    eval_run: int | None = None
    due: int = 0
    """Rollouts asked for so far; they have the indices below it."""
    rows: dict[int, PlayedRow] = field(default_factory=dict)
    """What came back, by rollout index, losses included."""
    stopped: bool = False
    """Whether the allocation gave it fewer than `k` on purpose."""
    cut: bool = False
    """Whether the run ended before it had all it was to get."""
    inclusion_p: float | None = None
    """Chance, given what the probe showed, of getting all `k`; `None` where the allocation cannot tell."""
    pays: tuple[list[float], float] | None = None
    """What the allocation goes by when it decides about this group, see [`allocation.Successive`]."""

    @property
    def good(self) -> int:
        """Rollouts that gave a row."""
        return sum(row.status == "ok" for row in self.rows.values())

    def labels(self, first: int | None = None) -> list[Hashable]:
        """Labels of the rollouts in order (the first so many), without those that have none."""
        rows = (self.rows[index] for index in sorted(self.rows) if first is None or index < first)
        return [row.label for row in rows if row.label is not None]

    def mixed(self, first: int | None = None) -> bool:
        """Whether the rollouts disagree."""
        return len(set(self.labels(first))) > 1

    @property
    def status(self) -> str:
        """`complete`, `stopped` (on purpose), `cut` (the run ended) or `partial` (rollouts were lost)."""
        good = self.good
        if good >= self.k:
            return "complete"
        if self.cut:
            return "cut"
        return "stopped" if self.stopped and good == len(self.rows) else "partial"
