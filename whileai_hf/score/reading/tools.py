"""What a row's tools are, as far as reading its calls needs to know; worked out once per list of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.rows import dumps
from whileai_hf.sandbox import tool_effect
from whileai_hf.sandbox.effects import entity_of, identifying, verb_of
from whileai_hf.sandbox.naming import word_set, words_of
from whileai_hf.spec import Tool, parameter_schemas, read_tools


_COMMAND_WORDS = word_set("bash shell terminal powershell exec console cmd subprocess zsh")
_COMMANDS = frozenset({"run_command", "execute_command", "run_shell", "run_terminal_cmd", "sh", "execute", "run"})
# Two words that are no look, though the first alone is.
_PHRASES = frozenset({("check", "in"), ("check", "out"), ("sign", "up"), ("sign", "off"), ("look", "after")})
# What may be done to a list: `list_edit` lists nothing.
_CHANGES = word_set("edit add remove update delete append insert clear rename set")
# Tools that only think, wait or compute change nothing that a reply could claim.
_IDLE = word_set("think echo calculate compute convert evaluate translate ping wait plan note")
_KINDS = {"read": "read", "create": "write", "update": "write", "delete": "delete", "other": "other"}
# Lists of tools remembered, by where they are and by what they hold.
_MOST_LISTS = 512
_NO_FIXED: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """
    One tool.

    Args:
        name (`str`):
            Its name.
        kind (`str`):
            What a call of it does: `read`, `write`, `delete`, `command`, or `other`.
        declared (`bool`):
            Whether its schema is known; without one its parameters are judged by their names.
        ids (`frozenset[str]`):
            Parameters that identify a record by a code.
        names (`frozenset[str]`):
            Parameters that identify one by a name, a path or an address.
        fixed (`frozenset[str]`):
            Parameters whose values the schema lists, or that are switches.
        verb (`str`):
            The verb of its name.
        entity (`str`):
            The record it is about.
        idle (`bool`):
            Whether it touches nothing outside the conversation.
        makes (`bool`):
            Whether it makes a record, which is not there to be looked at before.
    """

    name: str
    kind: str
    declared: bool
    ids: frozenset[str]
    names: frozenset[str] = _NO_FIXED
    fixed: frozenset[str] = _NO_FIXED
    verb: str = ""
    entity: str = ""
    idle: bool = False
    makes: bool = False


def _is_command(tool: Tool) -> bool:
    words = words_of(tool.name)
    named = tool.name.lower() in _COMMANDS or bool(_COMMAND_WORDS.intersection(words))
    parameters = parameter_schemas(tool)
    return named or (bool({"command", "cmd"} & parameters.keys()) and tool_effect(tool) not in ("read", "delete"))


def facts_of(tool: Tool, declared: bool) -> ToolFacts:
    """What is to be known of a tool."""
    effect, verb = tool_effect(tool), verb_of(tool.name, tool.description)
    kind = "command" if _is_command(tool) else _KINDS[effect]
    if kind == "read" and words_of(tool.name)[:2] in _PHRASES:
        kind = "write"
    if kind == "read" and words_of(tool.name)[:1] == ("list",) and words_of(tool.name)[-1] in _CHANGES:
        kind = "write"
    if kind == "other" and tool.annotations.get("readOnlyHint") is True:
        kind = "read"
    named = identifying(tool)
    ids = frozenset(item.name for item in named if item.kind == "code")
    names = frozenset(item.name for item in named if item.kind != "code")
    schemas = parameter_schemas(tool)
    fixed = frozenset(
        name for name, schema in schemas.items()
        if "enum" in schema or "const" in schema or schema.get("type") == "boolean"
    )  # fmt: skip
    entity = entity_of(tool)
    idle = kind == "other" and bool(_IDLE.intersection(words_of(tool.name)))
    return ToolFacts(tool.name, kind, declared, ids, names, fixed, verb, entity, idle, effect == "create")


@lru_cache(maxsize=4096)
def _undeclared(name: str, parameters: tuple[str, ...]) -> ToolFacts:
    schema = {"type": "object", "properties": {parameter: {} for parameter in parameters}}
    return facts_of(Tool(name, parameters=schema), False)


def facts_by_name(name: str, arguments: Mapping[str, Any]) -> ToolFacts:
    """What the name of a tool and of its arguments give away, for rows that carry no schema."""
    return _undeclared(name, tuple(arguments))


class _Lists:
    """The facts of lists of tools."""

    def __init__(self) -> None:
        self._by_content: dict[bytes, dict[str, ToolFacts]] = {}
        # Rows of one run share their list; it is held on to, so that its address stays its own.
        self._by_address: dict[int, tuple[Any, dict[str, ToolFacts]]] = {}

    def find(self, tools: Any, hints: Any) -> dict[str, ToolFacts]:
        known = self._by_address.get(id(tools))
        if known is not None and known[0] is tools:
            return known[1]
        content = dumps([tools, hints])
        found = self._by_content.get(content)
        if found is None:
            if len(self._by_content) >= _MOST_LISTS:
                self._by_content.clear()
            found = self._by_content[content] = self._read(tools, hints)
        if len(self._by_address) >= _MOST_LISTS:
            self._by_address.clear()
        self._by_address[id(tools)] = (tools, found)
        return found

    @staticmethod
    def _read(tools: Any, hints: Any) -> dict[str, ToolFacts]:
        told: dict[str, Any] = hints if isinstance(hints, dict) else {}
        try:
            read = read_tools(tools)[0]
        except SpecError:  # what cannot be read is judged by name
            return {}
        given = [replace(tool, annotations={**told.get(tool.name, {}), **tool.annotations}) for tool in read]
        return {tool.name: facts_of(tool, True) for tool in given}


_lists = _Lists()


def tools_of(row: Mapping[str, Any]) -> dict[str, ToolFacts]:
    """
    The tools a row declares, by name; empty when it declares none that can be read.

    Args:
        row (`dict`):
            A row with `tools`, and hints of theirs in `lineage.tool_annotations`.

    Examples:
    ```python
    >>> tools = [{"name": "cancel_order", "parameters": {"properties": {"order_id": {"type": "string"}}}}]
    >>> facts = tools_of({"tools": tools})["cancel_order"]
    >>> facts.kind, facts.ids
    ('delete', frozenset({'order_id'}))

    ```
    """
    tools = row.get("tools")
    if not tools:
        return {}
    lineage = row.get("lineage")
    return _lists.find(tools, lineage.get("tool_annotations") if isinstance(lineage, Mapping) else None)
