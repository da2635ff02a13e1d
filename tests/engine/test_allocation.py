"""Which prompts get how many rollouts, shown on agents whose pass rates are known."""

import asyncio
import math
import random
import time

import pytest

import whileai_hf as wai
from whileai_hf.engine import resolve_topology
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import view
from whileai_hf.rows.rng import unit


RATES = (0.0, 0.05, 0.5, 0.95, 1.0)


def tasks(n):
    return [
        {"scenario_id": f"s{index}", "prompt": f"Ask number {index}", "rate": RATES[index % 5]} for index in range(n)
    ]


def coin(message):
    """Passes each task with its known probability, whatever the order in which it is asked."""
    rollout = wai.current_rollout()
    passed = unit(7, message, rollout.rollout_index) < rollout.task["rate"]
    return {"steps": [], "final_text": "done" if passed else "failed"}


def passed(row):
    return row["final_text"] == "done"


def run(n, **knobs):
    knobs = {"mode": "rl", "repeats": 8, "concurrency": 8} | knobs
    return wai.simulate(coin, system_prompt="Answer.", tasks=tasks(n), grader=passed, **knobs)


def groups_of(data):
    found = {}
    for row in view(data).rows(["scenario_id", "rollout_index", "reward", "group_status", "group_inclusion_p"]):
        found.setdefault(row["scenario_id"], []).append(row)
    return found


def expected_cost(k, probe, carried):
    """Rollouts spent on each mixed group when a prompt is probed and a share of the unanimous ones is filled too."""
    cost = mixed = 0.0
    for rate in RATES:
        split = 1 - rate**probe - (1 - rate) ** probe
        filled = split + carried * (1 - split)
        cost += probe + (k - probe) * filled
        later = (1 - rate**k - (1 - rate) ** k) - split  # unanimous so far, mixed once it is filled
        mixed += split + carried * later
    return cost / mixed


@pytest.mark.parametrize(("k", "saving"), [(8, 0.14), (16, 0.20)])
def test_the_default_saves_rollouts_for_each_mixed_group(k, saving):
    topology = resolve_topology(mode="rl", repeats=k)
    fixed = expected_cost(k, k, 0.0)
    ours = 1 - expected_cost(k, topology.probe, topology.explore_rate) / fixed
    best = 1 - min(expected_cost(k, probe, 0.0) for probe in range(2, k)) / fixed
    assert ours >= saving
    assert ours >= best - 0.03


@pytest.mark.parametrize("k", [8, 16])
def test_a_run_spends_what_its_design_says(k):
    """The same coins under the default and under fixed k."""
    n = 500
    default, fixed = run(n, repeats=k), run(n, repeats=k, repeat_policy="fixed")
    report, full = (wai.run_report(data).search["groups"] for data in (default, fixed))
    saving = 1 - (len(default) / report["mixed"]) / (len(fixed) / full["mixed"])
    topology = resolve_topology(mode="rl", repeats=k)
    designed = 1 - expected_cost(k, topology.probe, topology.explore_rate) / expected_cost(k, k, 0.0)
    # Over coins, what 500 groups save has a standard deviation of 4 points.
    assert abs(saving - designed) < 0.08
    assert report["rollouts_saved"] == n * k - len(default)
    assert report["partial"] == report["cut"] == 0


def test_no_mixed_group_is_short_and_every_decision_is_on_the_row():
    data = run(300)
    rewards = {name: [row["reward"] for row in rows] for name, rows in groups_of(data).items()}
    carried = 0
    for name, rows in groups_of(data).items():
        probe, status, chance = rewards[name][:3], rows[0]["group_status"], rows[0]["group_inclusion_p"]
        assert [row["rollout_index"] for row in rows] == list(range(len(rows)))
        if len(set(probe)) > 1:
            assert (len(rows), status, chance) == (8, "complete", 1.0)
        else:
            assert chance == 0.1 and (len(rows), status) in ((3, "stopped"), (8, "complete"))
            carried += len(rows) == 8
    assert all(len(found) == 8 for found in rewards.values() if len(set(found)) > 1)
    unanimous = sum(len(set(found[:3])) == 1 for found in rewards.values())
    assert abs(carried / unanimous - 0.1) < 4 * math.sqrt(0.1 * 0.9 / unanimous)
    assert set(data["group_planned_k"]) == {8} and set(data["group_probe"]) == {3}


def test_without_a_grader_behaviour_decides():
    def two_faced(message):
        looks = "1" in message and wai.current_rollout().rollout_index == 2
        step = {"tool": "look", "arguments": {}, "result": {"status": "ok"}}
        return {"steps": [step] if looks else [], "final_text": "done"}

    data = wai.simulate(two_faced, system_prompt="Answer.", tasks=tasks(20), mode="rl", repeats=8, explore_rate=0.0)
    sizes = {row["prompt"]: row for row in view(data).rows(["prompt", "group_status"])}
    assert all((row["group_status"] == "complete") == ("1" in prompt) for prompt, row in sizes.items())


@pytest.mark.parametrize("policy", ["two_stage", "successive"])
def test_concurrency_and_latency_change_nothing(policy):
    def slow(message):
        time.sleep(unit(1, message, wai.current_rollout().rollout_index) * 0.01)
        return coin(message)

    async def slow_async(message):
        await asyncio.sleep(unit(2, message, wai.current_rollout().rollout_index) * 0.02)
        return coin(message)

    names = [name for name in view(run(5)).columns if name not in ("run_id", "model_version", "policy_version")]
    expected = None
    for agent, concurrency in ((coin, 1), (slow, 16), (slow_async, 128)):
        knobs = {"mode": "rl", "repeats": 8, "repeat_policy": policy, "budget": 1300, "concurrency": concurrency}
        data = wai.simulate(agent, system_prompt="Answer.", tasks=tasks(300), grader=passed, **knobs)
        rows = list(view(data).rows(names))
        assert expected is None or rows == expected
        expected = rows


