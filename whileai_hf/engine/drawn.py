"""Tasks drawn as the run goes: what comes of the earlier ones decides which come next, at a constant distance."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import Task
from whileai_hf.engine.queue import LOOK_AHEAD, SHORT_LOOK_AHEAD
from whileai_hf.engine.source import Planned, with_twin
from whileai_hf.engine.topology import Topology
from whileai_hf.scenarios.search import Outcome, Search


# Tasks drawn at a time.
WINDOW = 64


class Drawn:
    """
    The tasks of a [`Search`].

    Args:
        search ([`Search`]):
            Draws, and learns from what came of it.
        topology ([`Topology`]):
            What to play of them.
        twins (`bool`, *optional*, defaults to `False`):
            Follow every task with a fault by the same one without it.
        until_saturation (`bool`, *optional*, defaults to `False`):
            End when the search has nothing more to find.
        slow (`bool`, *optional*, defaults to `False`):
            Drawing waits for a model: it goes on beside the run, one window ahead, from the start.
        note (`Callable`, *optional*):
            Called with each task when it is opened.
    """

    def __init__(
        self,
        search: Search,
        topology: Topology,
        *,
        twins: bool = False,
        until_saturation: bool = False,
        slow: bool = False,
        note: Callable[[Task], None] | None = None,
    ) -> None:
        self._search = search
        self._k, self._probe = topology.repeats, topology.probe
        self._adaptive = topology.mode == "adaptive"
        self._limit = None if topology.situations is None else topology.situations * topology.phrasings
        # The most tasks a budget can be spent on without losses: with a model, every one drawn in vain is paid for.
        self._likely = -(-topology.rows // self._probe) if slow else None
        self._twins = twins
        self._until_saturation = until_saturation
        self.look_ahead: int | None = SHORT_LOOK_AHEAD if until_saturation else LOOK_AHEAD
        # How far behind the first task of a window its latest known outcome lies: a group is opened no further than
        # that beyond the oldest unread one, and a window may be drawn while the one before it is being played.
        self._lag = (self.look_ahead or LOOK_AHEAD) + WINDOW
        self._note = note
        self._ready: deque[Planned] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._drawn = self._known = self._learnt = 0
        self._ended = self._asked = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self.slow = slow
        self.saturated = False
        self.finite = self._limit is not None
        self.refresh: Callable[[], None] | None = None
        """Called when a slow source has tasks again."""

    def start(self, refresh: Callable[[], None]) -> None:
        """Starts drawing beside the run, where that takes long."""
        self.refresh = refresh
        if self.slow:
            self._draw_beside()

    def hurry(self) -> None:
        """The agent waits, so there is time to draw meanwhile: from now on beside the run, one window ahead."""
        with self._changed:
            beside, self.slow = self.slow, True
        if not beside:
            self._draw_beside()

    def _draw_beside(self) -> None:
        threading.Thread(target=self._keep_drawing, name="whileai-drawing", daemon=True).start()

    def report(self) -> dict[str, Any]:
        """What the search has done, see [`Search.report`]."""
        return self._search.report()

    def close(self) -> None:
        """Draws no more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def first(self, count: int) -> list[Task]:
        """The first tasks, at most `count`: for runs that have to know them beforehand."""
        return [one.task for one in islice(iter(self.next, None), count)]

    @property
    def exhausted(self) -> bool:
        """Whether there is no further task."""
        with self._changed:
            if not self.slow and not self._ready and not self._ended:
                self._draw()
            ended = self._ended or (self._limit is not None and self._drawn >= self._limit)
            return ended and not self._ready and self._failure is None

    @property
    def next_size(self) -> int:
        """Rollouts planned for the next task, the fewest there may be where it is still being made."""
        with self._changed:
            if self._ready:
                return self._ready[0].k
            return 1 if self._adaptive else self._k

    def next(self) -> Planned | None:
        """The next task."""
        with self._changed:
            if not self.slow and not self._ready and not self._ended:
                self._draw()
            if not self._ready:
                if self._failure is not None:
                    raise self._failure
                self._asked = True
                self._changed.notify_all()
                return None
            planned = self._ready.popleft()
            self._changed.notify_all()
        if self._note is not None:
            self._note(planned.task)
        return planned

    def learn(self, group: Group) -> None:
        """Takes note of a group that has ended, in the order of the run."""
        if group.task.get("twin_of") is not None and self._twins:
            return  # not drawn by the search
        rows = [row for row in group.rows.values() if row.status == "ok"]
        rewards = [row.verdict.reward for row in rows if row.verdict is not None and row.verdict.reward is not None]
        reward = sum(rewards) / len(rewards) if rewards else None
        signatures = tuple(row.signature for row in rows if row.signature is not None)
        outcome = Outcome(group.task, signatures, None if reward is None else reward < 1, reward)
        with self._changed:
            self._outcomes.append(outcome)
            self._known += 1
            self._changed.notify_all()

    def _keep_drawing(self) -> None:
        try:
            while (count := self._wanted()) > 0:
                # Not under the lock: it takes seconds, and the run goes on with what there is.
                tasks = self._search.draw(count)
                with self._changed:
                    self._add(tasks)
                self._tell()
        except BaseException as error:  # raised to the run by `next`
            with self._changed:
                self._failure, self._ended = error, True
        self._tell()

    def _wanted(self) -> int:
        """Waits until the next window may be drawn; its size, 0 at the end."""
        with self._changed:
            while not self._ended and not self._may_draw():
                self._changed.wait()
            return 0 if self._ended else self._prepare()

    def _may_draw(self) -> bool:
        if self._known < self._drawn - self._lag or len(self._ready) >= WINDOW:
            return False
        return self._asked or self._likely is None or self._drawn < self._likely

    def _tell(self) -> None:
        if self.refresh is not None:
            self.refresh()

    def _draw(self) -> None:
        count = self._prepare()
        if count:
            self._add(self._search.draw(count))

    def _prepare(self) -> int:
        """Lets the search learn what it is to know by now; the size of the next window, 0 at the end."""
        # A run that has to know its tasks beforehand knows no outcome, however many it draws.
        due = min(self._known, self._drawn - self._lag) - self._learnt
        self._search.learn([self._outcomes.popleft() for _ in range(max(0, due))])
        self._learnt += max(0, due)
        if self._until_saturation and self._search.saturated():
            self.saturated = self._ended = True
        if self._limit is not None and self._drawn >= self._limit:
            self._ended = True
        if self._ended:
            return 0
        count = WINDOW if self._limit is None else min(WINDOW, self._limit - self._drawn)
        if self._likely is not None and self._drawn < self._likely:
            count = min(count, self._likely - self._drawn)
        return count

    def _add(self, tasks: Sequence[Task]) -> None:
        self._drawn += len(tasks)
        self._asked = False
        for task in tasks:
            k = min(self._search.repeats(task), self._k) if self._adaptive else self._k
            for one in with_twin(task) if self._twins else [task]:
                self._ready.append(Planned(one, k, k if self._adaptive else self._probe))
