"""Agents on the Hub: what they are, and which data sets and models belong to them.

An agent exists as soon as a push names it: its repos carry its tag. Registering one adds a small repo of its own, the
record, which holds its description, tools and system prompt, and a collection of its repos where the account may make
one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from huggingface_hub import HfApi

from whileai_hf.errors import DataError, HubError, SourceNotFoundError
from whileai_hf.hub.accounts import read_account
from whileai_hf.hub.agentrecord import RECORD_FILE, AgentRecord, record_repo, write_record
from whileai_hf.hub.cached import cached_entries
from whileai_hf.hub.cards.header import agent_slug, agent_tag
from whileai_hf.hub.collection import fill_collection, find_collections, title_of
from whileai_hf.hub.entries import AGENT, Entry, list_entries
from whileai_hf.hub.record import RUN_FILE, RunRecord
from whileai_hf.rows import Report
from whileai_hf.spec import AgentSpec
from whileai_hf.store.repos import Located, UnreachableError, fetch_file, hub_api, hub_errors


@dataclasses.dataclass(frozen=True)
class Agent(Report):
    """
    One agent. What nobody has said is `None`.

    Args:
        name (`str`):
            Its name.
        slug (`str`):
            Its name as part of a tag; names with one slug are one agent.
        description (`str`, *optional*):
            What it does.
        tools (`list[dict]`):
            Its tools, as OpenAI has them.
        system_prompt (`str`, *optional*):
            Its system prompt.
        spec (`str`, *optional*):
            Version of both.
        sets (`dict[str, list[str]]`):
            Purpose to its data sets.
        models (`list[str]`):
            Its models.
        rows (`int`):
            Rows of the newest push of each data set, those that say it.
        public (`int`):
            Data sets and models that everybody sees.
        record (`str`, *optional*):
            The repo that describes it; `None` for an agent nobody has registered.
        collection (`str`, *optional*):
            Its collection.
        notes (`list[str]`):
            What could not be done or read.
    """

    name: str
    slug: str
    description: str | None
    tools: list[dict[str, Any]]
    system_prompt: str | None
    spec: str | None
    sets: dict[str, list[str]]
    models: list[str]
    rows: int
    public: int
    record: str | None
    collection: str | None
    notes: list[str]

    @property
    def tool_names(self) -> list[str]:
        """Names of its tools."""
        return [str(tool.get("function", tool).get("name")) for tool in self.tools]

    def __str__(self) -> str:
        head = self.name + (f": {self.description}" if self.description else "")
        lines = [head, f"  tools: {', '.join(self.tool_names) or 'not known'}"]
        for purpose, repos in self.sets.items():
            lines.append(f"  {purpose}: {', '.join(repos)}")
        if self.models:
            lines.append(f"  models: {', '.join(self.models)}")
        lines.append(f"  {self.rows:,} rows, {self.public} public")
        if self.collection:
            lines.append(f"  collection: {self.collection}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


@dataclasses.dataclass(frozen=True)
class Agents(Report):
    """
    What [`agents`] returns.

    Args:
        agents (`list[Agent]`):
            By name.
        namespace (`str`, *optional*):
            Whose they are.
        source (`str`):
            `hub`, or `cache` when the Hub did not answer.
        notes (`list[str]`):
            What a reader has to know.
    """

    agents: list[Agent]
    namespace: str | None
    source: str
    notes: list[str]

    def __len__(self) -> int:
        return len(self.agents)

    def __str__(self) -> str:
        whose = "" if self.namespace is None else f" of {self.namespace}"
        lines = [f"{len(self)} agent{'s' * (len(self) != 1)}{whose}", *map(str, self.agents)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def register_agent(
    name: str,
    *,
    description: str | None = None,
    tools: AgentSpec | Iterable[Any] | None = None,
    system_prompt: str | None = None,
    namespace: str | None = None,
    private: bool = True,
    token: str | None = None,
) -> Agent:
    """
    Writes down what an agent is, and gathers its data sets and models in a collection.

    What is not given keeps the value it had. Registering an agent twice is fine: the second time adds to its
    collection what was pushed since.

    Args:
        name (`str`):
            Its name, as pushes give it (`push(agent=...)`).
        description (`str`, *optional*):
            What it does.
        tools ([`AgentSpec`] or list of tools, *optional*):
            Its tools, in any form an agent's tools may have; a spec brings its system prompt along.
        system_prompt (`str`, *optional*):
            Its system prompt.
        namespace (`str`, *optional*):
            An organisation of yours; your own namespace when left out.
        private (`bool`, *optional*, defaults to `True`):
            Whether a new record and collection are private; a system prompt is often nobody else's business.
        token (`str`, *optional*):
            Your token; the one of `hf auth login` when left out.

    Returns:
        [`Agent`]: The agent. Where the account may not make collections, `collection` is `None` with a note.

    Raises:
        [`ConfigurationError`]: An empty name, tools that are none, or a repo of that name that is not ours.
        [`HubError`]: The token may not write, or the Hub does not answer.
    """
    given = AgentRecord.of(name, description, tools, system_prompt)
    name = given.name
    with hub_errors(f"registering the agent {name}"):
        api = hub_api(token)
        whose = read_account(api).own(namespace)
        record = write_record(api, whose, given, private=private)
        entries = _entries(api, whose, name)
        notes, slug = [], None
        sets = [entry for entry in entries if entry.purpose != AGENT]
    try:
        with hub_errors(f"making the collection of the agent {name}"):
            filled = fill_collection(api, whose, name, sets, description=record.description, private=private)
            slug = filled.slug
    except (HubError, SourceNotFoundError) as error:
        notes.append(f"no collection, its repos are found by the tag {agent_tag(name)}: {error}")
    found = _agent(agent_slug(name), entries, record)
    return dataclasses.replace(found, record=record_repo(whose, name), collection=slug, notes=notes)


def agents(*, namespace: str | None = None, token: str | None = None) -> Agents:
    """
    Your agents, with what belongs to them.

    Args:
        namespace (`str`, *optional*):
            An organisation of yours; your own namespace when left out.
        token (`str`, *optional*):
            Your token; the one of `hf auth login` when left out.

    Returns:
        [`Agents`]: One for every agent that a data set or model of yours names. Tools and system prompt are read from
            its record, else from the newest of its data sets that holds them.
    """
    try:
        with hub_errors("listing agents"):
            api = hub_api(token)
            whose = read_account(api).own(namespace)
            entries = _entries(api, whose, None)
            slugs = find_collections(api, whose)
            found = [_read(api, slugs, slug, its) for slug, its in _by_agent(entries).items()]
            return Agents(sorted(found, key=lambda one: one.slug), whose, "hub", [])
    except UnreachableError as error:
        known = _by_agent([*cached_entries("dataset"), *cached_entries("model")])
        kept = [_agent(slug, its, None) for slug, its in sorted(known.items())]
        return Agents(kept, None, "cache", [f"{error}; these are named by repos in the local cache"])


def _entries(api: HfApi, namespace: str, agent: str | None) -> list[Entry]:
    tags = [] if agent is None else [agent_tag(agent)]
    sets = list_entries(api, "dataset", author=namespace, tags=tags)
    return [*sets, *list_entries(api, "model", author=namespace, tags=tags)]


def _by_agent(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.agent:
            found.setdefault(agent_slug(entry.agent), []).append(entry)
    return found


def _read(api: HfApi, collections: Mapping[str, str], slug: str, entries: list[Entry]) -> Agent:
    """An agent with what its record, or its newest data set, says of its tools."""
    record, notes = None, []
    held = next((entry for entry in entries if entry.purpose == AGENT), None)
    try:
        if held is not None:
            record = AgentRecord.loads(_content(api, held, RECORD_FILE))
        elif (newest := next((one for one in entries if one.kind == "dataset" and one.spec), None)) is not None:
            record = AgentRecord.from_spec(newest.agent or slug, RunRecord.loads(_content(api, newest, RUN_FILE)).spec)
    except (DataError, SourceNotFoundError) as error:
        notes.append(f"its tools could not be read: {error}")
    found = _agent(slug, entries, record)
    collection = collections.get(title_of(found.name))
    return dataclasses.replace(found, record=held.repo if held else None, collection=collection, notes=notes)


def _content(api: HfApi, entry: Entry, name: str) -> bytes:
    path = fetch_file(Located(entry.repo, str(entry.commit)), name, api.token)
    if path is None:
        raise DataError(f"{entry.repo} has no {name}; register the agent to write one")
    return path.read_bytes()


def _agent(slug: str, entries: list[Entry], record: AgentRecord | None) -> Agent:
    sets: dict[str, list[str]] = {}
    for entry in entries:
        if entry.kind == "dataset" and entry.purpose != AGENT:
            sets.setdefault(entry.purpose or "other", []).append(entry.repo)
    named = next((entry.agent for entry in entries if entry.agent), slug)
    seen = [entry for entry in entries if entry.purpose != AGENT]
    return Agent(
        name=record.name if record is not None else named,
        slug=slug,
        description=None if record is None else record.description,
        tools=[] if record is None else record.tools,
        system_prompt=None if record is None else record.system_prompt,
        spec=record.spec if record is not None else next((one.spec for one in seen if one.spec), None),
        sets={purpose: sorted(repos) for purpose, repos in sorted(sets.items())},
        models=sorted(entry.repo for entry in seen if entry.kind == "model"),
        rows=sum(entry.rows or 0 for entry in seen),
        public=sum(entry.private is False for entry in seen),
        record=None,
        collection=None,
        notes=[],
    )
