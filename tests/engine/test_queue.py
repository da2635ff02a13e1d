"""The queue between workers and reader, with rollouts made of nothing but their number."""

import asyncio
import random
import threading
import time

import pytest

from whileai_hf.actors.loop import background_loop
from whileai_hf.engine import queue as queues
from whileai_hf.engine.allocation import Fixed
from whileai_hf.engine.player import PlayedRow
from whileai_hf.engine.queue import GroupQueue
from whileai_hf.engine.source import Listed, Planned
from whileai_hf.engine.workers import run_tasks, run_threads
from whileai_hf.errors import ModelStopError


def numbered(count, k=1):
    return (Planned({"prompt": str(number), "scenario_id": str(number)}, k, k) for number in range(count))


def row(work, good=True):
    group, index = work
    status = "ok" if good else "error"
    return PlayedRow(group.task, index, [], b"{}", status, None, (), (), seconds=0.001, signature="same", label="same")


def queue_of(count, wanted, losses=999, k=1):
    return GroupQueue(Listed(numbered(count, k), k), Fixed(), wanted, losses)


def play(count, good, wanted, losses, concurrency, asynchronous=False, k=1):
    """Returns the groups that were read, in order, and the numbers of the rollouts that were started."""
    started = []
    jitter = random.Random(0)

    def work(item):
        started.append(item[0].number)
        time.sleep(jitter.random() * 0.002)
        return row(item, good(item[0].number))

    async def work_async(item):
        started.append(item[0].number)
        await asyncio.sleep(jitter.random() * 0.002)
        return row(item, good(item[0].number))

    queue = queue_of(count, wanted, losses, k)
    if asynchronous:
        run_tasks(queue, work_async, queue.finish, concurrency, background_loop())
    else:
        run_threads(queue, work, queue.finish, concurrency)
    return [group for batch in queue.batches() for group in batch.groups], started


def numbers(groups):
    return [group.number for group in groups]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("concurrency", [1, 8, 64])
