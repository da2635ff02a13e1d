"""Faults after which the world is not as the reply says: whoever looks again ends elsewhere than who does not."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from whileai_hf.sandbox import Session, fault_plan
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, required, description="", **properties):
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": parameters}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", ["order_id"], "Returns status, total, date and address.", order_id=STRING),
        tool("list_orders", [], "List the orders."),
        tool("refund_order", ["order_id"], "Refund an order.", order_id=STRING),
        tool("update_order", ["order_id"], order_id=STRING, address=STRING, gift_note=STRING),
        tool("delete_files", ["paths"], "Delete files.", paths={"type": "array", "items": STRING}),
        tool("read_file", ["path"], path=STRING),
        tool("create_order", ["product"], product=STRING, colour=STRING),
        tool("delete_order", ["order_id"], order_id=STRING),
    ]
).tools
ORDER = {"order_id": "ORD-7"}
UPDATE = {"order_id": "ORD-7", "address": "9 Elm Street", "gift_note": "Well done"}
PARTIAL_DELETE = fault_plan("partial", "delete_files")
LAMP = {"product": "lamp", "colour": "red"}


def shop(kind=None, name="*", prompt="About ORD-7 and ORD-8", **settings):
    return Session(SHOP, prompt=prompt, faults=fault_plan(kind, name, **settings) if kind else None)


def order(session):
    return session.call("get_order", ORDER)["data"]


def made(*calls):
    """The digest after these calls in a world where nothing breaks."""
    session = shop()
    for name, arguments in calls:
        session.call(name, arguments)
    return session.state_digest()


# partial


def test_a_partial_write_shows_what_it_did_not_write():
    session = shop("partial", "update_order")
    reply = session.call("update_order", UPDATE)
    assert reply["status"] == "updated" and "error" not in reply
    assert reply["data"]["address"] == UPDATE["address"] and reply["data"]["gift_note"] != UPDATE["gift_note"]
    assert order(session) == reply["data"]
    fooled = session.state_digest()
    honest = session.call("update_order", UPDATE)
    assert honest["data"]["gift_note"] == UPDATE["gift_note"]
    assert session.state_digest() == made(("update_order", UPDATE)) != fooled
    assert session.fired == [{"tool": "update_order", "kind": "partial", "call": 1}]


def test_a_partial_write_of_several_records_names_those_it_reached():
    both = {"paths": ["/tmp/a.txt", "/tmp/b.txt"]}
    worlds = [Session(SHOP, prompt="Delete /tmp/a.txt and /tmp/b.txt", faults=plan) for plan in (PARTIAL_DELETE, None)]
    session, sound = worlds
    reply = session.call("delete_files", both)
    assert [row["path"] for row in reply["data"]] == ["/tmp/a.txt"]
    statuses = [session.call("read_file", {"path": path})["status"] for path in both["paths"]]
    assert statuses == ["not_found", "ok"]
    fooled = session.state_digest()
    session.call("delete_files", {"paths": ["/tmp/b.txt"]})
    sound.call("delete_files", both)
    assert session.state_digest() == sound.state_digest() != fooled


def test_a_partial_creation_lacks_fields():
    session = shop("partial", "create_order", prompt="A red lamp, please")
    reply = session.call("create_order", LAMP)
    assert reply["status"] == "created" and reply["data"]["product"] == "lamp" and "colour" not in reply["data"]
    read = session.call("get_order", {"order_id": reply["data"]["order_id"]})
    assert "colour" not in read["data"]


def test_a_partial_list_keeps_the_count_of_all():
    whole = shop().call("list_orders", {})
    session = shop("partial", "list_orders")
    part = session.call("list_orders", {})
    assert part["data"] == whole["data"][: (len(whole["data"]) + 1) // 2] and part["count"] == whole["count"]
    assert len(part["data"]) < part["count"]
    assert session.call("list_orders", {}) == whole


def test_a_partial_record_lacks_fields():
    whole = order(shop())
    part = order(shop("partial", "get_order"))
    assert "order_id" in part and 0 < len(part) < len(whole) and part.items() <= whole.items()


def test_a_write_of_one_part_cannot_be_partial():
    session = shop("partial", "refund_order")
    assert session.call("refund_order", ORDER)["status"] == "updated"
    assert session.fired == [] and order(session)["status"] == "refunded"


# pending


@pytest.mark.parametrize("lag", [1, 3])
def test_a_pending_write_is_made_after_so_many_further_calls(lag):
    session = shop("pending", "refund_order", lag=lag)
    reply = session.call("refund_order", ORDER)
    assert reply["status"] == "pending" and reply["data"] == ORDER
    assert session.writes == [] and session.accepted == [{"tool": "refund_order", "arguments": ORDER, "call": 1}]
    waiting = session.state_digest()
    statuses = [order(session)["status"] for _ in range(lag + 1)]
    assert "refunded" not in statuses[:lag] and statuses[lag] == "refunded"
    assert session.accepted == [] and session.writes == [{"tool": "refund_order", "arguments": ORDER, "call": 1}]
    assert session.state_digest() == made(("refund_order", ORDER)) != waiting


def test_who_does_not_wait_for_a_pending_creation_makes_two():
    patient, hasty = (shop("pending", "create_order", prompt="A red lamp, please") for _ in range(2))
    for session in (patient, hasty):
        assert session.call("create_order", LAMP)["data"] == {}
    hasty.call("create_order", LAMP)
    for session in (patient, hasty):
        for _ in range(4):
            rows = session.call("list_orders", {})["data"]
    assert [write["count"] for write in patient.write_counts()] == [1]
    assert [write["count"] for write in hasty.write_counts()] == [2]
    assert sum(row.get("product") == "lamp" for row in rows) == 2
    assert patient.state_digest() != hasty.state_digest()


def test_what_was_deleted_meanwhile_is_not_changed_any_more():
    session = shop("pending", "update_order", lag=1)
    session.call("update_order", UPDATE)
    session.call("delete_order", ORDER)
    assert session.call("get_order", ORDER)["status"] == "not_found"
    assert [write["tool"] for write in session.writes] == ["delete_order"]
    assert session.state_digest() == made(("delete_order", ORDER))


def test_the_caller_does_not_change_a_pending_write_through_its_reply():
    session = shop("pending", "update_order", lag=1, seen="wrong")
    given = dict(UPDATE)
    reply = session.call("update_order", given)
    assert reply["status"] == "updated"
    reply["data"].clear()
    given.clear()
    session.accepted[0]["arguments"].clear()
    assert [order(session)["gift_note"] == UPDATE["gift_note"] for _ in range(2)] == [False, True]
    assert session.writes[0]["arguments"] == UPDATE


def test_a_timeout_can_take_effect_later():
    session = shop("timeout", "refund_order", ran="later", lag=1)
    assert session.call("refund_order", ORDER)["status"] == "timeout"
    assert [order(session)["status"] == "refunded" for _ in range(2)] == [False, True]


def test_under_parallel_calls_every_write_is_made_once():
    session = shop("pending", "create_order", prompt="Lamps, please", at=5, lasts=3)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: session.call("create_order", {"product": f"lamp {n}"}), range(16)))
    assert sorted(reply["status"] for reply in replies) == ["created"] * 13 + ["pending"] * 3
    session.call("list_orders", {})
    assert session.accepted == [] and [write["count"] for write in session.write_counts()] == [1] * 16


# eventual


@pytest.mark.parametrize("planned", ["update_order", "get_order", "*"])
@pytest.mark.parametrize("lag", [1, 2])
def test_reads_lag_behind_a_write(planned, lag):
    before = order(shop())
    session = shop("eventual", planned, lag=lag)
    assert order(session) == before and session.fired == []
    assert session.call("update_order", UPDATE)["data"]["gift_note"] == UPDATE["gift_note"]
    seen = [order(session) for _ in range(lag + 1)]
    assert seen[:lag] == [before] * lag and seen[lag]["gift_note"] == UPDATE["gift_note"]
    assert session.fired == [{"tool": "get_order", "kind": "eventual", "call": 2 + n} for n in range(lag)]
    assert session.state_digest() == made(("update_order", UPDATE))


def test_who_trusts_a_lagging_list_orders_twice():
    patient, hasty = (shop("eventual", "create_order", prompt="A red lamp, please") for _ in range(2))

    def lamps(session):
        return [row for row in session.call("list_orders", {})["data"] if row.get("product") == "lamp"]

    for session in (patient, hasty):
        session.call("create_order", LAMP)
        assert lamps(session) == []
    hasty.call("create_order", LAMP)
    for session in (patient, hasty):
        lamps(session), lamps(session)
    assert len(lamps(patient)) == 1 and len(lamps(hasty)) == 2
    assert patient.state_digest() != hasty.state_digest()


def test_a_deleted_record_lingers():
    session = shop("eventual", "delete_order", lag=1)
    session.call("delete_order", ORDER)
    assert [session.call("get_order", ORDER)["status"] for _ in range(2)] == ["ok", "not_found"]


def test_what_a_write_does_not_touch_does_not_lag():
    session = shop("eventual", "update_order", lag=5)
    session.call("update_order", UPDATE)
    other = session.call("get_order", {"order_id": "ORD-8"})
    assert other == shop().call("get_order", {"order_id": "ORD-8"}) and session.fired == []


def test_lagging_reads_can_be_limited():
    session = shop("eventual", "update_order", lag=5, lasts=1)
    session.call("update_order", UPDATE)
    assert [order(session)["gift_note"] == UPDATE["gift_note"] for _ in range(2)] == [False, True]


# changed_after_read


@pytest.mark.parametrize("planned", ["get_order", "update_order", "*"])
def test_a_write_on_what_is_no_longer_so_is_refused_until_it_is_read_again(planned):
    session = shop("changed_after_read", planned)
    first = order(session)
    replies = [session.call("update_order", UPDATE)["status"] for _ in range(2)]
    assert replies == ["conflict", "conflict"] and session.writes == []
    fooled = session.state_digest()
    again = order(session)
    assert again["last_changed_by"] == "another user"
    differing = {name for name in first if first[name] != again[name]}
    assert len(differing) == 1
    assert session.call("update_order", UPDATE)["status"] == "updated"
    assert [write["tool"] for write in session.writes] == ["update_order"]
    assert session.state_digest() != fooled
    assert [fault["kind"] for fault in session.fired] == ["changed_after_read"] * 2


def test_a_write_to_a_record_nobody_read_meets_no_change():
    session = shop("changed_after_read", "update_order")
    assert session.call("update_order", UPDATE)["status"] == "updated" and session.fired == []


def test_reading_twice_before_writing_sees_the_change_in_time():
    session = shop("changed_after_read", "get_order")
    seen = [order(session), order(session)]
    assert seen[0] != seen[1]
    assert session.call("update_order", UPDATE)["status"] == "updated" and session.fired == []


def test_the_change_can_be_written_over_without_a_word():
    def play(reads):
        session = shop("changed_after_read", "get_order", ran="fully", seen="wrong")
        kept = [order(session) for _ in range(reads)][-1]
        # Each writes back the address it knows of.
        reply = session.call("update_order", {**ORDER, "address": kept["address"], "gift_note": "Hi"})
        assert reply["status"] == "updated"
        return session

    careless, careful = play(1), play(2)
    assert [fault["kind"] for fault in careless.fired] == ["changed_after_read"] and careful.fired == []
    assert len(careless.writes) == len(careful.writes) == 1


def test_the_field_about_to_be_written_is_the_one_that_was_changed():
    session = shop("changed_after_read", "update_order", ran="fully", seen="wrong")
    before = order(session)["address"]
    session.call("update_order", {**ORDER, "address": "9 Elm Street"})
    blind = session.state_digest()
    assert order(session)["address"] == "9 Elm Street"
    assert order(session)["last_changed_by"] == "another user" and before != "9 Elm Street"
    assert blind != made(("update_order", {**ORDER, "address": "9 Elm Street"}))


def test_a_plain_session_and_one_with_a_fault_that_does_not_fire_end_alike():
    for kind in ("partial", "pending", "eventual", "changed_after_read", "schema_drift", "injection"):
        session = shop(kind, "update_order", at=50)
        replies = [session.call("get_order", ORDER), session.call("update_order", UPDATE)]
        plain = shop()
        assert replies == [plain.call("get_order", ORDER), plain.call("update_order", UPDATE)]
        assert session.state_digest() == plain.state_digest() and session.fired == []
