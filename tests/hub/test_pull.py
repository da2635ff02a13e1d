"""A pull is exactly the push it names, or an error: never a newer copy that happens to lie around."""

import io
import json
import re
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, load_dataset
from pushed import canonical_rows, dataset, graded

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, HubError, SourceNotFoundError
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import push
from whileai_hf.rows import open_rows


FIRST, SECOND = dataset(3, say="first"), dataset(4, say="second")
COPY = r"is the copy of [0-9a-f]{8} on this machine"


def push_first(repo):
    """One push."""
    push(FIRST, repo)


def push_plainly(repo):
    """The same rows with `push_to_hub`."""
    FIRST.push_to_hub(repo)


def push_both(repo):
    """Two pushes that differ; returns their rows."""
    push(FIRST, repo)
    push(SECOND, repo)
    return canonical_rows(FIRST), canonical_rows(SECOND)


def push_both_plainly(repo):
    """The same with `push_to_hub` and tags of one's own."""
    from huggingface_hub import HfApi, constants

    for tag, rows in (("v1", FIRST), ("v2", SECOND)):
        rows.push_to_hub(repo)
        HfApi(endpoint=constants.ENDPOINT).create_tag(repo, tag=tag, repo_type="dataset")
    return canonical_rows(FIRST), canonical_rows(SECOND)


def deleted(hub):
    hub.api.delete_repo("alice/a", repo_type="dataset")


def private(hub):
    hub.server.repo("alice/a").private = True
    hub.server.users = {**hub.server.users, "hf_alice": hub.server.users["hf_bob"]}


def down(hub):
    hub.server.stop()


def broken(hub):
    hub.server.fail("/alice/a", 500)


def busy(hub):
    hub.server.fail("/alice/a", 429)


GONE = (deleted, private)
UNREACHABLE = (down, broken, busy)


@pytest.mark.parametrize("make", [push_both, push_both_plainly])
@pytest.mark.parametrize("fail", [*GONE, *UNREACHABLE])
def test_a_pinned_pull_is_the_pinned_rows_or_an_error(hub, once, make, fail):
    first, second = once(make, "alice/a")
    # Both are in every cache there is, the newer one last.
    assert canonical_rows(pull("alice/a", revision="v1")) == first
    assert canonical_rows(pull("alice/a")) == second
    assert canonical_rows(load_dataset("alice/a", split="train")) == second
    fail(hub)
    with pytest.warns(UserWarning, match=COPY):
        assert canonical_rows(pull("alice/a", revision="v1")) == first
    with hub.fresh_cache("elsewhere"), pytest.raises((HubError, SourceNotFoundError)):
        pull("alice/a", revision="v1")


@pytest.mark.parametrize("make", [push_both, push_both_plainly])
@pytest.mark.parametrize("fail", [*GONE, *UNREACHABLE])
def test_what_was_never_pulled_is_an_error_whatever_else_is_there(hub, once, make, fail):
    once(make, "alice/a")
    pull("alice/a")
    load_dataset("alice/a", split="train")
    fail(hub)
    with pytest.raises((HubError, SourceNotFoundError)):
        pull("alice/a", revision="v1")


@pytest.mark.parametrize("make", [push_both, push_both_plainly])
def test_the_newest_is_served_from_here_only_when_the_hub_is_silent(hub, once, make):
    _, second = once(make, "alice/a")
    pull("alice/a", revision="v1")
    pull("alice/a")
    down(hub)
    with pytest.warns(UserWarning, match=rf"no answer.*{COPY}"):
        assert canonical_rows(pull("alice/a")) == second
    with pytest.warns(UserWarning, match=COPY):
        assert canonical_rows(open_rows("alice/a")) == second
    with pytest.warns(UserWarning, match=COPY):
        assert wai.pass_at("alice/a").n_rows == len(second)
    hub.server.start()
    deleted(hub)
    with pytest.raises(
        SourceNotFoundError, match=r"no such repo.*is on this machine: revision='[0-9a-f]{40}'"
    ) as gone:
        pull("alice/a")
    sha = re.search("revision='(.*)'", str(gone.value))[1]
    with pytest.warns(UserWarning, match=COPY):
        assert canonical_rows(pull("alice/a", revision=sha)) == second


