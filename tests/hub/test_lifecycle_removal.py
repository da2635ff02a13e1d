"""Deleting: exactly what is listed, only repos of ours, only in the account's own namespaces."""

import pytest
from hub import catalog_routes
from hub.catalog_cards import card

from whileai_hf.errors import ConfigurationError, HubError, SourceNotFoundError
from whileai_hf.hub.registering import register_agent
from whileai_hf.hub.removal import carry_out, delete_dataset, delete_empty_datasets, purge_agent


OURS = {"README.md": b"---\ntags: [whileai-hf, whileai-agent-order-desk]\n---\n"}


@pytest.fixture
def filled(hub, monkeypatch):
    """Repos of the agent "Order Desk" and of others, in three namespaces."""
    catalog_routes.install(monkeypatch)
    put = hub.server.put
    put("alice/refunds", card(rows=12), private=True)
    put("alice/refunds-eval", card(purpose="eval", rows=2))
    put("alice/policy", OURS, kind="model")
    put("alice/flights", card(agent="Airline", rows=0))
    put("alice/desk-two", card(agent="Order Desk 2", rows=1))
    # Of the same name, but not ours: it lacks the library's tag.
    put("alice/hand-made", {"README.md": b"---\ntags: [whileai-agent-order-desk]\n---\n", "a.parquet": b"0"})
    put("acme/refunds", card(rows=40))
    put("bob/refunds", card(rows=50))
    put("bob/policy", OURS, kind="model")
    return hub


def there(hub):
    return {repo.name for kind in ("dataset", "model") for repo in hub.server.repos.all(kind)}


def asked_to_delete(hub):
    return [line for line in hub.server.log if line[0] == "DELETE"]


def test_a_dry_run_lists_all_that_would_go_and_deletes_nothing(filled):
    before = there(filled)
    found = purge_agent("Order Desk", dry_run=True)
    assert [entry.repo for entry in found.datasets] == ["alice/refunds", "alice/refunds-eval"]
    assert [entry.repo for entry in found.models] == ["alice/policy"]
    assert found.dry_run and found.deleted == [] and there(filled) == before and not asked_to_delete(filled)
    text = str(found)
    assert "would delete 2 data sets (14 rows), 1 model" in text and "alice/policy" in text
    assert "pass namespace= for acme" in text


def test_a_purge_deletes_exactly_what_the_dry_run_listed(filled):
    register_agent("order-desk", tools=[{"name": "get_order"}])
    listed = purge_agent("Order Desk", dry_run=True)
    names = {entry.repo for entry in (*listed.datasets, *listed.models)}
    assert "alice/order-desk-agent" in names and len(listed.collections) == 1
    before = there(filled)
    done = purge_agent("Order Desk")
    assert before - there(filled) == names
    assert set(done.deleted) == names | set(listed.collections) and done.failed == {} and not done.dry_run
    assert filled.server.collections == {}
    # Twice is fine: there is nothing left.
    assert purge_agent("Order Desk").is_empty
    assert "nothing to delete in alice" in str(purge_agent("Order Desk"))


def test_an_organisation_is_purged_only_when_it_is_named(filled):
    purge_agent("Order Desk")
    assert {"acme/refunds", "bob/refunds", "bob/policy", "alice/hand-made", "alice/desk-two"} <= there(filled)
    done = purge_agent("Order Desk", namespace="acme")
    assert done.deleted == ["acme/refunds"] and "bob/refunds" in there(filled)
    with pytest.raises(ConfigurationError, match="'bob' is not a namespace of alice"):
        purge_agent("Order Desk", namespace="bob")
    with pytest.raises(ConfigurationError, match="names none"):
        purge_agent("  ")


def test_what_was_listed_is_looked_at_again_before_it_goes(filled):
    listed = purge_agent("Order Desk", dry_run=True)
    filled.server.put("alice/refunds", {"README.md": b"---\ntags: [mine]\n---\n"})  # no longer one of ours
    filled.api.move_repo("alice/policy", "alice/renamed")
    filled.server.put("alice/new", card())  # pushed since: nobody was asked about it
    done = carry_out(listed)
    assert done.deleted == ["alice/refunds-eval"]
    assert {"alice/refunds", "alice/renamed", "alice/new"} <= there(filled)
    assert "no longer carries the tag whileai-hf" in done.failed["alice/refunds"]
    assert set(done.failed) == {"alice/refunds"} and "alice/policy was gone already" in done.notes


def test_one_that_cannot_be_deleted_does_not_keep_the_others(filled):
    filled.server.fail("GET /api/datasets/alice/refunds$", 500)
    done = purge_agent("Order Desk")
    assert list(done.failed) == ["alice/refunds"] and "\n" not in done.failed["alice/refunds"]
    assert set(done.deleted) == {"alice/refunds-eval", "alice/policy"}
    assert "1 are left" in str(done)


def test_a_token_that_only_reads_deletes_nothing(filled):
    before = there(filled)
    with filled.signed_in("hf_alice_read"):
        done = purge_agent("Order Desk")
    assert done.deleted == [] and len(done.failed) == 3 and there(filled) == before
    assert all("may only read" in why for why in done.failed.values())


def test_nobody_signed_in_and_a_hub_that_is_down_are_one_sentence(filled):
    with filled.signed_in(None), pytest.raises(HubError, match="hf auth login"):
        purge_agent("Order Desk", dry_run=True)
    filled.server.stop()
    with pytest.raises(HubError, match="gave no answer"):
        purge_agent("Order Desk")


def test_one_data_set_is_deleted_when_it_is_ours(filled):
    assert delete_dataset("refunds", dry_run=True).datasets[0].repo == "alice/refunds"
    assert "alice/refunds" in there(filled)
    assert delete_dataset("alice/refunds").deleted == ["alice/refunds"]
    assert "alice/refunds" not in there(filled)
    with pytest.raises(ConfigurationError, match="not pushed by this library"):
        delete_dataset("alice/hand-made")
    with pytest.raises(ConfigurationError, match="'bob' is not a namespace of alice"):
        delete_dataset("bob/refunds")
    with pytest.raises(SourceNotFoundError):
        delete_dataset("alice/nothing")
    for wrong in ("not a repo name", "", None, 7):
        with pytest.raises(ConfigurationError):
            delete_dataset(wrong)
    assert {"alice/hand-made", "bob/refunds"} <= there(filled)


def test_empty_data_sets_are_those_without_rows_or_with_few(filled):
    register_agent("Airline", description="Flights")
    filled.server.put("alice/half-way", {"README.md": OURS["README.md"]})  # a card and nothing else
    filled.server.put("alice/unsaid", {**OURS, "data/train.parquet": b"0"})  # rows, but nobody says how many
    listed = delete_empty_datasets(dry_run=True)
    assert [entry.repo for entry in listed.datasets] == ["alice/flights", "alice/half-way"]
    few = delete_empty_datasets(max_rows=2, dry_run=True)
    assert [entry.repo for entry in few.datasets] == [
        "alice/desk-two",
        "alice/flights",
        "alice/half-way",
        "alice/refunds-eval",
    ]
    assert not asked_to_delete(filled)
    done = delete_empty_datasets(max_rows=2)
    assert len(done.deleted) == 4
    assert {"alice/unsaid", "alice/airline-agent", "alice/policy", "acme/refunds", "alice/refunds"} <= there(filled)
    for wrong in (-1, True, 1.5):
        with pytest.raises(ConfigurationError, match="max_rows="):
            delete_empty_datasets(max_rows=wrong)
