"""What holds for every run, whatever its rollouts give and however long each takes."""

import asyncio
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.actors.loop import background_loop
from whileai_hf.engine.allocation import make_allocation
from whileai_hf.engine.player import PlayedRow
from whileai_hf.engine.queue import GroupQueue
from whileai_hf.engine.source import Listed, Planned
from whileai_hf.engine.topology import Topology
from whileai_hf.engine.workers import run_tasks, run_threads
from whileai_hf.rows.rng import unit


def played(work, seed, losses, unlabelled):
    """A rollout that follows from its place alone; a third of the prompts can show a split."""
    group, index = work
    lost = unit(seed, "lost", group.number, index) < losses
    rate = (0.0, 0.5, 1.0)[group.number % 3]
    label = "pass" if unit(seed, "pass", group.number, index) < rate else "fail"
    label = None if lost or unit(seed, "unlabelled", group.number, index) < unlabelled else label
    status = "error" if lost else "ok"
    return PlayedRow(group.task, index, [], b"{}", status, None, (), (), seconds=0.001, signature=label, label=label)


def run(topology, n, budget, allowed, look_ahead, concurrency, asynchronous, seed, losses, unlabelled):
    tasks = (
        Planned({"prompt": str(number), "scenario_id": str(number)}, topology.repeats, topology.probe)
        for number in range(n)
    )
    source = Listed(tasks, topology.repeats)
    queue = GroupQueue(source, make_allocation(topology, seed), budget, allowed, look_ahead)
    started = Counter()

    def pause(work):
        return unit(seed, "pause", concurrency, work[0].number, work[1]) * 0.002

    def work(item):
        started[item[0].number, item[1]] += 1
        time.sleep(pause(item))
        return played(item, seed, losses, unlabelled)

    async def work_async(item):
        started[item[0].number, item[1]] += 1
        await asyncio.sleep(pause(item))
        return played(item, seed, losses, unlabelled)

    if asynchronous:
        run_tasks(queue, work_async, queue.finish, concurrency, background_loop())
    else:
        run_threads(queue, work, queue.finish, concurrency)
        queue.grow()
    batches = list(queue.batches())
    groups = [group for batch in batches for group in batch.groups]
    landed = [row for batch in batches for row in batch.landed]
    return queue, groups, landed, started


def accepted(groups, allowed):
    """The rows up to the last loss allowed, as a run keeps them."""
    kept, lost = [], 0
    for group in groups:
        for index in sorted(group.rows):
            if lost >= allowed:
                return kept
            lost += group.rows[index].status != "ok"
            kept.append((group.number, index, group.status, group.inclusion_p, group.k))
    return kept


@pytest.mark.parametrize("asynchronous", [False, True])
@settings(max_examples=40, deadline=None)
@given(
    policy=st.sampled_from(["fixed", "two_stage", "successive"]),
    k=st.integers(3, 8),
    n=st.integers(0, 60),
    budget=st.integers(8, 240),
    allowed=st.sampled_from([1, 5, 20, 10_000]),
    look_ahead=st.sampled_from([1, 2, 64, 512]),
    concurrency=st.sampled_from([2, 16, 64]),
    seed=st.integers(0, 10_000),
    losses=st.sampled_from([0.0, 0.1, 0.5]),
    unlabelled=st.sampled_from([0.0, 0.2]),
)
def test_neither_workers_nor_latencies_change_a_run(
    asynchronous, policy, k, n, budget, allowed, look_ahead, concurrency, seed, losses, unlabelled
):
    if policy == "successive":
        allowed = 10_000  # what is resumed of a run that is called off depends on how far it had come
    topology = Topology("rl", budget, None, 1, k, policy, k if policy == "fixed" else 2, 0.3)
    knobs = (topology, n, budget, allowed, look_ahead)
    _, alone, _, _ = run(*knobs, 1, False, seed, losses, unlabelled)
    queue, groups, landed, started = run(*knobs, concurrency, asynchronous, seed, losses, unlabelled)
    assert accepted(groups, allowed) == accepted(alone, allowed)

    rows = [row for group in groups for row in group.rows.values()]
    good = [row for row in rows if row.status == "ok"]
    assert len(good) <= budget and len(landed) == len(good) == len({id(row) for row in landed})
    assert len(rows) == started.total() and set(started.values()) <= {1}
    assert [group.number for group in groups] == list(range(len(groups)))
    assert queue.abandoned == 0 and not queue.timed_out
    for group in groups:
        assert not group.cut and len(group.rows) == group.due
        if group.status == "stopped":
            assert len(group.labels()) < 2 or not group.mixed()
        if policy != "fixed" and group.mixed():
            assert group.due == k
    if len(rows) - len(good) < allowed:
        assert queue.used_up == (len(groups) == n)
        assert queue.used_up or len(good) + k > budget
