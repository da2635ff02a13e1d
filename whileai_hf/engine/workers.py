"""Who plays the rollouts: daemon threads for an agent that blocks, tasks of the background loop for one that awaits.

The threads are our own and daemonic, since a hung agent must not keep the interpreter alive.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable

from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import PlayedRow
from whileai_hf.engine.queue import GroupQueue, Work
from whileai_hf.errors import ModelStopError


# More threads follow the first when its rollouts have waited for that many seconds more than they have computed.
_WAITED = 0.002

Deliver = Callable[[Group, PlayedRow], None]


def run_threads(queue: GroupQueue, play: Callable[[Work], PlayedRow], deliver: Deliver, concurrency: int) -> None:
    """
    Starts daemon threads that work the queue off, one at first (see `queue.PATIENCE`); returns at once.

    Args:
        queue ([`GroupQueue`]):
            The work.
        play (`Callable`):
            Plays one rollout. What it raises ends the run.
        deliver (`Callable`):
            Takes the row; hands it to the queue at once or after a judge has seen it.
        concurrency (`int`):
            Number of threads.
    """

    def step(work: Work) -> None:
        try:
            row = play(work)
        except ModelStopError as error:
            queue.give_back(error)
        else:
            deliver(work[0], row)

    def worker() -> None:
        waited = 0.0
        try:
            while (work := queue.take()) is not None:
                if queue.start_more is None:
                    step(work)
                    continue
                wall, computed = time.perf_counter(), time.thread_time()
                step(work)
                wall, computed = time.perf_counter() - wall, time.thread_time() - computed
                waited += wall - 2 * computed
                if waited > _WAITED:
                    queue.grow()
        except BaseException as error:  # never the agent's own error: `play` turns those into rows
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
    queue: GroupQueue,
    play: Callable[[Work], Awaitable[PlayedRow]],
    deliver: Deliver,
    concurrency: int,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """
    Starts tasks on the running event loop of another thread that work the queue off; returns at once.

    Args:
        queue ([`GroupQueue`]):
            The work.
        play (`Callable`):
            Plays one rollout.
        deliver (`Callable`):
            Takes the row.
        concurrency (`int`):
            Rollouts at the same time.
        loop (`asyncio.AbstractEventLoop`):
            Where they run.
    """
    free = concurrency
    under_way: set[asyncio.Task[None]] = set()
    woken = asyncio.Event()

    async def step(work: Work) -> None:
        nonlocal free
        try:
            deliver(work[0], await play(work))
        except ModelStopError as error:
            queue.give_back(error)
        except BaseException as error:
            queue.fail(error)
        finally:
            free += 1
            woken.set()

    async def dispatch() -> None:
        nonlocal free
        while True:
            woken.clear()
            work: Work | bool | None = False
            while free and not isinstance(work := queue.take_now(), bool) and work is not None:
                free -= 1
                task = asyncio.ensure_future(step(work))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
            if work is None:
                return
            await woken.wait()

    async def run() -> None:
        try:
            await dispatch()
        except BaseException as error:
            queue.fail(error)
            raise

    def wake() -> None:
        loop.call_soon_threadsafe(woken.set)

    def stop_all() -> None:
        for task in tuple(under_way):
            task.cancel()

    def drop() -> None:
        loop.call_soon_threadsafe(stop_all)

    queue.wake, queue.drop = wake, drop
    asyncio.run_coroutine_threadsafe(run(), loop)
