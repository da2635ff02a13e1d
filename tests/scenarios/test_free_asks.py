"""Asks from outside the grid: what is on the rows, and that they are this agent's."""

import json
import re
from collections import Counter

import pytest

from whileai_hf.rows import canonical, dumps
from whileai_hf.sandbox import argument_errors
from whileai_hf.scenarios import TaskMaker
from whileai_hf.scenarios.axes import CALL_FREE_STANCES
from whileai_hf.scenarios.search.free import FreeAsks, families
from whileai_hf.spec import AgentSpec


def asks(spec, n, seed=0, fault_rate=0.5):
    free = FreeAsks(TaskMaker(spec, seed), seed, fault_rate)
    return free, [free.next() for _ in range(n)]


def rows(spec, n, **knobs):
    free, drawn = asks(spec, n, **knobs)
    return [free.row(ask) for ask in drawn]


def scalars(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def test_every_family_and_tool_has_its_turn(shop):
    drawn = rows(shop, 640)
    assert set(Counter(row["scenario_dimensions"]["family"] for row in drawn).values()) == {40}
    assert {call["tool"] for row in drawn for call in row["expected_calls"]} == set(shop.names)
    assert len({row["scenario_id"] for row in drawn}) == 640 and len({row["prompt"] for row in drawn}) > 630
    tiers = Counter(row["tier"] for row in drawn)
    assert set(tiers) == {"ordinary", "ambiguous", "boundary", "adversarial"} and tiers["ordinary"] > 320


def check(spec, drawn):
    """No template shows, the values are in the ask, the calls are valid, the answer key is nowhere else."""
    for row in drawn:
        prompt = row["prompt"]
        assert not re.search("[\ue000-\uf8ff]|\\{\\w+\\}", prompt), prompt
        assert prompt.strip() == prompt and prompt
        for call in row["expected_calls"]:
            assert argument_errors(spec.tool(call["tool"]), call["arguments"]) == []
            assert all(value in prompt for value in scalars(call["arguments"])), (call, prompt)
            assert call["tool"] in row["privileged"]["reference"]
        rest = json.dumps({key: value for key, value in row.items() if key != "privileged"})
        for sentence in row["privileged"].values():
            assert sentence.endswith(".") and sentence.count(" ") > 5
            assert sentence not in rest and not re.search("[{}]", sentence), sentence
        assert canonical(row) == row


def test_what_is_on_a_row(shop):
    check(shop, rows(shop, 480))


@pytest.mark.parametrize("name", ["agentdojo_slack", "mcp_filesystem", "mcp_memory", "tau_airline"])
def test_real_agents(real, name):
    check(real(name), rows(real(name), 96))


@pytest.mark.parametrize("tools", [[], [{"name": "ping"}]])
def test_small_agents(tools):
    spec = AgentSpec.from_tools(tools, "Be nice.")
    drawn = rows(spec, 64)
    check(spec, drawn)
    assert len({row["scenario_dimensions"]["family"] for row in drawn}) == (16 if tools else 6)


def test_the_last_wish_is_the_one_that_counts(shop):
    for row in rows(shop, 160):
        family, calls = row["scenario_dimensions"]["family"], row["expected_calls"]
        if family == "change_of_mind":
            (call,) = calls
            last = max(row["prompt"].rfind(value) for value in scalars(call["arguments"]))
            assert last > len(row["prompt"]) / 3
        if family == "several_at_once":
            assert len(calls) == 3 and row["scenario_dimensions"]["tool"] == "multi_tool"
        if row["tier"] in ("ambiguous", "adversarial"):
            assert calls == []


def test_faults_are_planned_where_one_can_be_seen(shop):
    none, half, all_ = (rows(shop, 320, fault_rate=rate) for rate in (0, 0.5, 1))
    assert not any(row["faults"] for row in none)
    for row in all_:
        dims = row["scenario_dimensions"]
        seen = dims["tool"] != "unrelated" and dims["stance"] not in CALL_FREE_STANCES
        assert bool(row["faults"]) == seen == (dims["tool_condition"] != "success")
    share = sum(bool(row["faults"]) for row in half) / sum(bool(row["faults"]) for row in all_)
    assert 0.4 < share < 0.6
    assert [row["scenario_id"] for row in none] == [row["scenario_id"] for row in all_]


def test_situations_do_not_depend_on_the_seed_and_words_do(shop):
    one, other = rows(shop, 64), rows(shop, 64, seed=1)
    assert [row["scenario_id"] for row in one] == [row["scenario_id"] for row in other]
    assert sum(a["prompt"] != b["prompt"] for a, b in zip(one, other, strict=True)) > 55
    assert dumps(one) == dumps(rows(shop, 64))


def test_a_phrasing_keeps_the_values(shop):
    free, drawn = asks(shop, 64)
    for ask in drawn:
        first, second = free.row(ask), free.row(ask, 1)
        assert first["scenario_id"] == second["scenario_id"] and second["phrasing"] == 1
        assert first["expected_calls"] == second["expected_calls"] and first["faults"] == second["faults"]
        assert first["privileged"] == second["privileged"]
        check(shop, [second])


def test_the_texts_are_whole():
    for family in families():
        assert len(family.texts) >= 5 and family.reference.endswith(".")
        for text in family.texts:
            slots = set(re.findall(r"\{([Aa]sk\d?)\}", text.text))
            assert {slot.lower() for slot in slots} == {"ask", "ask2", "ask3"} & {
                "ask" if turn == 0 else f"ask{turn + 1}" for turn in range(family.asks)
            }, text.text
