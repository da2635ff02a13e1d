import asyncio
import random
import threading
import time

import pytest

from whileai_hf.actors.loop import background_loop
from whileai_hf.engine import pool
from whileai_hf.engine.pool import OrderedQueue, run_tasks, run_threads


def play(items, good, wanted, losses, concurrency, asynchronous=False):
    """Runs `good(item)` over the items; returns what was read, in order, and how many were started."""
    started = []
    jitter = random.Random(0)

    def work(item):
        started.append(item)
        time.sleep(jitter.random() * 0.002)
        return item, good(item)

    async def work_async(item):
        started.append(item)
        await asyncio.sleep(jitter.random() * 0.002)
        return item, good(item)

    queue = OrderedQueue(iter(items), wanted, losses)
    if asynchronous:
        run_tasks(queue, work_async, concurrency, background_loop())
    else:
        run_threads(queue, work, concurrency)
    return list(queue.results()), started


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_results_come_in_item_order_and_no_item_is_started_in_vain(concurrency, asynchronous):
    read, started = play(range(10_000), lambda item: True, 200, 999, concurrency, asynchronous)
    assert read == list(range(200))
    assert len(started) == 200


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("concurrency", [1, 16])
def test_every_loss_is_made_good_by_the_next_item(concurrency, asynchronous):
    read, started = play(range(10_000), lambda item: item % 3 != 0, 100, 999, concurrency, asynchronous)
    assert sum(item % 3 != 0 for item in read) == 100
    assert read == list(range(len(read)))
    assert len(started) == len(read)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_an_agent_that_always_fails_is_called_off(concurrency):
    read, started = play(range(10_000), lambda item: False, 100, 16, concurrency)
    assert 16 <= len(read) <= 16 + concurrency
    assert len(started) == len(read)


def test_fewer_items_than_wanted_end_the_run():
    read, _ = play(range(7), lambda item: True, 100, 16, 4)
    assert read == list(range(7))
    assert play([], lambda item: True, 100, 16, 4) == ([], [])


def test_an_error_of_the_source_or_of_the_work_reaches_the_reader():
    def broken():
        yield 1
        raise KeyError("source")

    with pytest.raises(KeyError, match="source"):
        play(broken(), lambda item: True, 10, 16, 2)

    def explode(item):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play(range(10), explode, 10, 16, 2)


def test_a_slow_first_item_bounds_what_waits_behind_it(monkeypatch):
    monkeypatch.setattr(pool, "LOOK_AHEAD", 50)
    release = threading.Event()
    started = []

    def work(item):
        started.append(item)
        if item == 0:
            release.wait(10)
        return item, True

    queue = OrderedQueue(iter(range(1000)), 300, 16)
    run_threads(queue, work, 4)
    read = []
    reader = threading.Thread(target=lambda: read.extend(queue.results()))
    reader.start()
    time.sleep(0.3)
    assert len(started) == 50
    release.set()
    reader.join(10)
    assert read == list(range(300))


def test_an_agent_that_waits_gets_all_its_workers_and_one_that_computes_only_one():
    def run(work):
        names = set()

        def noted(item):
            names.add(threading.current_thread().name)
            return work(item), True

        queue = OrderedQueue(iter(range(200)), 200, 16)
        run_threads(queue, noted, 8)
        assert len(list(queue.results())) == 200
        return len(names)

    assert run(lambda item: time.sleep(0.003)) == 8
    # The fewest of several runs: to the pool, a machine that stalls looks like an agent that waits.
    assert min(run(lambda item: sum(range(2000))) for _ in range(5)) == 1
