"""Faults that wait for a call they mean something for, and a record nobody else can change."""

import warnings

import pytest

from whileai_hf.sandbox import Session, fault_plan
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, required=None, **properties):
    names = list(properties) if required is None else required
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": names}}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", order_id=STRING),
        tool("refund_order", order_id=STRING),
        tool("update_order", ["order_id"], order_id=STRING, address=STRING, lines={"type": "array"}),
        tool("create_order", ["product"], product=STRING, lines={"type": "array"}),
        tool("update_settings", lines={"type": "array"}),
        tool("add_settings", lines={"type": "array"}),
    ]
).tools
ORDER = {"order_id": "ORD-7"}


def shop(prompt="About ORD-7", **settings):
    return Session(SHOP, prompt=prompt, **settings)


@pytest.mark.parametrize("kind", ["reply_lost", "false_success"])
def test_a_write_fault_waits_for_a_call_that_takes_effect(kind):
    session = shop(faults=fault_plan(kind, "refund_order"))
    refusals = [{}, {"order_id": "<order_id>"}, {"order_id": "ORD-99"}, {"order_id": 7}]
    assert [session.call("refund_order", arguments)["status"] for arguments in refusals] == [
        "invalid_arguments", "invalid_arguments", "not_found", "invalid_arguments",
    ]  # fmt: skip
    assert session.fired == [] and session.writes == []
    seen = session.call("refund_order", ORDER)["status"]
    assert seen == ("timeout" if kind == "reply_lost" else "updated")
    assert session.fired == [{"tool": "refund_order", "kind": kind, "call": 5}]


def test_a_lost_reply_does_not_count_what_was_already_done():
    session = shop(faults=fault_plan("reply_lost", "refund_order", at=2))
    assert session.call("refund_order", ORDER)["status"] == "updated"
    assert session.call("refund_order", ORDER)["status"] == "already_done"
    assert session.fired == [] and len(session.writes) == 1


@pytest.mark.parametrize("kind", ["reply_lost", "false_success"])
@pytest.mark.parametrize("seen", ["error", "wrong", "silence"])
def test_a_write_fault_never_fires_on_a_read(kind, seen):
    plan = fault_plan(kind, "*", lasts=1)
    plan["*"]["seen"] = seen
    session = shop(faults=plan)
    for arguments in (ORDER, {"order_id": "ORD-99"}):
        assert session.call("get_order", arguments) == shop().call("get_order", arguments)
    assert session.fired == []
    session.call("refund_order", ORDER)
    assert [fault["tool"] for fault in session.fired] == ["refund_order"]


@pytest.mark.parametrize("name", ["update_order", "create_order", "update_settings"])
def test_nobody_changes_the_record_through_a_reply_or_the_ledger(name):
    session = shop()
    own = {"update_order": ORDER, "create_order": {"product": "kettle"}, "update_settings": {}}[name]
    given = {**own, "lines": [{"sku": ["a"]}]}
    reply = session.call(name, given)
    digest, writes = session.state_digest(), session.writes
    assert writes == [{"tool": name, "arguments": {**own, "lines": [{"sku": ["a"]}]}, "call": 1}]
    for lines in (reply["data"]["lines"], given["lines"], session.writes[0]["arguments"]["lines"]):
        lines[0]["sku"].append("b")
        lines.append("c")
    session.writes[0]["arguments"].clear()
    session.writes.clear()
    assert session.state_digest() == digest and session.writes == writes


def test_what_is_added_to_a_setting_shares_nothing_with_the_reply():
    session = shop()
    session.call("add_settings", {"lines": [{"sku": ["a"]}]})
    reply = session.call("add_settings", {"lines": [{"sku": ["b"]}]})
    digest = session.state_digest()
    reply["data"]["lines"][0]["sku"].append("x")
    assert session.state_digest() == digest


def test_fired_faults_are_the_callers_to_change():
    session = shop(faults=fault_plan("timeout", "get_order"))
    session.call("get_order", ORDER)
    session.fired[0].clear()
    assert session.fired == [{"tool": "get_order", "kind": "timeout", "call": 1}]


def test_facts_are_not_shared_between_rollouts():
    tools = AgentSpec.from_tools(
        [{"name": "get_weather", "description": "Returns city and tags.", "parameters": {"type": "object"},
          "outputSchema": {"type": "object"}}]
    ).tools  # fmt: skip
    first = Session(tools, prompt="x").call("get_weather", {})
    for value in first["data"].values():
        if isinstance(value, list):
            value.append("changed")
    again = Session(tools, prompt="x").call("get_weather", {})
    assert all("changed" not in value for value in again["data"].values() if isinstance(value, list))


def test_an_execute_that_changes_its_arguments_does_not_change_the_record():
    def own(name, arguments):
        arguments.clear()
        return {"done": True}

    session = shop(execute=own)
    session.call("refund_order", ORDER)
    assert session.writes[0]["arguments"] == ORDER


def test_an_async_execute_is_refused_without_a_warning():
    async def own(name, arguments):
        return {"done": True}

    session = shop(execute=own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reply = session.call("refund_order", ORDER)
    assert reply == {"status": "error", "error": "execute returned a coroutine; pass a sync function"}
    assert session.writes == []
