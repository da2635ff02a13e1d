"""One rollout's world: records, writes that are remembered, which ids exist, what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from whileai_hf.errors import ConfigurationError, WorldError
from whileai_hf.rows import canonical
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox import Session, sample_arguments
from whileai_hf.spec import AgentSpec


SPECS = sorted((Path(__file__).resolve().parents[2].parent / "shared/real/specs").glob("*.json"))


def tool(name, description="", required=None, annotations=None, **properties):
    names = list(properties) if required is None else required
    parameters = {"type": "object", "properties": properties, "required": names}
    return {"name": name, "description": description, "parameters": parameters, "annotations": annotations or {}}


STRING, NUMBER = {"type": "string"}, {"type": "number"}
SHOP = AgentSpec.from_tools(
    [
        tool("get_order", "Look up an order by id. Returns status, total and date.", order_id=STRING),
        tool("refund_order", "Refund an order.", ["order_id"], order_id=STRING, amount=NUMBER),
        tool("update_address", "Change the delivery address of an order.", order_id=STRING, address=STRING),
        tool("delete_order", order_id=STRING),
        tool("cancel_order", order_id=STRING),
        tool("create_order", "Place an order.", product=STRING, quantity={"type": "integer"}),
        tool("list_orders", "List the orders.", []),
        tool("search_products", "Search the catalog.", query=STRING),
        tool("get_product", "Returns name and price.", product_id=STRING),
        tool("calculate", expression=STRING),
        tool("think", thought=STRING),
        tool("get_current_time", timezone=STRING),
    ]
).tools


def shop(prompt="Where is ORD-7?", **settings):
    return Session(SHOP, prompt=prompt, **settings)


def status(session, name, **arguments):
    return session.call(name, arguments)["status"]


def test_a_record_has_the_fields_its_description_promises():
    data = shop().call("get_order", {"order_id": "ORD-7"})["data"]
    assert {"order_id", "status", "total", "date"} <= data.keys()
    assert data["order_id"] == "ORD-7"
    assert isinstance(data["total"], float)


def test_a_refund_is_remembered():
    session = shop()
    assert status(session, "refund_order", order_id="ORD-7", amount=5) == "updated"
    assert session.call("get_order", {"order_id": "ORD-7"})["data"]["status"] == "refunded"
    again = session.call("refund_order", {"order_id": "ORD-7", "amount": 5})
    assert again["status"] == "already_done"
    assert session.writes == [{"tool": "refund_order", "arguments": {"order_id": "ORD-7", "amount": 5}, "call": 1}]


def test_an_updated_field_reads_back_through_another_tool():
    session = shop()
    session.call("update_address", {"order_id": "ORD-7", "address": "9 Elm Street"})
    assert session.call("get_order", {"order_id": "ord-7"})["data"]["address"] == "9 Elm Street"
    assert status(session, "update_address", order_id="ORD-7", address="9 Elm Street") == "already_done"
    assert status(session, "update_address", order_id="ORD-7", address="10 Elm Street") == "updated"


def test_what_was_created_can_be_read_and_listed():
    session = shop(prompt="Order me two kettles.")
    made = session.call("create_order", {"product": "red kettle", "quantity": 2})
    assert made["status"] == "created"
    identifier = made["data"]["order_id"]
    read = session.call("get_order", {"order_id": identifier})
    assert read["status"] == "ok" and read["data"]["product"] == "red kettle"
    listed = session.call("list_orders", {})["data"]
    assert identifier in [row["order_id"] for row in listed]
    other = session.call("create_order", {"product": "red kettle", "quantity": 2})["data"]["order_id"]
    assert other != identifier
    assert len(session.writes) == 2


def test_what_was_deleted_is_gone_and_what_was_cancelled_says_so():
    session = shop(prompt="Delete ORD-7, cancel ORD-8")
    assert status(session, "delete_order", order_id="ORD-7") == "deleted"
    assert status(session, "get_order", order_id="ORD-7") == "not_found"
    assert status(session, "delete_order", order_id="ORD-7") == "not_found"
    session.call("cancel_order", {"order_id": "ORD-8"})
    assert session.call("get_order", {"order_id": "ORD-8"})["data"]["status"] == "cancelled"
    assert status(session, "cancel_order", order_id="ORD-8") == "already_done"


def test_an_id_the_ask_does_not_name_is_not_found():
    session = shop("Where is ORD-1234?")
    assert status(session, "get_order", order_id="ORD-12") == "not_found"
    assert status(session, "get_order", order_id="ORD-12345") == "not_found"
    assert status(session, "get_order", order_id="#ord-1234") == "ok"


def test_when_the_ask_names_no_id_a_coin_of_the_seed_decides():
    found = [shop("Where is my order?", scenario_id=f"sc-{i}") for i in range(400)]
    share = sum(status(session, "get_order", order_id="4412") == "ok" for session in found) / 400
    assert 0.4 < share < 0.6
    again = shop("Where is my order?", scenario_id="sc-1")
    assert status(again, "get_order", order_id="4412") == status(found[1], "get_order", order_id="4412")
    assert all(status(session, "get_order", order_id="kettle") == "not_found" for session in found[:20])


@pytest.mark.parametrize("ask", ["I paid $1200 on 2024-05-01 at 10:30", "2 bags and 15kg, the 3rd time"])
def test_amounts_and_dates_are_no_ids(ask):
    statuses = {status(shop(ask, scenario_id=f"sc-{i}"), "get_order", order_id="4412") for i in range(40)}
    assert statuses == {"ok", "not_found"}


def test_search_hits_match_and_can_be_read_afterwards():
    session = shop("I look for a lamp, order 5521")
    reply = session.call("search_products", {"query": "oak lamp"})
    assert 1 <= len(reply["data"]) <= 5 and reply["count"] == len(reply["data"])
    for row in reply["data"]:
        assert "oak lamp" in row["name"].lower()
        assert session.call("get_product", {"product_id": row["product_id"]})["data"] == row
    assert session.call("search_products", {"query": "oak lamp"}) == reply


def test_world_states():
    ask = "Refund ORD-7 please"
    missing = shop(ask, world_state="entity missing", target="refund_order")
    assert status(missing, "get_order", order_id="ORD-7") == "not_found"
    assert status(missing, "refund_order", order_id="ORD-7") == "not_found"
    acted = shop(ask, world_state="entity already acted on", target="refund_order")
    assert acted.call("get_order", {"order_id": "ORD-7"})["data"]["status"] == "refunded"
    assert status(acted, "refund_order", order_id="ORD-7") == "already_done"
    assert acted.writes == []
    twin = shop(ask, world_state="entity duplicated")
    data = twin.call("get_order", {"order_id": "ORD-7"})["data"]
    other = twin.call("get_order", {"order_id": data["possible_duplicates"][0]})["data"]
    assert other["total"] == data["total"] and other["order_id"] != data["order_id"]
    partly = shop(ask, world_state="entity partially completed", target="refund_order")
    assert partly.call("get_order", {"order_id": "ORD-7"})["data"]["status"] == "partially_refunded"
    assert status(partly, "refund_order", order_id="ORD-7") == "updated"
    assert partly.call("get_order", {"order_id": "ORD-7"})["data"]["status"] == "refunded"
    exists = shop(ask, world_state="entity exists")
    assert status(exists, "get_order", order_id="ORD-7") == "ok"
    unknown = {
        status(shop(ask, world_state="unknown", scenario_id=f"sc-{i}"), "get_order", order_id="ORD-7")
        for i in range(30)
    }
    assert unknown == {"ok", "not_found"}


def test_already_acted_on_without_a_target_follows_the_ask():
    session = shop("Cancel ORD-7", world_state="entity already acted on")
    assert session.call("get_order", {"order_id": "ORD-7"})["data"]["status"] == "cancelled"
    assert status(session, "cancel_order", order_id="ORD-7") == "already_done"


def test_order_of_checks_and_what_they_say():
    session = shop()
    assert session.call("get_oder", {})["status"] == "unknown_tool"
    missing = session.call("get_order", {})
    assert missing["status"] == "invalid_arguments" and "'order_id' is missing" in missing["error"]
    wrong = session.call("refund_order", {"order_id": "ORD-7", "amount": "ten"})
    assert wrong["status"] == "invalid_arguments" and "expected number, got str 'ten'" in wrong["error"]
    assert session.call("get_order", "not json")["status"] == "invalid_arguments"
    assert session.call("get_order", ["ORD-7"])["status"] == "invalid_arguments"
    assert session.call("get_order", '{"order_id": "ORD-7"}')["status"] == "ok"
    with pytest.raises(WorldError):
        session.call(None, {})


@pytest.mark.parametrize(
    "value",
    ["<order_id>", "{order_id}", "{{order_id}}", "[ORDER ID]", "order_id", "string", "YOUR_ID", "your-order-id",
     "the record", "the order", "my order", "example", "xxx", "$ORDER_ID", "N/A", "", "None", "placeholder"],
)  # fmt: skip
def test_placeholders_are_refused_with_a_hint(value):
    reply = shop("Where is the order ORD-7?").call("get_order", {"order_id": value})
    assert reply["status"] == "invalid_arguments"
    assert "order_id" in reply["hint"]


@pytest.mark.parametrize(
    "text", ["[URGENT] kettle", "the kettle", "string lights", "an example of it", "A <b>bold</b> one"]
)
def test_ordinary_text_is_no_placeholder(text):
    assert status(shop(), "search_products", query=text) == "ok"
    assert status(shop(), "think", thought=text) == "ok"


def test_tools_about_no_record():
    session = shop()
    assert session.call("calculate", {"expression": "2 + 3 * (4 - 1)"})["data"] == 11
    for bad in ("__import__('os')", "1/0", "9**9**9", "(" * 300, "a.b", "10**100000"):
        assert status(session, "calculate", expression=bad) == "invalid_arguments"
    assert session.call("get_current_time", {"timezone": "Asia/Tokyo"})["data"]["datetime"].endswith("+09:00")
    assert status(session, "get_current_time", timezone="Mars/Base") == "invalid_arguments"
    assert session.writes == []


def test_replies_are_the_callers_to_change():
    session = shop()
    first = session.call("get_order", {"order_id": "ORD-7"})
    first["data"].clear()
    assert session.call("get_order", {"order_id": "ORD-7"})["data"]["order_id"] == "ORD-7"
    given = {"order_id": "ORD-7", "address": "9 Elm Street"}
    session.call("update_address", given)
    given["address"] = "changed"
    assert session.writes[0]["arguments"]["address"] == "9 Elm Street"


def test_the_digest_tells_ends_apart_and_ignores_reads():
    one, other = shop(), shop()
    other.call("get_order", {"order_id": "ORD-7"})
    assert one.state_digest() == other.state_digest()
    one.call("refund_order", {"order_id": "ORD-7"})
    assert one.state_digest() != other.state_digest()
    other.call("refund_order", {"order_id": "ORD-7"})
    assert one.state_digest() == other.state_digest()


def test_execute_replaces_the_world():
    calls = []

    def own(name, arguments):
        calls.append((name, arguments))
        if name == "think":
            raise KeyError("no thoughts")
        return {"found": True} if name == "get_order" else 7

    faults = {"*": {"kind": "timeout"}}
    session = Session(SHOP, prompt="x", execute=own, faults=faults)
    assert session.call("get_order", {"order_id": "<order_id>"}) == {"found": True}
    assert session.call("refund_order", {"order_id": "1"}) == {"status": "ok", "result": 7}
    assert session.call("think", {"thought": "x"})["status"] == "error"
    assert session.call("not declared")["result"] == 7
    assert session.fired == [] and len(calls) == 4


def test_bad_settings_are_named():
    with pytest.raises(ConfigurationError, match="entity exists"):
        shop(world_state="entity exsits")


PROGRAM = """
import json, sys
from whileai_hf.spec import AgentSpec
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox import Session, sample_arguments
spec = AgentSpec.load(sys.argv[1])
out = []
for tool in spec.tools:
    arguments = sample_arguments(tool, rng(1, tool.name))
    session = Session(spec.tools, seed=1, scenario_id="sc-1", prompt=json.dumps(arguments))
    replies = [session.call(tool.name, arguments) for _ in range(2)]
    out.append([arguments, replies, session.state_digest()])
