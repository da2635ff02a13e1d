"""Where the tasks of a run come from, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import Task
from whileai_hf.scenarios.blocks import clean_twin_task


class Planned(NamedTuple):
    """A task and how it is to be played."""

    task: Task
    k: int
    """Rollouts planned."""
    probe: int
    """Rollouts it gets first."""
    eval_run: int | None = None
    """Which playing of the whole task set this is, where there are several."""


class TaskSource(Protocol):
    """Gives tasks in the order of the run."""

    finite: bool
    """Whether the tasks come to an end by themselves."""
    look_ahead: int | None
    """Groups that may be open beyond the oldest unread one, where the source counts on it."""

    @property
    def exhausted(self) -> bool:
        """Whether there is no further task."""

    @property
    def next_size(self) -> int:
        """Rollouts planned for the next task, the fewest there may be where it is still being made."""

    def next(self) -> Planned | None:
        """The next task; `None` at the end, or while it is being made."""

    def learn(self, group: Group) -> None:
        """Takes note of a group that has ended, in the order of the run."""

    def start(self, refresh: Callable[[], None]) -> None:
        """Begins; `refresh` is called when a source that was waiting no longer is."""

    def hurry(self) -> None:
        """The agent waits: what can be done meanwhile need not be done when a task is wanted."""

    def close(self) -> None:
        """Makes no further task."""


class Listed:
    """
    Tasks that are known beforehand, or follow from nothing but themselves.

    Args:
        tasks (`Iterable[Planned]`):
            The tasks.
        k (`int`):
            Rollouts planned for each.
        finite (`bool`, *optional*, defaults to `True`):
            Whether they end.
        note (`Callable`, *optional*):
            Called with each task when it is opened.
    """

    def __init__(
        self,
        tasks: Iterable[Planned],
        k: int,
        *,
        finite: bool = True,
        note: Callable[[Task], None] | None = None,
    ) -> None:
        self._tasks: Iterator[Planned] = iter(tasks)
        self._k = k
        self._note = note
        self.finite = finite
        self.look_ahead: int | None = None
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

    def next(self) -> Planned | None:
        """The next task."""
        planned = self._ahead
        if planned is None:
            return None
        self._ahead = next(self._tasks, None)
        if self._note is not None:
            self._note(planned.task)
        return planned

    def learn(self, group: Group) -> None:
        """Nothing follows from what came of earlier tasks."""

    def start(self, refresh: Callable[[], None]) -> None:
        """Nothing to begin."""

    def hurry(self) -> None:
        """Nothing takes long."""

    def close(self) -> None:
        """Nothing to end."""


def with_twin(task: Task) -> list[Task]:
    """A task, and after one with a fault the same without it."""
    return [task, clean_twin_task(task)] if task.get("faults") else [task]
