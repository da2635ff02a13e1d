"""Stale answers after the rollout's own writes, and records that are denied."""

import pytest

from whileai_hf.sandbox import Session, fault_plan
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, **properties):
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(properties)}}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", order_id=STRING),
        tool("open_nodes", names={"type": "array", "items": STRING}),
        tool("update_order", order_id=STRING, address=STRING),
        tool("delete_order", order_id=STRING),
        tool("create_order", product=STRING),
        tool("list_orders"),
        tool("search_orders", query=STRING),
    ]
).tools
ORDER = {"order_id": "ORD-7"}


def shop(kind, name, **settings):
    return Session(SHOP, prompt="About ORD-7", faults=fault_plan(kind, name, **settings))


def test_a_stale_read_shows_the_record_before_the_write():
    session = shop("stale_result", "get_order", at=2)
    before = session.call("get_order", ORDER)
    session.call("update_order", {**ORDER, "address": "9 Elm Street"})
    stale = session.call("get_order", ORDER)
    assert stale.pop("as_of") and stale == before
    assert session.call("get_order", ORDER)["data"]["address"] == "9 Elm Street"
    assert session.fired == [{"tool": "get_order", "kind": "stale_result", "call": 2}]


def test_of_two_writes_it_misses_the_last_that_matters():
    session = shop("stale_result", "get_order")
    for address in ("9 Elm Street", "10 Elm Street"):
        session.call("update_order", {**ORDER, "address": address})
    session.call("create_order", {"product": "kettle"})
    assert session.call("get_order", ORDER)["data"]["address"] == "9 Elm Street"


def test_a_created_record_is_not_there_yet_and_is_afterwards():
    session = shop("stale_result", "get_order")
    made = {"order_id": session.call("create_order", {"product": "kettle"})["data"]["order_id"]}
    stale = session.call("get_order", made)
    assert stale["status"] == "not_found" and stale["as_of"] and "kettle" not in str(stale)
    assert session.call("get_order", made)["data"]["product"] == "kettle"


def test_a_created_record_is_not_listed_yet():
    session = shop("stale_result", "list_orders")
    made = session.call("create_order", {"product": "kettle"})["data"]["order_id"]
    stale = session.call("list_orders", {})
    assert made not in [row["order_id"] for row in stale["data"]] and stale["count"] == len(stale["data"])
    assert made in [row["order_id"] for row in session.call("list_orders", {})["data"]]


def test_a_deleted_record_is_still_there():
    session = shop("stale_result", "get_order")
    session.call("delete_order", ORDER)
    digest = session.state_digest()
    assert session.call("get_order", ORDER)["data"]["order_id"] == "ORD-7"
    assert session.call("get_order", ORDER)["status"] == "not_found"
    assert session.state_digest() == digest and len(session.fired) == 1


@pytest.mark.parametrize("given", ["ORD-7", "#ORD-7", "Ord-7"])
def test_a_denied_record_is_named_as_the_caller_did_and_in_the_words_of_a_refusal(given):
    denied = shop("not_found", "get_order").call("get_order", {"order_id": given})
    assert denied == Session(SHOP, prompt="About ORD-1").call("get_order", {"order_id": given})
    assert given in denied["error"]


def test_several_denied_records_are_all_named():
    plan = fault_plan("not_found", "open_nodes")
    session = Session(SHOP, prompt="About ORD-7 and ORD-8", faults=plan)
    denied = session.call("open_nodes", {"names": ["ORD-7", "ORD-8"]})
    assert denied["status"] == "not_found" and denied["error"].endswith("ORD-7, ORD-8")


@pytest.mark.parametrize(("name", "arguments"), [("list_orders", {}), ("search_orders", {"query": "kettle"})])
def test_a_denied_list_is_empty(name, arguments):
    session = shop("not_found", name)
    assert session.call(name, arguments) == {"status": "ok", "data": [], "count": 0}
    assert session.call(name, arguments)["count"] > 0 and len(session.fired) == 1


def test_nothing_is_denied_that_is_about_to_be_made():
    session = shop("not_found", "create_order", lasts="always")
    assert session.call("create_order", {"product": "kettle"})["status"] == "created"
    assert session.fired == [] and len(session.writes) == 1