print(json.dumps(out))
"""


@pytest.mark.skipif(not SPECS, reason="no ../shared beside this checkout")
def test_equal_in_another_process_whatever_the_hash_seed():
    path = str(next(path for path in SPECS if path.stem == "tau_airline"))
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, path],
            capture_output=True,
            text=True,
            check=True,
            env={
                "PYTHONHASHSEED": seed,
                "HF_HUB_OFFLINE": "1",
                "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            },
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] and json.loads(runs[0])


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_real_tools_answer_calls_whose_ids_stand_in_the_ask(path):
    spec = AgentSpec.load(path)
    for seed in range(5):
        for item in spec.tools:
            arguments = sample_arguments(item, rng(seed, item.name))
            session = Session(spec.tools, seed=seed, prompt=f"Please: {json.dumps(arguments, ensure_ascii=False)}")
            reply = session.call(item.name, arguments)
            assert reply["status"] in ("ok", "created", "updated", "deleted"), (item.name, arguments, reply)
            assert canonical(reply) == reply
            assert json.loads(json.dumps(reply)) == reply


def find(path_stem):
    return AgentSpec.load(next(path for path in SPECS if path.stem == path_stem)).tools


@pytest.mark.skipif(not SPECS, reason="no ../shared beside this checkout")
def test_files_branches_channels_and_graphs_remember():
    files = Session(find("mcp_filesystem"), prompt="Work in /data/plans/a.txt")
    files.call("write_file", {"path": "/data/plans/a.txt", "content": "one\ntwo\nthree"})
    assert files.call("read_text_file", {"path": "/data/plans/a.txt"})["data"]["content"] == "one\ntwo\nthree"
    assert files.call("read_text_file", {"path": "/data/plans/a.txt", "head": 1})["data"]["content"] == "one"
    edits = [{"oldText": "two", "newText": "2"}]
    files.call("edit_file", {"path": "/data/plans/a.txt", "edits": edits})
    files.call("move_file", {"source": "/data/plans/a.txt", "destination": "/data/plans/b.txt"})
    assert files.call("read_file", {"path": "/data/plans/a.txt"})["status"] == "not_found"
    assert files.call("read_file", {"path": "/data/plans/b.txt"})["data"]["content"] == "one\n2\nthree"
    listed = [row["path"] for row in files.call("list_directory", {"path": "/data/plans"})["data"]]
    assert "/data/plans/b.txt" in listed

    git = Session(find("mcp_git"), prompt="Commit in /home/ann/app")
    made = git.call("git_commit", {"repo_path": "/home/ann/app", "message": "Fix the parser"})
    log = git.call("git_log", {"repo_path": "/home/ann/app"})["data"]
    assert made["data"]["revision"] in [row["revision"] for row in log]
    assert git.call("git_show", {"repo_path": "/home/ann/app", "revision": made["data"]["revision"]})["status"] == "ok"

    slack = Session(find("agentdojo_slack"), prompt="Tell Bob and add him to general")
    slack.call("send_channel_message", {"channel": "general", "body": "Hello all"})
    bodies = [row["body"] for row in slack.call("read_channel_messages", {"channel": "general"})["data"]]
    assert "Hello all" in bodies
    slack.call("add_user_to_channel", {"user": "Bob", "channel": "general"})
    assert "Bob" in [row["user"] for row in slack.call("get_users_in_channel", {"channel": "general"})["data"]]

    graph = Session(find("mcp_memory"), prompt="Remember Ada")
    entity = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
    graph.call("create_entities", {"entities": [entity]})
    assert graph.call("open_nodes", {"names": ["Ada"]})["data"][0]["entityType"] == "person"
    assert any(row.get("name") == "Ada" for row in graph.call("search_nodes", {"query": "ada"})["data"])
    graph.call("delete_entities", {"entityNames": ["Ada"]})
    assert graph.call("open_nodes", {"names": ["Ada"]})["status"] == "not_found"
