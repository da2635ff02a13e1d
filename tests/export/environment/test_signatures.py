"""The functions a class of tools has, for whoever reads functions and not schemas."""

import inspect

import pytest

from whileai_hf.export.environment.names import show_tools
from whileai_hf.export.environment.signatures import make_method
from whileai_hf.spec import Tool


get_json_schema = pytest.importorskip("transformers.utils").get_json_schema


def method_of(tool):
    (shown,), _ = show_tools([tool])
    return make_method(shown, lambda instance, tool, arguments: (instance, tool.name, arguments))


def read_back(tool):
    return get_json_schema(method_of(tool))


def test_a_plain_tool_reads_back_as_it_was():
    """Without a return annotation: it would add a key that no other stage shows the model."""
    parameters = {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "Order number."},
            "amount": {"type": "number", "description": "USD"},
            "count": {"type": "integer", "description": "How many."},
            "reason": {"type": "string", "enum": ["damaged", "late"], "description": "Why."},
            "level": {"type": "integer", "enum": [1, 2], "description": "Level."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
            "notify": {"type": "boolean", "description": "Send mail."},
            "extra": {"type": "object", "description": "More."},
        },
        "required": ["order_id", "reason"],
    }
    tool = Tool("refund", "Refund an order.", parameters)
    assert read_back(tool) == tool.openai()


def test_what_annotations_cannot_say_is_left_out():
    parameters = {
        "type": "object",
        "properties": {
            "id": {"type": ["string", "null"], "pattern": "^A", "description": "Id."},
            "place": {"$ref": "#/$defs/place", "description": "Where."},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "Either."},
            "tree": {"$ref": "#/$defs/tree"},
            "any": {"description": "Anything."},
            "none": {"enum": [[1]], "description": "No scalar."},
            "many": {"type": "array", "items": {"$ref": "#/$defs/place"}},
        },
        "$defs": {
            "place": {"enum": ["shop", "home"]},
            "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
    }
    read = read_back(Tool("go", "Go.", parameters))["function"]["parameters"]["properties"]
    assert read["id"] == {"type": "string", "nullable": True, "description": "Id."}
    assert read["place"]["enum"] == ["shop", "home"]
    assert sorted(read["either"]["type"]) == ["integer", "string"]
    assert read["tree"]["type"] == "array"
    assert read["any"] == {"description": "Anything."}
    assert "enum" not in read["none"]
    assert read["many"]["items"]["enum"] == ["shop", "home"]


@pytest.mark.parametrize(
    "description",
    ["", "Args: none", "Returns: x\n\nRaises: y", "Pick (choices: a, b)", "a\n  b: c\n\td", "\ud800", "word " * 1000],
)
def test_descriptions_of_any_kind(description):
    properties = {"a": {"type": "string", "description": description}, "b": {"type": "string"}}
    read = read_back(Tool("go", description, {"type": "object", "properties": properties}))["function"]
    assert set(read["parameters"]["properties"]) == {"a", "b"}
    assert all("enum" not in schema for schema in read["parameters"]["properties"].values())
    assert read["description"]


@pytest.mark.parametrize(
    "parameters", [{}, {"properties": None}, {"properties": {"a": True}}, {"properties": {"a": {}}, "required": None}]
)
def test_broken_schemas(parameters):
    assert read_back(Tool("go", "Go.", parameters))["function"]["name"] == "go"


def test_arguments_arrive_as_they_are_given():
    method = method_of(Tool("go", "Go.", {"properties": {"class": {}, "size": {"default": 3}}}))
    assert method("me", class_=1, other=2) == ("me", "go", {"class_": 1, "other": 2})
    signature = inspect.signature(method)
    assert list(signature.parameters) == ["self", "class_", "size"]
    assert (method.__name__, method.__qualname__) == ("go", "go")
