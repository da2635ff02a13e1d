"""Are these arguments what the tool's schema asks for? Answered by jsonschema, in words a model can act on.

Validators are compiled once per schema. A small closure accepts the plain calls that make up nearly all traffic
(scalars, enums, required keys) without entering jsonschema, which costs about 50 microseconds a call; whatever it
does not accept goes to jsonschema, so it can only ever be faster, never more lenient (a property test compares both).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for

from whileai_hf.spec import Tool, resolve_ref
from whileai_hf.spec.references import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS


# Compiled validators kept per process; an agent has tens of tools.
_CACHE_SIZE = 2048
# Characters of a wrong value that are repeated back.
_VALUE_CHARS = 60
# Errors told at once; more than this helps nobody.
_MAX_ERRORS = 5

Check = Callable[[Any], bool]

# Keywords the fast path understands; a schema with any other goes to jsonschema.
_ANNOTATIONS = frozenset(
    {"description", "title", "default", "examples", "example", "$comment", "deprecated", "$schema", "format", "strict"}
)
_OBJECT_KEYWORDS = frozenset({"type", "properties", "required", "additionalProperties"})
_SCALAR_KEYWORDS = frozenset({"type", "enum", "minimum", "maximum", "minLength", "maxLength"})
_ARRAY_KEYWORDS = frozenset({"type", "items", "minItems", "maxItems"})


def usable(schema: Any, root: dict[str, Any]) -> Any:
    """`schema` without references that lead nowhere and without `$id` (which would move the base of the others)."""
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and not resolve_ref({"$ref": reference}, root):
        schema = {key: value for key, value in schema.items() if key != "$ref"}
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("$id", "id") and isinstance(value, str):
            continue
        if key in MAP_KEYWORDS and isinstance(value, dict):
            cleaned[key] = {name: usable(item, root) for name, item in value.items()}
        elif key in LIST_KEYWORDS and isinstance(value, list):
            cleaned[key] = [usable(item, root) for item in value]
        elif key in SCHEMA_KEYWORDS:
            cleaned[key] = usable(value, root)
        else:
            cleaned[key] = value
    return cleaned


def _scalar_check(kind: str, schema: dict[str, Any]) -> Check | None:
    enum = schema.get("enum")
    if enum is not None:
        # Strings only: JSON's 1, 1.0 and true are told apart by jsonschema, not by Python's `in`.
        if (
            kind != "string"
            or not all(isinstance(item, str) for item in enum)
            or len(schema.keys() - _ANNOTATIONS) > 2
        ):
            return None
        allowed = frozenset(enum)
        return lambda value: type(value) is str and value in allowed
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if kind == "string":
        return lambda value: type(value) is str and shortest <= len(value) <= longest
    if kind == "integer":
        return lambda value: type(value) is int and low <= value <= high
    if kind == "number":
        return lambda value: (type(value) is int or type(value) is float) and low <= value <= high
    if kind == "boolean":
        return lambda value: type(value) is bool
    return None


def _array_check(schema: dict[str, Any]) -> Check | None:
    item = quick_check(schema["items"]) if "items" in schema else (lambda value: True)
    if item is None:
        return None
    fewest, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    return lambda value: type(value) is list and fewest <= len(value) <= most and all(map(item, value))


def _object_check(schema: dict[str, Any]) -> Check | None:
    checks: dict[str, Check] = {}
    for name, item in schema.get("properties", {}).items():
        check = quick_check(item)
        if check is None:
            return None
        checks[name] = check
    required = tuple(schema.get("required", ()))
    closed = schema.get("additionalProperties", True)
    if not isinstance(closed, bool):
        return None

    def accept(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name in required:
            if name not in value:
                return False
        for name, item in value.items():
            check = checks.get(name)
            if check is None:
                if not closed:
                    return False
            elif not check(item):
                return False
        return True

    return accept


def quick_check(schema: Any) -> Check | None:
    """A function that returns `True` only for values `schema` accepts, or `None` when the schema is not plain."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    used = schema.keys() - _ANNOTATIONS
    if kind == "object" and used <= _OBJECT_KEYWORDS:
        return _object_check(schema)
    if kind == "array" and used <= _ARRAY_KEYWORDS:
        return _array_check(schema)
    if isinstance(kind, str) and used <= _SCALAR_KEYWORDS:
        return _scalar_check(kind, schema)
    return None


