"""The spec of one agent: everything a simulation needs to know about it, read once."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.spec.files import asks, read_spec, spec_keys
from whileai_hf.spec.policy import split_policy
from whileai_hf.spec.reading import merge_annotations, read_tools
from whileai_hf.spec.tool import Tool


_logger = logging.getLogger("whileai_hf")


@lru_cache(maxsize=1024)
def _warn_once(text: str) -> None:
    _logger.warning(text)


@dataclass(frozen=True)
class AgentSpec:
    """
    An agent's tools, prompt and rules. Build one with [`~AgentSpec.from_tools`] or [`~AgentSpec.load`].

    Args:
        tools (`tuple[Tool, ...]`):
            The tools, in their order.
        system_prompt (`str`, *optional*, defaults to `""`):
            The prompt as written.
        clauses (`tuple[str, ...]`, *optional*):
            The rules of the prompt, one each.
        rubric (`str`, *optional*):
            How answers are judged, for judges that read one.
        seeds (`tuple[str, ...]`, *optional*):
            Example asks of the owner's, always simulated first.
        name (`str`, *optional*, defaults to `"agent"`):
            What reports call the agent.
        warnings (`tuple[str, ...]`, *optional*):
            What is odd about the tools but no reason to stop.
    """

    tools: tuple[Tool, ...]
    system_prompt: str = ""
    clauses: tuple[str, ...] = ()
    rubric: str | None = None
    seeds: tuple[str, ...] = ()
    name: str = "agent"
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_tools(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        *,
        rubric: str | None = None,
        seeds: Any = (),
        name: str = "agent",
    ) -> AgentSpec:
        """
        The spec of an agent with these tools and this prompt.

        Args:
            tools (`list`, *optional*):
                Typed functions, OpenAI, bare, MCP or Anthropic tool dicts, mixed as they come.
            system_prompt (`str`, *optional*, defaults to `""`):
                The agent's prompt; its rules are split out of it.
            rubric (`str`, *optional*):
                How answers are judged.
            seeds (`list[str]`, *optional*):
                Example asks.
            name (`str`, *optional*, defaults to `"agent"`):
                What reports call the agent.

        Returns:
            [`AgentSpec`]: The spec; its `warnings` are also logged once under `whileai_hf`.

        Raises:
            SpecError: When there are neither tools nor a prompt, an entry is not a tool, or a name stands twice.

        Examples:
        ```python
        >>> from whileai_hf.spec import AgentSpec
        >>> spec = AgentSpec.from_tools([{"name": "get_order"}], "Never guess an order's status.")
        >>> spec.names, spec.clauses
        (('get_order',), ("Never guess an order's status.",))

        ```
        """
        if not isinstance(system_prompt, str):
            raise SpecError(f"system_prompt is {system_prompt!r:.60}; pass the prompt as a string.")
        read, warnings = read_tools(tools)
        if not read and not system_prompt.strip():
            raise SpecError("no tools and no prompt: pass tools=[...], system_prompt='...' or both.")
        clauses, stated = split_policy(system_prompt), len(split_policy(system_prompt, None))
        if stated > len(clauses):
            warnings = (
                *warnings,
                f"the prompt of {name} states {stated} rules; the {len(clauses)} most binding are used.",
            )
        for warning in warnings:
            _warn_once(warning)
        return cls(read, system_prompt, clauses, rubric, asks(seeds, "seeds"), name, warnings)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> AgentSpec:
        """
        The spec in a folder or file.

        Args:
            path (`str` or `Path`):
                A folder with `spec.json` or `tools.json`, `policy.md`, `rubric.md` and `seeds.json`/`.jsonl`/`.txt`;
                or a JSON or YAML file with the keys `tools`, `policy` (or `system_prompt`), `rubric`, `seeds`,
                `name`. Other keys are ignored.

        Returns:
            [`AgentSpec`]: Named after the file or folder unless it says otherwise.

        Raises:
            SourceNotFoundError: When nothing is there.
            SpecError: When a file is broken, with file, line and column.
        """
        path = Path(path)
        found = read_spec(path)
        try:
            return cls._from_parts(found, path.resolve().name if path.is_dir() else path.stem)
        except SpecError as error:
            raise SpecError(f"{path}: {error}") from error

    @classmethod
    def _from_parts(cls, found: Mapping[str, Any], name: str) -> AgentSpec:
        spec = cls.from_tools(
            found.get("tools"),
            found.get("policy", ""),
            rubric=found.get("rubric"),
            seeds=found.get("seeds") or (),
            name=found.get("name") or name,
        )
        if found.get("tools_mcp_raw"):
            return replace(spec, tools=merge_annotations(spec.tools, found["tools_mcp_raw"]))
        return spec

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in their order."""
        return tuple(tool.name for tool in self.tools)

    @cached_property
    def sha(self) -> str:
        """Twelve hexadecimal digits over tools and prompt: equal for equal agents, on every machine."""
        text = json.dumps([self.openai_tools(), self.system_prompt], sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    def openai_tools(self) -> list[dict[str, Any]]:
        """The tools in OpenAI shape, as chat templates, trainers and chat APIs take them."""
        return [tool.openai() for tool in self.tools]

    def tool(self, name: str) -> Tool:
        """
        The tool called `name`.

        Raises:
            SpecError: When there is none; the message names the nearest.
        """
        found = self._by_name.get(name)
        if found is None:
            near = difflib.get_close_matches(name, self.names, n=1, cutoff=0.0)
            hint = f"did you mean {near[0]!r}?" if near else "the agent has no tools."
            raise SpecError(f"no tool is named {name!r}; {hint}")
        return found


def as_spec(
    spec: AgentSpec | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
) -> AgentSpec:
    """
    The spec behind the arguments of a public function.

    Args:
        spec ([`AgentSpec`], `dict`, `str` or `Path`, *optional*):
            A spec, its parts as a dict (`tools`, `policy`, ...), or the folder or file it is in.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec.from_tools`] reads; instead of `spec`, or in place of the spec's tools.
        system_prompt (`str`, *optional*, defaults to `""`):
            The prompt; instead of `spec`, or in place of the spec's prompt.

    Returns:
        [`AgentSpec`]: The spec.

    Raises:
        SpecError: When nothing that describes an agent was given.
    """
    if spec is None:
        return AgentSpec.from_tools(tools, system_prompt)
    if isinstance(spec, (str, os.PathLike)):
        spec = AgentSpec.load(spec)
    elif isinstance(spec, Mapping) and spec.keys() & {"tools", "policy", "system_prompt"}:
        spec = AgentSpec._from_parts(spec_keys(dict(spec), Path("spec")), "agent")
    if not isinstance(spec, AgentSpec):
        raise SpecError(f"spec is {spec!r:.60}; pass an AgentSpec, a folder or a file, or a list of tools as tools=.")
    if tools is None and not system_prompt:
        return spec
    return AgentSpec.from_tools(
        spec.tools if tools is None else tools,
        system_prompt or spec.system_prompt,
        rubric=spec.rubric,
        seeds=spec.seeds,
        name=spec.name,
    )
