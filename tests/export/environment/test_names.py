"""Names that methods cannot have, and the way back from those that stand in for them."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.export.environment.names import RESERVED, show_tools
from whileai_hf.spec import Tool


def shown(*names):
    return [tool.name for tool in show_tools([Tool(name) for name in names])[0]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_order", "get_order"),
        ("reset", "reset_"),
        ("get_reward", "get_reward_"),
        ("_private", "private"),
        ("__init__", "init"),
        ("orders.get", "orders_get"),
        ("get-order", "get_order"),
        ("3d_render", "tool_3d_render"),
        ("class", "class_"),
        ("_", "tool"),
        ("\u00b2", "tool"),
        ("Bestellung_\u00e4ndern", "Bestellung_\u00e4ndern"),
    ],
)
def test_tool_names(name, expected):
    assert shown(name) == [expected]


def test_a_name_that_can_stay_does_and_nothing_takes_its_place():
    assert shown("get-order", "get_order", "get.order") == ["get_order_2", "get_order", "get_order_3"]


def test_only_what_differs_is_reported():
    tools = [Tool("find", parameters={"properties": {"from": {}, "to": {}, "self": {}, "order-id": {}}})]
    (tool,), renamed = show_tools(tools)
    assert [(name.parameter, name.shown) for name in renamed] == [
        ("from", "from_"),
        ("self", "self_"),
        ("order-id", "order_id"),
    ]
    assert tool.restore({"from_": 1, "to": 2, "order_id": None, "more": 3}) == {
        "from": 1,
        "to": 2,
        "order-id": None,
        "more": 3,
    }
    assert tool.restore({"from": 1}) == {"from": 1}  # under its own name it arrives as well


def test_the_schema_changes_in_names_only():
    nested = {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}
    parameters = {
        "type": "object",
        "properties": {"from": nested, "in": {"$ref": "#/$defs/place"}, "at": {"minimum": 1}},
        "required": ["from"],
        "anyOf": [{"required": ["in"]}, {"required": ["at"]}],
        "dependentRequired": {"at": ["in"]},
        "$defs": {"place": {"type": "string"}},
    }
    before = str(parameters)
    (tool,), _ = show_tools([Tool("find", "Find.", parameters)])
    assert tool.schema["function"] == {
        "name": "find",
        "description": "Find.",
        "parameters": {
            "type": "object",
            "properties": {"from_": nested, "in_": {"$ref": "#/$defs/place"}, "at": {"minimum": 1}},
            "required": ["from_"],
            "anyOf": [{"required": ["in_"]}, {"required": ["at"]}],
            "dependentRequired": {"at": ["in_"]},
            "$defs": {"place": {"type": "string"}},
        },
    }
    assert str(parameters) == before
    assert show_tools([Tool("find")])[0][0].schema == Tool("find").openai()


words = st.text(min_size=1, max_size=8) | st.sampled_from(["reset", "_x", "x", "x_", "class", "self", "from", "from_"])


@given(st.lists(words, min_size=1, max_size=8, unique=True))
def test_every_name_becomes_one_a_method_can_have_and_back(names):
    tools, renamed = show_tools(
        [Tool(name, parameters={"properties": {other: {} for other in names}}) for name in names]
    )
    made = [tool.name for tool in tools]
    assert len(set(made)) == len(names)
    for tool in tools:
        assert tool.name.isidentifier()
        assert not keyword.iskeyword(tool.name)
        assert tool.name not in RESERVED
        assert not tool.name.startswith("_")
        parameters = list(tool.schema["function"]["parameters"]["properties"])
        assert len(parameters) == len(names)
        assert all(name.isidentifier() and not keyword.iskeyword(name) and name != "self" for name in parameters)
        values = {name: index for index, name in enumerate(parameters)}
        assert tool.restore(values) == {name: index for index, name in enumerate(names)}
    assert {name.tool for name in renamed if name.parameter is None} == {
        tool.tool.name for tool in tools if tool.tool.name != tool.name
    }
