"""Where a kind of fault can show: on one tool, or between two calls about one record."""

import pytest

from whileai_hf.sandbox import FAULT_KINDS, Session, fault_plan
from whileai_hf.sandbox.faults import fault_fits
from whileai_hf.sandbox.reach import PAIRED, reach_of
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, *required, **properties):
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(required)}}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", "order_id", order_id=STRING),
        tool("list_orders"),
        tool("get_customer", "customer_id", customer_id=STRING),
        tool("update_order", "order_id", "address", order_id=STRING, address=STRING),
        tool("create_order", "product", product=STRING),
        tool("think", "thought", thought=STRING),
    ]
)


def test_alone_are_the_kinds_that_fit_and_need_no_second_call():
    reach = reach_of(SHOP)
    for found in SHOP.tools:
        fitting = {kind for kind in FAULT_KINDS if kind not in PAIRED and fault_fits(kind, found)}
        assert reach.alone[found.name] == fitting
    assert "not_found" not in reach.alone["create_order"] and "partial" not in reach.alone["think"]


def test_a_pair_is_about_one_record():
    pairs = reach_of(SHOP).pairs
    assert pairs["eventual"] == {"update_order": {"get_order", "list_orders"}, "create_order": {"list_orders"}}
    assert pairs["changed_after_read"] == {"get_order": {"update_order"}}
    assert reach_of([tool("get_order", "order_id", order_id=STRING)]).pairs == {kind: {} for kind in PAIRED}
    assert reach_of([]).alone == {}


@pytest.mark.parametrize("kind", PAIRED)
def test_every_pair_shows_what_it_is_for(kind):
    arguments = {
        "get_order": {"order_id": "ORD-7"},
        "list_orders": {},
        "update_order": {"order_id": "ORD-7", "address": "1 Elm St"},
        "create_order": {"product": "kettle"},
    }
    for first, others in reach_of(SHOP).pairs[kind].items():
        for second in others:
            session = Session(SHOP, seed=0, scenario_id="sc-1", faults=fault_plan(kind, first))
            session.call(first, arguments[first])
            assert session.fired == []
            session.call(second, arguments[second])
            assert [fault["kind"] for fault in session.fired] == [kind], (first, second)
