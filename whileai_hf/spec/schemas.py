"""Turning what is written under a tool's `parameters` into JSON Schema, or saying why it is none.

Only spelling is repaired (the type words of BFCL and of programming languages); structure is kept verbatim, `$defs`
and references included, because a chat template must show the model the schema its author wrote.
"""

from __future__ import annotations

from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.spec.references import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS


JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})

# Type words in use that are not JSON Schema: BFCL's Python, Java and JavaScript sets, and Python's own.
# `None` means "anything", which JSON Schema says by leaving `type` out.
_TYPE_WORDS: dict[str, str | None] = {
    "str": "string",
    "text": "string",
    "char": "string",
    "date": "string",
    "datetime": "string",
    "int": "integer",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "bigint": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "arraylist": "array",
    "queue": "array",
    "stack": "array",
    "dict": "object",
    "map": "object",
    "hashmap": "object",
    "hashtable": "object",
    "none": "null",
    "any": None,
}

# Words of which at least one stands at the top of any real parameter schema.
_ROOT_KEYWORDS = frozenset(
    {"type", "properties", "required", "$ref", "$schema", "$defs", "definitions", "additionalProperties", "title"}
    | {"anyOf", "oneOf", "allOf", "description", "$id", "$comment", "patternProperties", "minProperties", "strict"}
)
_LISTS_OF_SCHEMAS = frozenset(LIST_KEYWORDS) - {"items"}
# Deeper than any schema a person or generator writes; stops Python objects that contain themselves.
_MAX_DEPTH = 64


def _type_word(word: Any, where: str) -> str | None:
    lowered = word.lower() if isinstance(word, str) else ""
    if lowered in JSON_TYPES:
        return lowered
    if lowered in _TYPE_WORDS:
        return _TYPE_WORDS[lowered]
    raise SpecError(f"{where}: type {word!r} is not a JSON Schema type; use one of {', '.join(sorted(JSON_TYPES))}.")


def _typed(declared: Any, where: str) -> str | list[str] | None:
    if not isinstance(declared, list):
        return _type_word(declared, where)
    words = [_type_word(word, where) for word in declared]
    # A union with "anything" is anything.
    known = [word for word in words if word is not None]
    return list(dict.fromkeys(known)) if len(known) == len(words) and words else None


def _check_keywords(schema: dict[str, Any], where: str) -> None:
    required = schema.get("required")
    if required is not None and not (isinstance(required, list) and all(isinstance(name, str) for name in required)):
        raise SpecError(f"{where}: required is {required!r:.60}; make it a list of parameter names.")
    if "enum" in schema and not isinstance(schema["enum"], list):
        raise SpecError(f"{where}: enum is {schema['enum']!r:.60}; make it a list of the allowed values.")
    for keyword in MAP_KEYWORDS:
        if keyword in schema and not isinstance(schema[keyword], dict):
            raise SpecError(f"{where}: {keyword} is {schema[keyword]!r:.60}; make it a map from name to schema.")
    for keyword in _LISTS_OF_SCHEMAS:
        if keyword in schema and not isinstance(schema[keyword], list):
            raise SpecError(f"{where}: {keyword} is {schema[keyword]!r:.60}; make it a list of schemas.")


def normal_schema(schema: Any, where: str, depth: int = 0) -> Any:
    """`schema` with its type words spelled as JSON Schema spells them, checked; nothing else is touched."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        raise SpecError(f"{where} is {schema!r:.60}; a JSON Schema is a dict such as {{'type': 'string'}}.")
    if depth > _MAX_DEPTH:
        raise SpecError(f"{where} is nested more than {_MAX_DEPTH} levels deep; use $defs and $ref for recursion.")
    _check_keywords(schema, where)
    normal: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "type":
            declared = _typed(value, where)
            if declared is not None:
                normal[keyword] = declared
        elif keyword in MAP_KEYWORDS:
            normal[keyword] = {k: normal_schema(v, f"{where}.{k}", depth + 1) for k, v in value.items()}
        elif keyword in LIST_KEYWORDS and isinstance(value, list):
            normal[keyword] = [normal_schema(v, f"{where}.{keyword}[{i}]", depth + 1) for i, v in enumerate(value)]
        elif keyword in SCHEMA_KEYWORDS:
            normal[keyword] = normal_schema(value, f"{where}.{keyword}", depth + 1)
        else:
            normal[keyword] = value
    return normal


def normal_parameters(parameters: Any, where: str) -> dict[str, Any]:
    """
    The `parameters` of a tool as a JSON Schema of an object.

    Args:
        parameters (`dict` or `None`):
            As written. `None` and `{}` mean a tool without parameters.
        where (`str`):
            How to name the tool in an error.

    Returns:
        `dict`: Always with `type: object` and `properties`; everything else as written.

    Raises:
        SpecError: When `parameters` is not a schema of an object.
    """
    where = f"{where}: parameters"
    if parameters is None:
        return {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise SpecError(
            f"{where} is {parameters!r:.60}; expected a JSON Schema such as {{'type': 'object', 'properties': {{}}}}."
        )
    if parameters and not _ROOT_KEYWORDS & parameters.keys():
        names = ", ".join(map(str, list(parameters)[:3]))
        raise SpecError(
            f"{where} has no JSON Schema keyword, only {names}; wrap them: "
            "{'type': 'object', 'properties': {...}, 'required': [...]}."
        )
    normal = normal_schema(parameters, where)
    declared = normal.get("type", "object")
    if declared != "object" and not (isinstance(declared, list) and "object" in declared):
        raise SpecError(f"{where} has type {declared!r}; the arguments of a tool are an object.")
    return {**normal, "type": "object", "properties": normal.get("properties", {})}
