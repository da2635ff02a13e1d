"""Whatever request of a push fails or is never answered, nothing is lost and the next push goes on from there."""

import json
import os
import signal
import tempfile
import threading
from pathlib import Path

import pytest
from pushed import dataset

from whileai_hf.errors import HubError, WhileaiError
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import push
from whileai_hf.hub.pushing.workplace import workplace


FIRST, SECOND, THIRD = dataset(3, say="first"), dataset(4, say="second"), dataset(5, say="third")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Waits that take no time."""
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", lambda seconds: None)


def push_first(repo):
    push(FIRST, repo, gate=False)


def pushes(hub):
    """Rows by tag, and the tags of the history."""
    tags = sorted(hub.server.repo("alice/a").tags)
    history = json.loads(hub.server.files("alice/a")["run.json"])["history"]
    return {tag: len(pull("alice/a", revision=tag)) for tag in tags}, [entry["tag"] for entry in history]


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("POST /api/repos/create", 429),
        ("/refs", 500),
        ("GET /api/datasets/alice/a$", 0),
        ("/run.json", 0),
        ("PUT /_lfs/", 0),
        ("/tag/", 429),
    ],
)
def test_a_hub_that_fails_once_fails_no_push(hub, once, request_line, status):
    once(push_first, "alice/a")
    hub.server.fail(request_line, status, times=1)
    assert push(SECOND, "alice/a", gate=False).tag == "v2"
    hub.server.faults.clear()
    assert pushes(hub) == ({"v1": 12, "v2": 16}, ["v1", "v2"])


@pytest.mark.parametrize(("request_line", "status"), [("PUT /_lfs/", 403), ("/verify", 413)])
def test_an_upload_that_is_refused_is_one_sentence(hub, once, status, request_line):
    once(push_first, "alice/a")
    hub.server.fail(request_line, status)
    with pytest.raises(HubError, match="committing to alice/a failed") as refused:
        push(SECOND, "alice/a", gate=False)
    assert "\n" not in str(refused.value)
    hub.server.faults.clear()
    assert push(THIRD, "alice/a", gate=False).tag == "v2"
    assert pushes(hub) == ({"v1": 12, "v2": 20}, ["v1", "v2"])


@pytest.mark.parametrize("status", [409, 412])
def test_a_tag_is_tried_again_when_the_repo_was_busy(hub, status):
    hub.server.fail("POST .*/tag/", status, times=2)
    assert push(FIRST, "alice/a", gate=False).tag == "v1"
    assert pushes(hub) == ({"v1": 12}, ["v1"])


def test_a_push_without_its_tag_says_which_commit_it_is(hub):
    hub.server.fail("POST .*/tag/", 403)
    with pytest.raises(HubError, match=r"tagging alice/a@v1 failed.*what was pushed is the commit [0-9a-f]{40}"):
        push(FIRST, "alice/a", gate=False)


@pytest.mark.slow
@pytest.mark.parametrize("status", [0, 403, 409, 412, 429, 500])
def test_every_request_in_turn_may_fail(hub, once, status):
    once(push_first, "alice/a")
    for number in range(40):
        fault = hub.server.fail(".", status, times=1, after=number)
        try:
            push(SECOND, "alice/a", gate=False)
        except (WhileaiError, KeyError) as error:  # KeyError: the client's, for a repo that "is there already"
            assert "\n" not in str(error)
        hub.server.faults.clear()
        push(THIRD, "alice/a", gate=False)
        found, history = pushes(hub)
        assert sorted(found) == sorted(history) and found["v1"] == 12 and found[history[-1]] == 20
        if fault.seen <= number:
            return
    raise AssertionError("a push made more requests than it should")


def killed_at(hub, pattern):
    """A push in another process, killed while the request waits for its answer."""
    held = hub.server.fail(pattern, None, times=1, hold=threading.Event(), hold_for=30)
    child = os.fork()  # has what it needs in memory: the clients take seconds to import
    if not child:
        try:
            push(SECOND, "alice/a", gate=False)
        finally:
            os._exit(1)
    assert held.reached.wait(30)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return held


@pytest.mark.parametrize(("at", "left"), [("PUT /_lfs/", "v1"), ("/commit/main", "v1"), ("/tag/", "v2")])
def test_a_push_killed_half_way_is_whole_or_nothing(hub, once, tmp_path, monkeypatch, at, left):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    once(push_first, "alice/a")
    before = hub.server.repo("alice/a").branches["main"]
    held = killed_at(hub, at)
    assert (hub.server.repo("alice/a").branches["main"] == before) == (left == "v1")
    assert len(pull("alice/a")) == (12 if left == "v1" else 16)
    hub.server.faults.clear()
    assert list(tmp_path.glob("whileai-push-*"))
    done = push(THIRD, "alice/a", gate=False)
    assert not list(tmp_path.glob("whileai-push-*"))
    held.hold.set()
    rows = {"v1": 12, done.tag: 20} if left == "v1" else {"v1": 12, "v2": 16, "v3": 20}
    assert pushes(hub) == (rows, list(rows))


def test_the_folder_of_a_push_that_goes_on_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    somebody = tmp_path / "whileai-push-without-a-lock"
    somebody.mkdir()
    with workplace() as first, workplace() as second:
        assert first != second and first.is_dir() and second.is_dir()
        with workplace():
            assert first.is_dir() and second.is_dir()
    assert list(Path(tmp_path).iterdir()) == [somebody]
