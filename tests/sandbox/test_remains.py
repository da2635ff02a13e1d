"""What a rollout leaves behind, record by record."""

import pytest

from whileai_hf.sandbox import Session, fault_plan


ID = {"order_id": {"type": "string"}}
TOOLS = [
    {"name": "get_order", "parameters": {"type": "object", "properties": ID, "required": ["order_id"]}},
    {
        "name": "update_order",
        "parameters": {
            "type": "object",
            "properties": {**ID, "address": {"type": "string"}},
            "required": ["order_id", "address"],
        },
    },
    {"name": "delete_order", "parameters": {"type": "object", "properties": ID, "required": ["order_id"]}},
    {"name": "create_order", "parameters": {"type": "object", "properties": {"product": {"type": "string"}}}},
]
ASK = "Please change ORD-7 and ORD-8."


def _left(*calls, **premise):
    session = Session(TOOLS, prompt=ASK, **premise)
    replies = [session.call(tool, arguments) for tool, arguments in calls]
    return session.state_changes(), replies


def test_reading_moves_nothing():
    assert _left(("get_order", {"order_id": "ORD-7"}))[0] == []


def test_an_update_shows_what_was_there_before():
    _, (seen,) = _left(("get_order", {"order_id": "ORD-7"}))
    changes, _ = _left(("update_order", {"order_id": "ORD-7", "address": "12 Elm"}))
    assert changes == [
        {
            "entity": "order",
            "id": "ORD-7",
            "change": "updated",
            "before": {"address": seen["data"].get("address")},
            "after": {"address": "12 Elm"},
            "tool": "update_order",
        }
    ]


def test_a_record_made_and_one_removed():
    changes, (created, _) = _left(("create_order", {"product": "lamp"}), ("delete_order", {"order_id": "ORD-7"}))
    by_kind = {change["change"]: change for change in changes}
    assert set(by_kind) == {"created", "deleted"}
    assert by_kind["created"]["before"] is None and by_kind["created"]["after"]["product"] == "lamp"
    assert by_kind["created"]["id"] in created["data"].values()
    assert by_kind["deleted"]["id"] == "ORD-7" and by_kind["deleted"]["after"] is None
    assert by_kind["deleted"]["before"]


def test_what_was_made_and_removed_again_has_not_moved():
    session = Session(TOOLS, prompt=ASK)
    made = session.call("create_order", {"product": "lamp"})["data"]
    identifier = next(value for name, value in made.items() if name != "product")
    assert session.call("delete_order", {"order_id": identifier})["status"] == "deleted"
    assert session.state_changes() == []


def test_what_was_changed_back_has_not_moved():
    session = Session(TOOLS, prompt=ASK)
    session.call("update_order", {"order_id": "ORD-7", "address": "12 Elm"})
    (before,) = (change["before"]["address"] for change in session.state_changes())
    session._records.state.fields[("order", "ord-7")]["address"] = before
    assert session.state_changes() == []


@pytest.mark.parametrize(("kind", "moved"), [("false_success", False), ("reply_lost", True), ("timeout", False)])
def test_it_is_the_world_that_counts_not_what_the_caller_saw(kind, moved):
    call = ("update_order", {"order_id": "ORD-7", "address": "12 Elm"})
    changes, _ = _left(call, faults=fault_plan(kind, "update_order"))
    assert bool(changes) == moved


def test_a_change_by_somebody_else_is_nobodys_tool():
    session = Session(TOOLS, prompt=ASK, faults=fault_plan("changed_after_read", "update_order"))
    session.call("get_order", {"order_id": "ORD-7"})
    session.call("update_order", {"order_id": "ORD-7", "address": "12 Elm"})
    assert [change["tool"] for change in session.state_changes()] == [None]


def test_before_shows_the_condition_the_situation_gives():
    premise = {"world_state": "entity partially completed", "target": "update_order"}
    (change,), (seen, _) = _left(
        ("get_order", {"order_id": "ORD-7"}), ("delete_order", {"order_id": "ORD-7"}), **premise
    )
    assert change["before"] == seen["data"]


def test_equal_ends_leave_equal_changes_in_any_order():
    calls = [("update_order", {"order_id": name, "address": "12 Elm"}) for name in ("ORD-7", "ORD-8")]
    assert _left(*calls)[0] == _left(*reversed(calls))[0]
