"""One atomic commit on top of what a repo holds at that moment, made again when others were quicker.

What a commit says may depend on what is there (the next tag, what is stale), so the caller gives a function from the
head of the repo to the change. A commit either lands whole or not at all, so a program that dies leaves the repo as
it was.
"""

from __future__ import annotations

import dataclasses
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

from whileai_hf.errors import HubError
from whileai_hf.store.repos import asking
from whileai_hf.store.repos.refusals import HUB_ERRORS, UnreachableError, hub_errors, refusal, status_of


# Heads a commit is tried on; every round some process's commit lands, so this many may push at once and more.
_ROUNDS = 40
# Longest wait after losing a race, in seconds.
_RACE_WAIT = 0.4


@dataclasses.dataclass(frozen=True)
class Head:
    """
    A repo as it is before a commit.

    Args:
        sha (`str`):
            The newest commit of `main`.
        files (`list[str]`):
            Paths of its files.
        tags (`dict[str, str]`):
            Commits by tag.
    """

    sha: str
    files: list[str]
    tags: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Change:
    """
    What a commit does.

    Args:
        title (`str`):
            First line of its message.
        files (`Mapping[str, bytes | Path]`):
            Content, or the file that holds it, by path in the repo.
        deleted (`Sequence[str]`):
            Paths that go.
        tag (`str`, *optional*):
            Tag for the commit.
    """

    title: str
    files: Mapping[str, bytes | Path]
    deleted: Sequence[str] = ()
    tag: str | None = None


def read_head(api: HfApi, repo: str, kind: str = "dataset") -> Head:
    """
    The newest commit of a repo, its files and its tags.

    Raises:
        [`HubError`]: No answer, or no access.
        [`NoRepoError`]: No such repo.
    """
    with hub_errors(f"reading {repo}"):
        refs = api.list_repo_refs(repo, repo_type=kind)
        sha = str(api.repo_info(repo, repo_type=kind).sha)
        files = api.list_repo_files(repo, repo_type=kind, revision=sha)
    return Head(sha, files, tags={ref.name: ref.target_commit for ref in refs.tags})


def commit_change(api: HfApi, repo: str, build: Callable[[Head], Change], kind: str = "dataset") -> str:
    """
    Commits a change on the head of `main`, and tags the commit.

    Args:
        api (`HfApi`):
            The client.
        repo (`str`):
            The repo, which has to exist.
        build (`Callable[[Head], Change]`):
            The change for a head; called again for every head it is tried on.
        kind (`str`, *optional*, defaults to `"dataset"`):
            "dataset" or "model".

    Returns:
        `str`: The commit.

    Raises:
        [`HubError`]: No access, no answer after retries, or others kept changing the repo.
        [`NoRepoError`]: No such repo.
    """
    mark = f"push {uuid.uuid4().hex}"
    failures = 0
    for attempt in range(_ROUNDS):
        try:
            head = read_head(api, repo, kind)
            change = build(head)
        except UnreachableError as error:
            failures += 1
            if failures > asking.RETRIES or error.__cause__ is None or not asking.is_passing(error.__cause__):
                raise
            asking.pause(asking.wait_after(error.__cause__, failures))
            continue
        try:
            sha = _commit(api, repo, kind, head, change, mark)
            # A commit that would change nothing is not made, and what is "nothing" is measured on the newest head.
            if sha != head.sha and _landed(api, repo, kind, mark, head.sha) is None:
                continue
        except HUB_ERRORS as error:
            status = status_of(error)
            if status in (409, 412):
                asking.pause(min(_RACE_WAIT, 0.05 * (attempt + 1)) * _share())
            elif asking.is_passing(error):
                failures += 1
                if failures > asking.RETRIES:
                    raise refusal(error, f"committing to {repo}") from error
                asking.pause(asking.wait_after(error, failures))
            else:
                raise refusal(error, f"committing to {repo}") from error
            # The answer may have got lost, not the commit: then it is there under its mark.
            landed = _landed(api, repo, kind, mark, head.sha)
            if landed is None:
                continue
            sha = landed
        if change.tag is not None:
            tag_commit(api, repo, change.tag, sha, kind)
        return sha
    raise HubError(f"committing to {repo} failed: others changed it {_ROUNDS} times meanwhile; try again later")


def _commit(api: HfApi, repo: str, kind: str, head: Head, change: Change, mark: str) -> str:
    present = set(head.files)
    operations: list[CommitOperationAdd | CommitOperationDelete] = [
        CommitOperationDelete(path) for path in change.deleted if path in present and path not in change.files
    ]
    operations += [CommitOperationAdd(path, content) for path, content in change.files.items()]
    try:
        info = api.create_commit(
            repo,
            operations,
            commit_message=change.title,
            commit_description=mark,
            repo_type=kind,
            parent_commit=head.sha,
        )
    except RuntimeError as error:
        # What the client raises in the place of the answer to the upload of one file.
        if isinstance(error.__cause__, HUB_ERRORS):
            raise error.__cause__ from error
        raise
    return str(info.oid)


def _landed(api: HfApi, repo: str, kind: str, mark: str, since: str) -> str | None:
    """The commit that carries the mark, among those newer than `since`."""
    for commit in asking.ask(lambda: api.list_repo_commits(repo, repo_type=kind), f"reading {repo}"):
        if commit.commit_id == since:
            return None
        if mark in commit.message:
            return str(commit.commit_id)
    return None


def tag_commit(api: HfApi, repo: str, tag: str, sha: str, kind: str = "dataset") -> None:
    """
    Names a commit; nothing happens when it has that name already.

    Args:
        api (`HfApi`):
            The client.
        repo (`str`):
            The repo.
        tag (`str`):
            The name.
        sha (`str`):
            The commit.
        kind (`str`, *optional*, defaults to `"dataset"`):
            "dataset" or "model".

    Raises:
        [`HubError`]: The tag names another commit, or the Hub said no.
    """
    doing = f"tagging {repo}@{tag}"
    pushed = f"what was pushed is the commit {sha}, which can be read with revision={sha[:8]!r}"
    for failures in range(1, asking.RETRIES + 2):
        try:
            api.create_tag(repo, tag=tag, revision=sha, repo_type=kind)
            return
        except HUB_ERRORS as error:
            status = status_of(error)
            if status == 409:
                found = _tagged(api, repo, kind, tag)
                if found == sha:
                    return
                if found is not None:
                    raise HubError(
                        f"{doing} failed: the tag names the commit {found[:8]} already; {pushed}"
                    ) from error
            if failures > asking.RETRIES or not (status in (409, 412) or asking.is_passing(error)):
                said = refusal(error, doing)
                raise type(said)(f"{said}; {pushed}") from error
            asking.pause(asking.wait_after(error, failures))


def _tagged(api: HfApi, repo: str, kind: str, tag: str) -> str | None:
    """The commit a tag names."""
    refs = asking.ask(lambda: api.list_repo_refs(repo, repo_type=kind), f"listing the tags of {repo}")
    return next((str(ref.target_commit) for ref in refs.tags if ref.name == tag), None)


def _share() -> float:
    """A share of a wait that differs between processes, so that they do not keep meeting."""
    return (os.getpid() * 7 + time.monotonic_ns()) % 97 / 97
