"""What the garbage collector need not look at while rows are gone through.

Rows are many objects and hold no cycles. A pass over all of them frees nothing and takes as long as the work it
interrupts.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """No collection at all: for work of our own on JSON values, which leaves no cycles behind."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def older_objects_aside() -> Iterator[None]:
    """
    Collection of new objects only: for work that calls other people's code, which may leave cycles behind.

    Does nothing where somebody has set objects aside already; putting them back is theirs.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
