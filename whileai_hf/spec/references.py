"""`$ref` inside a tool's schema: following it, naming the ones that lead nowhere.

Schemas are never expanded: a recursive schema (a tree node that holds tree nodes) has no finite expansion, so every
reader resolves one level at a time with [`resolve_ref`].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from whileai_hf.spec.tool import Tool


# Keywords whose value is one schema, a list of schemas, or a map from name to schema (JSON Schema 2020-12 and
# draft-07). Everything else is data (`enum`, `default`, `examples`) and must not be read as a schema.
SCHEMA_KEYWORDS = (
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
)
LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
MAP_KEYWORDS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")

# A reference may lead to a reference; a chain longer than this is a cycle (real schemas use one or two hops).
_MAX_HOPS = 32


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every direct subschema of `schema` with its JSON Pointer below it; values that are not dicts come too."""
    for keyword in SCHEMA_KEYWORDS:
        if keyword in schema and not isinstance(schema[keyword], list):
            yield keyword, schema[keyword]
    for keyword in LIST_KEYWORDS:
        if isinstance(schema.get(keyword), list):
            for index, item in enumerate(schema[keyword]):
                yield f"{keyword}/{index}", item
    for keyword in MAP_KEYWORDS:
        if isinstance(schema.get(keyword), dict):
            for name, item in schema[keyword].items():
                yield f"{keyword}/{name}", item


def _anchored(schema: Any, anchor: str) -> dict[str, Any] | None:
    if not isinstance(schema, dict):
        return None
    if schema.get("$anchor") == anchor or schema.get("$id") == f"#{anchor}":
        return schema
    for _, item in subschemas(schema):
        found = _anchored(item, anchor)
        if found is not None:
            return found
    return None


def _target(reference: str, root: dict[str, Any]) -> dict[str, Any] | None:
    """What a local reference points at, or `None` when that is nothing (or not a schema)."""
    if not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        return _anchored(root, pointer)
    node: Any = root
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return {} if node is True else node if isinstance(node, dict) else None


def resolve_ref(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """
    The schema behind `schema`'s `$ref`, one level deep; `schema` itself when it has none.

    Args:
        schema (`dict` or `bool`):
            A schema at any depth of `root`. `True` and `False` read as the schema that says nothing.
        root (`dict`):
            The tool's `parameters`, where `$defs` live.

    Returns:
        `dict`: A schema without `$ref`. Keywords beside the `$ref` win over those behind it. A reference that leads
        nowhere, outside the document or only to itself reads as the schema that says nothing.

    Examples:
    ```python
    >>> from whileai_hf.spec import resolve_ref
    >>> resolve_ref({"$ref": "#/$defs/Id", "title": "Order"}, {"$defs": {"Id": {"type": "string"}}})
    {'type': 'string', 'title': 'Order'}
    >>> resolve_ref({"$ref": "#/$defs/Missing"}, {})
    {}

    ```
    """
    resolved: dict[str, Any] = dict(schema) if isinstance(schema, dict) else {}
    for _ in range(_MAX_HOPS):
        reference = resolved.pop("$ref", None)
        if not isinstance(reference, str):
            return resolved
        # Siblings come last: they refine what the reference says.
        resolved = {**(_target(reference, root) or {}), **resolved}
    resolved.pop("$ref", None)
    return resolved


def dangling_references(parameters: dict[str, Any]) -> list[str]:
    """References anywhere in `parameters` that lead nowhere, each once, in the order they occur."""
    found: dict[str, None] = {}
    pending: list[Any] = [parameters]
    while pending:
        schema = pending.pop(0)
        if not isinstance(schema, dict):
            continue
        reference = schema.get("$ref")
        if isinstance(reference, str) and _target(reference, parameters) is None:
            found[reference] = None
        pending.extend(item for _, item in subschemas(schema))
    return list(found)


def parameter_schemas(tool: Tool) -> dict[str, dict[str, Any]]:
    """
    Each parameter of `tool` with its own `$ref` followed.

    Parameters declared through a root `$ref` or `allOf` count as well. Schemas below a parameter keep their `$ref`s:
    follow them with `resolve_ref(schema, tool.parameters)`.

    Args:
        tool ([`Tool`]):
            Any tool.

    Returns:
        `dict[str, dict]`: Parameter name to schema, in the order of the schema.

    Examples:
    ```python
    >>> from whileai_hf.spec import AgentSpec, parameter_schemas
    >>> spec = AgentSpec.from_tools([{"name": "get", "parameters": {"type": "object",
    ...     "properties": {"id": {"$ref": "#/$defs/Id"}}, "$defs": {"Id": {"type": "string"}}}}])
    >>> parameter_schemas(spec.tools[0])
    {'id': {'type': 'string'}}

    ```
    """
    found: dict[str, Any] = {}
    pending: list[Any] = [tool.parameters]
    for _ in range(_MAX_HOPS):
        if not pending:
            break
        schema = pending.pop(0)
        if not isinstance(schema, dict):
            continue
        for name, item in (schema.get("properties") or {}).items():
            found.setdefault(name, item)
        if isinstance(schema.get("$ref"), str):
            pending.append(_target(schema["$ref"], tool.parameters))
        pending.extend(schema.get("allOf") or ())
    return {name: resolve_ref(item, tool.parameters) for name, item in found.items()}
