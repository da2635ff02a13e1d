"""Changing what is said about a data set and who sees it; the rows of a push never change."""

import json

import pytest
from datasets import load_dataset
from hub.catalog_cards import card

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, HubError, SourceNotFoundError
from whileai_hf.hub.cards import front_matter
from whileai_hf.hub.lifecycle import publish, unpublish, update_dataset
from whileai_hf.hub.listing import catalog, datasets
from whileai_hf.hub.profiling import preview, profile
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import push
from whileai_hf.hub.record import RunRecord


ROWS = [
    {
        "scenario_id": f"sc-{task}",
        "prompt": f"Where is order {task}? Tell me about number {task * 31}.",
        "steps": [{"tool": "get_order", "arguments": {"order_id": str(task)}, "result": {"status": "ok"}}],
        "final_text": f"It is on its way, {index}.",
        "rollout_index": index,
        "reward": float(index < task % 4),
        "judge_status": "ok",
    }
    for task in range(8)
    for index in range(4)
]


def push_both(repo):
    push(ROWS, repo, agent="Order Desk", gate=False)
    push(ROWS[:24], repo, agent="Order Desk", gate=False, description="The second.")


@pytest.fixture
def pushed(hub, once):
    """Two pushes of alice's, private: v1 with eight tasks, v2 with six."""
    once(push_both, "alice/refunds")
    return hub


def record(hub):
    return RunRecord.loads(hub.server.files("alice/refunds")["run.json"])


def test_another_purpose_changes_card_and_record_and_no_row(pushed):
    before = record(pushed)
    shards = {path: data for path, data in pushed.server.files("alice/refunds").items() if path.endswith(".parquet")}
    done = update_dataset("alice/refunds", purpose="eval")
    assert done.changed == ["purpose is 'eval' now"] and done.entry.purpose == "eval"
    assert [entry.repo for entry in datasets(purpose="eval").entries] == ["alice/refunds"]
    assert datasets(purpose="train").entries == []
    files = pushed.server.files("alice/refunds")
    assert {path: data for path, data in files.items() if path.endswith(".parquet")} == shards
    after = record(pushed)
    assert after.purpose == "eval" and after.digest == before.digest and after.tag == "v2"
    assert [one.purpose for one in after.history] == ["train", "eval"]
    readme = files["README.md"].decode()
    assert "whileai-purpose-eval" in front_matter(readme)["tags"]
    assert "whileai-purpose-train" not in front_matter(readme)["tags"] and "to measure on" in readme
    assert len(load_dataset("alice/refunds", split="train")) == 24
    # The tags are what they were.
    refs = {ref.name for ref in pushed.api.list_repo_refs("alice/refunds", repo_type="dataset").tags}
    assert refs == {"v1", "v2"}
    assert RunRecord.loads(pushed.server.files("alice/refunds", "v2")["run.json"]).purpose == "train"
    assert len(pull("alice/refunds", revision="v1")) == 32 and len(pull("alice/refunds")) == 24


def test_a_push_after_that_goes_on_from_there(pushed):
    update_dataset("alice/refunds", agent="Other Desk", description="Now another.")
    assert datasets(agent="other desk").entries[0].agent == "Other Desk"
    result = push(ROWS, "alice/refunds", agent="Other Desk", gate=False)
    assert result.tag == "v3" and [one.tag for one in record(pushed).history] == ["v1", "v2", "v3"]


def test_nothing_to_change_is_no_commit_or_an_error(pushed):
    commits = len(pushed.server.repo("alice/refunds").commits)
    done = update_dataset("alice/refunds", purpose="train", description="The second.")
    assert done.changed == [] and done.commit is None and "nothing had to be changed" in str(done)
    assert len(pushed.server.repo("alice/refunds").commits) == commits
    with pytest.raises(ConfigurationError, match="nothing to change"):
        update_dataset("alice/refunds")
    with pytest.raises(ConfigurationError, match="purpose='test'; expected one of train, holdout, eval"):
        update_dataset("alice/refunds", purpose="test")
    with pytest.raises(ConfigurationError, match="names none"):
        update_dataset("alice/refunds", agent=" ")