@dataclass(frozen=True)
class Checker:
    """The compiled checks of one tool: `quick` accepts or abstains, `validator` decides."""

    schema: dict[str, Any]
    validator: Any
    quick: Check | None

    def errors(self, arguments: Any) -> list[str]:
        """What is wrong with `arguments`, most basic first; empty when nothing is."""
        if self.quick is not None and self.quick(arguments):
            return []
        if not isinstance(arguments, dict):
            return [f"arguments must be an object of named values, got {type(arguments).__name__}"]
        if self.validator is None:
            return []
        found = sorted(self.validator.iter_errors(arguments), key=lambda error: [str(part) for part in error.path])
        texts = [_describe(error) for error in found]
        return list(dict.fromkeys(texts))[:_MAX_ERRORS]


def _where(error: ValidationError) -> str:
    text = ""
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _expected(schema: Any) -> str:
    if isinstance(schema, Mapping):
        if "enum" in schema:
            return "one of " + ", ".join(map(repr, schema["enum"]))
        kind = schema.get("type")
        if isinstance(kind, list):
            return " or ".join(map(str, kind))
        if kind:
            return f"{kind}" + (f" ({schema['format']})" if "format" in schema else "")
    return "a value"


def _names(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _describe(error: ValidationError) -> str:
    where = _where(error)
    if error.validator == "required":
        properties = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
        # The message starts with the quoted name of the one property that is missing.
        missing = next(
            (name for name in _names(error.validator_value) if repr(name) == error.message.split(" is a ")[0]), ""
        )
        full = f"{where}.{missing}" if where else missing
        return f"argument {full!r} is missing: expected {_expected(properties.get(missing, {}))}"
    named = f"argument {where!r}" if where else "arguments"
    if error.validator in ("anyOf", "oneOf") and isinstance(error.validator_value, list):
        options = " or ".join(dict.fromkeys(_expected(option) for option in error.validator_value))
        return f"{named}: expected {options}, got {_shown(error.instance)}"
    if error.validator in ("type", "enum"):
        return f"{named}: expected {_expected(error.schema)}, got {_shown(error.instance)}"
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = list(error.schema.get("properties", {}))
        return f"{named}: not all names are known, expected only {', '.join(known) or 'no arguments'}"
    return f"{named}: {error.message[: 3 * _VALUE_CHARS]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS] + '...'}"


def compile_checker(parameters: dict[str, Any]) -> Checker:
    """The checks of one `parameters` schema; a schema jsonschema itself refuses accepts every object."""
    schema = usable(parameters, parameters)
    validator_class = validator_for(schema, default=Draft202012Validator)
    try:
        validator_class.check_schema(schema)
    except SchemaError:
        return Checker(schema, None, None)
    return Checker(schema, validator_class(schema), quick_check(schema))


# By identity of the schema dict, which the entry keeps alive: hashing a schema on every call would cost more than
# checking the arguments.
_checkers: dict[int, tuple[dict[str, Any], Checker]] = {}


def checker_for(tool: Tool) -> Checker:
    """The compiled checks of `tool`, made once."""
    key = id(tool.parameters)
    entry = _checkers.get(key)
    if entry is not None and entry[0] is tool.parameters:
        return entry[1]
    if len(_checkers) >= _CACHE_SIZE:
        _checkers.clear()
    checker = compile_checker(tool.parameters)
    _checkers[key] = (tool.parameters, checker)
    return checker


def argument_errors(tool: Tool, arguments: Any) -> list[str]:
    """
    What is wrong with a call's arguments.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool that is called.
        arguments (`Any`):
            What the caller passed; anything but a dict is an error of its own.

    Returns:
        `list[str]`: One line per error, naming the argument and what was expected; empty when the call is valid.

    Examples:
    ```python
    >>> from whileai_hf.spec import AgentSpec
    >>> spec = AgentSpec.from_tools([{"name": "get_order", "parameters": {"type": "object",
    ...     "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}])
    >>> argument_errors(spec.tools[0], {"order_id": "ORD-1"})
    []
    >>> argument_errors(spec.tools[0], {"order_id": 7})
    ["argument 'order_id': expected string, got int 7"]
    >>> argument_errors(spec.tools[0], {})
    ["argument 'order_id' is missing: expected string"]

    ```
    """
    return checker_for(tool).errors(arguments)
