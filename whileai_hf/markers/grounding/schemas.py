"""What the schema of a tool allows without anybody having said it: enum values, constants, defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.score.reading.values import fold
from whileai_hf.spec import Tool, read_tools, resolve_ref


# Lists of tools remembered by where they are.
_MOST_LISTS = 256
_DEEPEST = 12
Path = tuple[str, ...]
Allowed = dict[Path, frozenset[Any]]


def _values(schema: Mapping[str, Any], root: dict[str, Any]) -> set[Any]:
    found: list[Any] = list(schema.get("enum") or ())
    found += [schema[name] for name in ("const", "default") if name in schema]
    for union in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(union) or ():
            if isinstance(option, Mapping):
                found += _values(resolve_ref(dict(option), root), root)
    flat: set[Any] = set()
    for value in found:
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, str):
                flat.add(fold(item).strip())
            elif isinstance(item, int | float):
                flat.add(item)
    return flat


def _walk(schema: Mapping[str, Any], root: dict[str, Any], path: Path, allowed: Allowed) -> None:
    schema = resolve_ref(dict(schema), root)
    values = _values(schema, root)
    if values:
        allowed[path] = allowed.get(path, frozenset()) | frozenset(values)
    if len(path) >= _DEEPEST:
        return
    for option in (schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ()), *(schema.get("allOf") or ())):
        if not isinstance(option, Mapping):
            continue
        option = resolve_ref(dict(option), root)
        for name, inner in (option.get("properties") or {}).items():
            if isinstance(inner, Mapping):
                _walk(inner, root, (*path, name), allowed)
        items = option.get("items")
        if isinstance(items, Mapping):
            _walk(items, root, (*path, "[]"), allowed)


def _of_tool(tool: Tool) -> Allowed:
    allowed: Allowed = {}
    _walk(tool.parameters, tool.parameters, (), allowed)
    return allowed


class AllowedValues:
    """The allowed values of lists of tools; what a list says is worked out once."""

    def __init__(self) -> None:
        # Lists are held on to, so that their addresses stay theirs.
        self._by_address: dict[int, tuple[Any, dict[str, Allowed]]] = {}

    def of(self, tools: Any) -> dict[str, Allowed]:
        """Tool to path of a parameter to the values its schema lists, folded."""
        if not tools:
            return {}
        known = self._by_address.get(id(tools))
        if known is not None and known[0] is tools:
            return known[1]
        try:
            read = read_tools(tools)[0]
        except SpecError:  # what cannot be read allows nothing
            read = ()
        found = {tool.name: _of_tool(tool) for tool in read}
        if len(self._by_address) >= _MOST_LISTS:
            self._by_address.clear()
        self._by_address[id(tools)] = (tools, found)
        return found
