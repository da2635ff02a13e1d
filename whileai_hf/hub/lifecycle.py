"""Changing what is said about a data set, and who sees it. The rows of a push never change."""

from __future__ import annotations

import dataclasses
from typing import Any

from huggingface_hub import HfApi

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.accounts import read_account
from whileai_hf.hub.entries import AGENT, Entry, ours
from whileai_hf.hub.record import PURPOSES
from whileai_hf.hub.removal import has_data
from whileai_hf.hub.rewriting import rewrite
from whileai_hf.rows import Report
from whileai_hf.store.repos import hub_api, hub_errors


@dataclasses.dataclass(frozen=True)
class Change(Report):
    """
    What was changed about a data set.

    Args:
        repo (`str`):
            Its id.
        private (`bool`):
            Whether only its owner sees it now.
        changed (`list[str]`):
            What is different from before; empty where nothing had to be done.
        commit (`str`, *optional*):
            The commit that says so; `None` where none was needed.
        entry ([`Entry`]):
            The data set as it is now.
        notes (`list[str]`):
            What to know about it.
    """

    repo: str
    private: bool
    changed: list[str]
    commit: str | None
    entry: Entry
    notes: list[str]

    def __str__(self) -> str:
        what = ", ".join(self.changed) or "nothing had to be changed"
        lines = [f"{self.repo}: {what}", self.entry.url]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def update_dataset(
    repo: str,
    *,
    purpose: str | None = None,
    agent: str | None = None,
    description: str | None = None,
    token: str | None = None,
) -> Change:
    """
    Changes what a data set of yours is for, whose agent it is of, or what its card says.

    The newest push gets another card and `run.json`; its rows, its tag and all older pushes stay as they are. The
    card is written anew from the rows, which are fetched where they are not in the cache.

    Args:
        repo (`str`):
            Its id.
        purpose (`str`, *optional*):
            `train`, `holdout` or `eval`.
        agent (`str`, *optional*):
            Name of the agent.
        description (`str`, *optional*):
            What its card says about it.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Change`]: What is different now.

    Raises:
        [`ConfigurationError`]: An unknown purpose, nothing to change, somebody else's data set, or one that was not
            pushed by this library.
        [`SourceNotFoundError`]: There is no such data set.
    """
    given = _given(purpose, agent, description)
    if not given:
        raise ConfigurationError("nothing to change; pass purpose=, agent= or description=")
    with hub_errors(f"updating {repo}"):
        api = hub_api(token)
        entry = _own(api, repo, "changed")
        changed, commit = rewrite(api, entry.repo, given)
        return _change(api, entry.repo, changed, commit, [])


def publish(
    repo: str, *, agent: str | None = None, description: str | None = None, token: str | None = None
) -> Change:
    """
    Lets everybody see a data set of yours.

    All its pushes become public, not the newest alone.

    Args:
        repo (`str`):
            Its id.
        agent (`str`, *optional*):
            Name of the agent it belongs to; the catalog groups by it.
        description (`str`, *optional*):
            What its card says about it.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Change`]: What is different now.

    Raises:
        [`ConfigurationError`]: Somebody else's data set, or one that was not pushed by this library.
        [`DataError`]: It holds no rows.
        [`SourceNotFoundError`]: There is no such data set.
    """
    given = _given(None, agent, description)
    with hub_errors(f"publishing {repo}"):
        api = hub_api(token)
        entry = _own(api, repo, "published")
        empty = entry.rows == 0 or (entry.rows is None and not has_data(api, entry.repo))
        if entry.purpose != AGENT and empty:
            raise DataError(f"{entry.repo} holds no rows; push some before it is published")
        # The card first: nobody sees the data set under the old one.
        changed, commit = rewrite(api, entry.repo, given) if given else ([], None)
        tags = [one.name for one in api.list_repo_refs(entry.repo, repo_type="dataset").tags]
        more = len(tags) > 1
        notes = [f"all its {len(tags)} pushes are public now: {', '.join(sorted(tags, key=_number))}"] if more else []
        return _visible(api, entry, changed, commit, notes, private=False)


def unpublish(repo: str, *, token: str | None = None) -> Change:
    """
    Makes a data set of yours private again. Copies that others have fetched stay theirs.

    Args:
        repo (`str`):
            Its id.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Change`]: What is different now.

    Raises:
        [`ConfigurationError`]: Somebody else's data set, or one that was not pushed by this library.
        [`SourceNotFoundError`]: There is no such data set.
    """
    with hub_errors(f"making {repo} private"):
        api = hub_api(token)
        entry = _own(api, repo, "made private")
        return _visible(api, entry, [], None, [], private=True)


def _given(purpose: str | None, agent: str | None, description: str | None) -> dict[str, str]:
    if purpose is not None and purpose not in PURPOSES:
        raise ConfigurationError(f"purpose={purpose!r}; expected one of {', '.join(PURPOSES)}")
    if agent is not None and (not isinstance(agent, str) or not agent.strip()):
        raise ConfigurationError(f"agent={agent!r:.80} names none; pass its name, or leave it out")
    if description is not None and not isinstance(description, str):
        raise ConfigurationError(f"description={description!r:.80} is no text; pass what the card should say")
    given: dict[str, Any] = {"purpose": purpose, "agent": agent, "description": description}
    return {name: value for name, value in given.items() if value is not None}


def _own(api: HfApi, repo: str, verb: str) -> Entry:
    """A data set of ours in a namespace of the account."""
    account = read_account(api)
    account.own(account.repo(repo).partition("/")[0])
    entry = ours(api, account.repo(repo), verb)
    account.own(entry.repo.partition("/")[0])  # a repo that was renamed answers under its old name
    return entry


def _visible(
    api: HfApi, entry: Entry, changed: list[str], commit: str | None, notes: list[str], *, private: bool
) -> Change:
    word = "private" if private else "public"
    if entry.private is private:
        return _change(api, entry.repo, changed, commit, [f"it was {word} before"])
    api.update_repo_settings(entry.repo, private=private, repo_type="dataset")
    return _change(api, entry.repo, [*changed, f"it is {word} now"], commit, notes)


def _change(api: HfApi, repo: str, changed: list[str], commit: str | None, notes: list[str]) -> Change:
    entry = ours(api, repo, "read")
    return Change(repo, bool(entry.private), changed, commit, entry, notes)


def _number(tag: str) -> tuple[int, str]:
    digits = tag.removeprefix("v")
    return (int(digits) if digits.isdecimal() else 0, tag)
