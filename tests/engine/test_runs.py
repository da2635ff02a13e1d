"""The same task set played several times."""

import pytest

import whileai_hf as wai
from whileai_hf.actors.models import Completion
from whileai_hf.rows import view


TOOLS = [{"name": "get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]
KNOBS = {"tools": TOOLS, "system_prompt": "Help customers."}


def by_run(data):
    found = {}
    for row in view(data).rows(["scenario_id", "prompt", "rollout_index", "lineage", "faults"]):
        found.setdefault(row.pop("lineage").get("eval_run"), []).append(row)
    return found


def test_every_run_plays_the_same_tasks_and_says_which_it_is():
    runs = by_run(wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, budget=12, runs=3))
    assert list(runs) == [0, 1, 2]
    assert runs[0] == runs[1] == runs[2] and len(runs[0]) == 12


def test_runs_of_a_pinned_set_inherit_its_k():
    base = wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, mode="rl", repeats=4, repeat_policy="fixed", budget=24)
    data = wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, tasks=base, runs=3)
    runs = by_run(data)
    expected = list(view(base).rows(["scenario_id", "prompt", "rollout_index", "faults"]))
    assert all(runs[index] == expected for index in range(3))
    report = wai.run_report(data)
    assert report.n_rows == report.budget == 72 and report.stopped_because == "tasks_done" and not report.warnings


def test_every_run_samples_anew_in_the_same_world():
    seeds = {}

    class Sampling:
        name, sampling = "sampling", {"model": "sampling"}

        async def complete(self, messages, *, tools=None, logprobs=False, schema=None, seed=None):
            rollout = wai.current_rollout()
            seeds.setdefault(rollout.eval_run, []).append((rollout.scenario_id, rollout.seed, seed))
            return Completion({"role": "assistant", "content": str(seed)})

    data = wai.simulate(Sampling(), **KNOBS, budget=6, runs=3, simulator="template", user_model="template")
    assert len(set(data["final_text"])) == 18
    worlds = [sorted((name, seed) for name, seed, _ in seeds[run]) for run in range(3)]
    assert worlds[0] == worlds[1] == worlds[2]


@pytest.mark.parametrize("mode", ["explore", "rl"])
def test_one_run_carries_no_number(mode):
    assert list(by_run(wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, mode=mode, budget=16))) == [None]


def test_the_draw_of_a_run_with_several_is_that_of_one():
    one = wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, mode="rl", situations=5)
    three = by_run(wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, mode="rl", situations=5, runs=2))
    expected = list(view(one).rows(["scenario_id", "prompt", "rollout_index", "faults"]))
    prompts = list(dict.fromkeys(row["prompt"] for row in expected))
    assert list(dict.fromkeys(row["prompt"] for row in three[1])) == prompts
    assert three[0] == expected
