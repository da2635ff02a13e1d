"""Runs coroutines on the library's loop until they are done or time is up, from a thread that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from whileai_hf.actors.loop import background_loop


# Seconds between two looks at the clock: a deadline can be set, or drawn nearer, while one waits.
_LOOK_SECONDS = 0.1
# Seconds a cancelled call gets to let go.
_LET_GO_SECONDS = 1.0


def run_all(jobs: Sequence[Coroutine[Any, Any, None]], left: Callable[[], float | None]) -> None:
    """
    Runs all of `jobs` side by side. Those still running when time is up are cancelled.

    Args:
        jobs (`Sequence[Coroutine]`):
            What to run.
        left (`Callable`):
            Seconds that are left, `None` for no limit.

    Raises:
        `Exception`: The first one raised by a job, in the order of `jobs`; the others are cancelled.
    """
    future = asyncio.run_coroutine_threadsafe(_run_all(jobs, left), background_loop())
    try:
        future.result()
    except BaseException:
        # Whoever interrupts the waiting thread ends the calls too.
        future.cancel()
        raise


async def _run_all(jobs: Sequence[Coroutine[Any, Any, None]], left: Callable[[], float | None]) -> None:
    running = [asyncio.ensure_future(job) for job in jobs]
    pending = set(running)
    try:
        while pending:
            remaining = left()
            if remaining is not None and remaining <= 0:
                break
            wait = _LOOK_SECONDS if remaining is None else min(_LOOK_SECONDS, remaining)
            done, pending = await asyncio.wait(pending, timeout=wait, return_when=asyncio.FIRST_EXCEPTION)
            if any(not task.cancelled() and task.exception() is not None for task in done):
                break
    finally:
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=_LET_GO_SECONDS)
    # Every error is looked at, or asyncio complains about those behind the first.
    errors = [task.exception() for task in running if task.done() and not task.cancelled()]
    for error in errors:
        if error is not None:
            raise error
