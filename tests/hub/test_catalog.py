"""Lists of data sets, and who is signed in."""

import os
import re

import pytest
from hub.catalog_cards import card
from huggingface_hub import constants

from whileai_hf.errors import ConfigurationError, HubError
from whileai_hf.hub.accounts import account_from
from whileai_hf.hub.listing import catalog, datasets
from whileai_hf.hub.status import hf_status


@pytest.fixture
def filled(hub):
    """Alice's sets for two agents, one of her organisation, one of bob's, and one that is not ours."""
    numbers = {"train": {"pass_at_1": 0.5, "ci95": [0.4, 0.6], "k": 4}}
    hub.server.put("alice/refunds", card(mode="rl", tasks=3, numbers=numbers), private=True)
    hub.server.put("alice/refunds-eval", card(purpose="eval", rows=5, parent={"repo": "alice/refunds", "tag": "v1"}))
    hub.server.put("alice/flights", card(agent="Airline", rows=7))
    hub.server.put("acme/team", card(rows=99), private=True)
    hub.server.put("bob/refunds", card(agent="order-desk", rows=30))
    hub.server.put("bob/secret", card(rows=31), private=True)
    hub.server.put("alice/plain", {"README.md": b"---\ntags: [other]\n---\n", "data.parquet": b"0"})
    return hub


def repos(found):
    return [entry.repo for entry in found.entries]


def test_my_data_sets_are_mine_with_what_their_cards_say(filled):
    found = datasets()
    assert sorted(repos(found)) == ["alice/flights", "alice/refunds", "alice/refunds-eval"]
    assert found.namespace == "alice" and found.source == "hub"
    one = next(entry for entry in found.entries if entry.repo == "alice/refunds")
    assert (one.rows, one.tasks, one.purpose, one.agent, one.mode, one.tag) == (
        12,
        3,
        "train",
        "Order Desk",
        "rl",
        "v1",
    )
    assert one.private is True and one.storage >= 500 and one.numbers["train"]["pass_at_1"] == 0.5
    assert one.url == f"{filled.server.url}/datasets/alice/refunds"
    other = next(entry for entry in found.entries if entry.repo == "alice/refunds-eval")
    assert other.parent == "alice/refunds@v1" and other.private is False
    assert found.storage == sum(entry.storage for entry in found.entries)
    assert {name: len(entries) for name, entries in found.groups().items()} == {"train": 2, "eval": 1}
    text = str(found)
    assert "3 data sets of alice" in text and "pass@1 0.50 [0.40, 0.60]" in text and "private" in text


def test_nothing_is_downloaded_for_a_list(filled):
    datasets()
    catalog()
    assert not [path for _, path, _ in filled.server.log if "/resolve/" in path]


def test_lists_are_narrowed_on_the_hub_by_agent_purpose_and_namespace(filled):
    assert repos(datasets(agent="order DESK", purpose="eval")) == ["alice/refunds-eval"]
    assert repos(datasets(namespace="acme")) == ["acme/team"]
    with pytest.raises(ConfigurationError, match="'bob' is not a namespace of alice; it has alice, acme"):
        datasets(namespace="bob")
    with pytest.raises(ConfigurationError, match="purpose='test'; expected one of train, holdout, eval"):
        datasets(purpose="test")


def test_the_catalog_is_public_for_everybody_and_needs_no_account(filled):
    with filled.signed_in(None):
        found = catalog()
    assert sorted(repos(found)) == ["alice/flights", "alice/refunds-eval", "bob/refunds"]
    # One's own private sets are no public cards, either.
    assert sorted(repos(catalog())) == sorted(repos(found))
    assert sorted(repos(catalog("order desk"))) == ["alice/refunds-eval", "bob/refunds"]
    assert repos(catalog(author="bob")) == ["bob/refunds"]
    assert len(catalog(limit=1)) == 1
    with pytest.raises(ConfigurationError, match="limit=0"):
        catalog(limit=0)


def test_the_newest_come_first(filled):
    filled.server.put("alice/flights", {"more.txt": b"1"})
    assert repos(datasets())[0] == "alice/flights"


@pytest.mark.parametrize(
    "key", ["[1, 2]", "text", "{rows: many, purpose: [x], agent: 3, numbers: {train: high}, parent: 7}", "null"]
)
def test_a_card_edited_by_hand_is_still_listed(hub, key):
    readme = f"---\ntags: [whileai-hf, whileai-agent-desk]\nwhileai: {key}\n---\n".encode()
    hub.server.put("alice/edited", {"README.md": readme})
    (entry,) = datasets().entries
    assert (entry.rows, entry.agent, entry.purpose, entry.numbers) == (None, "desk", None, {})
    assert "rows unknown" in str(entry)


def test_many_pages_are_read_to_the_end(hub, monkeypatch):
    monkeypatch.setattr("hub.repo_routes.PAGE", 3)
    for number in range(8):
        hub.server.put(f"alice/set-{number}", card())
    assert len(datasets()) == 8


@pytest.mark.parametrize("failure", ["down", 500, 429, "offline"])
def test_a_hub_that_does_not_answer_leaves_what_is_in_the_cache(filled, failure, monkeypatch):
    for repo in ("alice/refunds", "bob/refunds", "alice/plain"):
        filled.api.snapshot_download(repo, repo_type="dataset")
    if failure == "down":
        filled.server.stop()
    elif failure == "offline":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    else:
        filled.server.fail("GET /api/", failure)
    found = datasets()
    assert (found.source, repos(found)) == ("cache", ["alice/refunds", "bob/refunds"])
    assert found.entries[0].rows == 12 and "local cache" in found.notes[0] and "\n" not in found.notes[0]
    assert repos(catalog("airline")) == []
    assert repos(datasets(agent="order desk", purpose="train")) == ["alice/refunds", "bob/refunds"]
    assert "local cache" in str(found)


