"""A method for a tool whose schema is JSON: signature, annotations and docstring.

The trainer is shown the schema itself (see `worlds`). These functions are what it finds on the class, and what a
trainer that reads functions only makes a schema of: enums, arrays, unions, optional parameters and descriptions come
through, what Python's annotations cannot say (patterns, bounds, nested properties) does not.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Literal

from whileai_hf.export.environment.names import ShownTool
from whileai_hf.spec import resolve_ref


_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": None,
}
_SCALARS = (str, int, float, bool, type(None))
# Nesting of arrays and unions an annotation follows; a schema that goes deeper may hold itself.
_MOST_LEVELS = 6
# What the reader of docstrings takes for a section or for the values of an enum.
_SECTION = re.compile(r"\b(Args|Returns|Raises):")
_CHOICES = re.compile(r"\(choices:", re.IGNORECASE)


def annotation(schema: Any, root: dict[str, Any], level: int = 0) -> Any:
    """
    The Python annotation closest to a schema.

    Args:
        schema (`dict`):
            Schema of one value.
        root (`dict`):
            Schema that local references point into.
        level (`int`, *optional*, defaults to `0`):
            How deep it lies.

    Examples:
    ```python
    >>> annotation({"type": "array", "items": {"enum": ["late", "lost"]}}, {})
    list[typing.Literal['late', 'lost']]
    >>> annotation({"type": ["integer", "null"]}, {})
    int | None

    ```
    """
    if not isinstance(schema, dict) or level > _MOST_LEVELS:
        return Any
    found = resolve_ref(schema, root)
    values = [found["const"]] if "const" in found else found.get("enum")
    if isinstance(values, list) and values and all(isinstance(value, _SCALARS) for value in values):
        return Literal[tuple(values)]
    branches = found.get("anyOf") or found.get("oneOf")
    if isinstance(branches, list) and branches:
        return _union([annotation(branch, root, level + 1) for branch in branches])
    kinds = found.get("type")
    if isinstance(kinds, list):
        return _union([annotation({**found, "type": kind}, root, level + 1) for kind in kinds]) if kinds else Any
    if kinds == "array" and isinstance(found.get("items"), dict):
        return types.GenericAlias(list, (annotation(found["items"], root, level + 1),))
    return _TYPES.get(kinds, Any) if isinstance(kinds, str) else Any


def _union(parts: list[Any]) -> Any:
    if Any in parts:
        return Any
    unique = list(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else reduce(or_, (part or type(None) for part in unique))


def _line(text: Any, otherwise: str) -> str:
    """A description as one line that no reader of docstrings takes for more than that."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return _CHOICES.sub("(choices", _SECTION.sub(r"\1 -", line)) or otherwise


def make_method(shown: ShownTool, answer: Callable[[Any, ShownTool, Mapping[str, Any]], str]) -> types.FunctionType:
    """
    A function that stands on a class for a tool.

    Args:
        shown ([`ShownTool`]):
            The tool.
        answer (`Callable`):
            `(instance, tool, arguments) -> str`, what a call does.

    Returns:
        `FunctionType`: Keyword arguments only; its signature says which. Arguments it does not know are passed on.
    """

    def method(self: Any, /, **arguments: Any) -> str:
        return answer(self, shown, arguments)

    root = shown.schema["function"]["parameters"]
    properties = root.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = root.get("required")
    required = set(required) if isinstance(required, list) else set()
    hints = {name: annotation(schema, root) for name, schema in properties.items()}
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for name, hint in hints.items():
        default = inspect.Parameter.empty if name in required else None
        parameters.append(inspect.Parameter(name, keyword_only, default=default, annotation=hint))
    lines = [_line(shown.schema["function"].get("description"), shown.name.replace("_", " "))]
    if properties:
        lines += ["", "Args:"]
        for name, schema in properties.items():
            described = resolve_ref(schema, root) if isinstance(schema, dict) else {}
            lines.append(f"    {name}: {_line(described.get('description'), name.replace('_', ' '))}")
    method.__name__ = method.__qualname__ = shown.name
    method.__doc__ = "\n".join(lines)
    # No return annotation: it would become a key of the schema that no other stage shows the model.
    method.__annotations__ = hints
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method  # type: ignore[return-value]
