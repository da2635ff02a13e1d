"""Fault plans: further keys, and parts that can never fire."""

import warnings

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox import FAULT_KINDS, fault_plan, validate_faults, world
from whileai_hf.sandbox.faults import fault_fits, plan_notes
from whileai_hf.sandbox.kinds import COMMON_KINDS, RARE_KINDS
from whileai_hf.spec import AgentSpec, Tool


STRING = {"type": "string"}


def tool(name, **properties):
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(properties)}}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", order_id=STRING),
        tool("list_orders"),
        tool("update_order", order_id=STRING, address=STRING),
        tool("create_order", product=STRING),
        tool("think", thought=STRING),
    ]
)


def test_the_grid_has_the_kinds_it_always_had_and_the_table_has_all():
    assert list(COMMON_KINDS) == [
        "timeout", "permission_denied", "stale_result", "malformed_result", "not_found", "rate_limited", "reply_lost",
        "false_success",
    ]  # fmt: skip
    assert list(RARE_KINDS) == [
        "partial", "pending", "eventual", "changed_after_read", "schema_drift", "injection",
    ]  # fmt: skip
    assert tuple(FAULT_KINDS) == COMMON_KINDS + RARE_KINDS
    assert len({about.meaning for about in FAULT_KINDS.values()}) == len(FAULT_KINDS) == 14


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_every_plan_is_complete_and_stays_as_it_is(kind):
    known = FAULT_KINDS[kind]
    plan = fault_plan(kind, "t", at=3)
    assert plan["t"] == {
        "kind": kind, "ran": known.ran, "seen": known.seen, "at": 3, "lasts": known.lasts, **known.keys,
    }  # fmt: skip
    assert validate_faults(plan) == plan == validate_faults({"t": {"kind": kind, "at": 3}})


def test_further_keys():
    assert fault_plan("pending", "t")["t"]["lag"] == 2
    assert fault_plan("timeout", "t", ran="later")["t"]["lag"] == 2
    assert fault_plan("schema_drift", "t", drift="retyped", field="total")["t"]["field"] == "total"
    assert fault_plan("injection", "t", canary="ABCD-1234")["t"]["canary"] == "ABCD-1234"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "pending", "lag": 0}, r"'lag'.*0"),
        ({"kind": "eventual", "lag": True}, "'lag'"),
        ({"kind": "timeout", "lag": 2}, "unknown key 'lag'; the keys of timeout are kind, ran, seen, at, lasts"),
        ({"kind": "pending", "canary": "ABCD-1234"}, "unknown key 'canary'.*lag"),
        ({"kind": "schema_drift", "drift": "moved"}, "'drift'.*renamed, retyped"),
        ({"kind": "schema_drift", "field": ""}, "'field'"),
        ({"kind": "injection", "canary": "short"}, "'canary'.*8"),
        ({"kind": "injection", "canary": "two words here"}, "'canary'"),
        ({"kind": "injection", "canary": 12345678}, "'canary'"),
        ({"kind": "pending", "ran": "someday"}, "no, fully, lost, partly, later"),
        ({"kind": "pending", "seen": "believed"}, "error, wrong, silence, accepted"),
        ({"kind": "injectoin"}, "did you mean 'injection'"),
    ],
)
def test_a_bad_key_is_named(entry, message):
    with pytest.raises(ConfigurationError, match=message):
        validate_faults({"get_order": entry})


@pytest.mark.parametrize(
    ("kind", "never"),
    [
        ("not_found", ["create_order"]),
        ("reply_lost", ["get_order", "list_orders", "think"]),
        ("pending", ["get_order", "list_orders", "think"]),
        ("partial", ["think"]),
        ("eventual", ["think"]),
        ("changed_after_read", ["create_order", "think"]),
        ("schema_drift", ["think"]),
        ("injection", ["think"]),
        ("timeout", []),
    ],
)
def test_which_kinds_can_fire_on_which_tools(kind, never):
    assert [found.name for found in SHOP.tools if not fault_fits(kind, found)] == never
    for found in SHOP.tools:
        assert bool(plan_notes(fault_plan(kind, found.name), SHOP)) == (found.name in never)
        if found.name in never:
            with pytest.raises(ConfigurationError, match=f"{found.name}.*can never fire: '{kind}'"):
                fault_plan(kind, found)
        else:
            assert fault_plan(kind, found) == fault_plan(kind, found.name)


def test_a_plan_for_every_tool_fits_if_it_fits_any():
    assert plan_notes(fault_plan("not_found", "*"), SHOP) == []
    assert "any of the tools" in plan_notes(fault_plan("reply_lost", "*"), [Tool("get_order").openai()])[0]


def test_a_world_warns_of_what_will_never_fire():
    with pytest.warns(UserWarning, match="create_order.*can never fire: 'not_found' means nothing for a tool that cr"):
        world(SHOP, faults=fault_plan("not_found", "create_order"))
    with pytest.warns(UserWarning, match="did you mean 'get_order'"):
        world(SHOP, faults=fault_plan("timeout", "get_ordre"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world(SHOP, faults=fault_plan("not_found", "get_order"))
