"""Where the tasks of a run come from, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import Task


class TaskSource(Protocol):
    """Gives tasks in the order of the run."""

    finite: bool
    """Whether the tasks come to an end by themselves."""

    @property
    def exhausted(self) -> bool:
        """Whether there is no further task."""

    @property
    def waiting(self) -> bool:
        """Whether the next task is still being made."""

    @property
    def next_size(self) -> int:
        """Rollouts planned for the next task."""

    def next(self, number: int) -> tuple[Task, int, int] | None:
        """The task with this number, its `k` and its probe; `None` at the end, or while it is being made."""

    def learn(self, group: Group) -> None:
        """Takes note of a group that has ended, in the order of the run."""


class Listed:
    """
    Tasks that are known beforehand, or follow from nothing but themselves.

    Args:
        tasks (`Iterable[Mapping]`):
            The tasks.
        k (`int`):
            Rollouts planned for each.
        probe (`int`):
            Rollouts each gets first.
        finite (`bool`, *optional*, defaults to `True`):
            Whether they end.
        note (`Callable`, *optional*):
            Called with each task when it is opened.
    """

    waiting = False

    def __init__(
        self,
        tasks: Iterable[Task],
        k: int,
        probe: int,
        *,
        finite: bool = True,
        note: Callable[[Task], None] | None = None,
    ) -> None:
        self._tasks: Iterator[Task] = iter(tasks)
        self._k, self._probe = k, probe
        self._note = note
        self.finite = finite
        # One task ahead, so that the last one is known to be the last.
        self._ahead = next(self._tasks, None)

    @property
    def exhausted(self) -> bool:
        """Whether there is no further task."""
        return self._ahead is None

    @property
    def next_size(self) -> int:
        """Rollouts planned for the next task."""
        return self._k

    def next(self, number: int) -> tuple[Task, int, int] | None:
        """The next task."""
        task = self._ahead
        if task is None:
            return None
        self._ahead = next(self._tasks, None)
        if self._note is not None:
            self._note(task)
        return task, self._k, self._probe

    def learn(self, group: Group) -> None:
        """Nothing follows from what came of earlier tasks."""
