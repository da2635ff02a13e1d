"""A task and its clean twin: one ask, one world, two fates of the calls."""

from itertools import islice

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox import FAULT_KINDS, Session, fault_plan
from whileai_hf.sandbox.kinds import COMMON_KINDS, RARE_KINDS
from whileai_hf.scenarios import Search, draw_tasks
from whileai_hf.scenarios.blocks import clean_twin_task
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, required, description="", **properties):
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": parameters}


SPEC = AgentSpec.from_tools(
    [
        tool("get_order", ["order_id"], "Look up an order. Returns status and total.", order_id=STRING),
        tool("refund_order", ["order_id"], "Refund an order.", order_id=STRING),
        tool("create_ticket", ["subject"], "Open a ticket.", subject=STRING),
    ],
    "Look an order up before any refund. Never share another customer's data.",
)
TASKS = [task for task in islice(draw_tasks(SPEC), 400) if task["faults"]]


def test_every_drawn_task_with_a_fault_has_a_twin():
    assert {next(iter(task["faults"].values()))["kind"] for task in TASKS} == set(COMMON_KINDS)
    told = [about.meaning for about in FAULT_KINDS.values()]
    rare = [task for task in Search(SPEC).draw(400) if task["scenario_dimensions"]["tool_condition"] in RARE_KINDS]
    assert {next(iter(task["faults"].values()))["kind"] for task in rare} == set(RARE_KINDS)
    for task in TASKS + rare:
        twin = clean_twin_task(task)
        same = task.keys() - {"scenario_id", "faults", "scenario_dimensions", "privileged"}
        assert {name: twin[name] for name in same} == {name: task[name] for name in same}
        assert twin["faults"] is None and twin["twin_of"] == task["scenario_id"] != twin["scenario_id"]
        assert twin["scenario_dimensions"] == {**task["scenario_dimensions"], "tool_condition": "success"}
        hidden, wanted = twin["privileged"]["hidden_state"], twin["privileged"]["reference"]
        assert "every call goes through" in hidden and not any(meaning in hidden for meaning in told)
        assert "trouble" not in wanted and wanted.endswith(".") and " answers" in wanted
        assert task["faults"] and "trouble" in task["privileged"]["reference"]


def test_a_twins_id_follows_from_the_tasks():
    ids = [clean_twin_task(task)["scenario_id"] for task in TASKS]
    assert ids == [clean_twin_task(task)["scenario_id"] for task in TASKS]
    assert len(set(ids)) == len({task["scenario_id"] for task in TASKS})
    assert not set(ids) & {task["scenario_id"] for task in islice(draw_tasks(SPEC), 400)}


def test_twins_share_their_world():
    """Ids out of the blue exist by the seed and the situation, and so do the ids of what is created."""
    task = {
        "scenario_id": "sc-1",
        "prompt": "A ticket, please",
        "faults": fault_plan("timeout", "refund_order"),
        "seed": 4,
    }
    twin = clean_twin_task(task)
    worlds = [Session.of_task(SPEC, found) for found in (task, twin, {**twin, "twin_of": None})]
    calls = [("get_order", {"order_id": f"ORD-{number}"}) for number in range(20)]
    calls.append(("create_ticket", {"subject": "Lamp"}))
    answers = [[world.call(name, arguments) for name, arguments in calls] for world in worlds]
    assert answers[0] == answers[1] != answers[2]


def test_a_task_without_a_fault_has_no_twin():
    with pytest.raises(ConfigurationError, match=r"sc-9.*no fault plan"):
        clean_twin_task({"scenario_id": "sc-9", "prompt": "Hi", "faults": None})


def test_a_task_of_ones_own_keeps_its_words():
    own = {
        "task_id": 7,
        "prompt": "Refund it.",
        "faults": fault_plan("injection", "get_order"),
        "privileged": {"key": 1},
    }
    twin = clean_twin_task(own)
    assert twin["twin_of"] == "7" and twin["privileged"] == {"key": 1} and "scenario_dimensions" not in twin
    assert own["faults"] and "twin_of" not in own


def test_what_the_user_says_later_exists_as_well():
    session = Session.of_task(SPEC, {"prompt": "Refund ORD-7"})
    assert session.call("get_order", {"order_id": "ORD-8"})["status"] == "not_found"
    session.hear("Sorry, ORD-8 is what I meant.")
    assert [session.call("get_order", {"order_id": f"ORD-{n}"})["status"] for n in (7, 8, 9)] == [
        "ok",
        "ok",
        "not_found",
    ]


def test_a_world_of_another_stack_is_taken_as_it_comes():
    task = {"prompt": "Refund ORD-7", "world_state": '{"orders": []}', "scenario_dimensions": None, "seed": None}
    session = Session.of_task(SPEC, task, seed=9)
    assert session.seed == 9 and session.call("get_order", {"order_id": "ORD-7"})["status"] == "ok"
    assert Session.of_task(SPEC, {**task, "seed": 0}, seed=9).seed == 0
