"""Many rollouts at once, results in order.

Workers pull work from one shared, ordered source and hand back results under the item's number; the reader gets the
results in that order, so what is accepted does not depend on which worker was faster. Sync agents run on daemon
threads of our own (a hung agent must not keep the interpreter alive), async agents as tasks of the background event
loop. Both kinds of worker share the same queue.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar


Item = TypeVar("Item")
Result = TypeVar("Result")

# Items that may be started beyond the oldest unread one: some tens of megabytes of rows behind a slow rollout. The
# same for every concurrency.
LOOK_AHEAD = 1024
# Threads speed up an agent that waits (for a model, a service) and slow down one that only computes, by half again. So
# one starts, and the rest follow when no result has come for this many seconds ...
_PATIENCE = 0.01
# ... or when its rollouts have waited for that many seconds more than they have computed.
_WAITED = 0.002
# Items drawn before a worker asks for them, in the time to spare: a worker that comes back finds its next item ready.
DRAWN_AHEAD = 256
_DRAWN_AT_ONCE = 16
# How long an async worker waits before it looks again when the look-ahead is used up, in seconds.
_ASYNC_WAIT = 0.01


class OrderedQueue(Generic[Item, Result]):
    """
    The meeting point of workers and reader.

    A worker whose item was lost comes back for another one, so a worker that finds all wanted work under way can
    leave for good.

    Args:
        items (`Iterator`):
            The work, in the order in which results are read.
        wanted (`int`):
            Good results after which no more work is handed out. Every loss frees one more item.
        losses_allowed (`int`):
            Losses after which no more work is handed out.
    """

    def __init__(self, items: Iterator[Item], wanted: int, losses_allowed: int) -> None:
        self._items = items
        self._wanted = wanted
        self._losses_allowed = losses_allowed
        lock = threading.Lock()
        self._arrived = threading.Condition(lock)
        self._room = threading.Condition(lock)
        self._results: dict[int, Result] = {}
        self._drawn: deque[Item] = deque()
        self._exhausted = False
        self._drew_at = 0.0
        self._started = self._read = self._lost = 0
        self._open = True
        self._failure: BaseException | None = None
        self.start_more: Callable[[], None] | None = None
        """Starts the rest of the workers; called at most once."""

    def take(self) -> tuple[int, Item] | None:
        """The next item with its number, `None` when no work is left. Waits while the reader is far behind."""
        with self._room:
            while self._open and self._started - self._read >= LOOK_AHEAD:
                self._room.wait()
            return self._next()

    def take_now(self) -> tuple[int, Item] | bool | None:
        """[`take`] for an event loop: `False` instead of waiting."""
        with self._room:
            if self._open and self._started - self._read >= LOOK_AHEAD:
                return False
            return self._next()

    def _next(self) -> tuple[int, Item] | None:
        if not self._open or self._started - self._lost >= self._wanted:
            return None
        if not self._drawn and not self._draw():
            self._close()
            return None
        self._started += 1
        return self._started - 1, self._drawn.popleft()

    def _draw(self) -> bool:
        try:
            self._drawn.append(next(self._items))
        except StopIteration:
            self._exhausted = True
        except BaseException as error:
            self._failure = error
            self._close()
            raise
        self._drew_at = time.perf_counter()
        return not self._exhausted

    def grow(self) -> None:
        """Starts the rest of the workers, unless that has been done."""
        with self._arrived:
            self._grow()

    def _grow(self) -> None:
        start, self.start_more = self.start_more, None
        if start is not None:
            start()

    def _may_draw(self) -> bool:
        drawn = len(self._drawn)
        needed = self._started - self._lost + drawn < self._wanted
        return self._open and needed and not self._exhausted and drawn < DRAWN_AHEAD

    def _wait(self) -> None:
        """Waits for a result, and puts the time to use when it takes long."""
        busy = self.start_more is not None or self._may_draw()
        if self._arrived.wait(_PATIENCE if busy else None):
            return
        if time.perf_counter() - self._drew_at < _PATIENCE:
            return  # it was a long draw that was waited for, not an agent
        self._grow()
        for _ in range(_DRAWN_AT_ONCE):
            if not self._may_draw() or not self._draw():
                return

    def finish(self, number: int, result: Result, good: bool) -> None:
        """Hands in a result; `good=False` is a loss, in whose place another item may be started."""
        with self._arrived:
            self._results[number] = result
            if not good:
                self._lost += 1
                if self._lost >= self._losses_allowed:
                    self._close()
            if number == self._read:
                self._arrived.notify_all()

    def fail(self, error: BaseException) -> None:
        """Ends the run with an error that is not the agent's."""
        with self._arrived:
            self._failure = self._failure or error
            self._close()

    def close(self) -> None:
        """Hands out no more work; what is running may still finish."""
        with self._arrived:
            self._close()

    def _close(self) -> None:
        self._open = False
        self._arrived.notify_all()
        self._room.notify_all()

    def batches(self) -> Iterator[list[Result]]:
        """The results in item order, all that are ready at a time; ends when no more can come."""
        while batch := self._ready():
            yield batch

    def results(self) -> Iterator[Result]:
        """The results in item order, one by one."""
        for batch in self.batches():
            yield from batch

    def _ready(self) -> list[Result]:
        with self._arrived:
            while self._read not in self._results:
                if self._failure is not None:
                    raise self._failure
                nothing_running = self._started == self._read
                if nothing_running and (not self._open or self._started - self._lost >= self._wanted):
                    return []
                self._wait()
            batch = []
            while self._read in self._results:
                batch.append(self._results.pop(self._read))
                self._read += 1
            if self._started - self._read + len(batch) >= LOOK_AHEAD:
                self._room.notify_all()
            return batch


def run_threads(
    queue: OrderedQueue[Item, Result], work: Callable[[Item], tuple[Result, bool]], concurrency: int
) -> None:
    """Starts daemon threads that work the queue off, one at first (see `_PATIENCE`); returns at once."""

    def worker() -> None:
        waited = 0.0
        try:
            while (taken := queue.take()) is not None:
                number, item = taken
                if queue.start_more is None:
                    queue.finish(number, *work(item))
                    continue
                wall, computed = time.perf_counter(), time.thread_time()
                queue.finish(number, *work(item))
                wall, computed = time.perf_counter() - wall, time.thread_time() - computed
                waited += wall - 2 * computed
                if waited > _WAITED:
                    queue.grow()
        except BaseException as error:  # never the agent's own error: `work` turns those into results
            queue.fail(error)

    caller = contextvars.copy_context()

    def start(first: int, last: int) -> None:
        for index in range(first, last):
            name = f"whileai-rollout-{index}"
            threading.Thread(target=caller.copy().run, args=(worker,), daemon=True, name=name).start()

    if concurrency > 1:
        queue.start_more = lambda: start(1, concurrency)
    start(0, 1)


def run_tasks(
    queue: OrderedQueue[Item, Result],
    work: Callable[[Item], Awaitable[tuple[Result, bool]]],
    concurrency: int,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """Starts tasks on a running event loop of another thread that work the queue off; returns at once."""

    async def worker() -> None:
        try:
            while (taken := queue.take_now()) is not None:
                if isinstance(taken, bool):
                    await asyncio.sleep(_ASYNC_WAIT)
                    continue
                number, item = taken
                queue.finish(number, *await work(item))
        except BaseException as error:
            queue.fail(error)

    for _ in range(concurrency):
        asyncio.run_coroutine_threadsafe(worker(), loop)
