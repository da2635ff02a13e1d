"""Argument errors: the fast path never accepts what jsonschema refuses, and messages name the argument."""

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from whileai_hf.sandbox import argument_errors
from whileai_hf.sandbox.validation import quick_check
from whileai_hf.spec import Tool


LEAF = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1, "maxLength": 3},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "integer"},
        {"type": "integer", "minimum": 0, "maximum": 3},
        {"type": "number", "minimum": 0.5},
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"type": "array"},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"enum": [1, "1", True]},
        {"type": "string", "pattern": "^a"},
        {},
    ]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats(-1, 4) | st.sampled_from(["", "a", "b", "abcd"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def object_schemas(draw):
    schema = {"type": "object", "properties": draw(st.dictionaries(st.sampled_from("abc"), LEAF, max_size=3))}
    if draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    return schema


@settings(max_examples=600, deadline=None)
@given(object_schemas(), st.dictionaries(st.sampled_from("abcd"), VALUE, max_size=4))
def test_errors_are_those_of_jsonschema(schema, arguments):
    valid = Draft202012Validator(schema).is_valid(arguments)
    quick = quick_check(schema)
    if quick is not None and quick(arguments):
        assert valid
    assert (argument_errors(Tool("t", parameters=schema), arguments) == []) == valid


def test_messages_name_the_argument_and_what_was_expected():
    parameters = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            },
            "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
    tool = Tool("t", parameters=parameters)
    assert argument_errors(tool, {}) == ["argument 'id' is missing: expected string"]
    assert argument_errors(tool, {"id": "x", "kind": "c"}) == [
        "argument 'kind': expected one of 'a', 'b', got str 'c'"
    ]
    assert argument_errors(tool, {"id": "x", "lines": [{"n": True}]}) == [
        "argument 'lines[0].n': expected integer, got bool True"
    ]
    assert argument_errors(tool, {"id": "x", "lines": [{}]}) == ["argument 'lines[0].n' is missing: expected integer"]
    assert argument_errors(tool, {"id": "x", "when": 3}) == ["argument 'when': expected string or null, got int 3"]
    assert "expected only id, kind, lines, when" in argument_errors(tool, {"id": "x", "idd": 1})[0]
    assert argument_errors(tool, None) == ["arguments must be an object of named values, got NoneType"]


def test_a_changed_schema_is_not_answered_from_the_cache():
    for kind, wrong in (("string", 1), ("integer", "x")) * 50:
        tool = Tool("t", parameters={"type": "object", "properties": {"x": {"type": kind}}})
        assert argument_errors(tool, {"x": wrong})
