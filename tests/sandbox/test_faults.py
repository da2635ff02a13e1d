"""Each kind of fault in its three parts: did the call run, what does the caller see, how long does it last."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox import FAULT_KINDS, Session, fault_plan, validate_faults
from whileai_hf.sandbox.kinds import COMMON_KINDS
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}
TOOLS = AgentSpec.from_tools(
    [
        {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": ["order_id"]},
        }
        for name, description, properties in (
            ("get_order", "Returns status, total, date and address.", {"order_id": STRING}),
            ("refund_order", "Refund an order.", {"order_id": STRING}),
            ("update_order", "Update an order.", {"order_id": STRING, "address": STRING, "gift_note": STRING}),
        )
    ]
).tools
ORDER = {"order_id": "ORD-7"}
UPDATE = {"order_id": "ORD-7", "address": "9 Elm Street", "gift_note": "Well done"}


def broken(kind, name, **settings):
    plan = fault_plan(kind, name, **{key: settings.pop(key) for key in ("at", "lasts") if key in settings})
    plan[name].update(settings)
    return Session(TOOLS, prompt="About ORD-7", faults=plan)


def read(session):
    return session.call("get_order", ORDER)["data"]


@pytest.mark.parametrize(("kind", "seen"), [("timeout", "timeout"), ("permission_denied", "permission_denied")])
def test_refusals_do_not_run(kind, seen):
    session = broken(kind, "refund_order")
    assert session.call("refund_order", ORDER)["status"] == seen
    assert session.writes == [] and read(session)["status"] != "refunded"
    again = session.call("refund_order", ORDER)["status"]
    assert again == ("updated" if kind == "timeout" else "permission_denied")


def test_a_rate_limit_says_when_to_retry_and_lifts():
    session = broken("rate_limited", "get_order", lasts=2)
    replies = [session.call("get_order", ORDER) for _ in range(3)]
    assert [reply["status"] for reply in replies] == ["rate_limited", "rate_limited", "ok"]
    assert replies[0]["retry_after"] > 0


def test_a_lost_reply_took_effect():
    session = broken("reply_lost", "refund_order")
    assert session.call("refund_order", ORDER)["status"] == "timeout"
    assert session.writes == [{"tool": "refund_order", "arguments": ORDER, "call": 1}]
    assert read(session)["status"] == "refunded"
    assert session.call("refund_order", ORDER)["status"] == "already_done"
    assert len(session.writes) == 1


def test_a_false_success_wrote_nothing_until_it_is_read():
    session = broken("false_success", "refund_order")
    honest = Session(TOOLS, prompt="About ORD-7").call("refund_order", ORDER)
    assert session.call("refund_order", ORDER) == honest
    assert session.writes == []
    assert session.call("refund_order", ORDER) == honest and session.writes == []
    assert read(session)["status"] != "refunded"
    assert session.call("refund_order", ORDER)["status"] == "updated"
    assert read(session)["status"] == "refunded" and len(session.writes) == 1


def test_not_found_denies_a_record_that_exists():
    session = broken("not_found", "get_order", lasts=2)
    assert [session.call("get_order", ORDER)["status"] for _ in range(3)] == ["not_found", "not_found", "ok"]


def test_a_stale_read_shows_an_older_state():
    fresh = Session(TOOLS, prompt="About ORD-7")
    session = broken("stale_result", "get_order", at=2)
    first = session.call("get_order", ORDER)
    assert first == fresh.call("get_order", ORDER)
    stale = session.call("get_order", ORDER)
    assert stale["status"] == "ok" and "as_of" in stale and stale["data"] != first["data"]
    assert session.call("get_order", ORDER) == first


def test_a_stale_write_shows_the_state_before_it():
    session = broken("stale_result", "update_order")
    before = read(session)
    reply = session.call("update_order", UPDATE)
    assert reply["data"]["address"] == before["address"] != UPDATE["address"]
    assert read(session)["address"] == UPDATE["address"]


def test_a_malformed_answer_ran():
    session = broken("malformed_result", "refund_order")
    reply = session.call("refund_order", ORDER)
    assert reply["status"] == "ok" and isinstance(reply["data"], str)
    assert read(session)["status"] == "refunded"


def test_the_parts_combine_freely():
    partly = broken("timeout", "update_order", ran="partly")
    assert partly.call("update_order", UPDATE)["status"] == "timeout"
    assert read(partly)["address"] == UPDATE["address"] and "gift_note" not in {
        key for key, value in read(partly).items() if value == UPDATE["gift_note"]
    }
    assert len(partly.writes) == 1
    silent = broken("reply_lost", "refund_order", seen="silence")
    assert silent.call("refund_order", ORDER) == {"status": "ok", "data": None}
    assert read(silent)["status"] == "refunded"
    always = broken("timeout", "get_order", lasts="always", at=2)
    assert [always.call("get_order", ORDER)["status"] for _ in range(5)] == ["ok"] + ["timeout"] * 4


def test_it_fires_on_the_planned_call_and_is_recorded():
    for at in (1, 2, 5):
        session = broken("timeout", "get_order", at=at)
        statuses = [session.call("get_order", ORDER)["status"] for _ in range(6)]
        assert statuses.index("timeout") == at - 1 and statuses.count("timeout") == 1
        assert session.fired == [{"tool": "get_order", "kind": "timeout", "call": at}]


def test_every_tool():
    session = Session(TOOLS, prompt="About ORD-7", faults={"*": {"kind": "timeout", "at": 2, "lasts": 2}})
    statuses = [
        session.call(name, ORDER)["status"] for name in ("get_order", "refund_order", "get_order", "refund_order")
    ]
    assert statuses == ["ok", "timeout", "timeout", "updated"]
    assert [fault["tool"] for fault in session.fired] == ["refund_order", "get_order"]


def test_a_wrong_answer_waits_for_a_call_that_works():
    session = broken("false_success", "refund_order")
    assert session.call("refund_order", {})["status"] == "invalid_arguments"
    assert session.fired == []
    assert session.call("refund_order", ORDER)["status"] == "updated" and session.writes == []
    assert session.fired == [{"tool": "refund_order", "kind": "false_success", "call": 2}]


@pytest.mark.parametrize("kind", COMMON_KINDS)
def test_under_parallel_calls_it_fires_as_often_as_planned(kind):
    lasts = 3
    session = broken(kind, "update_order", at=5, lasts=lasts)
    gate = threading.Barrier(16)

    def call(index):
        gate.wait()
        return session.call("update_order", {**UPDATE, "gift_note": f"note {index}"})

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(call, range(16)))
    assert len(session.fired) == lasts
    assert [fault["call"] for fault in session.fired] == [5, 6, 7]
    ran = 16 if FAULT_KINDS[kind].ran in ("fully", "lost") else 16 - lasts
    assert len(session.writes) == ran


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"get_order": {"kind": "timeuot"}}, "did you mean 'timeout'"),
        ({"get_order": {"kind": "timeout", "at": 0}}, "'at'.*0"),
        ({"get_order": {"kind": "timeout", "at": True}}, "'at'"),
        ({"get_order": {"kind": "timeout", "lasts": "forever"}}, "until_read"),
        ({"get_order": {"kind": "timeout", "ran": "maybe"}}, "partly"),
        ({"get_order": {"kind": "timeout", "rate": 1.0}}, "unknown key 'rate'"),
        ({"get_order": "timeout"}, "'kind'"),
        (["timeout"], "dict of tool name"),
    ],
)
def test_a_bad_plan_is_named(plan, message):
    with pytest.raises(ConfigurationError, match=message):
        validate_faults(plan)
    with pytest.raises(ConfigurationError):
        Session(TOOLS, faults=plan)


def test_plans_are_complete():
    for kind, known in FAULT_KINDS.items():
        assert fault_plan(kind, "t", at=3)["t"] == {
            "kind": kind, "ran": known.ran, "seen": known.seen, "at": 3, "lasts": known.lasts, **known.keys,
        }  # fmt: skip
    assert validate_faults(None) == {}
