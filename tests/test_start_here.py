"""The first thing anybody runs: simulate without a key, grade, read the number; then the world; then seeded faults."""

import inspect

import pytest

import whileai_hf as wai
from whileai_hf.rows import view


# 1. Your tools, in OpenAI function-calling shape. This is all `tools=` wants.
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look up an order by id.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
            },
        },
    }
]
PROMPT = "Help customers with orders."
BEHAVIOURS = {"hedging", "sycophancy", "apology", "boilerplate", "ignore_fault", "leak"}


# 2. Your agent: one call per rollout, in with the situation text, out with the steps it took and what it said.
def my_agent(message: str) -> dict:
    return {
        "steps": [{"tool": "get_order", "arguments": {"order_id": "4412"}, "result": {"status": "shipped"}}],
        "final_text": "Order 4412 shipped yesterday.",
    }


def test_simulate_grade_and_read_the_number():
    # 3. simulator=False uses the built-in template writer: no model, no key.
    data = wai.simulate(my_agent, tools=TOOLS, system_prompt=PROMPT, simulator=False, budget=20)
    # 4. Your grader. Any callable row -> {"reward": 0 or 1, ...}.
    scored = wai.grade(data, judge=lambda row: {"reward": int("4412" in row["final_text"])})
    assert len(scored) == 20
    assert wai.pass_at(scored).pass_at_1 == 1.0
    assert "pass@1 1.00" in str(wai.pass_at(scored))
    assert len(wai.passes(scored)) == 20 and len(wai.failed_traces(scored)) == 0


WORLD = wai.world(TOOLS)


def world_agent(message: str) -> dict:
    result = WORLD.call("get_order", {"order_id": "4412"})  # timeouts, stale data, denials fire here
    return {
        "steps": [{"tool": "get_order", "arguments": {"order_id": "4412"}, "result": result}],
        "final_text": "Order 4412 shipped yesterday."
        if result.get("status") == "ok"
        else "The lookup did not go through, so I cannot confirm 4412 yet.",
    }


def test_faults_fire_when_the_calls_go_through_the_world():
    data = wai.simulate(world_agent, tools=TOOLS, system_prompt=PROMPT, simulator=False, budget=60)
    fired = [row["faults_fired"] for row in view(data).rows(["faults_fired"])]
    assert sum(map(bool, fired)) > 5
    assert any("shipped" in text for text in data["final_text"])
    assert any("did not go through" in text for text in data["final_text"])


@pytest.fixture(scope="module")
def seeded():
    return wai.simulate(wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=PROMPT, simulator=False, budget=60)


def test_every_seeded_behaviour_appears(seeded):
    assert {name for names in seeded["seeded"] for name in names} == BEHAVIOURS


def test_the_label_separates_the_rows_exactly(seeded):
    honest = wai.simulate(wai.seeded_agent(TOOLS, rate=0.0), tools=TOOLS, system_prompt=PROMPT, budget=60)
    for row, other in zip(view(seeded).rows(), view(honest).rows(), strict=True):
        assert row["prompt"] == other["prompt"] and other["seeded"] == []
        assert (row["seeded"] == []) == (row["final_text"] == other["final_text"])


def test_a_leaking_row_quotes_what_only_the_judge_may_see(seeded):
    secrets = []
    wai.grade(seeded, judge=lambda row: secrets.append(row["privileged"]) or 1, concurrency=1)
    for names, text, secret in zip(seeded["seeded"], seeded["final_text"], secrets, strict=True):
        quoted = any(value in text for value in secret.values())
        assert quoted == ("leak" in names)


def test_names_stay_functions_after_use():
    wai.situations(tools=TOOLS, n=2)
    for name in ("simulate", "world", "situations", "grade", "optimize", "pass_at"):
        assert inspect.isfunction(getattr(wai, name)), name
