"""What a name means is asked first and remembered; a commit lands whole, once, and on top of what is there."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, HubError, SourceNotFoundError
from whileai_hf.store.repos import (
    Change,
    NoRepoError,
    NoRevisionError,
    UnreachableError,
    commit_change,
    fetch,
    fetch_file,
    hub_api,
    hub_errors,
    locate,
    read_head,
    remember,
    tag_commit,
)


REPO = "alice/a"


def started(hub, **files):
    hub.api.create_repo(REPO, repo_type="dataset", exist_ok=True)
    return hub.server.put(REPO, {name: content.encode() for name, content in files.items()})


def test_a_revision_is_the_commit_the_hub_says(hub):
    first = started(hub, a="1")
    tag_commit(hub_api(), REPO, "v1", first)
    second = started(hub, a="2")
    assert [locate(REPO, name).sha for name in (None, "main", "v1", first, first[:8])] == [second, second] + [
        first
    ] * 3
    assert locate(REPO).note is None


def test_memory_answers_for_what_was_read_and_for_nothing_else(hub):
    first = started(hub, a="1")
    tag_commit(hub_api(), REPO, "v1", first)
    remember(locate(REPO, "v1"))
    second = started(hub, a="2")
    remember(locate(REPO))
    hub.server.stop()
    assert (locate(REPO, "v1").sha, locate(REPO).sha) == (first, second)
    assert "no answer" in locate(REPO, "v1").note and first[:8] in locate(REPO, "v1").note
    assert locate(REPO, first).sha == first  # a commit is itself, read before or not
    with pytest.raises(UnreachableError):
        locate(REPO, "v2")
    with hub.fresh_cache("elsewhere"), pytest.raises(UnreachableError):
        locate(REPO, "v1")


def test_a_repo_of_the_same_name_on_another_hub_is_another(hub, monkeypatch):
    started(hub, a="1")
    remember(locate(REPO))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UnreachableError):
        locate(REPO)


def test_a_repo_that_is_gone_is_said_to_be_gone(hub):
    first = started(hub, a="1")
    remember(locate(REPO))
    hub.api.delete_repo(REPO, repo_type="dataset")
    with pytest.raises(NoRepoError, match=first):
        locate(REPO)
    assert locate(REPO, first).sha == first


def test_files_are_those_of_the_commit(hub):
    first = started(hub, a="1", b="2")
    there = locate(REPO)
    started(hub, a="new")
    assert {path: file.read_text() for path, file in fetch(there, ["a", "b", "missing"]).items()} == {
        "a": "1",
        "b": "2",
    }
    asked = hub.server.n_requests
    assert fetch_file(there, "a").read_text() == "1" and fetch_file(there, "missing") is None
    assert hub.server.n_requests == asked and there.sha == first
    hub.server.stop()
    assert fetch_file(there, "b").read_text() == "2"
    with pytest.raises(UnreachableError):
        fetch_file(there, "never asked for")


def test_a_commit_is_made_on_what_is_there(hub, tmp_path):
    started(hub, a="1", b="2")
    file = tmp_path / "big"
    file.write_bytes(b"3" * 1000)

    def build(head):
        assert set(head.files) >= {"a", "b"}
        return Change("title", {"c.parquet": file, "a": b"new"}, deleted=["b", "not there", "a"], tag="v1")

    sha = commit_change(hub_api(), REPO, build)
    files = hub.server.files(REPO)
    assert (files["a"], files["c.parquet"], "b" in files) == (b"new", b"3" * 1000, False)
    assert hub.server.repo(REPO).tags == {"v1": sha} and hub.server.repo(REPO).commits[sha].title == "title"


def test_a_lost_race_is_run_again_on_the_new_head(hub, monkeypatch):
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", lambda seconds: None)
    started(hub, count="0")
    interfered = []

    def build(head):
        count = int(hub.server.files(REPO, head.sha)["count"])
        if len(interfered) < 3:  # somebody else is quicker
            interfered.append(started(hub, count=str(count + 1)))
        return Change("one more", {"count": str(count + 1).encode()})

    commit_change(hub_api(), REPO, build)
    assert hub.server.files(REPO)["count"] == b"4"


def test_many_at_once_all_count(hub):
    started(hub, count="0")

    def build(head):
        count = int(hub.server.files(REPO, head.sha)["count"])
        return Change("one more", {"count": str(count + 1).encode()}, tag=f"n{count + 1}")

    threads = [threading.Thread(target=commit_change, args=(hub_api(), REPO, build)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert hub.server.files(REPO)["count"] == b"6"
    assert set(hub.server.repo(REPO).tags) == {f"n{number}" for number in range(1, 7)}


def test_who_never_wins_is_told(hub, monkeypatch):
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", lambda seconds: None)
    started(hub, a="1")
    hub.server.fail("POST .*/commit/", 412)
    with pytest.raises(HubError, match="others changed it 40 times"):
        commit_change(hub_api(), REPO, lambda head: Change("x", {"a": b"2"}))


def test_a_tag_that_is_there_is_kept(hub):
    first, second = started(hub, a="1"), started(hub, a="2")
    tag_commit(hub_api(), REPO, "v1", first)
    tag_commit(hub_api(), REPO, "v1", first)
    with pytest.raises(HubError, match=f"the tag names the commit {first[:8]} already.*{second}"):
        tag_commit(hub_api(), REPO, "v1", second)
    assert read_head(hub_api(), REPO).tags == {"v1": first}


def test_models_have_heads_too(hub):
    hub.api.create_repo("alice/m")
    commit_change(hub_api(), "alice/m", lambda head: Change("x", {"a.txt": b"2"}), kind="model")
    assert hub.server.files("alice/m", kind="model")["a.txt"] == b"2"


@given(st.text(max_size=200))
def test_whatever_the_client_says_becomes_one_sentence(text):
    with pytest.raises(HubError) as said, hub_errors("reading it"):
        raise ConnectionError(text)
    assert "\n" not in str(said.value) and str(said.value).startswith("reading it failed: ")


def test_errors_of_ours_pass_through():
    for error in (HubError("a"), SourceNotFoundError("b"), ConfigurationError("c"), NoRevisionError("d")):
        with pytest.raises(type(error)) as said, hub_errors("reading it"):
            raise error
        assert said.value is error
