"""One thread that answers requests in batches: what arrives close together is answered together.

It knows nothing of models. Work is handed in from any thread or event loop; `run` sees batches of it, one at a time,
always on the same thread, so that whatever `run` owns needs no locks.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


# Seconds without a new arrival after which a batch that is not full starts. The turns that follow a finished batch
# arrive one after the other, a few milliseconds apart; a batch takes a hundred times as long as this.
QUIET_SECONDS = 0.01
# Seconds after which it starts although requests keep trickling in.
LONGEST_SECONDS = 0.1
# Seconds the end of the process waits for a batch that was told to stop: a step of a large model.
_CLOSE_SECONDS = 5.0


@dataclass(eq=False, slots=True)
class Job:
    """One request: the work, the future its answer goes to, and whether anybody still waits for it."""

    work: Any
    future: Future[Any] = field(default_factory=Future)
    abandoned: bool = False


_Queue = queue.SimpleQueue[Job | None]


class Batcher:
    """
    A queue and the thread that empties it. The thread starts with the first job, and again after a fork.

    Args:
        run (`Callable`):
            Takes a list of [`Job`] and sets the result or exception of every future. What it raises itself goes to
            the jobs of that batch which have no answer yet.
        size (`int`):
            Most jobs of one batch.
    """

    def __init__(self, run: Callable[[list[Job]], None], size: int) -> None:
        self._run = run
        self._size = size
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._thread: threading.Thread | None = None
        self._queue: _Queue = queue.SimpleQueue()
        self._current: list[Job] = []

    def submit(self, work: Any) -> Job:
        """Hands work in; wait for `job.future`, and set `job.abandoned` when nobody does any more."""
        job = Job(work)
        with self._lock:
            if self._pid != os.getpid():
                self._pid, self._queue = os.getpid(), queue.SimpleQueue()
                # A daemon: a batch of minutes must not hold up the end of the process. `close` ends it in order.
                self._thread = threading.Thread(
                    target=self._serve, args=(self._queue,), name="whileai-batches", daemon=True
                )
                self._thread.start()
            self._queue.put(job)
        return job

    def close(self) -> None:
        """Gives the running batch up and ends the thread."""
        with self._lock:
            thread, self._thread = self._thread, None
            mine = self._pid == os.getpid()
            self._pid = None
        if thread is None or not mine:
            return
        for job in self._current:
            job.abandoned = True
        self._queue.put(None)
        if thread is not threading.current_thread():
            thread.join(_CLOSE_SECONDS)

    def _gather(self, source: _Queue, first: Job) -> list[Job]:
        batch = [first]
        deadline = time.monotonic() + LONGEST_SECONDS
        while len(batch) < self._size:
            try:
                job = source.get(timeout=max(0.0, min(QUIET_SECONDS, deadline - time.monotonic())))
            except queue.Empty:
                break
            if job is None:
                source.put(None)
                break
            batch.append(job)
        # A request cancelled while it waited needs no answer; from here on its future can no longer be cancelled.
        return [job for job in batch if job.future.set_running_or_notify_cancel()]

    def _serve(self, source: _Queue) -> None:
        while (first := source.get()) is not None:
            self._current = batch = self._gather(source, first)
            try:
                if batch:
                    self._run(batch)
            except Exception as error:  # the thread outlives a failed batch; whoever waits for it gets the error
                for job in batch:
                    if not job.future.done():
                        job.future.set_exception(error)
            finally:
                self._current = []
            # An answer still referenced here would live until the next request.
            del first, batch
