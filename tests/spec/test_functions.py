"""Schemas of typed functions: what a model would be told about them."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import jsonschema
import pytest

from whileai_hf.errors import SpecError
from whileai_hf.spec import AgentSpec, tool_schema


class Reason(enum.Enum):
    DAMAGED = "damaged"
    LATE = "late"


class Address(TypedDict):
    street: str
    zip: NotRequired[str]


@dataclass
class Item:
    sku: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


@dataclass
class Node:
    value: str
    children: list[Node] = field(default_factory=list)


def refund(
    order_id: str,
    amount: float,
    items: list[Item],
    address: Address | None = None,
    reason: Reason = Reason.LATE,
    speed: Literal["slow", "fast"] = "slow",
    note: Optional[str] = None,  # noqa: UP045 (the old spelling is what many tools use)
    anything: Any = None,
    limits: dict[str, int] | None = None,
    *rest: str,
    **options: str,
) -> dict[str, Any]:
    """Refund an order
    in full or in part.

    It is final.

    Args:
        order_id (`str`):
            The order's id, such as 'A1001'.
            Second line: with a colon.
        amount: Dollars.
        reason: Why.
        note: Shown to the customer. (choices: ["gift", "goodwill"])

    Returns:
        dict: The refund.
    """
    return {}


def parameters(function: Any) -> dict[str, Any]:
    schema: dict[str, Any] = tool_schema(function)["function"]["parameters"]
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def test_description_is_the_summary_and_the_arguments_text() -> None:
    function = tool_schema(refund)["function"]
    assert function["name"] == "refund"
    assert function["description"] == "Refund an order in full or in part. It is final."
    properties = function["parameters"]["properties"]
    assert properties["order_id"]["description"] == "The order's id, such as 'A1001'. Second line: with a colon."
    assert properties["amount"] == {"type": "number", "description": "Dollars."}


def test_only_parameters_without_default_are_required() -> None:
    assert parameters(refund)["required"] == ["order_id", "amount", "items"]
    assert not {"rest", "options"} & parameters(refund)["properties"].keys()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("speed", {"type": "string", "enum": ["slow", "fast"], "default": "slow"}),
        ("reason", {"type": "string", "enum": ["damaged", "late"], "default": "late", "description": "Why."}),
        (
            "note",
            {"type": ["string", "null"], "enum": ["gift", "goodwill"], "description": "Shown to the customer."},
        ),
        ("anything", {}),
        (
            "limits",
            {"anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "null"}]},
        ),
        (
            "address",
            {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
                        "required": ["street"],
                    },
                    {"type": "null"},
                ]
            },
        ),
        (
            "items",
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "sku": {"type": "string"},
                        "count": {"type": "integer"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["sku"],
                },
            },
        ),
    ],
)
def test_hints_become_json_schema(name: str, expected: dict[str, Any]) -> None:
    assert parameters(refund)["properties"][name] == expected


def test_a_recursive_dataclass_becomes_a_definition() -> None:
    def tree(node: Node) -> str:
        """Show a tree."""
        return node.value

    schema = parameters(tree)
    assert schema["properties"]["node"] == {"$ref": "#/$defs/Node"}
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"node": {"value": "a", "children": [{"value": "b"}]}})
    assert not validator.is_valid({"node": {"value": "a", "children": [{"value": 1}]}})


def test_optional_literal_allows_null() -> None:
    def pick(colour: Literal["red"] | None = None, both: int | str = 1) -> None: ...

    assert parameters(pick)["properties"]["colour"] == {"type": ["string", "null"], "enum": ["red", None]}
    assert parameters(pick)["properties"]["both"] == {"type": ["integer", "string"], "default": 1}


def test_annotated_text_is_a_description_and_the_docstring_wins() -> None:
    def look(a: Annotated[str, "from the hint"], b: Annotated[str, "from the hint"]) -> None:
        """Look.

        Args:
            b: from the docstring
        """

    properties = parameters(look)["properties"]
    assert properties["a"]["description"] == "from the hint"
    assert properties["b"]["description"] == "from the docstring"


def test_methods_and_callable_objects_drop_self() -> None:
    class Desk:
        def open(self, ticket: int) -> None:
            """Open a ticket."""

        def __call__(self, ticket: int) -> None:
            """Call the desk."""

    assert list(parameters(Desk().open)["properties"]) == ["ticket"]
    schema = tool_schema(Desk())["function"]
    assert (schema["name"], schema["description"], list(schema["parameters"]["properties"])) == (
        "Desk",
        "Call the desk.",
        ["ticket"],
    )


def test_a_wrapped_function_keeps_its_own_schema() -> None:
    @functools.wraps(refund)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return refund(*args, **kwargs)

    assert tool_schema(wrapper) == tool_schema(refund)


def test_a_bare_function_needs_neither_hints_nor_docstring() -> None:
    def ping(host, count=3):  # type: ignore[no-untyped-def]
        return host

    assert tool_schema(ping)["function"]["description"] == ""
    assert parameters(ping) == {
        "type": "object",
        "properties": {"host": {}, "count": {"default": 3}},
        "required": ["host"],
    }


def test_a_hint_without_json_form_is_named() -> None:
    class Connection:
        pass

    def query(connection: Any) -> None: ...

    query.__annotations__["connection"] = Connection
    with pytest.raises(SpecError, match=r"tool 'query', parameter 'connection': class Connection has no JSON form"):
        tool_schema(query)
    query.__annotations__["connection"] = "Nowhere"
    with pytest.raises(SpecError, match=r"tool 'query': type hint names 'Nowhere'"):
        tool_schema(query)
    with pytest.raises(SpecError, match="lambda"):
        tool_schema(lambda x: x)


def test_the_function_is_kept_on_the_tool() -> None:
    spec = AgentSpec.from_tools([refund])
    assert spec.tools[0].function is refund
    assert spec.openai_tools() == [tool_schema(refund)]
    assert AgentSpec.from_tools({"give_back": refund}).names == ("give_back",)
