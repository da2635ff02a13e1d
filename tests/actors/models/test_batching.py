"""Batches: what is gathered, what happens to what fails, and how the thread ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

import pytest

from whileai_hf.actors.models.batching import Batcher


def echo(jobs):
    for job in jobs:
        job.future.set_result(job.work)


class Gate:
    """Records batches; the first one waits until it is told to go on, so that the next ones pile up."""

    def __init__(self):
        self.batches, self.open, self.begun = [], threading.Event(), threading.Event()

    def __call__(self, jobs):
        self.batches.append([job.work for job in jobs])
        self.begun.set()
        assert self.open.wait(10)
        echo(jobs)


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open.set()


def test_requests_that_wait_are_answered_together_and_in_order(gate):
    batcher = Batcher(gate, 4)
    first = batcher.submit("first")
    assert gate.begun.wait(10)
    jobs = [batcher.submit(number) for number in range(10)]
    gate.open.set()
    assert [job.future.result(10) for job in jobs] == list(range(10))
    assert first.future.result() == "first"
    assert gate.batches == [["first"], [0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    batcher.close()


def test_a_batch_that_fails_takes_nobody_else_along():
    def run(jobs):
        if any(job.work == "bad" for job in jobs):
            raise KeyError("bad")
        echo(jobs)

    batcher = Batcher(run, 1)
    bad, good = batcher.submit("bad"), batcher.submit("good")
    with pytest.raises(KeyError):
        bad.future.result(10)
    assert good.future.result(10) == "good"
    batcher.close()


def test_a_request_cancelled_in_the_queue_is_never_run(gate):
    batcher = Batcher(gate, 8)
    batcher.submit("first")
    assert gate.begun.wait(10)
    cancelled, kept = batcher.submit("cancelled"), batcher.submit("kept")
    assert cancelled.future.cancel()
    gate.open.set()
    assert kept.future.result(10) == "kept"
    assert gate.batches == [["first"], ["kept"]]
    batcher.close()


def test_closing_gives_the_running_batch_up():
    begun = threading.Event()

    def run(jobs):
        begun.set()
        while not all(job.abandoned for job in jobs):
            time.sleep(0.001)
        echo(jobs)

    batcher = Batcher(run, 4)
    job = batcher.submit("long")
    assert begun.wait(10)
    batcher.close()
    assert job.future.result(10) == "long"
    assert not [thread for thread in threading.enumerate() if thread.name == "whileai-batches" and thread.is_alive()]
    batcher.close()  # twice is once


def _in_child(batcher, answers):
    answers.put((batcher.submit("child").future.result(10), os.getpid()))


def test_a_forked_process_gets_a_thread_of_its_own():
    batcher = Batcher(echo, 4)
    assert batcher.submit("parent").future.result(10) == "parent"
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(batcher, answers))
    child.start()
    child.join(20)
    assert child.exitcode == 0
    text, pid = answers.get()
    assert text == "child" and pid != os.getpid()
    batcher.close()