def test_offline_mode_says_from_where_it_answers(hub, once, monkeypatch):
    first, _ = once(push_both, "alice/a")
    pull("alice/a", revision="v1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.warns(UserWarning, match=rf"offline mode is on.*{COPY}"):
        rows = pull("alice/a", revision="v1")
    assert canonical_rows(rows) == first
    assert rows.info.homepage == f"{hub.server.url}/datasets/alice/a/tree/{hub.server.repo('alice/a').tags['v1']}"
    with pytest.raises(HubError, match="offline mode is on"):
        pull("alice/a")


def test_a_copy_is_read_again_without_the_files_being_asked_for(hub):
    push(FIRST, "alice/a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pull("alice/a")
        asked = len(hub.server.log)
        assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)
    assert not [path for _, path, _ in list(hub.server.log)[asked:] if path.endswith(".parquet")]


def test_a_repo_is_opened_at_its_newest_commit(hub):
    push(FIRST, "alice/a")
    assert canonical_rows(open_rows("alice/a")) == canonical_rows(FIRST)
    push(SECOND, "alice/a")
    assert canonical_rows(open_rows("alice/a")) == canonical_rows(SECOND)
    SECOND.push_to_hub("alice/b")
    FIRST.push_to_hub("alice/b")
    assert canonical_rows(open_rows("alice/b")) == canonical_rows(FIRST)


def test_splits_are_picked_by_name(hub):
    push(dataset(8), "alice/a", holdout=0.3)
    train, held = pull("alice/a"), pull("alice/a", split="holdout")
    assert len(train) + len(held) == 32 and str(held.split) == "holdout"
    assert not set(train["scenario_id"]) & set(held["scenario_id"])
    with pytest.raises(SourceNotFoundError, match=r"alice/a@main \(\w+\) has no split 'test'; it has train, holdout"):
        pull("alice/a", split="test")
    push(dataset(3), "alice/b", split="easy")
    assert len(pull("alice/b")) == 12
    push({"easy": graded(3), "hard": graded(3)}, "alice/c")
    with pytest.raises(DataError, match="has the splits easy, hard"):
        pull("alice/c")
    with pytest.raises((DataError, SourceNotFoundError), match="nothing"):
        pull("alice/b", config_name="nothing")


def test_a_revision_that_is_not_there_lists_those_that_are(hub, once):
    once(push_both, "alice/a")
    with pytest.raises(SourceNotFoundError, match=r"alice/a has no revision 'v3'; its tags are v1, v2"):
        pull("alice/a", revision="v3")
    hub.api.create_repo("alice/b", repo_type="dataset")
    with pytest.raises(SourceNotFoundError, match="it has no tags, so leave revision out"):
        pull("alice/b", revision="v1")


@pytest.mark.parametrize(
    ("token", "repo", "words"),
    [
        (None, "alice/a", "no such repo, or it is private and nobody is signed in.*hf auth login"),
        ("hf_bob", "alice/a", "no such repo, or it is private and the account that is signed in may not see it"),
        ("hf_alice", "alice/nothing", "no such repo"),
        ("hf_wrong", "alice/a", "the Hub knows no such token"),
        ("hf_alice", "a/b/c", "'namespace/name'"),
        ("hf_alice", "no such name", "'namespace/name'"),
    ],
)
def test_who_may_not_pull_is_told_in_one_sentence(hub, once, token, repo, words):
    once(push_first, "alice/a")
    with hub.signed_in(token), pytest.raises((HubError, SourceNotFoundError, ConfigurationError), match=words) as said:
        pull(repo)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("status", "words"), [(403, "may not"), (429, "too many requests"), (502, "status 502"), (0, "no answer")]
)
@pytest.mark.parametrize("where", ["/api/datasets/alice/a", "/resolve/"])
def test_what_the_hub_says_no_with_is_one_sentence(hub, once, status, words, where):
    once(push_first, "alice/a")
    hub.server.fail(where, status, message="made to fail")
    with pytest.raises(HubError, match=words) as said:
        pull("alice/a")
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("revision", ["", " ", 3])
def test_revisions_that_are_none(hub, once, revision):
    once(push_first, "alice/a")
    with pytest.raises(ConfigurationError, match="is none; pass a tag"):
        pull("alice/a", revision=revision)


def test_a_gated_repo_says_so(hub):
    push(FIRST, "alice/a", publish=True)
    hub.api.update_repo_settings("alice/a", repo_type="dataset", gated="auto")
    with hub.signed_in("hf_bob"), pytest.raises(HubError, match="gated; ask for access"):
        pull("alice/a")


