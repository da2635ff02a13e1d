"""Tools in every shape they come in, and what is said when they are none."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import pytest

from whileai_hf.errors import ConfigurationError, SpecError
from whileai_hf.spec import AgentSpec, Tool, as_spec, parameter_schemas, read_tools, resolve_ref


SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
OPENAI = {
    "type": "function",
    "function": {"name": "get_order", "description": "Look up an order.", "parameters": SCHEMA},
}
BARE = {"name": "get_order", "description": "Look up an order.", "parameters": SCHEMA}
MCP = {"name": "get_order", "description": "Look up an order.", "inputSchema": SCHEMA}
ANTHROPIC = {"name": "get_order", "description": "Look up an order.", "input_schema": SCHEMA}


@pytest.mark.parametrize(
    "tools",
    [
        [OPENAI],
        [BARE],
        [MCP],
        [ANTHROPIC],
        (OPENAI,),
        OPENAI,
        {"tools": [MCP]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        [Tool("get_order", "Look up an order.", SCHEMA)],
        [{"type": "function", **BARE}],
    ],
    ids=["openai", "bare", "mcp", "anthropic", "tuple", "single", "mcp-answer", "mcp-rpc", "tool", "responses-api"],
)
def test_every_shape_reads_as_the_same_tool(tools: Any) -> None:
    assert AgentSpec.from_tools(tools).openai_tools() == [OPENAI]


def test_mcp_annotations_are_kept() -> None:
    listing = {"tools": [{**MCP, "annotations": {"readOnlyHint": True, "title": "Get"}}]}
    assert AgentSpec.from_tools(listing).tools[0].annotations == {"readOnlyHint": True, "title": "Get"}


@pytest.mark.parametrize("extra", [{}, {"parameters": {}}, {"parameters": None}, {"parameters": {"type": "object"}}])
@pytest.mark.parametrize("wrapped", [True, False])
def test_a_tool_without_parameters_in_all_spellings(extra: dict[str, Any], wrapped: bool) -> None:
    tool = {"name": "list_users", **extra}
    spec = AgentSpec.from_tools([{"type": "function", "function": tool} if wrapped else tool])
    assert spec.tools[0].parameters == {"type": "object", "properties": {}}


def test_schemas_are_kept_verbatim() -> None:
    parameters = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "title": "args",
        "properties": {
            "a": {"oneOf": [{"const": "x"}, {"$ref": "#/$defs/N"}]},
            "b": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}], "default": None},
            "type": {"type": "string", "enum": ["dict", "any"], "default": "dict"},
        },
        "additionalProperties": False,
        "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
    }
    read = AgentSpec.from_tools([{"name": "t", "parameters": parameters}]).tools[0].parameters
    assert read == parameters and list(read) == list(parameters)


def test_foreign_type_words_become_json_schema() -> None:
    parameters = {
        "type": "dict",
        "properties": {
            "a": {"type": "float"},
            "b": {"type": "tuple", "items": {"type": "any", "description": "d"}},
            "c": {"type": ["float", "None"]},
            "d": {"type": "String"},
            "e": {"type": "dict", "properties": {"x": {"type": "long"}}},
            "f": {"type": ["any", "string"]},
        },
    }
    assert AgentSpec.from_tools([{"name": "t", "parameters": parameters}]).tools[0].parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "b": {"type": "array", "items": {"description": "d"}},
            "c": {"type": ["number", "null"]},
            "d": {"type": "string"},
            "e": {"type": "object", "properties": {"x": {"type": "integer"}}},
            "f": {},
        },
    }


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        ("get_order", r"tools is 'get_order'; pass a list"),
        (3, r"tools is 3; pass a list"),
        ([None], r"tools\[0\] is None; expected a typed function"),
        ([BARE, "refund"], r"tools\[1\] is 'refund'"),
        ([{"description": "x"}], r"tools\[0\] has no name \(keys: description\)"),
        ([{"type": "web_search"}], r"tools\[0\] has no name"),
        ([{"name": ""}], r"tools\[0\] has no name"),
        ([{"function": "get_order"}], r"tools\[0\]: function is 'get_order'"),
        ([{"name": "a", "description": 3}], r"tool 'a': description is 3"),
        ([{"name": "a", "parameters": "none"}], r"tool 'a': parameters is 'none'; expected a JSON Schema"),
        ([{"name": "a", "parameters": ["x"]}], r"tool 'a': parameters is \['x'\]; expected a JSON Schema"),
        ([{"name": "a", "parameters": {"type": "string"}}], r"tool 'a': parameters has type 'string'"),
        ([{"name": "a", "parameters": {"type": "thing"}}], r"tool 'a': parameters: type 'thing' is not"),
        (
            [{"name": "a", "parameters": {"order_id": {"type": "string"}}}],
            r"no JSON Schema keyword, only order_id; wrap",
        ),
        ([{"name": "a", "parameters": {"properties": []}}], r"properties is \[\]; make it a map"),
        (
            [{"name": "a", "parameters": {"properties": {"x": "string"}}}],
            r"parameters\.x is 'string'; a JSON Schema is",
        ),
        ([{"name": "a", "parameters": {"properties": {"x": {"type": 3}}}}], r"parameters\.x: type 3 is not"),
        ([{"name": "a", "parameters": {"properties": {"x": {"enum": "a"}}}}], r"parameters\.x: enum is 'a'"),
        ([{"name": "a", "parameters": {"properties": {}, "required": True}}], r"required is True; make it a list"),
        ([{"name": "a", "parameters": {"properties": {"x": {"anyOf": {}}}}}], r"anyOf is \{\}; make it a list"),
        ({"get_order": {"type": "object"}}, r"tools is a dict with keys get_order"),
    ],
)
def test_what_is_no_tool_gets_one_sentence(tools: Any, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence) as caught:
        AgentSpec.from_tools(tools)
    assert "\n" not in str(caught.value)


def test_a_schema_that_contains_itself_as_an_object_is_refused() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {}}
    node["properties"]["child"] = node
    with pytest.raises(SpecError, match=r"nested more than 64 levels"):
        AgentSpec.from_tools([{"name": "tree", "parameters": node}])


def test_a_name_that_stands_twice_is_refused_with_both_places() -> None:
    with pytest.raises(SpecError, match=r"two tools are named 'get_order': tools\[0\] and tools\[2\]"):
        AgentSpec.from_tools([OPENAI, {"name": "other"}, MCP])


def test_names_that_meet_as_identifiers_are_kept_and_noted() -> None:
    spec = AgentSpec.from_tools([{"name": "search-a"}, {"name": "search_a"}])
    assert spec.names == ("search-a", "search_a")
    assert len(spec.warnings) == 1 and "'search-a' and 'search_a'" in spec.warnings[0]


def test_neither_tools_nor_prompt() -> None:
    for tools in (None, [], ()):
        with pytest.raises(ConfigurationError, match="no tools and no prompt"):
            AgentSpec.from_tools(tools, "  ")
    assert AgentSpec.from_tools([], "Help customers.").tools == ()


def test_warnings_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    tools = [{"name": "once_only", "parameters": {"properties": {"x": {"$ref": "#/$defs/Gone"}}}}]
    with caplog.at_level(logging.WARNING, logger="whileai_hf"):
        AgentSpec.from_tools(tools)
        spec = AgentSpec.from_tools(tools)
    assert [record.message for record in caplog.records] == list(spec.warnings)


def test_tool_by_name_and_the_nearest_when_absent() -> None:
    spec = AgentSpec.from_tools([OPENAI, {"name": "refund_order"}])
    assert spec.tool("get_order") is spec.tools[0]
    with pytest.raises(SpecError, match=r"no tool is named 'get_orders'; did you mean 'get_order'\?"):
        spec.tool("get_orders")


def test_sha_follows_tools_and_prompt_only() -> None:
    spec = AgentSpec.from_tools([OPENAI], "Be kind to people.")
    assert len(spec.sha) == 12 and int(spec.sha, 16) >= 0
    assert AgentSpec.from_tools([MCP], "Be kind to people.", rubric="r", name="other").sha == spec.sha
    assert AgentSpec.from_tools([MCP], "Be quick with people.").sha != spec.sha
    assert AgentSpec.from_tools([{**MCP, "description": "x"}], "Be kind to people.").sha != spec.sha


def test_a_spec_travels_between_processes() -> None:
    spec = AgentSpec.from_tools([OPENAI], "Never guess a status.", seeds=["Where is A1?"])
    assert spec.sha
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_as_spec_takes_what_callers_have() -> None:
    spec = AgentSpec.from_tools([OPENAI])
    assert as_spec(spec) is spec
    assert as_spec(tools=[OPENAI], system_prompt="") == spec
    assert as_spec({"tools": [OPENAI], "policy": "Never guess a status."}).clauses == ("Never guess a status.",)
    other = as_spec(
        as_spec({"tools": [OPENAI], "seeds": ["Where is A1?"], "name": "shop"}), system_prompt="Ask first."
    )
    assert (other.tools, other.system_prompt, other.seeds, other.name) == (
        spec.tools,
        "Ask first.",
        ("Where is A1?",),
        "shop",
    )
    assert as_spec(other, tools=[{"name": "ping"}]).names == ("ping",)
    with pytest.raises(SpecError, match=r"a list of tools as tools="):
        as_spec([OPENAI])  # type: ignore[arg-type]


ROOT = {
    "$defs": {
        "A": {"$ref": "#/$defs/B", "title": "a"},
        "B": {"type": "string", "title": "b", "minLength": 1},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Ping": {"$ref": "#/$defs/Pong"},
        "Pong": {"$ref": "#/$defs/Ping"},
        "a/b~c": {"type": "integer"},
        "Named": {"$anchor": "named", "type": "boolean"},
        "Any": True,
    }
}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"$ref": "#/$defs/A"}, {"type": "string", "title": "a", "minLength": 1}),
        ({"$ref": "#/$defs/A", "title": "mine"}, {"type": "string", "title": "mine", "minLength": 1}),
        ({"$ref": "#/$defs/Loop", "title": "x"}, {"title": "x"}),
        ({"$ref": "#/$defs/Ping"}, {}),
        ({"$ref": "#/$defs/a~1b~0c"}, {"type": "integer"}),
        ({"$ref": "#named"}, {"$anchor": "named", "type": "boolean"}),
        ({"$ref": "#/$defs/Any"}, {}),
        ({"$ref": "https://example.com/schema.json"}, {}),
        ({"$ref": "#/nope/0"}, {}),
        (True, {}),
    ],
)
def test_references_resolve_one_level_and_always_end(schema: Any, expected: dict[str, Any]) -> None:
    assert resolve_ref(schema, ROOT) == expected


def test_parameters_behind_a_root_reference_count() -> None:
    parameters = {
        "$ref": "#/$defs/Args",
        "allOf": [{"properties": {"b": {"type": "integer"}}}],
        "$defs": {"Args": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    tool = AgentSpec.from_tools([{"name": "t", "parameters": parameters}]).tools[0]
    assert parameter_schemas(tool) == {"a": {"type": "string"}, "b": {"type": "integer"}}


def test_read_tools_takes_nothing() -> None:
    assert read_tools(None) == ((), ())