@pytest.mark.parametrize("k", [1, 4])
def test_groups_come_in_order_and_no_rollout_is_started_in_vain(concurrency, asynchronous, k):
    groups, started = play(10_000, lambda number: True, 200, 999, concurrency, asynchronous, k)
    assert numbers(groups) == list(range(200 // k))
    assert len(started) == 200 and all(len(group.rows) == k for group in groups)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("concurrency", [1, 16])
def test_every_loss_is_made_good_by_the_next_task(concurrency, asynchronous):
    groups, started = play(10_000, lambda number: number % 3 != 0, 100, 999, concurrency, asynchronous)
    assert sum(number % 3 != 0 for number in numbers(groups)) == 100
    assert numbers(groups) == list(range(len(groups)))
    assert len(started) == len(groups)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_an_agent_that_always_fails_is_called_off(concurrency):
    groups, started = play(10_000, lambda number: False, 100, 16, concurrency)
    assert 16 <= len(groups) <= 16 + concurrency
    assert len(started) == len(groups)


def test_fewer_tasks_than_wanted_end_the_run():
    assert numbers(play(7, lambda number: True, 100, 16, 4)[0]) == list(range(7))
    assert play(0, lambda number: True, 100, 16, 4) == ([], [])


def test_an_error_of_the_source_or_of_the_work_reaches_the_reader():
    def broken():
        yield from numbered(2)
        raise KeyError("source")

    queue = GroupQueue(Listed(broken(), 1), Fixed(), 10, 16)
    run_threads(queue, row, queue.finish, 2)
    with pytest.raises(KeyError, match="source"):
        list(queue.batches())

    def explode(number):
        raise ZeroDivisionError

    for asynchronous in (False, True):
        with pytest.raises(ZeroDivisionError):
            play(10, explode, 10, 16, 2, asynchronous)


def test_a_slow_first_task_bounds_what_waits_behind_it(monkeypatch):
    monkeypatch.setattr(queues, "LOOK_AHEAD", 50)
    release = threading.Event()
    started, landed, groups = [], [], []

    def work(item):
        started.append(item[0].number)
        if item[0].number == 0:
            release.wait(10)
        return row(item)

    queue = queue_of(1000, 300)
    run_threads(queue, work, queue.finish, 4)

    def read():
        for batch in queue.batches():
            landed.extend(batch.landed)
            groups.extend(batch.groups)

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.5)
    assert len(started) == 50
    assert len(landed) == 49 and not groups  # what has come is handed over to be written down, in whatever order
    release.set()
    reader.join(10)
    assert numbers(groups) == list(range(300)) and len(landed) == 300


def test_an_agent_that_waits_gets_all_its_workers_and_one_that_computes_only_one():
    def run(work):
        names = set()

        def noted(item):
            names.add(threading.current_thread().name)
            work(item)
            return row(item)

        queue = queue_of(200, 200)
        run_threads(queue, noted, queue.finish, 8)
        assert sum(len(batch.groups) for batch in queue.batches()) == 200
        return len(names)

    assert run(lambda item: time.sleep(0.003)) == 8
    # The fewest of several runs: to the queue, a machine that stalls looks like an agent that waits.
    assert min(run(lambda item: sum(range(2000))) for _ in range(5)) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_clock_ends_a_run_and_keeps_what_has_come(asynchronous):
    hang = threading.Event()

    def work(item):
        if item[0].number == 3:
            hang.wait(20)
        time.sleep(0.02)
        return row(item)

    async def work_async(item):
        await asyncio.sleep(20 if item[0].number == 3 else 0.02)
        return row(item)

    queue = queue_of(100_000, 100_000, k=2)
    if asynchronous:
        run_tasks(queue, work_async, queue.finish, 4, background_loop())
    else:
        run_threads(queue, work, queue.finish, 4)
    started = time.perf_counter()
    groups = [group for batch in queue.batches(time_budget=0.6, grace=0.3) for group in batch.groups]
    assert 0.6 <= time.perf_counter() - started < 2
    hang.set()
    assert queue.timed_out and queue.abandoned == 2
    assert numbers(groups) == [number for number in range(len(groups) + 1) if number != 3]
    assert all(len(group.rows) == 2 and not group.cut for group in groups[:-1])


def test_no_group_is_opened_that_cannot_end_in_time():
    def work(item):
        time.sleep(0.1)
        return PlayedRow(
            item[0].task, item[1], [], b"{}", "ok", None, (), (), seconds=0.1, signature="same", label="same"
        )

    queue = queue_of(1000, 1000, k=3)
    run_threads(queue, work, queue.finish, 2)
    groups = [group for batch in queue.batches(time_budget=1.0, grace=1.0) for group in batch.groups]
    assert queue.abandoned == 0
    assert all(len(group.rows) == 3 for group in groups[:-1])
    assert groups and not any(group.cut for group in groups[:-1])


def test_a_group_short_at_the_whistle_is_cut():
    def work(item):
        time.sleep(0.05 if item[1] == 0 else 5)
        return row(item)

    queue = queue_of(10, 40, k=4)
    run_threads(queue, work, queue.finish, 4)
    groups = [group for batch in queue.batches(time_budget=0.3, grace=0.0) for group in batch.groups]
    assert groups and {group.status for group in groups} == {"cut"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_model_that_answers_no_more_ends_the_run(asynchronous):
    calls = []

    def work(item):
        calls.append(item)
        if len(calls) > 20:
            raise ModelStopError("the allowance is spent", "quota_spent")
        return row(item)

    async def work_async(item):
        await asyncio.sleep(0.001)
        return work(item)

    queue = queue_of(1000, 1000)
    if asynchronous:
        run_tasks(queue, work_async, queue.finish, 4, background_loop())
    else:
        run_threads(queue, work, queue.finish, 4)
    groups = [group for batch in queue.batches() for group in batch.groups]
    assert len(groups) == 20 and queue.stop.reason == "quota_spent"
    assert len(calls) <= 20 + 4


def test_the_clock_is_looked_at_while_rows_keep_coming():
    queue = queue_of(10**9, 10**9)
    run_threads(queue, row, queue.finish, 4)
    started = time.perf_counter()
    rows = 0
    for batch in queue.batches(time_budget=0.3, grace=5.0):
        rows += len(batch.landed)
        time.sleep(0.02)  # meanwhile the next ones come
    assert rows and time.perf_counter() - started < 2
    assert queue.timed_out and not queue.abandoned


def test_a_run_that_is_done_in_time_was_not_ended_by_the_clock():
    def work(item):
        time.sleep(0.2)
        return PlayedRow(item[0].task, item[1], [], b"{}", "ok", None, (), (), seconds=0.2, signature="a", label="a")

    for count, wanted, used_up in ((100, 8, False), (8, 100, True)):
        queue = queue_of(count, wanted)
        run_threads(queue, work, queue.finish, 4)
        queue.grow()
        # While the second four are played, less time is left than two more would take.
        groups = [group for batch in queue.batches(time_budget=0.7, grace=2.0) for group in batch.groups]
        assert len(groups) == 8 and not queue.timed_out and queue.used_up == used_up


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_nobody_reads_is_not_played(asynchronous):
    started, ended = [], []

    def work(item):
        started.append(item)
        time.sleep(0.01)
        return row(item)

    async def work_async(item):
        started.append(item)
        await asyncio.sleep(0.01 if len(started) < 20 else 30)
        ended.append(item)
        return row(item)

    queue = queue_of(10**6, 10**6)
    if asynchronous:
        run_tasks(queue, work_async, queue.finish, 4, background_loop())
    else:
        run_threads(queue, work, queue.finish, 4)
    for _ in queue.batches():
        break  # as an interrupt does
    time.sleep(0.1)
    seen = len(started)
    time.sleep(0.1)
    assert len(started) == seen < 100


def test_rollouts_that_await_are_stopped_when_the_run_goes_on_without_them():
    stopped = []

    async def work(item):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append(item)
            raise

    queue = queue_of(100, 100)
    run_tasks(queue, work, queue.finish, 4, background_loop())
    list(queue.batches(time_budget=0.2, grace=0.0))
    time.sleep(0.1)
    assert queue.abandoned == len(stopped) == 4


def test_a_model_that_stops_before_anybody_reads_still_ends_the_run():
    """The rollouts beside it get the grace and no more."""
    hang, begun = threading.Event(), threading.Event()

    def work(item):
        if item[0].number == 0:
            begun.wait(10)
            raise ModelStopError("the allowance is spent", "quota_spent")
        begun.set()
        hang.wait(20)
        return row(item)

    queue = queue_of(100, 100)
    run_threads(queue, work, queue.finish, 4)
    queue.grow()
    time.sleep(0.1)
    started = time.perf_counter()
    list(queue.batches(grace=0.2))
    hang.set()
    assert time.perf_counter() - started < 2 and queue.stop.reason == "quota_spent" and not queue.timed_out


def test_rows_that_came_before_an_error_are_handed_over():
    def work(item):
        if item[0].number == 50:
            raise ZeroDivisionError
        return row(item)

    queue = queue_of(100, 100)
    run_threads(queue, work, queue.finish, 1)
    time.sleep(0.2)
    landed = []
    with pytest.raises(ZeroDivisionError):
        for batch in queue.batches():
            landed += batch.landed
    assert len(landed) == 50
