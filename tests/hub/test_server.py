"""The test server itself: what unmodified clients do to it comes out as on the Hub."""

from pathlib import Path

import huggingface_hub
import pytest
from datasets import Dataset, Features, Json, List, Value, load_dataset
from huggingface_hub import CommitOperationAdd, DatasetCard
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError


FEATURES = Features({"id": Value("string"), "messages": List(Json()), "reward": Value("float64")})


def rows(n: int, reward: float) -> list[dict]:
    return [
        {"id": f"r{i}", "messages": [{"role": "user", "content": f"ask {i}"}, {"a": {"b": i}}], "reward": reward}
        for i in range(n)
    ]


def test_a_pushed_dataset_is_loaded_by_tag_by_commit_and_as_a_stream(hub):
    first, second = rows(20, 0.0), rows(25, 1.0)
    Dataset.from_list(first, features=FEATURES).push_to_hub("alice/runs", max_shard_size="1KB")
    hub.api.create_tag("alice/runs", tag="one", repo_type="dataset")
    Dataset.from_list(second, features=FEATURES).push_to_hub("alice/runs")
    assert load_dataset("alice/runs", split="train").to_list() == second
    assert load_dataset("alice/runs", split="train", revision="one").to_list() == first
    sha = hub.api.list_repo_refs("alice/runs", repo_type="dataset").tags[0].target_commit
    assert load_dataset("alice/runs", split="train", revision=sha).to_list() == first
    assert list(load_dataset("alice/runs", split="train", revision="one", streaming=True)) == first


def test_tokens_decide_what_may_be_seen_and_written(hub):
    hub.api.create_repo("alice/secret", repo_type="dataset", private=True)
    with hub.signed_in("hf_bob"):
        assert huggingface_hub.whoami()["name"] == "bob"
        with pytest.raises(RepositoryNotFoundError):
            hub.api.repo_info("alice/secret", repo_type="dataset")
    with hub.signed_in("hf_alice_read"), pytest.raises(HfHubHTTPError) as refused:
        hub.api.upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id="alice/secret", repo_type="dataset")
    assert refused.value.response.status_code == 403
    with hub.signed_in("hf_wrong"), pytest.raises(HfHubHTTPError) as refused:
        hub.api.whoami()
    assert refused.value.response.status_code == 401
    hub.api.update_repo_settings("alice/secret", repo_type="dataset", private=False, gated="auto")
    hub.server.put("alice/secret", {"data.txt": b"1"})
    with hub.signed_in("hf_bob"), pytest.raises(GatedRepoError):
        hub.api.hf_hub_download("alice/secret", "data.txt", repo_type="dataset")


def test_a_commit_on_a_stale_parent_is_refused_and_changes_nothing(hub):
    hub.api.create_repo("alice/runs", repo_type="dataset")
    parent = hub.api.repo_info("alice/runs", repo_type="dataset").sha
    commit = {"repo_id": "alice/runs", "repo_type": "dataset", "commit_message": "m", "parent_commit": parent}
    hub.api.create_commit(operations=[CommitOperationAdd("a.parquet", b"1")], **commit)
    with pytest.raises(HfHubHTTPError) as refused:
        hub.api.create_commit(operations=[CommitOperationAdd("b.txt", b"2")], **commit)
    assert refused.value.response.status_code == 412
    files = hub.server.files("alice/runs")
    assert files["a.parquet"] == b"1" and "b.txt" not in files


def test_a_card_makes_tags_that_lists_are_filtered_by(hub):
    hub.server.put("alice/a", {"README.md": b"---\ntags: [whileai-hf]\nlicense: mit\nwhileai: {rows: 3}\n---\nHello"})
    hub.server.put("bob/b", {"README.md": b"---\ntags: [whileai-hf]\n---\n"}, private=True)
    found = list(hub.api.list_datasets(filter="whileai-hf", expand=["cardData", "tags"]))
    assert [repo.id for repo in found] == ["alice/a"]
    assert found[0].card_data["whileai"] == {"rows": 3} and "license:mit" in found[0].tags
    assert DatasetCard.load("alice/a").text == "Hello"


def test_large_uploads_come_in_parts(hub, monkeypatch, tmp_path):
    monkeypatch.setattr("hub.upload_routes.WHOLE_SIZE", 1 << 20)
    monkeypatch.setattr("hub.upload_routes.PART_SIZE", 1 << 20)
    content = bytes(range(256)) * (11 << 10)  # 2.75 MiB
    hub.api.create_repo("alice/m", repo_type="model")
    hub.api.upload_file(path_or_fileobj=content, path_in_repo="w.safetensors", repo_id="alice/m")
    path = huggingface_hub.hf_hub_download("alice/m", "w.safetensors")
    assert Path(path).read_bytes() == content
    assert sum("/part/" in path for _, path, _ in hub.server.log) == 3


def test_faults_strike_when_and_as_often_as_asked(hub):
    hub.server.fail("GET /api/whoami", 403, times=1, after=1)
    assert hub.api.whoami()["name"] == "alice"
    with pytest.raises(HfHubHTTPError):
        hub.api.whoami()
    assert hub.api.whoami()["name"] == "alice"
    url = hub.server.url
    hub.server.stop()
    with pytest.raises(Exception, match=r"refused|disconnected|reset"):
        hub.api.whoami()
    hub.server.start()
    assert hub.server.url == url and hub.api.whoami()["name"] == "alice"