def test_public_rows_need_no_token(hub):
    push(FIRST, "alice/a", publish=True)
    with hub.signed_in(None):
        assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)


def parquet(rows):
    out = io.BytesIO()
    pq.write_table(rows.data.table.replace_schema_metadata(rows.features.arrow_schema.metadata), out)
    return out.getvalue()


@pytest.mark.parametrize("content", [None, b"", b"PAR1 nonsense"])
def test_files_that_are_not_those_of_the_push_are_refused(hub, once, content):
    once(push_first, "alice/a")
    repo = hub.server.repo("alice/a")
    path = "data/train-00000-of-00001.parquet"
    content = parquet(SECOND) if content is None else content
    repo.tags["v1"] = hub.server.put("alice/a", {path: content})
    for revision in ("v1", None):
        with pytest.raises(DataError, match=r"not those that were pushed as v1 \(digest"):
            pull("alice/a", revision=revision)


@pytest.mark.parametrize("cut", [lambda c: b"", lambda c: c[:4], lambda c: c[: len(c) // 2]])
def test_half_a_copy_is_made_anew(hub, once, cut):
    once(push_first, "alice/a")
    pull("alice/a")
    for pattern in ("datasets/**/*.arrow", "hub/**/blobs/*"):
        for file in hub.home.glob(pattern):
            file.write_bytes(cut(file.read_bytes()))
        assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)
        for file in hub.home.glob("datasets/**/*.arrow"):
            file.unlink()


def test_a_copy_that_lacks_rows_at_its_end_is_made_anew(hub, once):
    once(push_first, "alice/a")
    rows = pull("alice/a")
    file = Path(rows.cache_files[0]["filename"])
    shorter = file.with_suffix(".new")
    with pa.OSFile(str(shorter), "wb") as sink, pa.ipc.new_stream(sink, rows.data.schema) as writer:
        writer.write_table(rows.data.table.slice(0, 4))
    shorter.replace(file)
    assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)


def test_half_a_file_is_never_half_the_rows_when_the_hub_is_down(hub, once):
    once(push_first, "alice/a")
    pull("alice/a", revision="v1")
    for file in hub.home.glob("datasets/**/*.arrow"):
        file.unlink()
    record = next(hub.home.glob("hub/**/run.json"))
    content = record.read_bytes()
    hub.server.stop()
    record.write_bytes(content[:100])  # without it nothing would be checked
    with pytest.raises(HubError, match=r"but run\.json is not whole"):
        pull("alice/a", revision="v1")
    record.write_bytes(content)
    shard = next(hub.home.glob("hub/**/*.parquet"))
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(DataError, match="not those that were pushed"):
        pull("alice/a", revision="v1")


def test_a_cache_that_cannot_be_written_is_one_sentence(hub, once):
    once(push_first, "alice/a")
    (hub.home / "datasets").mkdir(parents=True, exist_ok=True)
    (hub.home / "datasets" / "whileai_hf").write_text("a file where a folder should be")
    with pytest.raises(DataError, match=r"cannot be kept in .*HF_DATASETS_CACHE"):
        pull("alice/a")


def test_what_is_not_here_is_not_asked_for_again_and_again(hub, monkeypatch):
    push(dataset(8), "alice/a", holdout=0.3)
    pull("alice/a", split="train")
    commit = hub.server.put("alice/b", {"data.csv": b"prompt\nHi\n"})
    hub.server.stop()

    def asked(*arguments, **knobs):
        raise AssertionError("the client asks for half a minute")

    monkeypatch.setattr("whileai_hf.store.repos.fetching.hf_hub_download", asked)
    with pytest.raises(HubError, match=r"on this machine, but data/holdout-\S+ is not"):
        pull("alice/a", split="holdout")
    with pytest.raises(HubError, match=r"on this machine, but run\.json is not"):
        pull("alice/b", revision=commit)


def test_a_password_in_the_endpoint_is_in_no_message(hub, once, monkeypatch):
    once(push_first, "alice/a")
    pull("alice/a")
    sha = hub.server.repo("alice/a").branches["main"]
    hub.server.stop()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.server.url.replace("//", "//me:pa55@"))
    monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", "http://me:pa55@127.0.0.1:9")
    with pytest.warns(UserWarning, match=COPY) as warned:
        assert "pa55" not in pull("alice/a", revision=sha).info.homepage + str(warned[0].message)
    for call in (pull, lambda repo: push(FIRST, repo)):
        with pytest.raises(HubError, match="no answer") as refused:
            call("alice/b")
        assert "pa55" not in str(refused.value)