def test_successive_takes_the_rule_of_hazards():
    """A run of one window rests on the prior alone: hazard 1/(n+2) against (0+1)/(0+2)/2 = 1/4 for a new prompt."""
    data = run(40, repeat_policy="successive", budget=200)
    for rows in groups_of(data).values():
        rewards = [row["reward"] for row in rows]
        if len(set(rewards)) > 1:
            assert len(rows) == 8
        elif rows[0]["group_status"] == "stopped":
            assert len(rows) == 2  # 1/4 is not above 1/4
    assert set(data["group_probe"]) == {2} and set(data["group_inclusion_p"]) == {None}


def test_successive_resumes_stopped_prompts_when_no_new_one_is_left():
    tight, ample = run(100, repeat_policy="successive", budget=450), run(100, repeat_policy="successive")
    assert len(ample) == 800 and wai.run_report(ample).search["groups"]["stopped"] == 0
    assert 442 < len(tight) <= 450
    assert wai.run_report(tight).search["groups"]["stopped"] > 0
    assert view(tight).column("scenario_id") == sorted(
        view(tight).column("scenario_id"), key=lambda name: int(name[1:])
    )


def test_the_budget_opens_whole_groups_only():
    data = run(500, budget=400)
    assert 392 < len(data) <= 400
    longer = run(500, budget=800)
    shared = list(view(data).rows(["scenario_id", "rollout_index", "reward", "group_status"]))
    assert shared == list(view(longer).rows(["scenario_id", "rollout_index", "reward", "group_status"]))[: len(shared)]


def test_a_lost_rollout_leaves_a_partial_group():
    def shaky(message):
        if wai.current_rollout().rollout_index == 1:
            raise RuntimeError("flaky")
        return coin(message)

    data = wai.simulate(shaky, system_prompt="Answer.", tasks=tasks(10), grader=passed, mode="rl", repeats=8)
    assert set(data["group_status"]) == {"partial"}
    assert wai.run_report(data).search["agent_errors"] == 10


def test_verdicts_are_asked_for_once_and_stand_on_the_rows():
    seen = []

    def judge(row):
        seen.append((row["scenario_id"], row["rollout_index"]))
        return {"reward": passed(row), "markers": {"short": 1.0}, "reason": "read it"}

    data = wai.simulate(coin, system_prompt="Answer.", tasks=tasks(30), grader=judge, mode="rl", repeats=8)
    assert len(seen) == len(set(seen)) == len(data)
    assert set(data["reason"]) == {"read it"} and set(data["judge_status"]) == {"ok"}
    assert all(row["reward"] == passed(row) for row in view(data).rows(["reward", "final_text"]))


def test_a_grader_that_breaks_leaves_rows_unjudged():
    def broken(row):
        raise ValueError("no")

    data = wai.simulate(
        coin, system_prompt="Answer.", tasks=tasks(10), grader=broken, mode="rl", repeats=8, explore_rate=0.0
    )
    assert set(data["judge_status"]) == {"error"} and set(data["reward"]) == {None} and len(data) == 30


def test_what_a_combination_of_knobs_means():
    assert resolve_topology(mode="rl", repeats=3).policy == "fixed"  # a probe of 3 leaves nothing to decide
    assert resolve_topology(mode="rl", repeats=4).rows == 1000
    assert resolve_topology(situations=5, phrasings=2, repeats=3).rows == 30
    assert "for 5% of the unanimous prompts" in str(resolve_topology(mode="rl", repeats=16))
    with pytest.raises(ConfigurationError, match="unknown knob 'repets'"):
        resolve_topology(repets=3)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["two_stage", "successive"])
def test_a_thousand_groups(policy):
    """Latencies of 5 to 500 ms: the same rows at any concurrency, and a tenth at most is lost against the ideal."""
    waits = []

    def agent(slowness):
        async def wait_and_answer(message):
            wait = random.Random(f"{message} {wai.current_rollout().rollout_index}").uniform(0.005, 0.5) * slowness
            waits.append(wait)
            await asyncio.sleep(wait)
            passed = coin(message)["final_text"] == "done"
            step = {"tool": "look", "arguments": {}, "result": {"status": "ok"}}
            return {"steps": [step] * passed, "final_text": "done"}

        return wait_and_answer

    knobs = {"system_prompt": "Answer.", "mode": "rl", "repeats": 8, "repeat_policy": policy}
    run(5)  # what is loaded on first use is not the engine's throughput
    started = time.perf_counter()
    data = wai.simulate(agent(1), tasks=tasks(1000), **knobs, concurrency=128)
    seconds = time.perf_counter() - started
    assert len(data) == len(waits) and wai.run_report(data).search["groups"]["mixed"] > 100
    print(f"{policy}: {sum(waits) / 128 / seconds:.3f} of the ideal throughput")
    assert sum(waits) / 128 / seconds >= 0.9

    names = [name for name in data.column_names if name not in ("run_id", "model_version", "policy_version")]
    for slowness, concurrency in ((0, 1), (0.1, 16)):
        again = wai.simulate(agent(slowness), tasks=tasks(1000), **knobs, concurrency=concurrency)
        assert list(view(again).rows(names)) == list(view(data).rows(names))
