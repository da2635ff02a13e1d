"""How often each write took effect, and calls that carry a key so that they take effect once."""

import pytest

from whileai_hf.sandbox import Session, fault_plan, id_parameters, world
from whileai_hf.spec import AgentSpec


STRING, NUMBER = {"type": "string"}, {"type": "number"}


def tool(name, required, **properties):
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": required}}


BANK = AgentSpec.from_tools(
    [
        tool("get_account", ["account_id"], account_id=STRING),
        tool("pay_invoice", ["invoice_id"], invoice_id=STRING, amount=NUMBER, note=STRING),
        tool("refund_order", ["order_id"], order_id=STRING),
        tool("create_transfer", ["account_id"], account_id=STRING, amount=NUMBER, idempotency_key=STRING),
        tool("update_account", ["account_id"], account_id=STRING, limit=NUMBER),
    ]
).tools
PAY = {"invoice_id": "INV-7", "amount": 5}
TRANSFER = {"account_id": "ACC-7", "amount": 5}


def bank(kind=None, name="*", **settings):
    plan = fault_plan(kind, name, **settings) if kind else None
    return Session(BANK, prompt="INV-7, ORD-7, ACC-7", faults=plan)


def counts(session):
    return [(write["tool"], write["count"]) for write in session.write_counts()]


def test_a_retry_after_a_lost_reply_is_done_twice_where_the_world_lets_it():
    session = bank("reply_lost", "pay_invoice")
    assert [session.call("pay_invoice", PAY)["status"] for _ in range(2)] == ["timeout", "updated"]
    assert session.write_counts() == [{"tool": "pay_invoice", "arguments": PAY, "count": 2, "calls": [1, 2]}]
    refused = bank("reply_lost", "refund_order")
    for _ in range(2):
        refused.call("refund_order", {"order_id": "ORD-7"})
    assert counts(refused) == [("refund_order", 1)]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"invoice_id": "#inv-7", "amount": 5.0}, True),
        ({"amount": 5, "invoice_id": "INV-7"}, True),
        ({**PAY, "amount": 6}, False),
        ({**PAY, "note": "again"}, False),
    ],
)
def test_what_counts_as_the_same_write(other, same):
    session = bank()
    for arguments in (PAY, other):
        assert session.call("pay_invoice", arguments)["status"] == "updated"
    assert counts(session) == ([("pay_invoice", 2)] if same else [("pay_invoice", 1)] * 2)


def test_what_took_no_effect_does_not_count():
    session = bank("false_success", "pay_invoice")
    session.call("pay_invoice", PAY)
    session.call("get_account", {"account_id": "ACC-7"})
    session.call("pay_invoice", {})
    assert session.write_counts() == []
    session = bank("pending", "pay_invoice", lag=1)
    session.call("pay_invoice", PAY)
    assert counts(session) == []
    for _ in range(2):
        session.call("get_account", {"account_id": "ACC-7"})
    assert counts(session) == [("pay_invoice", 1)]


def test_the_counts_are_the_callers_to_change():
    session = bank()
    session.call("pay_invoice", PAY)
    session.write_counts()[0]["arguments"].clear()
    assert session.write_counts()[0]["arguments"] == PAY


def test_a_world_counts_too():
    shop = world(BANK)
    shop.call("pay_invoice", PAY)
    assert shop.write_counts() == [{"tool": "pay_invoice", "arguments": PAY, "count": 1, "calls": [1]}]


# idempotency keys


def test_an_idempotency_key_is_no_record():
    assert id_parameters(BANK[3]) == ["account_id"]
    assert bank().call("create_transfer", {**TRANSFER, "idempotency_key": "k-1"})["status"] == "created"


def test_the_same_key_takes_effect_once_and_is_answered_alike():
    session = bank("reply_lost", "create_transfer")
    keyed = {**TRANSFER, "idempotency_key": "k-1"}
    replies = [session.call("create_transfer", keyed) for _ in range(4)]
    assert [reply["status"] for reply in replies] == ["timeout", "created", "created", "created"]
    assert replies[1:] == [replies[1]] * 3 and counts(session) == [("create_transfer", 1)]


@pytest.mark.parametrize("seen", ["accepted", "error"])
def test_the_same_key_asks_how_a_pending_write_is_coming_along(seen):
    session = bank("pending", "create_transfer", seen=seen)
    keyed = {**TRANSFER, "idempotency_key": "k-1"}
    statuses = [session.call("create_transfer", keyed)["status"] for _ in range(4)]
    assert statuses == ["pending" if seen == "accepted" else "timeout", "pending", "pending", "created"]
    assert counts(session) == [("create_transfer", 1)]


def test_another_key_or_none_is_another_transfer():
    session = bank()
    for extra in ({"idempotency_key": "k-1"}, {"idempotency_key": "k-2"}, {}, {}):
        assert session.call("create_transfer", {**TRANSFER, **extra})["status"] == "created"
    assert [(write["count"], write["calls"]) for write in session.write_counts()] == [(4, [1, 2, 3, 4])]


def test_a_refused_call_does_not_use_its_key_up():
    session = bank()
    assert session.call("create_transfer", {"account_id": "ACC-9", "idempotency_key": "k"})["status"] == "not_found"
    assert session.call("create_transfer", {**TRANSFER, "idempotency_key": "k"})["status"] == "created"
