"""Agents on the Hub: what they are, and what belongs to them."""

import json
import threading

import orjson
import pytest
from hub import catalog_routes
from hub.catalog_cards import card

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, HubError
from whileai_hf.hub.cards import front_matter
from whileai_hf.hub.listing import datasets
from whileai_hf.hub.registering import agents, register_agent


def get_order(order_id: str) -> dict:
    """Look up an order.

    Args:
        order_id: Number of the order.
    """
    return {}


POLICY = "You are the order desk.\n1. Look an order up before any refund.\n"
MODEL = {"README.md": b"---\ntags: [whileai-hf, whileai-agent-order-desk]\n---\n"}


@pytest.fixture
def filled(hub, monkeypatch):
    catalog_routes.install(monkeypatch)
    spec = wai.AgentSpec.from_tools([get_order], POLICY)
    pushed = {"name": "desk", "sha": spec.sha, "system_prompt": POLICY, "tools": spec.openai_tools()}
    run = {"schema": "whileai-hf/run-1", "tag": "v1", "purpose": "train", "splits": {}, "digest": "d", "spec": pushed}
    hub.server.put("alice/refunds", {**card(rows=12, spec=spec.sha), "run.json": orjson.dumps(run)}, private=True)
    hub.server.put("alice/refunds-eval", card(agent="order-desk", purpose="eval", rows=5))
    hub.server.put("alice/policy", MODEL, kind="model")
    hub.server.put("alice/flights", card(agent="Airline", rows=7))
    hub.server.put("bob/refunds", card(rows=50))
    return hub


def test_an_agent_exists_as_soon_as_a_push_names_it(filled):
    found = agents()
    assert [one.slug for one in found.agents] == ["airline", "order-desk"] and found.namespace == "alice"
    desk = found.agents[1]
    assert desk.sets == {"eval": ["alice/refunds-eval"], "train": ["alice/refunds"]}
    assert (desk.models, desk.rows, desk.public) == (["alice/policy"], 17, 2)
    # Nobody has registered it: what it is comes from the newest push that says so.
    assert desk.tool_names == ["get_order"] and desk.system_prompt == POLICY
    assert desk.spec == wai.AgentSpec.from_tools([get_order], POLICY).sha
    assert (desk.record, desk.collection, desk.description) == (None, None, None)
    airline = found.agents[0]
    assert (airline.name, airline.tools, airline.rows) == ("Airline", [], 7)
    assert "tools: not known" in str(airline) and "2 agents of alice" in str(found)


def test_registering_writes_what_the_agent_is_and_gathers_what_is_its(filled):
    found = register_agent("Order Desk", description="Refunds and returns", tools=[get_order], system_prompt=POLICY)
    assert found.record == "alice/order-desk-agent" and found.notes == []
    assert found.tool_names == ["get_order"] and found.spec == wai.AgentSpec.from_tools([get_order], POLICY).sha
    assert filled.server.repo("alice/order-desk-agent").private
    files = filled.server.files("alice/order-desk-agent")
    assert json.loads(files["agent.json"])["system_prompt"] == POLICY
    header = front_matter(files["README.md"].decode())
    assert {"whileai-hf", "whileai-agent-order-desk", "whileai-purpose-agent"} <= set(header["tags"])
    collection = filled.server.collections[found.collection]
    assert collection["private"] and collection["description"] == "Refunds and returns"
    assert {item["id"] for item in collection["items"]} == {"alice/refunds", "alice/refunds-eval", "alice/policy"}
    # It is no data set.
    assert "alice/order-desk-agent" not in [entry.repo for entry in datasets().entries]
    again = next(one for one in agents().agents if one.slug == "order-desk")
    assert again == found


def test_what_is_not_given_stays_and_nothing_new_is_no_commit(filled):
    register_agent("desk", description="Refunds", tools=[get_order], system_prompt=POLICY)
    register_agent("Desk", description="Returns")
    commits = len(filled.server.repo("alice/desk-agent").commits)
    found = register_agent("Desk")
    assert (found.description, found.tool_names, found.system_prompt) == ("Returns", ["get_order"], POLICY)
    assert len(filled.server.repo("alice/desk-agent").commits) == commits
    assert len(filled.server.collections) == 1


