"""The tool schema of a typed Python function: type hints give the types, the docstring gives the words.

Does what `transformers.utils.get_json_schema` does without importing transformers, and in plain JSON Schema: an
optional value is a union with `null`, nested dataclasses and `TypedDict`s become nested objects, recursive ones
`$defs`.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import pathlib
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any, Literal, Union

from whileai_hf.errors import SpecError
from whileai_hf.spec.docstrings import read_docstring


_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    decimal.Decimal: {"type": "number"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
    types.NoneType: {"type": "null"},
    None: {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
}
_SEQUENCES = (
    list,
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.MutableSequence,
)
_SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}


def _literal(values: list[Any]) -> dict[str, Any]:
    kinds = list(dict.fromkeys(_NAMES[type(value)] for value in values if type(value) in _NAMES))
    schema: dict[str, Any] = {"enum": values}
    return {"type": kinds[0] if len(kinds) == 1 else kinds, **schema} if kinds else schema


def _union(options: list[dict[str, Any]]) -> dict[str, Any]:
    """Plain types join into one list of types; anything richer stays an `anyOf`."""
    if any(not option for option in options):
        return {}
    if all(option.keys() == {"type"} and isinstance(option["type"], str) for option in options):
        kinds = list(dict.fromkeys(option["type"] for option in options))
        return {"type": kinds if len(kinds) > 1 else kinds[0]}
    null = {"type": "null"}
    rest = [option for option in options if option != null]
    if len(rest) == 1 and null in options and "enum" in rest[0] and isinstance(rest[0].get("type"), str):
        return {**rest[0], "type": [rest[0]["type"], "null"], "enum": [*rest[0]["enum"], None]}
    return {"anyOf": options}


class _Builder:
    """Builds the schema of one function; remembers the classes that turned out to be recursive."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.definitions: dict[str, Any] = {}
        self._open: list[type] = []
        self._recursive: set[type] = set()

    def schema(self, hint: Any) -> dict[str, Any]:
        try:
            plain = _PLAIN.get(hint)
        except TypeError:  # unhashable metadata inside Annotated
            plain = None
        if plain is not None:
            return dict(plain)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is not None:
            return self._generic(hint, origin, arguments)
        if isinstance(hint, typing.NewType):
            return self.schema(hint.__supertype__)
        if isinstance(hint, typing.TypeVar):
            return self.schema(hint.__bound__) if hint.__bound__ is not None else {}
        if isinstance(hint, type):
            return self._class(hint)
        raise SpecError(f"{self.where}: type hint {hint!r} has no JSON form; use str, int, float, bool, list or dict.")

    def _generic(self, hint: Any, origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if origin is typing.Annotated:
            words = [extra for extra in arguments[1:] if isinstance(extra, str)]
            return {**self.schema(arguments[0]), **({"description": words[0]} if words else {})}
        if origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
            return self.schema(arguments[0])
        if origin is Literal:
            return _literal([value.value if isinstance(value, enum.Enum) else value for value in arguments])
        if origin in (Union, types.UnionType):
            return _union([self.schema(option) for option in arguments])
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return {"type": "array", "items": self.schema(arguments[0])}
            parts = [self.schema(part) for part in arguments]
            return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
        if origin in _SEQUENCES:
            return {"type": "array", "items": self.schema(arguments[0])}
        if origin in _SETS:
            return {"type": "array", "items": self.schema(arguments[0]), "uniqueItems": True}
        if origin in _MAPPINGS:
            return {"type": "object", "additionalProperties": self.schema(arguments[1]) or True}
        raise SpecError(f"{self.where}: type hint {hint!r} has no JSON form; use str, int, float, bool, list or dict.")

    def _class(self, kind: type) -> dict[str, Any]:
        if issubclass(kind, enum.Enum):
            return _literal([member.value for member in kind])
        for plain in (bool, int, float, str, bytes, datetime.datetime, datetime.date, pathlib.PurePath):
            if issubclass(kind, plain):
                return dict(_PLAIN.get(plain, {"type": "string"}))
        if kind in self._open:
            self._recursive.add(kind)
            return {"$ref": f"#/$defs/{kind.__name__}"}
        fields = self._fields(kind)
        self._open.append(kind)
        properties = {name: self.schema(hint) for name, (hint, _) in fields.items()}
        self._open.pop()
        required = [name for name, (_, needed) in fields.items() if needed]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if kind in self._recursive:
            self.definitions[kind.__name__] = schema
            return {"$ref": f"#/$defs/{kind.__name__}"}
        return schema

    def _fields(self, kind: type) -> dict[str, tuple[Any, bool]]:
        """Field name to its hint and whether it must be given."""
        if typing.is_typeddict(kind):
            hints = _hints(kind, self.where)
            # Postponed annotations hide `NotRequired` from `__required_keys__`, so the hint itself is asked first.
            marks = {typing.Required: True, typing.NotRequired: False}
            required: frozenset[str] = vars(kind)["__required_keys__"]
            return {name: (hint, marks.get(typing.get_origin(hint), name in required)) for name, hint in hints.items()}
        if dataclasses.is_dataclass(kind):
            hints = _hints(kind, self.where)
            missing = dataclasses.MISSING
            return {
                item.name: (hints[item.name], item.default is missing and item.default_factory is missing)
                for item in dataclasses.fields(kind)
                if item.init
            }
        if issubclass(kind, tuple):  # a NamedTuple is written by name, not by position
            hints = _hints(kind, self.where)
            defaults: dict[str, Any] = vars(kind).get("_field_defaults", {})
            return {name: (hint, name not in defaults) for name, hint in hints.items()}
        raise SpecError(
            f"{self.where}: class {kind.__name__} has no JSON form; use a dataclass, TypedDict, Enum or built-in."
        )


def _hints(thing: Any, where: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except NameError as error:
        raise SpecError(
            f"{where}: type hint names {error.name!r}, which cannot be found from the function's module; "
            "define it at module level."
        ) from error


def _json_default(value: Any) -> Any:
    value = value.value if isinstance(value, enum.Enum) else value
    return json.loads(json.dumps(value))


def _parameter(builder: _Builder, parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
    schema = builder.schema(hint)
    if parameter.default is parameter.empty or parameter.default is None:
        return schema
    try:
        return {**schema, "default": _json_default(parameter.default)}
    except (TypeError, ValueError):  # a default that JSON cannot carry stays the function's own business
        return schema


def tool_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """
    The OpenAI-shaped schema of a typed function.

    Types come from the type hints (`Literal`, unions, `list[T]`, `dict`, `TypedDict`, dataclasses, `Enum`), words
    from the docstring's summary and `Args:`, allowed values also from `(choices: [...])` at the end of an argument's
    description. A parameter with a default is not required.

    Args:
        function (`Callable`):
            A function, a bound method or an object with `__call__`. `*args` and `**kwargs` are left out.

    Returns:
        `dict`: `{"type": "function", "function": {"name", "description", "parameters"}}`.

    Raises:
        SpecError: When a type hint has no JSON form.

    Examples:
    ```python
    >>> from whileai_hf.spec import tool_schema
    >>> def get_order(order_id: str, verbose: bool = False) -> dict:
    ...     '''Look up an order.
    ...
    ...     Args:
    ...         order_id: The order's id.
    ...     '''
    >>> schema = tool_schema(get_order)["function"]["parameters"]
    >>> schema["properties"]["order_id"]
    {'type': 'string', 'description': "The order's id."}
    >>> schema["required"]
    ['order_id']

    ```
    """
    named = inspect.isroutine(function) or inspect.isclass(function)
    name = function.__name__ if named else type(function).__name__
    if name == "<lambda>":
        raise SpecError("tool from a lambda: it has no name a model could call; use `def` or a dict with a name.")
    target = function if named else type(function).__call__
    where = f"tool {name!r}"
    hints = _hints(inspect.unwrap(target), where)
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    text = inspect.getdoc(function) if named else inspect.getdoc(target) or inspect.getdoc(type(function))
    summary, descriptions, choices = read_docstring(text, {parameter.name for parameter in parameters})
    properties: dict[str, Any] = {}
    builder = _Builder(where)
    for parameter in parameters:
        builder.where = f"{where}, parameter {parameter.name!r}"
        schema = _parameter(builder, parameter, hints.get(parameter.name, parameter.empty))
        if parameter.name in choices:
            schema = {**schema, "enum": choices[parameter.name]}
        if parameter.name in descriptions:
            schema = {**schema, "description": descriptions[parameter.name]}
        properties[parameter.name] = schema
    required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if builder.definitions:
        schema["$defs"] = builder.definitions
    return {"type": "function", "function": {"name": name, "description": summary, "parameters": schema}}
