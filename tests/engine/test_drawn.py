"""Tasks drawn as a run goes: what it has seen decides what comes next, and nothing else does."""

import asyncio
import time

import pytest

import whileai_hf as wai
from whileai_hf.rows import view
from whileai_hf.rows.rng import unit


ONE_TOOL = [{"name": "ping", "description": "Ping the server.", "parameters": {"type": "object", "properties": {}}}]
TOOLS = [
    {
        "name": "get_order",
        "description": "Look up an order by id.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    }
]
KNOBS = {"tools": TOOLS, "system_prompt": "Help customers.\n- Look an order up before you speak of it."}
OWN = ("run_id", "model_version", "policy_version", "lineage", "group_planned_k")


def rows_of(data):
    return list(view(data).rows([name for name in data.column_names if name not in OWN]))


def same(message):
    return {"steps": [], "final_text": "I see."}


def test_saturation_ends_a_run_on_a_small_grid():
    data = wai.simulate(same, tools=ONE_TOOL, until="saturation", budget=5000)
    report = wai.run_report(data)
    assert report.stopped_because == "saturation" and report.search["saturated"]
    assert len(data) < 1000 and report.search["planned_finished"] == report.search["planned_cells"]


def test_saturation_does_not_end_one_that_still_finds_something():
    def inventive(message):
        steps = [{"tool": "ping", "arguments": {}, "result": {"status": "ok"}}] * (len(message) % 40)
        return {"steps": steps, "final_text": "word " * (len(message) % 90)}

    data = wai.simulate(inventive, tools=ONE_TOOL, until="saturation", budget=1200)
    assert wai.run_report(data).stopped_because == "budget" and len(data) == 1200


def test_what_a_run_has_seen_changes_what_it_draws_and_concurrency_does_not():
    def moody(message):
        # Behaves in as many ways as there are prompts, so the arms that look around have much to go by.
        odd = unit(5, message) < 0.1
        steps = [{"tool": "get_order", "arguments": {}, "result": {"status": "ok"}}] * (1 + odd * (len(message) % 7))
        return {"steps": steps, "final_text": "Done."}

    async def slow(message):
        await asyncio.sleep(unit(1, message) * 0.02)
        return moody(message)

    def grader(row):
        return len(row["steps"]) < 3

    one = wai.simulate(moody, **KNOBS, budget=1000, grader=grader, concurrency=1)
    many = wai.simulate(slow, **KNOBS, budget=1000, grader=grader, concurrency=64)
    assert rows_of(one) == rows_of(many)
    arms = wai.run_report(one).search["arms"]
    assert arms["behavior_targeted"]["drawn"] > 0 and arms["failure_mutation"]["drawn"] > 0
    quiet = wai.simulate(same, **KNOBS, budget=1000)
    assert quiet["prompt"][:576] == one["prompt"][:576] and quiet["prompt"][576:] != one["prompt"][576:]


def test_adaptive_comes_back_to_situations():
    def two_faced(message):
        return {"steps": [], "final_text": "Yes. " * (1 + wai.current_rollout().rollout_index % 2 * 20)}

    data = wai.simulate(two_faced, tools=ONE_TOOL, mode="adaptive", budget=600)
    sizes = set(view(data).column("group_planned_k"))
    assert 1 in sizes and max(sizes) > 1 and len(data) <= 600
    report = wai.run_report(data)
    assert report.n_situations < report.n_prompts or report.n_prompts < len(data)
    assert rows_of(data) == rows_of(wai.simulate(two_faced, tools=ONE_TOOL, mode="adaptive", budget=600))


def test_every_fault_has_its_twin():
    data = wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, budget=120, twins=True)
    rows = list(view(data).rows(["scenario_id", "twin_of", "prompt", "faults", "world_state"]))
    faulted = {row["scenario_id"]: row for row in rows[:-1] if row["faults"]}
    twins = {row["twin_of"]: row for row in rows if row["twin_of"]}
    assert len(faulted) > 10 and set(faulted) <= set(twins)
    for name, row in faulted.items():
        twin = twins[name]
        assert twin["faults"] is None and twin["prompt"] == row["prompt"] and twin["scenario_id"] != name
    pinned = wai.simulate(wai.seeded_agent(TOOLS), **KNOBS, tasks=wai.situations(**KNOBS, n=40), twins=True)
    assert sum(bool(name) for name in pinned["twin_of"]) == sum(bool(plan) for plan in view(pinned).column("faults"))


class Scribe:
    """A writer that words every situation in its own way, and takes its time."""

    name = "scribe"

    def __init__(self, seconds=0.0):
        self.sampling = {"model": "scribe"}
        self.seconds = seconds
        self.calls = 0

    async def complete(self, messages, *, tools=None, logprobs=False, schema=None, seed=None):
        from whileai_hf.actors.models import Completion

        self.calls += 1
        await asyncio.sleep(self.seconds)
        return Completion({"role": "assistant", "content": "[]"})


