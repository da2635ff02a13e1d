"""Deleting: what would go is listed first, and only repos of ours in the account's own namespace ever go.

A repo of ours carries the library's tag on its card. It is looked at once more right before it is deleted, so that one
that has lost the tag, or was replaced, stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from huggingface_hub import HfApi

from whileai_hf.errors import ConfigurationError, HubError, SourceNotFoundError
from whileai_hf.hub.accounts import Account, read_account
from whileai_hf.hub.cards.header import LIBRARY_TAG, agent_tag
from whileai_hf.hub.collection import find_collections, title_of
from whileai_hf.hub.entries import AGENT, Entry, list_entries, ours, size_of
from whileai_hf.rows import Report
from whileai_hf.store.repos import NoRepoError, hub_api, hub_errors


@dataclasses.dataclass(frozen=True)
class Removal(Report):
    """
    What is to be deleted, and what was.

    Args:
        what (`str`):
            What was asked for.
        namespace (`str`):
            Where.
        dry_run (`bool`):
            Whether nothing was deleted.
        datasets (`list[Entry]`):
            Data sets, and the record of the agent.
        models (`list[Entry]`):
            Models.
        collections (`list[str]`):
            Collections; what lies in them and is not listed here stays.
        tags (`list[str]`):
            Tags a repo must have for it to be deleted.
        deleted (`list[str]`):
            What is gone.
        failed (`dict[str, str]`):
            What is still there although it was to go, and why.
        notes (`list[str]`):
            What a reader has to know.
    """

    what: str
    namespace: str
    dry_run: bool
    datasets: list[Entry]
    models: list[Entry]
    collections: list[str]
    tags: list[str]
    deleted: list[str]
    failed: dict[str, str]
    notes: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to delete."""
        return not (self.datasets or self.models or self.collections)

    def __str__(self) -> str:
        if self.is_empty:
            return "\n".join([f"{self.what}: nothing to delete in {self.namespace}", *self._notes()])
        rows = sum(entry.rows or 0 for entry in self.datasets)
        size = size_of(sum(entry.storage or 0 for entry in (*self.datasets, *self.models)))
        counts = [
            _count(len(self.datasets), "data set", f" ({rows:,} rows)"),
            _count(len(self.models), "model"),
            _count(len(self.collections), "collection"),
        ]
        verb = "would delete" if self.dry_run else "to delete"
        lines = [f"{self.what}: {verb} {', '.join(filter(None, counts))}, {size}, for good"]
        lines += [f"  {entry.kind} {entry}" for entry in (*self.datasets, *self.models)]
        lines += [f"  collection {slug}" for slug in self.collections]
        if not self.dry_run:
            lines.append(f"deleted {len(self.deleted)}" + (f", {len(self.failed)} are left:" if self.failed else ""))
            lines += [f"  {name}: {why}" for name, why in self.failed.items()]
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        return [f"note: {note}" for note in self.notes]


def _count(number: int, noun: str, more: str = "") -> str:
    return f"{number} {noun}{'s' * (number != 1)}{more}" if number else ""


def delete_dataset(repo: str, *, dry_run: bool = False, token: str | None = None) -> Removal:
    """
    Deletes one of your data sets, with all its versions, for good.

    Args:
        repo (`str`):
            Its id.
        dry_run (`bool`, *optional*, defaults to `False`):
            Only say what would be deleted.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Removal`]: What was deleted.

    Raises:
        [`ConfigurationError`]: It is in somebody else's namespace, or was not pushed by this library.
        [`SourceNotFoundError`]: There is no such data set.
    """
    with hub_errors(f"deleting {repo}"):
        api = hub_api(token)
        account = read_account(api)
        name = account.repo(repo)
        account.own(name.partition("/")[0])
        entry = ours(api, name, "deleted")
        namespace = account.own(entry.repo.partition("/")[0])
    found = Removal(f"data set {entry.repo}", namespace, True, [entry], [], [], [LIBRARY_TAG], [], {}, [])
    return found if dry_run else carry_out(found, token=token)


def purge_agent(
    agent: str, *, namespace: str | None = None, dry_run: bool = False, token: str | None = None
) -> Removal:
    """
    Deletes all that belongs to an agent of yours: its data sets, its models, its record and its collection.

    Names that differ in case or punctuation alone are one agent.

    Args:
        agent (`str`):
            Its name.
        namespace (`str`, *optional*):
            An organisation of yours; your own namespace when left out. Other people's sets of the agent stay.
        dry_run (`bool`, *optional*, defaults to `False`):
            Only say what would be deleted.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Removal`]: What was, or would be, deleted. One repo that cannot be deleted does not keep the others.

    Raises:
        [`ConfigurationError`]: A namespace of somebody else, or an empty name.
    """
    if not isinstance(agent, str) or not agent.strip():
        raise ConfigurationError(
            f"agent={agent!r:.80} names none; pass the name of the agent whose repos are to be deleted"
        )
    tags = [agent_tag(agent)]
    with hub_errors(f"listing what belongs to the agent {agent}"):
        api = hub_api(token)
        account = read_account(api)
        whose = account.own(namespace)
        sets = _owned(list_entries(api, "dataset", author=whose, tags=tags), whose)
        models = _owned(list_entries(api, "model", author=whose, tags=tags), whose)
        slug = find_collections(api, whose).get(title_of(agent))
    slugs = [] if slug is None else [slug]
    found = Removal(
        f"agent {agent}",
        whose,
        True,
        sets,
        models,
        slugs,
        [LIBRARY_TAG, *tags],
        [],
        {},
        _elsewhere(account, namespace),
    )
    return found if dry_run else carry_out(found, token=token)


