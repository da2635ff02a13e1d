"""What a list or search must show: the records of this rollout and of its ask, as reading them shows them."""

import pytest

from whileai_hf.sandbox import Session
from whileai_hf.spec import AgentSpec


STRING = {"type": "string"}


def tool(name, required=None, description="", **properties):
    names = list(properties) if required is None else required
    parameters = {"type": "object", "properties": properties, "required": names}
    return {"name": name, "description": description, "parameters": parameters}


SHOP = AgentSpec.from_tools(
    [
        tool("get_order", description="Returns status, total and user_id.", order_id=STRING),
        tool("get_product", product_id=STRING),
        tool("get_user", user_id=STRING),
        tool("refund_order", order_id=STRING),
        tool("update_order", ["order_id"], order_id=STRING, address=STRING, user_id=STRING),
        tool("update_settings", [], theme=STRING),
        tool("delete_order", order_id=STRING),
        tool("list_orders", [], status=STRING, user_id=STRING),
        tool("list_products", []),
        tool("search_orders", ["query"], query=STRING),
        tool("search_products", ["query"], query=STRING),
    ]
).tools


def shop(prompt, **settings):
    return Session(SHOP, prompt=prompt, **settings)


def ids(session, name, **arguments):
    return [row["order_id"] for row in session.call(name, arguments)["data"]]


@pytest.mark.parametrize("ask", ["Refund ORD-7", "Refund order 4412 please", "My order #4412?", "order number 4412."])
def test_the_record_the_ask_names_is_listed_as_it_reads(ask):
    session = shop(ask)
    name = "ORD-7" if "ORD" in ask else "4412"
    rows = {row["order_id"]: row for row in session.call("list_orders", {})["data"]}
    assert rows[name] == session.call("get_order", {"order_id": name})["data"]
    assert ids(session, "list_orders").count(name) == 1
    products = session.call("list_products", {})["data"]
    assert name not in [row.get("product_id") for row in products]


def test_an_updated_record_is_listed_with_its_new_fields_and_found_by_them():
    session = shop("Change the order of Ann", seed=3)
    found = ids(session, "search_orders", query="kettle")[0]
    assert session.call("update_order", {"order_id": found, "address": "9 Elm Street"})["status"] == "updated"
    rows = {row["order_id"]: row for row in session.call("list_orders", {})["data"]}
    assert rows[found]["address"] == "9 Elm Street"
    assert found in ids(session, "search_orders", query="9 elm street")
    assert found not in [row.get("product_id") for row in session.call("search_products", {"query": "elm"})["data"]]


def test_a_list_keeps_to_what_it_is_narrowed_down_to():
    session = shop("Refund ORD-7")
    session.call("refund_order", {"order_id": "ORD-7"})
    assert "ORD-7" in ids(session, "list_orders", status="refunded")
    assert "ORD-7" not in ids(session, "list_orders", status="shipped")
    known = shop("Move ORD-7 to user U-91, not to U-92")
    known.call("update_order", {"order_id": "ORD-7", "user_id": "U-91"})
    assert "ORD-7" in ids(known, "list_orders", user_id="U-91")
    assert "ORD-7" not in ids(known, "list_orders", user_id="U-92")


def test_a_deleted_record_is_not_listed():
    session = shop("Delete ORD-7")
    session.call("update_order", {"order_id": "ORD-7", "address": "9 Elm Street"})
    assert "ORD-7" in ids(session, "list_orders")
    session.call("delete_order", {"order_id": "ORD-7"})
    assert "ORD-7" not in ids(session, "list_orders")
    assert "ORD-7" not in ids(session, "search_orders", query="9 elm street")


def test_a_record_the_situation_says_is_missing_is_not_listed():
    assert "ORD-7" not in ids(shop("Refund ORD-7", world_state="entity missing"), "list_orders")
    acted = shop("Refund ORD-7", world_state="entity already acted on", target="refund_order")
    rows = {row["order_id"]: row["status"] for row in acted.call("list_orders", {})["data"]}
    assert rows["ORD-7"] == "refunded"


def test_a_setting_without_an_id_is_no_record_of_a_list():
    session = shop("Make it dark")
    session.call("update_settings", {"theme": "dark"})
    assert "update_settings" not in str(session.call("list_orders", {}))


def test_an_id_that_could_be_of_any_entity_is_left_out():
    session = shop("What about 4412?")
    assert "4412" not in str(session.call("list_orders", {})) + str(session.call("list_products", {}))
    target = shop("What about 4412?", target="refund_order")
    assert "4412" in ids(target, "list_orders")