def test_a_writer_beside_the_run_changes_no_row_and_is_abandoned_at_the_end():
    fast = wai.simulate(same, **KNOBS, simulator=Scribe(), budget=150, concurrency=1)
    slow = wai.simulate(same, **KNOBS, simulator=Scribe(0.02), budget=150, concurrency=32)
    assert rows_of(fast) == rows_of(slow) and "generator_fallback" in wai.run_report(fast).degraded
    started = time.perf_counter()
    data = wai.simulate(same, **KNOBS, simulator=Scribe(30), budget=100_000, time_budget=0.5, stop_grace=0.2)
    report = wai.run_report(data)
    assert time.perf_counter() - started < 10
    assert report.stopped_because == "time_budget" and report.search["writer_waves_abandoned"] > 0


@pytest.mark.parametrize("embedder", ["hash", lambda texts: [[float(len(text)), 1.0] for text in texts]])
def test_your_own_asks_are_exempt_from_the_search_for_copies(embedder):
    asks = ["Where is my order 4412?", "Where is my order 4413?", "Where is my order 4414?"]
    data = wai.simulate(same, **KNOBS, seeds=asks, budget=12, embedder=embedder)
    assert data["prompt"][:3] == asks


def test_twins_of_pinned_tasks_lose_no_task_and_come_once():
    base = wai.simulate(same, **KNOBS, mode="rl", situations=12, repeats=4, repeat_policy="fixed")
    with_twins = wai.simulate(same, **KNOBS, tasks=base, twins=True, repeat_policy="fixed", mode="rl")
    assert set(base["scenario_id"]) <= set(with_twins["scenario_id"])
    again = wai.simulate(same, **KNOBS, tasks=with_twins, twins=True, repeat_policy="fixed", mode="rl")
    assert again["scenario_id"][:] == with_twins["scenario_id"][:]
    assert wai.run_report(again).stopped_because == "tasks_done" and not wai.run_report(again).warnings


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"mode": "adaptive", "situations": 50}, "situations=50 with mode='adaptive'"),
        ({"mode": "adaptive", "runs": 2}, "runs=2 with mode='adaptive'"),
        ({"tasks": [{"prompt": "Hi"}], "mode": "adaptive"}, "mode='adaptive' with tasks="),
        ({"tasks": [{"prompt": "Hi"}], "situations": 3}, "situations=3 with tasks="),
        ({"output": "rows.parquet"}, "rows are written as JSON lines"),
        ({"resume": True}, "resume=True is not a path"),
        ({"num_generations": 4}, "did you mean 'repeats'"),
        ({"temperature": 1.0}, "it belongs to a model"),
    ],
)
def test_combinations_that_mean_nothing(knobs, message):
    with pytest.raises(wai.ConfigurationError, match=message):
        wai.simulate(same, **KNOBS, **knobs)


def test_asks_alone_are_tasks_and_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    data = wai.simulate(same, **KNOBS, tasks=["Hello?", "Where is it?"], concurrency=numpy.int64(2))
    assert data["prompt"][:] == ["Hello?", "Where is it?"] and set(data["writer_model"]) == {"pinned"}


def test_scripts_are_read_before_anything_is_played():
    def chat(messages, tools):
        return {"role": "assistant", "content": "Yes."}

    def tasks(script):
        return [{"prompt": "Hi", "script": None}, {"prompt": "Hello", "script": script}]

    with pytest.raises(wai.DataError, match=r"task 1: the task's script\[0\] is 'ORD-1'"):
        wai.simulate(chat, **KNOBS, tasks=tasks(["ORD-1"]))
    turns = [{"role": "user", "content": "And now?"}]
    with pytest.raises(wai.ConfigurationError, match="the agent takes a single message"):
        wai.simulate(same, **KNOBS, tasks=tasks(turns))
    data = wai.simulate(chat, **KNOBS, tasks=tasks(turns))
    assert [message["content"] for message in view(data).column("messages")[1]][1:] == [
        "Hello",
        "Yes.",
        "And now?",
        "Yes.",
    ]


def test_what_only_a_judge_may_see_is_dropped_wherever_an_agent_brings_it_along():
    def leaky(message):
        result = {"status": "ok", "privileged": {"reference": "SECRET"}, "vector": [0.5]}
        step = {"tool": "get_order", "arguments": {}, "result": result}
        return {"steps": [step], "final_text": "Done.", "privileged": "SECRET"}

    (row,) = view(wai.simulate(leaky, **KNOBS, budget=1)).rows()
    assert "SECRET" not in str(row) and row["steps"][0]["result"] == {"status": "ok"}


def test_a_parameter_of_such_a_name_is_what_the_agent_passed():
    def search(message):
        step = {"tool": "search", "arguments": {"vector": [0.5, 1.0], "privileged": True}, "result": {"found": 3}}
        return {"steps": [step], "final_text": "Three."}

    (row,) = view(wai.simulate(search, **KNOBS, budget=1)).rows()
    assert row["steps"][0]["arguments"] == {"vector": [0.5, 1.0], "privileged": True}
    assert row["messages"][-3]["tool_calls"][0]["function"]["arguments"] == {"vector": [0.5, 1.0], "privileged": True}
