"""The meeting point of workers and reader: groups are opened in order, played at once, and read in order.

Workers ask for one rollout at a time and hand its row back. When a group has all the rollouts asked for, the
allocation says how many more it gets; those come before any new group. The reader gets whole groups in the order of
their tasks, so what is accepted does not depend on which worker was faster.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

from whileai_hf.engine.allocation import Allocation
from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import PlayedRow
from whileai_hf.engine.source import TaskSource
from whileai_hf.errors import ModelStopError


Work: TypeAlias = tuple[Group, int]

# Groups that may be open beyond the oldest unread one: some tens of megabytes of rows behind a slow rollout. The same
# for every concurrency, since what the run has learnt when a group opens depends on it.
LOOK_AHEAD = 512
# For a run that ends when nothing new turns up: what is open by then is played in vain.
SHORT_LOOK_AHEAD = 128
# For successive allocation, which measures on the groups that have ended: what is open rests on older figures.
SUCCESSIVE_LOOK_AHEAD = 192
# Threads speed up an agent that waits (for a model, a service) and slow down one that only computes, by half again. So
# one starts, and the rest follow when no result has come for this many seconds.
PATIENCE = 0.01
# Groups that end before the reader is woken: every time, it takes the turn of a worker.
_AT_ONCE = 32
# Seconds between two looks at the clock and at rows that have landed behind an unfinished group.
_TICK = 0.2
# Rollouts whose time says how long one more takes.
_TIMED = 101


@dataclass
class Batch:
    """What the reader gets at a time."""

    landed: list[PlayedRow] = field(default_factory=list)
    """Rows that have come since, in no order; they are safe to keep from now on."""
    groups: list[Group] = field(default_factory=list)
    """Groups that have ended, in the order of the run."""


class GroupQueue:
    """
    The rollouts of a run.

    Args:
        source ([`TaskSource`]):
            Gives the tasks, in order.
        allocation ([`Allocation`]):
            Says how many rollouts each gets.
        budget (`int`):
            Good rows after which no group is opened. A group is opened when it fits as a whole.
        losses_allowed (`int`):
            Lost rollouts after which the agent is called off.
        look_ahead (`int`, *optional*, defaults to `512`):
            Groups that may be open beyond the oldest unread one.
    """

    def __init__(
        self,
        source: TaskSource,
        allocation: Allocation,
        budget: int,
        losses_allowed: int,
        look_ahead: int | None = None,
    ) -> None:
        self._look_ahead = LOOK_AHEAD if look_ahead is None else look_ahead
        self._source = source
        self._allocation = allocation
        self._budget = budget
        self._losses_allowed = losses_allowed
        lock = threading.Lock()
        self._arrived = threading.Condition(lock)
        self._room = threading.Condition(lock)
        self._more: deque[Work] = deque()
        self._unread: deque[Group] = deque()
        self._landed: list[PlayedRow] = []
        self._seconds: deque[float] = deque(maxlen=_TIMED)
        self._opened = self._read = self._ended = 0
        self._committed = self._planned = 0
        """Rows of the groups opened so far: their `k` while they are played, what they gave when they have ended."""
        self._holds = allocation.resumes and source.finite
        self._held: list[Group] = []
        self._resumed = 0
        """Groups that have ended, kept until no new prompt is left: the stopped ones among them may be resumed."""
        self._running = self._lost = self._finished = 0
        self._unseen = 0
        """Groups that have ended since the reader last looked."""
        self._drew_at = 0.0
        self._opening = self._open = True
        self._over = self._late = False
        self._deadline: float | None = None
        self._failure: BaseException | None = None
        self.stop: ModelStopError | None = None
        """Why a model will answer no further call."""
        self.start_more: Callable[[], None] | None = None
        """Starts the rest of the workers; called at most once."""
        self.wake: Callable[[], None] | None = None
        """Tells workers that do not block that there may be work."""
        self.drop: Callable[[], None] | None = None
        """Stops the rollouts under way, where that can be done; called at most once."""
        self.abandoned = 0
        """Rollouts that were still running when the run ended."""
        self.timed_out = False
        """Whether the clock ended the run before its work was done."""
        self.used_up = False
        """Whether the run ended with every task there was opened."""

    # Workers

    def take(self) -> Work | None:
        """The next rollout to play, `None` when no work is left. Waits while there may still be some."""
        with self._room:
            while isinstance(work := self._next(), bool):
                self._room.wait()
            return work

    def take_now(self) -> Work | bool | None:
        """[`take`] for an event loop: `False` instead of waiting."""
        with self._room:
            return self._next()

    def _next(self) -> Work | bool | None:
        while self._open:
            if self._more:
                work = self._more.popleft()
                self._running += 1
                if self._more or self._may_open():
                    self._room.notify()  # whoever takes leaves word that there is more
                return work
            if not self._may_open():
                break
            if not self._open_group():
                break
        if not self._open:
            return None
        if self._holds and self._opening and self._source.exhausted and self._resume():
            return self._next()
        if self._ended < self._opened or self._fits():
            return False  # something is under way that may ask for more or make room, or a task is being made
        if self._holds and self._read < self._opened:
            return False  # the reader has not yet seen which groups have stopped
        self._close()
        return None

    def _resume(self) -> bool:
        """
        With no new prompt left, stopped groups get the rest of their rollouts, in order, as far as the budget goes.
        What is still under way counts as if it were to get all its rollouts, so a group that fits now fits in the end.
        """
        for group in self._held[self._resumed :]:
            if group.stopped:
                if self._committed + group.k - group.good > self._budget:
                    break
                self._more.extend((group, index) for index in range(group.due, group.k))
                group.due, group.stopped = group.k, False
                self._committed += group.k - group.good
                self._ended -= 1
            self._resumed += 1
        return bool(self._more)

    def _fits(self) -> bool:
        """Whether a next task, or one being made, may be opened and has rows left for it."""
        return self._opening and self._has_next()

    def _has_next(self) -> bool:
        return not self._source.exhausted and self._source.next_size <= self._budget - self._committed

    def _may_open(self) -> bool:
        return self._opened - self._read < self._look_ahead and self._fits()

    def _open_group(self) -> bool:
        try:
            found = self._source.next()
        except ModelStopError as error:
            self._halt(ModelStopError(f"the writer of the situations stopped: {error}", error.reason))
            return False
        except BaseException as error:
            self._fail(error)
            raise
        if found is None:
            return False
        self._drew_at = time.perf_counter()
        task, k, probe, eval_run = found
        group = Group(self._opened, task, k, min(probe, k), eval_run, due=min(probe, k))
        group.pays = self._allocation.view(self._opened - self._look_ahead)
        self._opened += 1
        self._committed += k
        self._planned += k
        self._unread.append(group)
        self._more.extend((group, index) for index in range(group.due))
        return True

    def finish(self, group: Group, row: PlayedRow) -> None:
        """Hands in the row of a rollout, or its loss."""
        with self._arrived:
            self._running -= 1
            self._finished += 1
            if self._over:
                return  # the run has gone on without it
            group.rows[row.index] = row
            if not row.kept:
                self._seconds.append(row.seconds)
            if row.status == "ok":
                self._landed.append(row)
            else:
                self._lost += 1
                # Groups that have begun are played to their end: which rows precede the last loss allowed must not
                # depend on what came first.
                self._opening = self._opening and self._lost < self._losses_allowed
            if len(group.rows) == group.due:
                self._decide(group)
            if not self._running and not self._open:
                self._arrived.notify_all()

    def give_back(self, error: ModelStopError) -> None:
        """Ends the run because a model answers no further call; the rollout that found out is neither row nor loss."""
        with self._arrived:
            self._running -= 1
            self._halt(error)

    def halt(self, error: ModelStopError) -> None:
        """Ends the run because a model other than the agent's answers no further call."""
        with self._arrived:
            self._halt(error)

    def _halt(self, error: ModelStopError) -> None:
        if self.stop is None:
            self.stop = error
            self._deadline = time.monotonic()  # what is running gets the grace of a run whose time is up
        self._close()

    def _decide(self, group: Group) -> None:
        more = 0
        if self.stop is None or group.due >= group.k:
            more = self._allocation.more(group)
        else:
            group.cut = True  # the verdicts a decision would rest on may be missing
        if more:
            self._more.extend((group, index) for index in range(group.due, group.due + more))
            group.due += more
            self._call()
            return
        self._ended += 1
        shrunk = group.k - group.good
        self._committed -= shrunk
        if shrunk or self._opened == self._ended:
            self._call()
        self._unseen += 1
        if self._unseen >= _AT_ONCE:
            self._arrived.notify_all()

    def _call(self) -> None:
        self._room.notify()
        if self.wake is not None:
            self.wake()

    def fail(self, error: BaseException) -> None:
        """Ends the run with an error that is not the agent's."""
        with self._arrived:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._close()

    def _close(self) -> None:
        self._open = False
        self._arrived.notify_all()
        self._room.notify_all()
        if self.wake is not None:
            self.wake()

    def refresh(self) -> None:
        """The source has tasks again, or has come to its end."""
        with self._arrived:
            self._call()

    # Reader

    def batches(self, time_budget: float | None = None, grace: float = 0.0) -> Iterator[Batch]:
        """
        What comes, until no more can.

        Args:
            time_budget (`float`, *optional*):
                Seconds from now after which no more rollouts start. No group is opened when there is less time left
                than a rollout and a half usually takes.
            grace (`float`, *optional*, defaults to `0.0`):
                Seconds rollouts under way then get to end.
        """
        started = time.monotonic()
        with self._arrived:
            if time_budget and self.stop is None:
                self._deadline = started + time_budget
        try:
            while (batch := self._wait(grace)) is not None:
                if batch.landed or batch.groups:
                    yield batch
            with self._arrived:
                failure, landed, self._landed = self._failure, self._landed, []
                last = Batch(landed, [] if failure is not None else self._rest())
            yield last
            if failure is not None:
                raise failure
        finally:
            self._abandon()

    def _wait(self, grace: float) -> Batch | None:
        """All that has come, nothing where nothing has for a while; `None` when no more will come."""
        with self._arrived:
            if self._failure is not None or (not self._open and not self._running):
                return None
            # Looked at whether or not something has come: something always has when rollouts are quick.
            if self._deadline is not None and self._mind_the_clock(grace):
                return None
            if self._unseen < _AT_ONCE:
                self._pause()
            return self._gather()

    def _pause(self) -> None:
        if self.start_more is None:
            self._arrived.wait(_TICK)
            return
        before = self._finished
        self._arrived.wait(PATIENCE)
        # A long draw is not an agent that waits.
        if self._finished == before and time.perf_counter() - self._drew_at > PATIENCE:
            self._grow()

    def _gather(self) -> Batch:
        batch = Batch(self._landed)
        self._landed = []
        before = self._read
        self._unseen = 0
        while self._unread and len(self._unread[0].rows) == self._unread[0].due:
            group = self._unread.popleft()
            self._read += 1
            self._allocation.observe(group)
            self._source.learn(group)
            (self._held if self._holds else batch.groups).append(group)
        if self._read > before:
            self._call()
        return batch

    def _mind_the_clock(self, grace: float) -> bool:
        """Stops opening, stops playing, stops waiting, each at its time; says whether that was the last."""
        assert self._deadline is not None
        left = self._deadline - time.monotonic()
        usual = median(self._seconds) if self._seconds else 0.0
        if left <= 2 * usual and not self._late:
            self._late, self._opening = True, False
            self._call()  # with nothing left to open, the run may be over
        if left <= 0 and self._open:
            self._close()
        return left + grace <= 0

    @property
    def planned(self) -> int:
        """Rollouts planned for the tasks that have been opened."""
        return self._planned

    def _rest(self) -> list[Group]:
        """The groups of a run that has ended, with what they have."""
        self._over = True
        self.abandoned = self._running
        groups = [*self._held, *self._unread]
        for group in groups:
            group.cut = group.cut or len(group.rows) < group.due
        self.used_up = self._source.exhausted
        short = any(group.cut for group in groups) or self._has_next()
        self.timed_out = self._late and self.stop is None and short
        return [group for group in groups if group.rows]

    def _abandon(self) -> None:
        """Nobody reads any more: hands out no more work, and what is still running runs in vain."""
        with self._arrived:
            self._over = True
            self._close()
            drop, self.drop = self.drop, None
        if drop is not None:
            drop()

    def grow(self) -> None:
        """Starts the rest of the workers, unless that has been done."""
        with self._arrived:
            self._grow()

    def _grow(self) -> None:
        start, self.start_more = self.start_more, None
        if start is not None:
            start()
            self._source.hurry()
