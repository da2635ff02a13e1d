"""A row's calls made again give what stands on it, and say where they do not; one failure again without a factor."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import whileai_hf as wai
from whileai_hf.actors import ScriptedModel
from whileai_hf.engine.replay import replay
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import canonical, to_dataset
from whileai_hf.sandbox import FAULT_KINDS, Session, current_rollout, fault_plan
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, required, description="", **properties):
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": parameters}


SPEC = AgentSpec.from_tools(
    [
        tool("get_order", ["order_id"], "Returns status, total, date and address.", order_id=STRING),
        tool("list_orders", [], "List the orders."),
        tool("refund_order", ["order_id"], "Refund an order.", order_id=STRING, amount={"type": "number"}),
        tool("update_order", ["order_id"], order_id=STRING, address=STRING, gift_note=STRING),
        tool("create_order", ["product"], product=STRING, colour=STRING),
    ],
    "You are the order desk.",
)
ORDER = {"order_id": "ORD-7"}
CALLS = [
    ("get_order", ORDER),
    ("list_orders", {}),
    ("refund_order", {**ORDER, "amount": 5}),
    ("refund_order", {}),
    ("update_order", {**ORDER, "address": "9 Elm Street", "gift_note": "Well done"}),
    ("create_order", {"product": "lamp", "colour": "red"}),
    ("get_order", {"order_id": "ORD-99"}),
    ("no_such_tool", {}),
]


def played(calls=((CALLS[0]), CALLS[2], CALLS[0]), user=None, **task):
    """A row as a run leaves it, of an agent that makes these calls."""
    task = {"scenario_id": "sc-1", "prompt": "Refund ORD-7", "seed": 3, "faults": None, **task}
    session = Session.of_task(SPEC.tools, task)
    steps = []
    for name, arguments in calls:
        steps.append({"tool": name, "arguments": arguments, "result": copy.deepcopy(session.call(name, arguments))})
        if user:
            session.hear(user)
            steps.append({"user": user})
    row = {**task, "steps": steps, "final_text": "Done.", "tools": SPEC.openai_tools(), "rollout_index": 0}
    row |= {
        "faults_fired": session.fired,
        "state_digest": session.state_digest() if session.answered(steps) else None,
        "rollout_status": "ok",
    }
    return canonical(row)


@pytest.fixture(scope="module")
def run():
    return wai.simulate(wai.seeded_agent(SPEC), SPEC, budget=60, seed=5)


@pytest.mark.parametrize("form", ["dataset", "list", "parquet"])
def test_a_run_comes_out_as_it_stands_there(run, form, tmp_path):
    source = run
    if form == "list":
        source = [run[index] for index in range(len(run))]
    elif form == "parquet":
        run.to_parquet(tmp_path / "rows.parquet")
        source = str(tmp_path / "rows.parquet")
    report = replay(source)
    assert report.ok and report.n_matched == len(run) == 60 and report.mismatches == []
    assert report.n_calls == sum(step.get("tool") is not None for steps in run["steps"] for step in steps) > 40
    assert "60 of 60" in str(report)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(CALLS), max_size=8),
    st.sampled_from([None, *FAULT_KINDS]),
    st.sampled_from(["*", "get_order", "update_order", "create_order"]),
    st.integers(1, 3),
    st.sampled_from(["entity exists", "entity missing", "entity already acted on", "entity duplicated", "unknown"]),
)
def test_whatever_was_called_under_whatever_fault(calls, kind, name, at, state):
    faults = fault_plan(kind, name, at=at) if kind else None
    row = played(calls, faults=faults, world_state=state)
    report = replay([row])
    assert report.ok and report.n_states == 1 and report.n_calls == len(calls), report


def test_a_published_row_needs_nothing_else(tmp_path):
    rows = to_dataset([played(faults=fault_plan("pending", "refund_order", lag=1)), played()])
    rows.to_parquet(tmp_path / "rows.parquet")
    report = replay(str(tmp_path / "rows.parquet"))
    assert report.ok and report.n_states == 2 and report.notes == []


# differences


def changed(change):
    row = played()
    change(row)
    return replay([played(), row])


def test_a_changed_answer_is_named_with_its_place():
    report = changed(lambda row: row["steps"][2]["result"]["data"].update(status="open"))
    assert report.matched == [True, False] and not report.ok
    assert report.mismatches == [
        {"row": 1, "scenario_id": "sc-1", "rollout_index": 0, "what": "result", "step": 2, "tool": "get_order",
         "where": "data.status", "expected": "open", "got": "refunded"}
    ]  # fmt: skip
    assert "row 1, step 2 (get_order): result at data.status was 'open', now 'refunded'" in str(report)


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("state_digest", lambda row: row.update(state_digest="0" * 16)),
        ("faults_fired", lambda row: row.update(faults_fired=[{"tool": "get_order", "kind": "timeout", "call": 1}])),
        ("result", lambda row: row["steps"].pop(1)),
        ("result", lambda row: row["steps"][0]["arguments"].update(order_id="ORD-8")),
        ("result", lambda row: row.update(seed=4)),
        ("result", lambda row: row.update(faults=fault_plan("timeout", "refund_order"))),
        ("state_digest", lambda row: row["steps"].pop(1) and row["steps"].pop(1)),
    ],
)
def test_whatever_was_changed_shows(what, change):
    report = changed(change)
    assert [(found["row"], found["what"]) for found in report.mismatches] == [(1, what)]


def test_a_write_that_was_left_out_of_the_row_shows_in_the_state():
    row = played([CALLS[0], CALLS[4]])
    row["steps"].pop()
    assert replay([row]).mismatches[0]["what"] == "state_digest"


# what cannot be replayed


def reasons(*rows, **settings):
    return {entry["reason"]: entry["rows"] for entry in replay(list(rows), **settings).not_replayable}


def test_rows_that_cannot_be_replayed_are_named_with_the_reason():
    own = played()
    own["state_digest"] = None
    shaped = played()
    shaped["steps"][0]["result"] = "shipped"
    lost = {**played(), "rollout_status": "error", "steps": []}
    bare = {**played(), "tools": None}
    broken = {**played(), "faults": {"get_order": {"kind": "earthquake"}}}
    report = replay([played(), own, shaped, lost, bare, broken, {"prompt": "Hi", "reward": 1.0}])
    assert report.matched == [True, *[None] * 6] and not report.ok and report.mismatches == []
    found = {entry["reason"]: entry["rows"] for entry in report.not_replayable}
    assert sorted(found.values()) == [[1, 2], [3], [4], [5], [6]]
    assert "another world" in next(iter(found)) and any("tools=" in reason for reason in found)
    assert any("earthquake" in reason for reason in found)
    assert replay([bare], tools=SPEC).ok


def test_an_agent_with_its_own_world_leaves_no_digest():
    session = Session(SPEC.tools, execute=lambda name, arguments: {"status": "ok", "data": 1})
    steps = [{"tool": "get_order", "arguments": ORDER, "result": session.call("get_order", ORDER)}]
    assert not session.answered(steps)
    assert reasons({**played(), "steps": steps, "state_digest": None})


def test_steps_are_this_worlds_only_if_all_of_them_are():
    session = Session.of_task(SPEC.tools, {"prompt": "Refund ORD-7"})
    steps = [{"tool": name, "arguments": given, "result": session.call(name, given)} for name, given in CALLS[:3]]
    spoken = [{"text": "One moment."}, *steps, {"tool": "get_order", "arguments": "{", "malformed": True}]
    assert session.answered(spoken)
    for others in (steps[:2], [*steps, steps[0]], steps[::-1], [*steps[:2], {**steps[2], "result": {"status": "ok"}}]):
        assert not session.answered(others)


def test_makers_hints_ride_in_the_lineage():
    quiet = AgentSpec.from_tools(
        [{"name": "refund_order", "annotations": {"readOnlyHint": True}, "inputSchema": SPEC.tools[2].parameters}]
    )
    session = Session.of_task(quiet.tools, {"prompt": "Refund ORD-7"})
    reply = session.call("refund_order", ORDER)
    assert session.writes == []
    row = {"prompt": "Refund ORD-7", "steps": [{"tool": "refund_order", "arguments": ORDER, "result": reply}]}
    row |= {"state_digest": session.state_digest(), "tools": quiet.openai_tools()}
    hints = {"tool_annotations": {tool.name: tool.annotations for tool in quiet.tools}}
    assert not replay([row]).ok
    assert replay([{**row, "lineage": hints}]).ok and replay([row], tools=quiet).ok


def test_what_the_user_said_later_is_heard_again():
    told = played([("get_order", {"order_id": "ORD-8"})] * 2, user="I meant ORD-8, sorry.")
    assert [step["result"]["status"] for step in told["steps"] if "tool" in step] == ["not_found", "ok"]
    assert replay([told]).ok
    unheard = played([("get_order", {"order_id": "ORD-8"})] * 2)
    unheard["steps"].insert(1, {"user": "I meant ORD-8, sorry."})
    assert replay([unheard]).ok


def test_nothing_to_replay():
    with pytest.raises(DataError, match="empty"):
        replay([])


# one failure again


def refunding(messages, tools):
    """Refunds, and claims it whatever came of it; looks it up again only when it was told of an error."""
    made = sum(message["role"] == "tool" for message in messages)
    if made == 0:
        return {"tool_calls": [{"name": "refund_order", "arguments": ORDER}]}
    return "Refunded."


def honest(row):
    return float(all(step["result"]["status"] == "updated" for step in row["steps"] if step.get("tool")))


def failing(agent, **task):
    task = {"prompt": "Refund ORD-7", "scenario_id": "sc-1", "seed": 3, **task}
    return wai.simulate(agent, SPEC, tasks=[task], repeats=1)


def test_it_failed_under_the_fault():
    agent = ScriptedModel(refunding)
    data = failing(agent, faults=fault_plan("timeout", "refund_order"))
    found = replay(data, agent, without="fault", judge=honest, repeats=2)
    assert (found.failed_with, found.failed_without, found.depends) == (2, 0, True)
    assert found.verdict == "it failed under the fault: 2 of 2 fail with it, 0 of 2 without"
    assert found.was["refund_order"]["kind"] == "timeout" and "sc-1" in str(found)
    assert [one["calls"] for one in found.with_factor] == [["refund_order"]] * 2


def test_it_fails_without_the_fault_as_well():
    agent = ScriptedModel(["No."])
    data = failing(agent, faults=fault_plan("timeout", "refund_order"))
    found = replay(data, agent, without="fault", judge=lambda row: 0.0)
    assert (found.failed_with, found.failed_without, found.depends) == (1, 1, False)
    again = replay(data[0], agent, without="fault", judge=lambda row: 1.0)
    assert again.depends is None and "did not fail again" in again.verdict
    unjudged = replay(data[0], agent, without="fault", judge=lambda row: None)
    assert unjudged.depends is None and "no verdict" in unjudged.verdict


def test_without_a_judge_calls_and_final_state_are_compared():
    agent = ScriptedModel(refunding)
    data = failing(agent, faults=fault_plan("timeout", "refund_order"))
    found = replay(data, agent, without="fault")
    assert found.depends and found.verdict == "without the fault it makes the same calls and ends in another state"
    assert (
        found.failed_with is None and found.with_factor[0]["state_digest"] != found.without_factor[0]["state_digest"]
    )
    same = replay(failing(agent, faults=fault_plan("timeout", "get_order")), agent, without="fault")
    assert same.depends is False and "same state" in same.verdict


def test_the_state_of_the_world_can_be_switched_off():
    agent = ScriptedModel(refunding)
    data = failing(agent, world_state="entity missing")
    found = replay(data, agent, without="world_state", judge=honest)
    assert found.depends and found.was == "entity missing"


def test_async_agents_and_those_that_go_by_the_rollouts_number():
    async def agent(message):
        rollout = current_rollout()
        reply = rollout.session.call("refund_order", ORDER)
        steps = [{"tool": "refund_order", "arguments": ORDER, "result": reply}]
        return {"steps": steps, "final_text": f"rollout {rollout.rollout_index}"}

    task = {"prompt": "Refund ORD-7", "scenario_id": "sc-1", "faults": fault_plan("timeout", "refund_order")}
    data = wai.simulate(agent, SPEC, tasks=[task], repeats=3, repeat_policy="fixed")
    found = replay(data[2], agent, without="fault", judge=honest)
    assert found.depends and found.rollout_index == 2
    assert [one["final_text"] for one in found.with_factor + found.without_factor] == ["rollout 2"] * 2


def test_an_agent_that_raises_has_failed():
    def agent(message):
        if current_rollout().session.call("refund_order", ORDER)["status"] != "updated":
            raise RuntimeError("no refund")
        return {"steps": [], "final_text": "Refunded."}

    row = {"prompt": "Refund ORD-7", "faults": fault_plan("timeout", "refund_order"), "tools": SPEC.openai_tools()}
    found = replay([row | {"steps": [], "final_text": ""}], agent, without="fault", judge=lambda row: 1.0)
    assert found.depends and found.with_factor[0]["rollout_status"] == "error"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"agent": refunding}, "pass an agent and one of without="),
        ({"without": "fault"}, "no agent"),
        ({"agent": refunding, "without": "weather"}, "'fault', 'world_state', 'script', 'user'"),
        ({"agent": refunding, "without": "world_state"}, "ordinary"),
        ({"agent": refunding, "without": "script"}, "no scripted turns"),
        ({"agent": refunding, "without": "user"}, "nobody speaks after the ask"),
        ({"agent": refunding, "without": "fault", "repeats": 0}, "repeats=0"),
    ],
)
def test_what_cannot_be_switched_off_is_said(settings, message):
    row = played(faults=fault_plan("timeout", "get_order"))
    with pytest.raises(ConfigurationError, match=message):
        replay([row], **settings)


def test_one_row_at_a_time_and_only_what_was_planned():
    with pytest.raises(ConfigurationError, match="got 2 rows and an agent"):
        replay([played(), played()], refunding, without="fault")
    with pytest.raises(ConfigurationError, match="no fault is planned"):
        replay(played(), refunding, without="fault")


@pytest.mark.parametrize(
    ("factor", "extra"),
    [
        ("script", {"script": [{"user": "And now?"}]}),
        ("user", {"steps": [{"text": "Which one?"}, {"user": "ORD-7"}]}),
    ],
)
def test_later_turns_can_be_switched_off(factor, extra):
    row = {"prompt": "Refund ORD-7", "scenario_id": "sc-1", "tools": SPEC.openai_tools(), "steps": [], **extra}
    found = replay({**row, "final_text": "Refunded."}, ScriptedModel(refunding), without=factor)
    assert found.factor == factor and found.was
    assert found.without_factor[0]["calls"] == ["refund_order"]