def _elsewhere(account: Account, namespace: str | None) -> list[str]:
    if namespace is not None or not account.organisations:
        return []
    return [f"only {account.name} was looked at; pass namespace= for {', '.join(account.organisations)}"]


def delete_empty_datasets(
    *, max_rows: int = 0, namespace: str | None = None, dry_run: bool = False, token: str | None = None
) -> Removal:
    """
    Deletes your data sets that hold nothing: no row, or `max_rows` and fewer.

    A data set whose card does not say how many rows it has stays, unless it has no file but its card.

    Args:
        max_rows (`int`, *optional*, defaults to `0`):
            Rows up to which a data set counts as empty. Its newest push is what counts.
        namespace (`str`, *optional*):
            An organisation of yours; your own namespace when left out.
        dry_run (`bool`, *optional*, defaults to `False`):
            Only say what would be deleted.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Removal`]: What was, or would be, deleted. Records of agents are no data sets and stay.

    Raises:
        [`ConfigurationError`]: `max_rows` is no whole number from 0 on, or a namespace of somebody else.
    """
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 0:
        raise ConfigurationError(f"max_rows={max_rows!r}; expected a whole number from 0 on")
    with hub_errors("listing data sets"):
        api = hub_api(token)
        account = read_account(api)
        whose = account.own(namespace)
        sets = [entry for entry in _owned(list_entries(api, "dataset", author=whose), whose) if entry.purpose != AGENT]
        empty = [
            entry
            for entry in sets
            if (entry.rows <= max_rows if entry.rows is not None else not has_data(api, entry.repo))
        ]
    what = "data sets without rows" if not max_rows else f"data sets of {max_rows} rows or fewer"
    found = Removal(what, whose, True, empty, [], [], [LIBRARY_TAG], [], {}, _elsewhere(account, namespace))
    return found if dry_run else carry_out(found, token=token)


def _owned(entries: Iterable[Entry], namespace: str) -> list[Entry]:
    """Entries of a namespace, by name: the Hub's filter is not all that stands between a repo and its end."""
    return sorted((entry for entry in entries if entry.repo.startswith(f"{namespace}/")), key=lambda one: one.repo)


def has_data(api: HfApi, repo: str) -> bool:
    """Whether a repo has any file besides those that say what it is."""
    about = ("README.md", ".gitattributes", "run.json")
    return any(name not in about for name in api.list_repo_files(repo, repo_type="dataset"))


def carry_out(found: Removal, *, token: str | None = None) -> Removal:
    """
    Deletes exactly what a [`Removal`] lists.

    Args:
        found ([`Removal`]):
            What `dry_run=True` returned.
        token (`str`, *optional*):
            Token of the owner; the one of `hf auth login` when left out.

    Returns:
        [`Removal`]: The same, with what is gone and what is not.
    """
    api = hub_api(token)
    deleted: list[str] = []
    failed: dict[str, str] = {}
    notes = list(found.notes)
    for entry in (*found.datasets, *found.models):
        try:
            with hub_errors(f"deleting {entry.repo}"):
                _delete(api, entry, found.tags)
        except NoRepoError:
            notes.append(f"{entry.repo} was gone already")
        except (HubError, ConfigurationError) as error:
            failed[entry.repo] = str(error)
        else:
            deleted.append(entry.repo)
    # Last, so that a collection is there as long as something of the agent is.
    for slug in () if failed else found.collections:
        try:
            with hub_errors(f"deleting the collection {slug}"):
                api.delete_collection(slug, missing_ok=True)
        except (HubError, SourceNotFoundError) as error:
            failed[slug] = str(error)
        else:
            deleted.append(slug)
    return dataclasses.replace(found, dry_run=False, deleted=deleted, failed=failed, notes=notes)


def _delete(api: HfApi, entry: Entry, tags: Sequence[str]) -> None:
    info = api.dataset_info(entry.repo) if entry.kind == "dataset" else api.model_info(entry.repo)
    if info.id != entry.repo:  # the Hub answers for a repo that was renamed under its old name
        raise ConfigurationError(f"{entry.repo} is called {info.id} by now; it stays")
    missing = [tag for tag in tags if tag not in (info.tags or ())]
    if missing:
        raise ConfigurationError(f"{entry.repo} no longer carries the tag {', '.join(missing)}; it stays")
    api.delete_repo(entry.repo, repo_type=entry.kind, missing_ok=True)