@pytest.mark.parametrize(
    "splits",
    [
        {"train": {}},
        {"../x": {"rows": 1, "digest": "a", "files": []}},
        {"train": {"rows": 1, "digest": "../a", "files": []}},
    ],
)
def test_a_record_that_names_files_of_ours_is_no_record(hub, once, splits):
    once(push_plainly, "alice/a")
    hub.server.put("alice/a", {"run.json": json.dumps({"schema": "whileai-hf/run-1", "splits": splits}).encode()})
    assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)


def test_a_tag_that_was_moved_to_another_push_is_refused(hub, once):
    once(push_both, "alice/a")
    tags = hub.server.repo("alice/a").tags
    first = tags["v1"]
    tags |= {"v1": tags["v2"], "mine": tags["v2"]}
    with pytest.raises(DataError, match="the tag v1 of alice/a names the push v2 now"):
        pull("alice/a", revision="v1")
    assert canonical_rows(pull("alice/a", revision=first)) == canonical_rows(FIRST)
    assert canonical_rows(pull("alice/a", revision="mine")) == canonical_rows(SECOND)


def test_a_repo_somebody_wrote_to_since_gives_the_newer_rows_and_says_so(hub):
    push(FIRST, "alice/a")
    SECOND.push_to_hub("alice/a")
    with pytest.warns(UserWarning, match="was written to after the push v1.*revision='v1'"):
        assert canonical_rows(pull("alice/a")) == canonical_rows(SECOND)
    assert canonical_rows(pull("alice/a", revision="v1")) == canonical_rows(FIRST)
    third = push(FIRST, "alice/a")
    assert third.tag == "v2" and canonical_rows(pull("alice/a")) == canonical_rows(FIRST)
    assert load_dataset("alice/a", split="train").column_names == FIRST.column_names


def test_a_card_somebody_edited_changes_no_row(hub, once):
    once(push_first, "alice/a")
    card = hub.server.files("alice/a")["README.md"]
    hub.server.put("alice/a", {"README.md": card + b"\nRead this first.\n"})
    assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)


@pytest.mark.parametrize("content", [b"{}", b"not json", b"[1]", b'{"schema": "whileai-hf/run-1"}'])
def test_somebody_elses_run_json_is_no_record(hub, once, content):
    once(push_plainly, "alice/a")
    hub.server.put("alice/a", {"run.json": content})
    assert canonical_rows(pull("alice/a")) == canonical_rows(FIRST)


@pytest.mark.parametrize("name", ["rows.jsonl", "folder/rows.parquet"])
def test_rows_are_written_to_a_file(hub, once, tmp_path, name):
    once(push_first, "alice/a")
    rows = pull("alice/a", path=tmp_path / name)
    assert canonical_rows(tmp_path / name) == canonical_rows(rows) == canonical_rows(FIRST)
    assert [file.name for file in (tmp_path / name).parent.glob("*rows*")] == [(tmp_path / name).name]
    with pytest.raises(ConfigurationError, match=r"neither \.parquet nor \.jsonl"):
        pull("alice/a", path=tmp_path / "rows.csv")


def test_foreign_files_are_read_by_datasets(hub):
    hub.server.put("alice/a", {"data.csv": b"prompt,reward\nHi,1\nHo,0\n"})
    assert pull("alice/a")[:] == {"prompt": ["Hi", "Ho"], "reward": [1, 0]}
    hub.server.put("alice/b", {"notes.md": b"nothing here"})
    with pytest.raises((DataError, SourceNotFoundError), match="alice/b"):
        pull("alice/b")


def test_pulled_rows_are_a_dataset_like_any_other(hub, once):
    once(push_first, "alice/a")
    rows = pull("alice/a")
    assert isinstance(rows, Dataset) and rows.features == FIRST.features
    assert rows.map(lambda row: {"n": len(row["messages"])})["n"][:] == [4] * 12
    assert rows.cache_files  # mapped from disk, not held in memory
