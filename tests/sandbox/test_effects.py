"""What tools do, and which record they do it to."""

import pytest

from whileai_hf.sandbox import id_parameters, tool_effect
from whileai_hf.sandbox.effects import entity_of
from whileai_hf.sandbox.naming import participle, singular, words_of
from whileai_hf.sandbox.records import build_shapes, promised_fields
from whileai_hf.spec import Tool


def made(name, description="", annotations=None, **properties):
    return Tool(name, description, {"type": "object", "properties": properties}, annotations or {})


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_order", "read"), ("listUsers", "read"), ("search-files", "read"), ("order_status", "read"),
        ("git_log", "read"), ("open_nodes", "read"), ("open_ticket", "create"), ("send_email", "create"),
        ("book_reservation", "create"), ("get_book", "read"), ("refund_order", "update"), ("update_address", "update"),
        ("cancel_order", "delete"), ("remove_user_from_slack", "delete"), ("think", "other"), ("calculate", "other"),
        ("transfer_to_human_agents", "other"), ("transfer_funds", "create"), ("git_commit", "create"),
        ("xyz", "other"),
    ],
)  # fmt: skip
def test_effects_by_name(name, effect):
    assert tool_effect(Tool(name)) == effect


def test_annotations_come_first_and_descriptions_last():
    assert tool_effect(Tool("purge", annotations={"readOnlyHint": True})) == "read"
    assert tool_effect(Tool("look", annotations={"readOnlyHint": False, "destructiveHint": True})) == "update"
    assert tool_effect(Tool("look", annotations={"readOnlyHint": False, "destructiveHint": False})) == "create"
    assert tool_effect(Tool("orders", "Returns the orders of a user.")) == "read"
    assert tool_effect(Tool("add_user_to_channel", "Add a user to a given channel.")) == "update"
    assert tool_effect(Tool("stock", "Deletes the stock of an item.")) == "delete"


def test_tools_agree_on_the_record_by_its_id():
    tools = [made(name, order_id={"type": "string"}) for name in ("get_order", "refund_order", "update_address")]
    assert {entity_of(tool) for tool in tools} == {"order"}
    assert entity_of(made("get_user", id={"type": "string"})) == "user"
    assert entity_of(made("create_order", user_id={"type": "string"})) == "order"


def test_id_parameters():
    text = {"type": "string"}
    assert id_parameters(made("update_bags", payment_id=text, bags={"type": "integer"}, total=text)) == ["payment_id"]
    assert id_parameters(made("change_reservation", payment_id=text, reservation_id=text))[0] == "reservation_id"
    assert id_parameters(made("call", phone_number=text, country_code=text, page={"type": "integer"})) == []
    assert id_parameters(made("track", tracking_number=text)) == ["tracking_number"]
    assert id_parameters(made("read", path=text)) == ["path"]
    assert id_parameters(made("git_status", repo_path=text)) == ["repo_path"]
    assert id_parameters(made("fetch", url=text)) == ["url"]
    assert id_parameters(made("open_nodes", names={"type": "array", "items": text})) == ["names"]
    assert id_parameters(
        made("get", ref={"anyOf": [{"type": "string"}, {"type": "null"}], "description": "The id of it"})
    )
    assert id_parameters(made("sort", user_id={"type": "string", "enum": ["a"]})) == []


def test_fields_promised_by_descriptions():
    assert promised_fields("Look up an order by id. Returns status, total and date.") == ["status", "total", "date"]
    assert promised_fields("Each email has a sender, a subject, and a body.") == ["sender", "subject", "body"]
    assert promised_fields("Returns information including size, creation time, and permissions.") == [
        "size", "creation_time", "permissions",
    ]  # fmt: skip
    assert promised_fields("Returns all the unread emails in the inbox of the user.") == []


def test_a_list_of_another_record_holds_its_ids():
    tools = (
        made("get_user", "Details of a user, including their reservations.", user_id={"type": "string"}),
        made("get_reservation", reservation_id={"type": "string", "description": "such as 'ZFA04Y'"}),
    )
    field = next(field for field in build_shapes(tools)["user"].fields if field.name == "reservations")
    assert field.refers == "reservation"


def test_words():
    assert words_of("getHTTPOrder2") == ("get", "http", "order", "2")
    assert [singular(word) for word in ("orders", "status", "entries", "address", "bus")] == [
        "order", "status", "entry", "address", "bus",
    ]  # fmt: skip
    assert [participle(verb) for verb in ("refund", "pay", "cancel", "apply", "close")] == [
        "refunded", "paid", "cancelled", "applied", "closed",
    ]  # fmt: skip
