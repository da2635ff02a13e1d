"""One event loop per process, on a daemon thread, for everything that awaits: async agents, async judges, clients.

A client that belongs to a loop (most HTTP clients do) keeps working from one batch to the next, and a call made inside
a running loop (a notebook) neither nests loops nor fails. The loop belongs to the process that started it: after a
fork, or in a spawned worker, the first use starts another.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable
from typing import Any


# Seconds a loop may take to answer before it counts as blocked by code that does not await.
_RESPONSE_SECONDS = 1.0


class BackgroundLoop:
    """The loop of this process; use the module's functions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._thread: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """The running loop. Asked for from within its own thread, another one: waiting on it would never end."""
        with self._lock:
            mine = self._pid == os.getpid() and self._thread != threading.get_ident()
            if self._loop is None or not mine:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="whileai-loop", daemon=True)
                thread.start()
                self._pid, self._thread = os.getpid(), thread.ident
            return self._loop

    def discard(self, loop: asyncio.AbstractEventLoop) -> None:
        """Forgets a blocked loop, so that the next use starts a new one."""
        with self._lock:
            if self._loop is loop:
                self._loop = None


_background = BackgroundLoop()


def _after_fork() -> None:
    # The parent's lock may have been held at the moment of the fork, by a thread the child does not have.
    global _background
    _background = BackgroundLoop()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)


def background_loop() -> asyncio.AbstractEventLoop:
    """
    The event loop of this process, started on first use. Hand it work with `asyncio.run_coroutine_threadsafe`.

    Examples:
    ```python
    >>> import asyncio
    >>> asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "done"), background_loop()).result()
    'done'

    ```
    """
    return _background.get()


def replace_if_blocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Gives a blocked loop up, and says whether it was: what runs on it is lost, later work goes to a new one."""
    answered = threading.Event()
    loop.call_soon_threadsafe(answered.set)
    if answered.wait(_RESPONSE_SECONDS):
        return False
    _background.discard(loop)
    return True


async def _wait_for(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of an awaitable, waited for from a thread that is not the loop's."""
    return asyncio.run_coroutine_threadsafe(_wait_for(awaitable), background_loop()).result()