def test_what_was_pushed_since_joins_the_collection(filled):
    register_agent("Order Desk")
    for number in range(6):  # more than a list of collections shows
        filled.server.put(f"alice/more-{number}", card())
    found = register_agent("Order Desk")
    assert len(filled.server.collections[found.collection]["items"]) == 9


def test_a_spec_brings_its_prompt_along(filled):
    spec = wai.AgentSpec.from_tools([get_order], POLICY)
    assert register_agent("desk", tools=spec).system_prompt == POLICY
    other = register_agent("desk", tools=spec, system_prompt="Be brief.")
    assert other.system_prompt == "Be brief." and other.spec != spec.sha


def test_without_collections_an_agent_is_found_by_its_tag(filled):
    filled.server.fail("POST /api/collections", 403)
    found = register_agent("Order Desk", description="Refunds")
    assert found.collection is None and "whileai-agent-order-desk" in found.notes[0] and "\n" not in found.notes[0]
    assert next(one for one in agents().agents if one.slug == "order-desk").description == "Refunds"


def test_a_token_that_only_reads_and_nobody_at_all_are_one_sentence(filled):
    with filled.signed_in("hf_alice_read"), pytest.raises(HubError, match="may only read"):
        register_agent("Order Desk")
    with filled.signed_in(None), pytest.raises(HubError, match="hf auth login"):
        register_agent("Order Desk")
    with filled.signed_in(None), pytest.raises(HubError, match="hf auth login"):
        agents()
    assert filled.server.repos.get("dataset", "alice/order-desk-agent") is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 97, None, 7])
def test_a_name_is_some_words(hub, name):
    with pytest.raises(ConfigurationError, match="name has 1 to 96"):
        register_agent(name)
    assert not hub.server.log


def test_another_repo_of_that_name_is_not_written_to(filled):
    filled.server.put("alice/order-desk-agent", {"model.txt": b"mine"})
    with pytest.raises(ConfigurationError, match="is no record of an agent"):
        register_agent("Order Desk", description="x")
    assert filled.server.files("alice/order-desk-agent") == {"model.txt": b"mine"}
    with pytest.raises(ConfigurationError, match="'bob' is not a namespace"):
        register_agent("Order Desk", namespace="bob")


@pytest.mark.parametrize(
    "name", ["\u8ba2\u5355 \u52a9\u624b", "a/b `code` <b>x</b> | [y](z)", "\ud800 desk", "Desk\nTwo"]
)
def test_names_of_all_kinds_make_a_record_that_is_read_again(filled, name):
    found = register_agent(name, description="<script>alert(1)</script>", system_prompt="Say ``` and {{ x }}")
    files = filled.server.files(found.record)
    assert b"<script>" not in files["README.md"]
    again = next(one for one in agents().agents if one.record == found.record)
    assert again == found and again.system_prompt == "Say ``` and {{ x }}"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"name": 3}', b"\xff"])
def test_a_broken_record_is_a_note_and_not_the_end_of_the_list(filled, content):
    register_agent("Airline", description="Flights")
    filled.server.put("alice/airline-agent", {"agent.json": content})
    found = agents()
    assert len(found) == 2 and "could not be read" in found.agents[0].notes[0]


def test_two_that_register_one_agent_at_once_both_succeed(filled):
    failures = []

    def register(given):
        try:
            register_agent("Order Desk", **given)
        except Exception as error:
            failures.append(error)

    both = ({"description": "Refunds"}, {"system_prompt": POLICY}, {"tools": [get_order]})
    threads = [threading.Thread(target=register, args=(given,)) for given in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = next(one for one in agents().agents if one.slug == "order-desk")
    assert (found.description, found.system_prompt, found.tool_names) == ("Refunds", POLICY, ["get_order"])


def test_agents_in_the_cache_while_the_hub_is_down(filled):
    filled.api.snapshot_download("alice/refunds", repo_type="dataset")
    filled.server.stop()
    found = agents()
    assert (found.source, [one.slug for one in found.agents]) == ("cache", ["order-desk"])
    assert "gave no answer" in found.notes[0] and found.agents[0].rows == 12