def test_the_cache_tells_the_newest_push_of_a_repo(hub):
    for number in (9, 10):
        hub.server.put("alice/refunds", card(rows=number, tag=f"v{number}"))
        hub.api.snapshot_download("alice/refunds", repo_type="dataset")
    hub.server.stop()
    (entry,) = datasets().entries
    assert (entry.rows, entry.tag) == (10, "v10")


def test_nobody_signed_in_is_one_sentence(filled):
    with filled.signed_in(None), pytest.raises(HubError) as refused:
        datasets()
    assert "nobody is signed in" in str(refused.value) and "hf auth login" in str(refused.value)
    with filled.signed_in("hf_wrong"), pytest.raises(HubError) as refused:
        datasets()
    assert "\n" not in str(refused.value) and "hf_wrong" not in str(refused.value)


def test_status_says_who_and_what_and_never_the_token(filled):
    found = hf_status()
    assert (found.signed_in, found.account, found.organisations) == (True, "alice", ["acme"])
    assert (found.role, found.writes_to, found.token_from) == ("write", ["alice", "acme"], "HF_TOKEN")
    assert found.endpoint == filled.server.url and found.reachable is True and found.offline is False
    assert found.caches["hub"] == constants.HF_HUB_CACHE
    for text in (str(found), str(found.to_dict()), repr(found)):
        assert "hf_alice" not in text
    filled.api.snapshot_download("alice/refunds", repo_type="dataset")
    assert hf_status().cached == ["alice/refunds"]


def test_status_of_a_token_that_only_reads(filled):
    with filled.signed_in("hf_alice_read"):
        found = hf_status()
    assert (found.role, found.writes_to) == ("read", [])
    assert "may not push" in str(found) and "hf_alice" not in str(found)


def test_status_of_a_token_in_the_file_of_the_login(filled, monkeypatch):
    with filled.signed_in(None):
        os.makedirs(os.path.dirname(constants.HF_TOKEN_PATH), exist_ok=True)
        with open(constants.HF_TOKEN_PATH, "w") as file:
            file.write("hf_bob")
        found = hf_status()
    assert (found.account, found.token_from) == ("bob", "token file")


def test_status_without_an_account_and_without_a_hub_is_no_error(filled, monkeypatch):
    with filled.signed_in(None):
        found = hf_status()
    assert (found.signed_in, found.token_from, found.reachable) == (False, None, True)
    assert str(found).startswith("not signed in\n") and "hf auth login" in found.notes[0] and len(found.notes) == 1
    with filled.signed_in("hf_nobody"):
        found = hf_status()
    assert (found.signed_in, found.reachable) == (False, True)
    assert "hf_nobody" not in str(found) and len(found.notes) == 1
    filled.server.stop()
    found = hf_status()
    assert (found.signed_in, found.reachable, found.account) == (False, False, None)
    assert "gave no answer" in found.notes[0]
    with filled.signed_in(None):
        found = hf_status()
    assert found.reachable is False and len(found.notes) == 2
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    found = hf_status()
    assert found.offline is True and re.search("HF_HUB_OFFLINE", str(found))


def test_a_password_in_the_endpoint_is_not_shown(hub, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", hub.server.url.replace("//", "//me:pa55@"))
    hub.server.stop()
    found = hf_status()
    assert "pa55" not in str(found) and "pa55" not in str(found.to_dict())


def test_what_a_token_may_do_is_read_from_what_the_hub_says():
    orgs = [{"name": "acme", "roleInOrg": "admin"}, {"name": "guests", "roleInOrg": "read"}, {"name": None}, "odd"]
    token = {"role": "write"}
    found = account_from({"name": "ada", "orgs": orgs, "auth": {"accessToken": token}})
    assert (found.namespaces, found.writes_to) == (["ada", "acme", "guests"], ["ada", "acme"])
    scoped = [
        {"entity": {"type": "user", "name": "ada"}, "permissions": ["repo.content.read", "repo.write"]},
        {"entity": {"type": "org", "name": "acme"}, "permissions": ["repo.content.read"]},
        {"entity": None},
    ]
    token = {"role": "fineGrained", "fineGrained": {"scoped": scoped, "global": []}}
    found = account_from({"name": "ada", "orgs": orgs, "auth": {"accessToken": token}})
    assert (found.role, found.writes_to) == ("fineGrained", ["ada"])
    for auth in ({}, {"type": "oauth"}, None, {"accessToken": None}):
        assert account_from({"name": "ada", "auth": auth}).writes_to is None


@pytest.mark.parametrize("token", ["hf_\u20ac", "hf_a b", "hf_\x7f"])
def test_a_token_that_cannot_be_one_is_no_crash(hub, token):
    with hub.signed_in(token):
        found = hf_status()
        assert found.signed_in is False and token not in str(found) and len(found.notes) == 1


def test_a_token_from_a_build_server_that_cannot_be_had_is_a_note(hub, monkeypatch):
    monkeypatch.setenv("HF_OIDC_RESOURCE", "alice/refunds")
    found = hf_status()
    assert (found.signed_in, found.token_from) == (False, "HF_OIDC_RESOURCE") and "HF_OIDC_RESOURCE" in found.notes[0]