def test_a_push_in_between_is_not_lost(pushed, monkeypatch):
    from whileai_hf.hub import rewriting

    made, build_card = [], rewriting.build_card

    def slow(*args, **kwargs):
        if len(made) < 1:
            made.append(1)
            push(ROWS, "alice/refunds", agent="Order Desk", gate=False)
        return build_card(*args, **kwargs)

    monkeypatch.setattr(rewriting, "build_card", slow)
    update_dataset("alice/refunds", purpose="eval")
    found = record(pushed)
    assert (found.tag, found.purpose, found.rows) == ("v3", "eval", 32)
    assert len(pull("alice/refunds")) == 32


def test_publishing_lets_everybody_see_it_and_unpublishing_nobody(pushed):
    with pushed.signed_in("hf_bob"), pytest.raises(SourceNotFoundError):
        pull("alice/refunds")
    done = publish("alice/refunds", description="Refund conversations.")
    assert done.changed == ["description is 'Refund conversations.' now", "it is public now"] and not done.private
    assert "all its 2 pushes are public now: v1, v2" in done.notes
    with pushed.signed_in(None), pushed.fresh_cache("other"):
        assert [entry.repo for entry in catalog("order desk").entries] == ["alice/refunds"]
        assert len(pull("alice/refunds")) == 24  # public sets need no key
    assert "it was public before" in publish("alice/refunds").notes
    done = unpublish("alice/refunds")
    assert done.private and done.changed == ["it is private now"]
    assert catalog().entries == []


def test_an_empty_set_and_what_is_not_ours_are_not_published(hub):
    hub.server.put("alice/empty", card(rows=0), private=True)
    hub.server.put("alice/plain", {"data.parquet": b"0"}, private=True)
    hub.server.put("bob/refunds", card())
    bare = b"---\ntags: [whileai-hf]\n---\n"  # a card whose owner has taken out what the push wrote
    hub.server.put("alice/half-way", {"README.md": bare}, private=True)
    for repo in ("alice/empty", "alice/half-way"):
        with pytest.raises(DataError, match="holds no rows"):
            publish(repo)
    hub.server.put("alice/unsaid", {"README.md": bare, "data/train.parquet": b"0"}, private=True)
    assert publish("alice/unsaid").changed == ["it is public now"]
    for call in (publish, unpublish, lambda repo: update_dataset(repo, purpose="eval")):
        with pytest.raises(ConfigurationError, match="does not carry the tag whileai-hf"):
            call("alice/plain")
        with pytest.raises(ConfigurationError, match="'bob' is not a namespace of alice"):
            call("bob/refunds")
        with pytest.raises(SourceNotFoundError):
            call("alice/nothing")
    assert hub.server.repo("alice/empty").private and hub.server.repo("alice/plain").private
    with pytest.raises(DataError, match=r"has no run\.json"):
        hub.server.put("alice/bare", card())
        update_dataset("alice/bare", purpose="eval")


@pytest.mark.parametrize(("status", "says"), [(403, "may not"), (429, "too many requests"), (500, "status 500")])
def test_what_the_hub_says_no_with_is_one_sentence(pushed, status, says):
    pushed.server.fail("PUT .*/settings", status)
    with pytest.raises(HubError, match=says) as refused:
        publish("alice/refunds")
    assert "\n" not in str(refused.value) and pushed.server.repo("alice/refunds").private
    with pushed.signed_in("hf_alice_read"), pytest.raises(HubError, match="may"):
        update_dataset("alice/refunds", purpose="eval")
    assert record(pushed).purpose == "train"


def test_a_push_is_profiled_and_previewed_from_the_hub(pushed):
    rows = pull("alice/refunds", revision="v1")
    found = profile("alice/refunds", revision="v1")
    assert found.passes.to_dict() == wai.pass_at(rows).to_dict() == wai.pass_at(ROWS).to_dict()
    assert found.commit == pushed.server.repo("alice/refunds").tags["v1"]
    looked = preview("alice/refunds", revision="v1", n=2)
    assert [row["prompt"] for row in looked.rows] == [row["prompt"] for row in ROWS[:2]]
    assert looked.rows[0]["steps"] == ROWS[0]["steps"] and looked.columns["steps"] == "list of json"
    assert looked.record["tag"] == "v1" and looked.n_rows == 32 and looked.splits == {"train": 32}
    assert json.dumps(looked.to_dict())
    assert "tag v1, purpose train, agent Order Desk" in str(looked)
    pushed.server.stop()
    with pytest.warns(UserWarning, match="on this machine"):
        again = preview("alice/refunds", revision="v1", n=2)
    assert again.rows == looked.rows and "on this machine" in again.notes[0]
