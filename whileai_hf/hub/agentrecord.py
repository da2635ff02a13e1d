"""The repo that says what an agent is: `agent.json` for programs and a card for people, under the agent's tag."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from huggingface_hub import HfApi

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.cards.header import LIBRARY_TAG, agent_slug, agent_tag, purpose_tag, write_header
from whileai_hf.hub.cards.markdown import bullets, code, fence, one_line, paragraphs, prose
from whileai_hf.hub.entries import AGENT, KEY
from whileai_hf.rows import canonical
from whileai_hf.spec import AgentSpec
from whileai_hf.store.repos import Change, Head, Located, commit_change, fetch_file, read_head


RECORD_FILE = "agent.json"
SCHEMA = "whileai-hf/agent-1"
# Characters of a name; the tag and the repo are made from it.
_LONGEST = 96


@dataclasses.dataclass(frozen=True)
class AgentRecord:
    """
    What an agent is.

    Args:
        name (`str`):
            Its name.
        description (`str`, *optional*):
            What it does.
        tools (`list[dict]`):
            Its tools, as OpenAI has them.
        system_prompt (`str`, *optional*):
            Its system prompt.
        spec (`str`, *optional*):
            Version of its tools and system prompt; `None` without either.
    """

    name: str
    description: str | None = None
    tools: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    system_prompt: str | None = None
    spec: str | None = None

    @classmethod
    def of(
        cls, name: str, description: str | None, tools: AgentSpec | Iterable[Any] | None, system_prompt: str | None
    ) -> AgentRecord:
        """
        A record of what a caller gave.

        Raises:
            [`ConfigurationError`]: The name is empty or too long.
            [`SpecError`]: Tools that are none.
        """
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
            raise ConfigurationError(f"an agent's name has 1 to {_LONGEST} characters; got {name!r:.120}")
        spec = tools if isinstance(tools, AgentSpec) else None
        if spec is None and tools is not None:
            spec = AgentSpec.from_tools(tools, system_prompt or "", name=name)
        elif spec is not None and system_prompt is not None:
            spec = AgentSpec.from_tools(list(spec.tools), system_prompt, name=name)
        said = system_prompt if spec is None else (spec.system_prompt or None)
        listed = [] if spec is None else canonical(spec.openai_tools())
        return cls(canonical(name.strip()), canonical(description), listed, canonical(said), None)._versioned()

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> AgentRecord:
        """
        A record from `agent.json`.

        Raises:
            [`DataError`]: It is none.
        """
        name, tools = found.get("name"), found.get("tools", [])
        if not isinstance(name, str) or not isinstance(tools, list) or not all(isinstance(one, dict) for one in tools):
            raise DataError(f"{RECORD_FILE} is no record of an agent; expected the schema {SCHEMA!r}")
        texts = {key: found.get(key) for key in ("description", "system_prompt", "spec")}
        return cls(name, tools=tools, **{key: text if isinstance(text, str) else None for key, text in texts.items()})

    @classmethod
    def loads(cls, content: bytes) -> AgentRecord:
        """
        A record from the bytes of `agent.json`.

        Raises:
            [`DataError`]: It is none.
        """
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{RECORD_FILE} is not JSON ({error}); expected the schema {SCHEMA!r}") from error
        if not isinstance(found, dict):
            raise DataError(f"{RECORD_FILE} holds a {type(found).__name__}; expected the schema {SCHEMA!r}")
        return cls.from_dict(found)

    @classmethod
    def from_spec(cls, name: str, spec: Any) -> AgentRecord | None:
        """A record of the spec that a push carried; `None` when it carried none."""
        if not isinstance(spec, Mapping):
            return None
        tools = [tool for tool in spec.get("tools") or () if isinstance(tool, dict)]
        prompt, sha = spec.get("system_prompt"), spec.get("sha")
        return cls(
            name, None, tools, prompt if isinstance(prompt, str) else None, sha if isinstance(sha, str) else None
        )

    def over(self, before: AgentRecord | None) -> AgentRecord:
        """This record, with what it leaves out as it was before."""
        if before is None:
            return self
        merged = dataclasses.replace(
            self,
            description=self.description if self.description is not None else before.description,
            tools=self.tools or before.tools,
            system_prompt=self.system_prompt if self.system_prompt is not None else before.system_prompt,
        )
        return merged._versioned()

    def _versioned(self) -> AgentRecord:
        if not self.tools and not (self.system_prompt or "").strip():
            return dataclasses.replace(self, spec=None)
        spec = AgentSpec.from_tools(self.tools, self.system_prompt or "", name=self.name)
        return dataclasses.replace(self, spec=spec.sha)

    def files(self) -> dict[str, bytes]:
        """The files of the record."""
        data = {"schema": SCHEMA, **dataclasses.asdict(self)}
        return {
            RECORD_FILE: orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
            "README.md": self._card().encode(),
        }

    def _card(self) -> str:
        header = {
            "tags": [LIBRARY_TAG, agent_tag(self.name), purpose_tag(AGENT)],
            "viewer": False,  # there are no rows to look at
            KEY: {"agent": one_line(self.name), "purpose": AGENT, "spec": self.spec},
        }
        parts = [write_header(header) + f"# {prose(self.name)}"]
        if self.description:
            parts.append(paragraphs(self.description))
        tag = agent_tag(self.name)
        parts.append(f"An agent, described for `whileai-hf`. Its data sets and models carry the tag {code(tag)}.")
        if self.tools:
            parts += ["## Tools", bullets(map(_tool, self.tools))]
        if self.system_prompt:
            parts += ["## System prompt", fence(self.system_prompt, most=20_000)]
        return "\n\n".join(parts) + "\n"


def _tool(tool: Mapping[str, Any]) -> str:
    inner = tool.get("function", tool)
    said = inner.get("description")
    return code(inner.get("name")) + (f": {prose(said, 300)}" if isinstance(said, str) and said else "")


def record_repo(namespace: str, agent: str) -> str:
    """Id of the repo with an agent's record."""
    return f"{namespace}/{agent_slug(agent)}-agent"


def write_record(api: HfApi, namespace: str, given: AgentRecord, *, private: bool) -> AgentRecord:
    """
    Writes an agent's record, made when there is none; what is not given stays as it was.

    Args:
        api (`huggingface_hub.HfApi`):
            The client.
        namespace (`str`):
            Whose it is.
        given ([`AgentRecord`]):
            What is known of the agent now.
        private (`bool`):
            Whether a new record is private.

    Returns:
        [`AgentRecord`]: What the record says now.

    Raises:
        [`ConfigurationError`]: A repo of that name is there that is no record of ours.
    """
    repo = record_repo(namespace, given.name)
    api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
    written = given

    def build(head: Head) -> Change:
        nonlocal written
        before = _before(repo, head, api.token)
        written = given.over(before)
        return Change(f"Describe the agent {one_line(given.name, 60)}", {} if written == before else written.files())

    if build(read_head(api, repo)).files:
        commit_change(api, repo, build)
    return written


def _before(repo: str, head: Head, token: str | bool | None) -> AgentRecord | None:
    """What a record says so far; `None` for a repo in which nothing is yet."""
    if RECORD_FILE not in head.files:
        if set(head.files) - {".gitattributes"}:
            raise ConfigurationError(
                f"{repo} is there already and is no record of an agent; rename or delete it first"
            )
        return None
    path = fetch_file(Located(repo, head.sha), RECORD_FILE, token)
    return None if path is None else AgentRecord.loads(path.read_bytes())
