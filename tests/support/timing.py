"""How much processor time some work takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def cpu_time() -> Iterator[Callable[[], float]]:
    """
    Gives a function that says, afterwards, how many seconds the block took.

    Without collections of garbage: late in a run of all tests, one that goes through every object there is takes
    seconds, and it comes when it comes.
    """
    spent: list[float] = []
    was_on = gc.isenabled()
    gc.disable()
    started = time.process_time()
    try:
        yield lambda: spent[0]
        spent.append(time.process_time() - started)
    finally:
        if was_on:
            gc.enable()
