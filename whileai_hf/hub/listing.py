"""Lists of data sets: one's own by purpose, and everybody's public ones by agent. Nothing is downloaded for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import islice

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.accounts import read_account
from whileai_hf.hub.cached import cached_entries
from whileai_hf.hub.cards.header import agent_slug, agent_tag, purpose_tag
from whileai_hf.hub.entries import AGENT, Entry, check_answers, list_entries, size_of
from whileai_hf.hub.record import PURPOSES
from whileai_hf.rows import Report
from whileai_hf.store.repos import UnreachableError, hub_api, hub_errors


@dataclasses.dataclass(frozen=True)
class Catalog(Report):
    """
    Data sets; what [`datasets`] and [`catalog`] return.

    Args:
        entries (`list[Entry]`):
            One a data set, the newest first.
        namespace (`str`, *optional*):
            Whose they are; `None` for everybody's.
        storage (`int`, *optional*):
            Bytes of all of them; `None` where the Hub does not say.
        source (`str`):
            `hub`, or `cache` when the Hub did not answer.
        grouped_by (`str`):
            `purpose` or `agent`: how it prints.
        notes (`list[str]`):
            What a reader has to know.
    """

    entries: list[Entry]
    namespace: str | None
    storage: int | None
    source: str
    grouped_by: str
    notes: list[str]

    def __len__(self) -> int:
        return len(self.entries)

    def groups(self) -> dict[str, list[Entry]]:
        """The entries by purpose or agent; those without one under `"other"`."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            key = entry.purpose if self.grouped_by == "purpose" else entry.agent
            found.setdefault(key or "other", []).append(entry)
        return found

    def __str__(self) -> str:
        whose = "" if self.namespace is None else f" of {self.namespace}"
        used = "" if self.storage is None else f", {size_of(self.storage)}"
        head = f"{len(self)} data set{'s' * (len(self) != 1)}{whose}{used}"
        lines = [head + (" (from the local cache)" if self.source == "cache" else "")]
        for name, entries in self.groups().items():
            lines += [f"{name}:", *(f"  {entry}" for entry in entries)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def datasets(
    *,
    namespace: str | None = None,
    agent: str | None = None,
    purpose: str | None = None,
    token: str | None = None,
) -> Catalog:
    """
    Your data sets, private ones included, with their rows, purpose and storage.

    Args:
        namespace (`str`, *optional*):
            An organisation of yours; your own namespace when left out.
        agent (`str`, *optional*):
            Only those of one agent.
        purpose (`str`, *optional*):
            Only `train`, `holdout` or `eval` sets.
        token (`str`, *optional*):
            Whose data sets; the account of `hf auth login` when left out.

    Returns:
        [`Catalog`]: Grouped by purpose. When the Hub does not answer, what lies in the local cache, with a note.

    Raises:
        [`HubError`]: Nobody is signed in, or the token is not valid.
        [`ConfigurationError`]: A namespace of somebody else, or an unknown purpose.
    """
    tags = _tags(agent, purpose)

    def ask() -> Catalog:
        api = hub_api(token)
        whose = read_account(api).own(namespace)
        found = list_entries(api, "dataset", author=whose, tags=tags)
        return _catalog(list(found), whose, "purpose")

    return _or_cached(ask, "purpose", agent, purpose)


def catalog(
    agent: str | None = None,
    *,
    author: str | None = None,
    purpose: str | None = None,
    limit: int | None = None,
    token: str | None = None,
) -> Catalog:
    """
    Public data sets of everybody, by agent.

    Args:
        agent (`str`, *optional*):
            Only those of one agent.
        author (`str`, *optional*):
            Only those in one namespace.
        purpose (`str`, *optional*):
            Only `train`, `holdout` or `eval` sets.
        limit (`int`, *optional*):
            How many at most, the newest first.
        token (`str`, *optional*):
            Not needed: they are public.

    Returns:
        [`Catalog`]: Grouped by agent. When the Hub does not answer, what lies in the local cache, with a note.
    """
    tags = _tags(agent, purpose)
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise ConfigurationError(f"limit={limit!r}; expected a whole number from 1 on")

    def ask() -> Catalog:
        api = hub_api(token)
        check_answers(api)
        found = list_entries(api, "dataset", author=author, tags=tags)
        public = (entry for entry in found if entry.private is not True and entry.purpose != AGENT)
        return _catalog(list(islice(public, limit)), author, "agent")

    return _or_cached(ask, "agent", agent, purpose)


def _tags(agent: str | None, purpose: str | None) -> list[str]:
    if purpose is not None and purpose not in PURPOSES:
        raise ConfigurationError(f"purpose={purpose!r}; expected one of {', '.join(PURPOSES)}")
    return [*([] if agent is None else [agent_tag(agent)]), *([] if purpose is None else [purpose_tag(purpose)])]


def _catalog(entries: list[Entry], namespace: str | None, grouped_by: str) -> Catalog:
    sets = [entry for entry in entries if entry.purpose != AGENT]
    sizes = [entry.storage for entry in sets]
    storage = None if None in sizes else sum(size or 0 for size in sizes)
    return Catalog(sets, namespace, storage, "hub", grouped_by, [])


def _or_cached(ask: Callable[[], Catalog], grouped_by: str, agent: str | None, purpose: str | None) -> Catalog:
    """What the Hub says; what the cache holds when the Hub cannot be reached."""
    try:
        with hub_errors("listing data sets"):
            return ask()
    except UnreachableError as error:
        found = cached_entries("dataset")
        if agent is not None:
            found = [entry for entry in found if entry.agent and agent_slug(entry.agent) == agent_slug(agent)]
        if purpose is not None:
            found = [entry for entry in found if entry.purpose == purpose]
        kept = _catalog(found, None, grouped_by)
        note = f"{error}; these lie in the local cache, as they were when they were fetched"
        return dataclasses.replace(kept, storage=None, source="cache", notes=[note])
