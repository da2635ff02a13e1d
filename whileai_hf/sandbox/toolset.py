"""Everything about an agent's tools that does not change from rollout to rollout, worked out once.

A benchmark run opens ten thousand sessions over the same tools; each must cost microseconds, so verbs, entities,
record shapes and validators live here, keyed by the identity of the tools tuple.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox.effects import (
    Effect,
    IdParameter,
    entity_of,
    identifying,
    lists_contents,
    names_new_record,
    noun_of,
    tool_effect,
    verb_of,
)
from whileai_hf.sandbox.naming import words_of
from whileai_hf.sandbox.records import Shape, build_record, build_shapes, plain_shape
from whileai_hf.sandbox.validation import Checker, checker_for
from whileai_hf.spec import AgentSpec, Tool, parameter_schemas, read_tools


# Toolsets kept per process, and records and listings kept per toolset.
_MAX_TOOLSETS = 64
_MAX_RECORDS = 20_000
_CLOCK_WORDS = frozenset({"time", "date", "day", "datetime", "now", "today"})
# Words of a parameter whose value is the same when a call is made again and must not take effect again.
_RETRY_WORDS = frozenset({"idempotency", "deduplication", "idempotent"})
_SUMS = frozenset({"sum", "add", "multiply", "product", "subtract", "difference", "divide", "average", "mean"})


@dataclass(frozen=True)
class Profile:
    """
    One tool as the world sees it.

    `kind` is how it is answered: `record`, `contents`, `fact`, `create`, `change`, `calculator`, `arithmetic`,
    `clock`, `convert_time`, `note` or `done`. `retry_key` is the parameter by which a repeated write is recognised.
    """

    tool: Tool
    effect: Effect
    kind: str
    verb: str
    noun: str
    entity: str
    ids: tuple[IdParameter, ...]
    own_id: bool
    checker: Checker
    id_names: frozenset[str]
    fixed: frozenset[str]
    retry_key: str = ""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name


def _is_clock(tool: Tool, words: frozenset[str]) -> bool:
    return bool(_CLOCK_WORDS & words) and bool({"current", "now", "today"} & words) and tool_effect(tool) == "read"


def _kind(tool: Tool, verb: str, effect: Effect, ids: tuple[IdParameter, ...]) -> str:
    schemas = parameter_schemas(tool)
    words = frozenset(words_of(tool.name))
    if {"expression", "formula", "equation"} & schemas.keys():
        return "calculator"
    numbers = [name for name, schema in schemas.items() if schema.get("type") in ("number", "integer")]
    if words & _SUMS and len(numbers) >= 2 and len(numbers) == len(schemas) and not ids:
        return "arithmetic"
    if _is_clock(tool, words):
        return "clock"
    if verb == "convert" and "time" in words:
        return "convert_time"
    if effect == "other":
        return "note" if verb in ("think", "echo", "ping", "wait") else "done"
    if effect == "read":
        return "contents" if lists_contents(tool) else "record" if ids else "fact"
    return "create" if effect == "create" else "change"


def profile_of(tool: Tool) -> Profile:
    """One tool as the world sees it, worked out anew on every call."""
    verb = verb_of(tool.name, tool.description)
    effect, ids = tool_effect(tool), identifying(tool)
    fixed = frozenset(
        name for name, schema in parameter_schemas(tool).items() if "enum" in schema or schema.get("type") == "boolean"
    )
    kind = _kind(tool, verb, effect, ids)
    noun = noun_of(tool)
    entity = noun or "record" if kind == "contents" else entity_of(tool)
    own = names_new_record(tool)
    names = frozenset(item.name for item in ids)
    retry = next((name for name in parameter_schemas(tool) if _RETRY_WORDS.intersection(words_of(name))), "")
    retry = retry if effect in ("create", "update", "delete") else ""
    return Profile(tool, effect, kind, verb, noun, entity, ids, own, checker_for(tool), names, fixed, retry)


class Toolset:
    """The profiles and record shapes of one agent's tools, with a bounded memory of records already built."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self.profiles = {tool.name: profile_of(tool) for tool in tools}
        self.shapes = build_shapes(tools)
        self.fingerprint = digest(
            dumps([[tool.name, tool.description, tool.parameters] for tool in tools]).decode(), length=16
        )
        # Parameter name to the entity it identifies, to recognise ids inside records.
        self.id_entities = {
            item.name: item.entity for profile in self.profiles.values() for item in profile.ids if not item.many
        }
        self._records: dict[tuple[int, str, str], dict[str, Any]] = {}
        self.listings: dict[tuple[int, str, bytes], list[tuple[Any, dict[str, Any]]]] = {}

    def shape(self, entity: str) -> Shape:
        """The shape of `entity`, a plain one when no tool describes it."""
        found = self.shapes.get(entity)
        if found is None:
            found = self.shapes.setdefault(entity, plain_shape(entity))
        return found

    def record(self, seed: int, entity: str, identifier: Any) -> dict[str, Any]:
        """The untouched record of one id. Shared: callers copy before they change anything."""
        key = (seed, entity, str(identifier))
        found = self._records.get(key)
        if found is None:
            if len(self._records) >= _MAX_RECORDS:
                self._records.clear()
            found = self._records[key] = build_record(self.shape(entity), seed, identifier)
        return found

    def keep_listing(self, key: tuple[int, str, bytes], hits: list[tuple[Any, dict[str, Any]]]) -> None:
        """Remember what a search found in the untouched world."""
        if len(self.listings) >= _MAX_RECORDS:
            self.listings.clear()
        self.listings[key] = hits


# By identity of the tuple, which the entry keeps alive.
_toolsets: dict[int, tuple[tuple[Any, ...], Toolset]] = {}


def toolset_of(tools: Any) -> Toolset:
    """
    The toolset of anything tools come in.

    Args:
        tools (`Toolset`, `AgentSpec`, tuple of [`~whileai_hf.spec.Tool`], or any shape `AgentSpec.from_tools` takes):
            A tuple of `Tool` (as `AgentSpec.tools` is) is worked out once and then found by identity.

    Returns:
        [`Toolset`]: Shared and immutable as far as callers can tell.
    """
    if isinstance(tools, Toolset):
        return tools
    if isinstance(tools, AgentSpec):
        tools = tools.tools
    if not isinstance(tools, tuple) or not all(isinstance(tool, Tool) for tool in tools):
        return Toolset(read_tools(tools)[0])
    entry = _toolsets.get(id(tools))
    if entry is not None and entry[0] is tools:
        return entry[1]
    if len(_toolsets) >= _MAX_TOOLSETS:
        _toolsets.clear()
    toolset = Toolset(tools)
    _toolsets[id(tools)] = (tools, toolset)
    return toolset
