"""What a record looks like and what is in it: fields from the tools' own words, values from the seed.

A [`Shape`] collects, over all tools of an agent that speak of one entity, the fields their descriptions promise
("Returns status, total and date") and their schemas name. [`build_record`] fills it for one id: equal (seed, entity,
id) give equal records, whichever tool asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from whileai_hf.rows.rng import Draws, rng
from whileai_hf.sandbox.effects import (
    IdParameter,
    entity_of,
    identifying,
    lists_contents,
    noun_of,
    tool_effect,
    verb_of,
)
from whileai_hf.sandbox.naming import is_plural, singular, word_set, words_of
from whileai_hf.sandbox.strings import text_writer
from whileai_hf.sandbox.values import put_in_order, sample_value
from whileai_hf.sandbox.words import AIRPORTS
from whileai_hf.spec import Tool, parameter_schemas, resolve_ref


# Fields of one record; more makes answers long without making them truer.
_MAX_FIELDS = 10
# Words of a phrase in a description that can still be a field's name.
_MAX_WORDS = 3

_CUE = re.compile(r"\b(?:returns?|including|includes?|contains?|has|shows?)\b", re.IGNORECASE)
_PROMISE = re.compile(r"\b(?:returns?|including|includes?|contains?|has|shows?)\s+([^.;:(\n]+)", re.IGNORECASE)
_SPLIT = re.compile(r",\s*(?:and\s+|or\s+)?|\s+and\s+")
_LEAD = re.compile(r"^(?:the|an?|its|their|each|all|any|both|comprehensive|detailed|\w+'s)\s+", re.IGNORECASE)
_ID_NAME = re.compile(r"(?:id|number|code|key|uuid)$", re.IGNORECASE)
_VAGUE = word_set(
    "it them details information info list lists results result dictionary json data text object string "
    "user record everything metadata directories files prefixes"
)
# Parameters that steer a call and say nothing about the record.
_CONTROLS = word_set(
    "limit offset page cursor max min sort order dry verbose format raw head tail depth recursive "
    "start_index max_length include exclude force confirm run edits"
)
# Updating verbs whose arguments are the record's fields.
_DECLARING_VERBS = word_set("update edit modify change set reschedule patch put replace assign")
_QUERY = word_set("query q search keyword keywords term pattern filter glob")

# Fields of records no description describes.
_USUAL: dict[str, tuple[str, ...]] = {
    "file": ("content", "modified"),
    "page": ("title", "content"),
    "webpage": ("title", "content"),
    "user": ("name", "email"),
    "contact": ("name", "email"),
    "message": ("sender", "body", "sent_at"),
    "email": ("sender", "subject", "body", "sent_at"),
    "channel": ("topic", "members"),
    "commit": ("author", "date", "message"),
    "branch": ("commit", "author"),
    "repository": ("branch", "staged_files", "changed_files"),
    "product": ("name", "price", "stock"),
    "airport": ("city",),
    "flight": ("departure_time", "arrival_time", "price"),
    "entry": ("name", "type", "size"),
    "directory": ("path", "modified"),
    "event": ("title", "start_time", "location"),
    "node": ("type", "observations"),
}
_DEFAULT_FIELDS = ("status", "created_at")
_NUMBERS = frozenset(["amount", "price", "total", "cost", "fee", "balance", "rating"])
_COUNTS = word_set("count size stock quantity number members pages length")
# What a schema may say about a text without limiting it.
_PLAIN_TEXT = word_set("type description title default")
_SPAN_WORDS = ("start", "departure", "check_in")
_LISTED = frozenset(["files", "observations", "tags", "items"])


Maker = Callable[[Draws], Any]


def _nothing(draws: Draws) -> None:
    return None


@dataclass(frozen=True)
class Field:
    """One field of a record: its schema when a tool declares one, the entity it points to when it holds an id."""

    name: str
    schema: dict[str, Any] | None = None
    root: dict[str, Any] | None = None
    refers: str = ""
    make: Maker = _nothing


@dataclass(frozen=True)
class Shape:
    """The record of one entity: the name and schema of its id, its fields, and whether some are a start and an end."""

    entity: str
    id_name: str
    id_schema: dict[str, Any]
    fields: tuple[Field, ...]
    spans: bool = False
    make_id: Maker = _nothing


def promised_fields(description: str) -> list[str]:
    """
    Names of the fields a description says it returns.

    Examples:
    ```python
    >>> promised_fields("Look up an order by id. Returns status, total and date.")
    ['status', 'total', 'date']
    >>> promised_fields("Get the details of a user, including their reservations.")
    ['reservations']

    ```
    """
    names: list[str] = []
    for match in _PROMISE.finditer(description):
        # A promise inside a promise ("returns information including size") is the more exact one.
        text = _CUE.split(match.group(1))[-1]
        found = []
        for phrase in _SPLIT.split(text):
            words = words_of(_LEAD.sub("", phrase.strip().strip("`'\"")))
            if 0 < len(words) <= _MAX_WORDS and not _VAGUE.intersection(words):
                found.append("_".join(words))
        if len(found) > 1 or (found and not match.group(0).lower().startswith(("return", "show"))):
            names.extend(found)
    return list(dict.fromkeys(names))


def _id_names(tools: Iterable[Tool]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Entity to the name and schema of the parameter that identifies it, the first one met."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for tool in tools:
        schemas = parameter_schemas(tool)
        for item in identifying(tool):
            schema = schemas[item.name]
            name = item.name
            if item.many:
                schema = {**resolve_ref(schema.get("items", {}), tool.parameters)}
                name = "name" if item.kind == "name" else singular(item.name)
            found.setdefault(item.entity, (name, schema))
    return found


def _declared(tool: Tool, ids: dict[str, IdParameter], entity: str) -> list[Field]:
    """The fields of `entity` that a creating or setting tool takes as arguments."""
    fields = []
    for name, schema in parameter_schemas(tool).items():
        held = ids.get(name)
        if (held is not None and held.entity == entity) or _QUERY.intersection(words_of(name)):
            continue
        plain = name.removeprefix("new_").removeprefix("updated_")
        if plain in _CONTROLS or set(words_of(name)) <= _CONTROLS:
            continue
        fields.append(Field(plain, schema, tool.parameters, held.entity if held is not None else ""))
    return fields


def build_shapes(tools: tuple[Tool, ...]) -> dict[str, Shape]:
    """
    The shape of every entity the tools speak of.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> tool = Tool("get_order", "Returns status, total and date.", {"type": "object", "properties": {"order_id": {}}})
    >>> [field.name for field in build_shapes((tool,))["order"].fields]
    ['status', 'total', 'date']

    ```
    """
    id_names = _id_names(tools)
    fields: dict[str, dict[str, Field]] = {entity: {} for entity in id_names}
    for tool in tools:
        entity = noun_of(tool) or "record" if lists_contents(tool) else entity_of(tool)
        into = fields.setdefault(entity, {})
        effect = tool_effect(tool)
        if effect in ("read", "other"):
            for name in promised_fields(tool.description):
                into.setdefault(name, Field(name))
        elif effect == "create" or verb_of(tool.name, tool.description) in _DECLARING_VERBS:
            for item in _declared(tool, {item.name: item for item in identifying(tool)}, entity):
                into.setdefault(item.name, item)
    return {entity: _shape(entity, found, id_names) for entity, found in fields.items()}


def plain_shape(entity: str) -> Shape:
    """The shape of an entity no tool describes."""
    return _shape(entity, {}, {})


def _shape(entity: str, found: dict[str, Field], id_names: dict[str, tuple[str, dict[str, Any]]]) -> Shape:
    usual = _USUAL.get(entity, _DEFAULT_FIELDS)
    wanted = usual if entity in _USUAL or len(found) < 2 else ()
    id_name, id_schema = id_names.get(entity, (f"{entity}_id", {"type": "string"}))
    if entity == "entry":
        id_name, found = "path", {}
    named_by_name = not _ID_NAME.search(id_name)
    for name in wanted:
        covered = any(other.endswith(f"_{name}") for other in found) or (name == "name" and named_by_name)
        if not covered or entity == "entry":
            found.setdefault(name, Field(name))
    found.pop(id_name, None)
    named = []
    for item in list(found.values())[:_MAX_FIELDS]:
        refers = singular(item.name)
        # "their reservations": a list of ids of records that other tools read.
        if item.schema is None and refers in id_names and refers != entity and is_plural(item.name):
            item = Field(item.name, {"type": "array", "items": id_names[refers][1], "minItems": 1}, None, refers)
        named.append(replace(item, make=_maker(item, entity)))
    spans = any(word in item.name for item in named for word in _SPAN_WORDS)
    make_id = text_writer("filename") if entity == "entry" else _maker(Field(id_name, id_schema), entity)
    return Shape(entity, id_name, id_schema, tuple(named), spans, make_id)


def new_id(shape: Shape, draws: Draws) -> Any:
    """An id in the format the tools show."""
    return shape.make_id(draws)


def _amount(draws: Draws) -> float:
    return round(5 + 495 * draws.random(), 2)


def _count(draws: Draws) -> int:
    return draws.integer(1, 99)


def _maker(item: Field, entity: str) -> Maker:
    """How to fill a field, decided once per field: records are built in the inner loop of a run."""
    if item.schema is not None:
        return _schema_maker(item, item.schema, entity)
    words = words_of(item.name)
    if _NUMBERS.intersection(words):
        return _amount
    if _COUNTS.intersection(words):
        return _count
    write = text_writer(item.name, "", entity)
    if words and (words[-1] in _LISTED or is_plural(words[-1])):
        return lambda draws: [write(draws) for _ in range(draws.integer(1, 3))]
    return write


def _schema_maker(item: Field, schema: dict[str, Any], entity: str) -> Maker:
    root = item.root or schema
    options = [option for word in ("anyOf", "oneOf") for option in schema.get(word) or ()]
    # A record shows what an optional parameter would hold, not that it may be absent.
    filled = next((option for option in options if resolve_ref(option, root).get("type") != "null"), None)
    told = (
        {"description": schema.get("description", ""), **resolve_ref(filled, root)} if filled is not None else schema
    )
    if told.get("type") == "string" and told.keys() <= _PLAIN_TEXT:
        return text_writer(item.name, str(told.get("description") or ""), entity)
    return lambda draws: sample_value(told, draws, name=item.name, root=root, entity=entity)


def build_record(shape: Shape, seed: int, identifier: Any) -> dict[str, Any]:
    """
    The record of one id.

    Args:
        shape ([`Shape`]):
            What it looks like.
        seed (`int`):
            Seed of the run.
        identifier (`str` or `int`):
            The id, which comes back as it is given.

    Returns:
        `dict`: The id and the fields; equal for equal (seed, entity, id).
    """
    draws = rng(seed, "record", shape.entity, str(identifier).casefold())
    record: dict[str, Any] = {shape.id_name: identifier}
    for item in shape.fields:
        record[item.name] = item.make(draws)
    if shape.entity == "airport" and identifier in AIRPORTS and "city" in record:
        record["city"] = AIRPORTS[identifier]
    if shape.entity == "entry":
        record["name"] = str(identifier).rsplit("/", 1)[-1]
    if shape.spans:
        put_in_order(record)
    return record
