"""Sampled values satisfy their schema and look like what the parameter is about."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from whileai_hf.errors import SpecError
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox import argument_errors, sample_arguments, sample_value
from whileai_hf.sandbox.shapes import like, shape_of, shown_examples
from whileai_hf.spec import AgentSpec, Tool


SPECS = sorted((Path(__file__).resolve().parents[2].parent / "shared/real/specs").glob("*.json"))
NAMES = st.sampled_from(
    ["order_id", "amount", "email", "note", "start_time", "end_time", "count", "name", "path", "x"]
)


@st.composite
def numbers(draw):
    schema = {"type": draw(st.sampled_from(["integer", "number"]))}
    low = draw(st.none() | st.integers(-1000, 1000))
    width = draw(st.integers(2, 2000))
    if low is not None and draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
        if draw(st.booleans()):
            schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = low + width
    elif low is not None:
        schema["maximum"] = low
    return schema


@st.composite
def strings(draw):
    schema = {"type": "string"}
    choice = draw(st.integers(0, 3))
    if choice == 0:
        schema["enum"] = draw(st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True))
    elif choice == 1:
        schema["format"] = draw(st.sampled_from(["date", "date-time", "email", "uri", "uuid", "time", "ipv4"]))
    elif choice == 2:
        schema["minLength"] = draw(st.integers(0, 30))
        schema["maxLength"] = schema["minLength"] + draw(st.integers(0, 20))
    else:
        schema["pattern"] = draw(
            st.sampled_from(
                [r"^[A-Z]{3}-\d{4}$", r"^(gid|sid)_[a-f0-9]{8,}$", r"^\w+@\w+\.com$", r"^[^/]+/[^/]+$", r"\d+"]
            )
        )
    if draw(st.booleans()):
        schema["description"] = draw(st.sampled_from(["such as 'ZFA04Y'", "format YYYY-MM-DD", "Any text."]))
    return schema


def containers(inner):
    arrays = st.builds(
        lambda item, low, extra: {"type": "array", "items": item, "minItems": low, "maxItems": low + extra},
        inner,
        st.integers(0, 3),
        st.integers(0, 3),
    )
    objects = st.builds(
        lambda properties, keep, closed: {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if len(name) % 2 or keep],
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(NAMES, inner, max_size=4),
        st.booleans(),
        st.booleans(),
    )
    unions = st.builds(lambda items, word: {word: items}, st.lists(inner, min_size=1, max_size=3), st.just("anyOf"))
    merged = st.builds(lambda item: {"allOf": [item, {"description": "The same."}]}, inner)
    tuples = st.builds(
        lambda items: {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)},
        st.lists(inner, min_size=1, max_size=3),
    )
    return arrays | objects | unions | merged | tuples


CONSTANTS = st.builds(lambda value: {"const": value}, st.none() | st.booleans() | st.integers() | st.text(max_size=4))
LEAVES = (
    numbers() | strings() | CONSTANTS | st.sampled_from([{"type": "boolean"}, {"type": ["string", "null"]}, {}, True])
)
SCHEMAS = st.recursive(LEAVES, containers, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, NAMES, st.integers(0, 10**6))
def test_values_satisfy_their_schema(schema, name, seed):
    value = sample_value(schema, rng(seed, name), name=name)
    errors = list(Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).iter_errors(value))
    assert not errors, (schema, value)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_real_tools_get_valid_arguments(path):
    for tool in AgentSpec.load(path).tools:
        validator = Draft202012Validator(tool.parameters)
        seen = set()
        for seed in range(50):
            arguments = sample_arguments(tool, rng(seed, tool.name))
            assert validator.is_valid(arguments), (tool.name, arguments)
            assert argument_errors(tool, arguments) == []
            seen.add(str(arguments))
        assert len(seen) >= 2 or not tool.parameters.get("required")


def test_recursive_and_dangling_references():
    tree = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/N"}},
        "required": ["node"],
        "$defs": {
            "N": {
                "type": "object",
                "properties": {"v": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
                "required": ["v", "children"],
            }
        },
    }
    for seed in range(30):
        arguments = sample_arguments(Tool("tree", parameters=tree), rng(seed, "x"))
        assert Draft202012Validator(tree).is_valid(arguments)
    loose = {"type": "object", "properties": {"target": {"$ref": "#/$defs/Missing"}}, "required": ["target"]}
    assert "target" in sample_arguments(Tool("delete", parameters=loose), rng(0, "x"))
    assert argument_errors(Tool("delete", parameters=loose), {"target": 3}) == []


def test_a_schema_nothing_satisfies_is_named():
    impossible = {"type": "object", "properties": {"x": {"type": "integer", "not": {}}}, "required": ["x"]}
    with pytest.raises(SpecError, match="'broken'"):
        sample_arguments(Tool("broken", parameters=impossible), rng(0, "x"))


@pytest.mark.parametrize(
    ("name", "description", "pattern"),
    [
        ("user_id", "The user id, such as 'sara_doe_496'.", r"[a-z]+_[a-z]+_\d{3}"),
        ("reservation_id", "The reservation ID, such as 'ZFA04Y'.", r"(?=.*\d)[A-Z0-9]{6}"),
        ("payment_id", "e.g. 'credit_card_7815826'", r"credit_card_\d{7}"),
        ("flight_number", "Flight number, such as 'HAT001'.", r"HAT\d{3}"),
        ("ticket", "Ticket key, e.g. OPS-123", r"OPS-\d{3}"),
        ("order_id", "", r"ORD-\d{4,6}"),
        ("start", "Must be in format YYYY-MM-DD HH:MM.", r"\d{4}-\d\d-\d\d \d\d:\d\d"),
        ("time", "Time in 24-hour format (HH:MM)", r"\d\d:\d\d"),
        ("date", "such as '2024-01-01'", r"\d{4}-\d\d-\d\d"),
        ("origin", "The IATA code for the origin city, such as 'SFO'.", r"[A-Z]{3}"),
        ("timezone", "IANA timezone name (e.g., 'America/New_York')", r"[A-Z]\w+(/\w+)?"),
        ("repo_path", "", r"/home/\w+/[\w-]+"),
        ("user_email", "", r"[\w.]+@example\.com"),
        ("url", "", r"https://\S+"),
        ("expression", "such as '2 + 2'", r"\d+ [+*-] \d+"),
        ("first_name", "such as 'Noah'", r"[A-Z][a-z]+"),
        ("branch_type", "local branches ('local') or all ('all')", r"local|all"),
    ],
)
def test_text_looks_like_its_parameter(name, description, pattern):
    for seed in range(20):
        text = sample_value({"type": "string", "description": description}, rng(seed, name), name=name)
        assert re.fullmatch(pattern, text), text


def test_ids_differ_from_the_one_shown_and_from_each_other():
    made = {like("ZFA04Y", rng(seed, "id")) for seed in range(200)}
    assert len(made) > 190 and "ZFA04Y" not in made
    assert all(shape_of("ZFA04Y").fullmatch(text) for text in made)
    assert shown_examples("one of 'a' or 'b'") == ()


def test_an_end_lies_behind_its_start():
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": "format YYYY-MM-DD HH:MM"} for name in ("start_time", "end_time")
        },
        "required": ["start_time", "end_time"],
    }
    for seed in range(50):
        made = sample_arguments(Tool("book_room", parameters=schema), rng(seed, "x"))
        assert made["start_time"] < made["end_time"] and made["start_time"][:10] == made["end_time"][:10]
