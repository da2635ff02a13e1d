"""Tools as people have them, into [`Tool`]s.

Shapes: typed functions, the OpenAI wrapper, a bare dict, MCP's `tools/list` entries or its whole answer, Anthropic's
`input_schema`, a map from name to function, and `Tool` itself, mixed as they come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.spec.functions import tool_schema
from whileai_hf.spec.references import dangling_references
from whileai_hf.spec.schemas import normal_parameters
from whileai_hf.spec.tool import Tool


# Where the three dict shapes keep the schema; a tool without any of them takes no arguments.
_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")
_SHAPES = "a typed function, an OpenAI, MCP or Anthropic tool dict"


def _from_dict(entry: Mapping[str, Any], where: str) -> Tool:
    inner = entry.get("function", entry)
    if not isinstance(inner, Mapping):
        if callable(inner):
            return _from_function(inner)
        raise SpecError(f"{where}: function is {inner!r:.60}; expected a dict with name, description and parameters.")
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise SpecError(
            f"{where} has no name (keys: {', '.join(map(str, inner)) or 'none'}); give it a `name` string."
        )
    where = f"tool {name!r}"
    description = inner.get("description")
    if description is not None and not isinstance(description, str):
        raise SpecError(f"{where}: description is {description!r:.60}; make it a string.")
    written = next((inner[key] for key in _SCHEMA_KEYS if inner.get(key) is not None), None)
    annotations = inner.get("annotations") or entry.get("annotations") or {}
    if not isinstance(annotations, Mapping):
        raise SpecError(f"{where}: annotations is {annotations!r:.60}; make it a dict of hints.")
    return Tool(name, (description or "").strip(), normal_parameters(written, where), dict(annotations))


def _from_function(function: Callable[..., Any]) -> Tool:
    schema = tool_schema(function)["function"]
    return Tool(schema["name"], schema["description"], schema["parameters"], function=function)


def _one(entry: Any, where: str) -> Tool:
    if isinstance(entry, Tool):
        return replace(entry, parameters=normal_parameters(entry.parameters, f"tool {entry.name!r}"))
    if isinstance(entry, Mapping):
        return _from_dict(entry, where)
    if callable(entry):
        return _from_function(entry)
    raise SpecError(f"{where} is {entry!r:.60}; expected {_SHAPES}.")


def _entries(tools: Any) -> list[tuple[str, Any]]:
    """Each tool with how to name its place in an error."""
    if isinstance(tools, Mapping):
        if "result" in tools and isinstance(tools["result"], Mapping):  # the JSON-RPC envelope around tools/list
            tools = tools["result"]
        if isinstance(tools.get("tools"), list):
            tools = tools["tools"]
        elif "name" in tools or "function" in tools:
            tools = [tools]
        elif tools and all(callable(value) for value in tools.values()):
            return [(f"tools[{name!r}]", replace(_one(value, ""), name=str(name))) for name, value in tools.items()]
        elif tools:
            raise SpecError(f"tools is a dict with keys {', '.join(map(str, list(tools)[:4]))}; pass a list of tools.")
    if isinstance(tools, (str, bytes)) or not isinstance(tools, (Iterable, Tool)):
        if callable(tools):
            return [("tools[0]", tools)]
        raise SpecError(f"tools is {tools!r:.60}; pass a list whose entries are {_SHAPES}.")
    return [(f"tools[{index}]", entry) for index, entry in enumerate([tools] if isinstance(tools, Tool) else tools)]


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def read_tools(tools: Any) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """
    Tools in any known shape, as [`Tool`]s.

    Args:
        tools (`list`, `dict` or `Callable`, *optional*):
            See the module's list of shapes; `None` means no tools.

    Returns:
        `tuple`: The tools in their order, and warnings: references that lead nowhere, names that become the same
        identifier in generated code (all are kept).

    Raises:
        SpecError: When an entry is not a tool, or a name stands twice.
    """
    read: dict[str, Tool] = {}
    places: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    warnings: list[str] = []
    for where, entry in _entries(tools if tools is not None else []):
        tool = _one(entry, where)
        if tool.name in read:
            raise SpecError(
                f"two tools are named {tool.name!r}: {places[tool.name]} and {where}; rename or drop one of them."
            )
        read[tool.name], places[tool.name] = tool, where
        twin = identifiers.setdefault(_identifier(tool.name), tool.name)
        if twin != tool.name:
            warnings.append(
                f"tools {twin!r} and {tool.name!r} become the same identifier in generated code; both are kept."
            )
        warnings.extend(
            f"tool {tool.name}, $ref {reference} leads nowhere and stands for any value; add it under $defs."
            for reference in dangling_references(tool.parameters)
        )
    return tuple(read.values()), tuple(warnings)


def merge_annotations(tools: Iterable[Tool], listing: Any) -> tuple[Tool, ...]:
    """`tools` with the annotations that an MCP `tools/list` answer gives to the same names."""
    hints = {tool.name: tool.annotations for tool in read_tools(listing)[0]}
    return tuple(replace(tool, annotations={**hints.get(tool.name, {}), **tool.annotations}) for tool in tools)
