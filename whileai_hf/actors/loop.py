"""One background event loop per process, for everything that awaits: async agents, async judges, model clients.

A loop of our own on a daemon thread works inside Jupyter's running loop, keeps clients usable from one `map` to the
next, and is made anew after a fork.
"""

from __future__ import annotations

import asyncio
import os
import threading


_lock = threading.Lock()
_owner: int | None = None
_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """
    The process's background loop, started on first use. Hand it work with `asyncio.run_coroutine_threadsafe`.

    Examples:
    ```python
    >>> import asyncio
    >>> asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "done"), background_loop()).result()
    'done'

    ```
    """
    global _owner, _loop
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop = asyncio.new_event_loop()
            _owner = os.getpid()
            threading.Thread(target=_loop.run_forever, daemon=True, name="whileai-loop").start()
        return _loop
