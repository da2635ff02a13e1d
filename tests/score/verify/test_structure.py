"""JSONSchema and JSONField: what follows a schema, and what equals a value at its type."""

from __future__ import annotations

import json
from typing import Any

import dill
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from timing import cpu_time

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import verdict
from whileai_hf.score.verify import JSONField, JSONSchema


ORDER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "n": {"type": "integer", "minimum": 1}, "tags": {"type": "array"}},
    "required": ["id"],
    "additionalProperties": False,
}


def reward(judge: Any, reply: Any, **row: Any) -> float | None:
    return verdict(judge({"final_text": reply, **row})).reward


@pytest.mark.parametrize(
    ("schema", "reply", "expected"),
    [
        (ORDER, '{"id": "A1", "n": 2}', 1.0),
        (ORDER, '```json\n{"id": "A1"}\n```', 1.0),
        (ORDER, 'Here: {"id": "A1"}', 0.0),
        (ORDER, '{"n": 2}', 0.0),
        (ORDER, '{"id": "A1", "n": true}', 0.0),
        (ORDER, '{"id": "A1", "n": 2.0}', 1.0),
        (ORDER, '{"id": "A1", "x": 2}', 0.0),
        (True, "1", 1.0),
        (False, "1", 0.0),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "string"}}}, '"x"', 1.0),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, "1", 0.0),
        ({"minimum": 1}, "1", 1.0),
        ({"type": "string", "pattern": "^a+$"}, '"aaa"', 1.0),
        ({"type": "string", "pattern": "^a+$"}, '"b"', 0.0),
    ],
)
def test_schema(schema: Any, reply: str, expected: float) -> None:
    assert reward(JSONSchema(schema), reply) == expected


@pytest.mark.parametrize(
    "schema",
    [
        None,
        "string",
        [],
        {"type": "strnig"},
        {"properties": ["a"]},
        {"minimum": "1"},
        {"pattern": "("},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema.json"},
        {"patternProperties": {"^a": {}}, "unevaluatedProperties": False},
    ],
)
def test_a_schema_that_is_none(schema: Any) -> None:
    with pytest.raises(ConfigurationError):
        JSONSchema(schema)


def test_the_reason_names_the_place() -> None:
    assert JSONSchema(ORDER)({"final_text": '{"id": 7}'})["reason"] == "at id: 7 is not of type 'string'"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "n", "tags", "x"]), inner, max_size=4)
    ),
    max_leaves=6,
)


_NODE = {"type": "object", "properties": {"n": {"type": "integer"}, "x": {"$ref": "#/$defs/node"}}, "required": ["n"]}
SCHEMAS = [
    ORDER,
    {"type": ["array", "null"], "items": {"type": "number", "exclusiveMinimum": -1, "maximum": 2}, "maxItems": 2},
    {"anyOf": [{"type": "string", "maxLength": 1}, {"enum": [0, True, None, [1], {"n": 1.0}]}, {"const": 3}]},
    {"properties": {"id": {"minLength": 1}}, "additionalProperties": {"type": "boolean"}, "minProperties": 2},
    {"allOf": [{"required": ["n"]}, {"properties": {"n": False, "x": True}}]},
    {"$ref": "#/$defs/node", "$defs": {"node": _NODE}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}], "minItems": 1},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"},
    {"patternProperties": {"^[it]": {"type": "array"}}, "additionalProperties": {"type": "number"}},
    {"patternProperties": {"d$": {"type": "string"}}, "additionalProperties": False},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {"oneOf": [{"type": "integer"}, {"minimum": 1}], "not": {"const": 2}},
]
JUDGES = [(JSONSchema(schema), validator_for(schema, Draft202012Validator)(schema)) for schema in SCHEMAS]


@settings(max_examples=25)
@given(_JSON)
def test_the_verdict_is_that_of_jsonschema(document: Any) -> None:
    for judge, validator in JUDGES:
        found = verdict(judge({"final_text": json.dumps(document)}))
        assert found.reward == float(validator.is_valid(document)), judge.schema
        if judge.schema in SCHEMAS[:3] and found.reward == 0:
            error = next(validator.iter_errors(document))
            place = ".".join(map(str, error.absolute_path)) or "the top"
            assert (found.reason or "").startswith(f"at {place}: ")


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ({"type": "string", "pattern": "^(a|aa)+$"}, "a" * 60 + "b"),
        ({"oneOf": [{"pattern": "^(a|aa)+$"}]}, "a" * 60 + "b"),
        ({"patternProperties": {"^(a|aa)+$": True}}, {"a" * 60 + "b": 1}),
        ({"patternProperties": {"^(a|aa)+$": True}, "additionalProperties": False}, {"a" * 60 + "b": 1}),
        ({"propertyNames": {"pattern": "^(a|aa)+$"}}, {"a" * 60 + "b": 1}),
    ],
)
def test_a_slow_pattern_is_a_timeout(schema: Any, document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whileai_hf.score.verify.quick.PATTERN_SECONDS", 0.1)
    with pytest.raises(TimeoutError, match="took longer"):
        JSONSchema(schema)({"final_text": json.dumps(document)})


def test_depth_is_no_error() -> None:
    tree = JSONSchema({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}})
    assert reward(tree, "[" * 400 + "]" * 400) in (0.0, 1.0)
    assert reward(tree, "[" * 200_000) == 0.0


def test_a_schema_judge_travels() -> None:
    judge = dill.loads(dill.dumps(JSONSchema(ORDER)))
    assert reward(judge, '{"id": "A1"}') == 1.0


DOCUMENT = json.dumps({"order": {"id": 7, "ok": True, "items": [{"sku": "X"}, None], "a.b": "1"}, "n": 1, "text": "7"})


@pytest.mark.parametrize(
    ("path", "gold", "expected"),
    [
        ("order.id", 7, 1.0),
        ("/order/id", 7, 1.0),
        ("order.id", 7.0, 1.0),
        ("order.id", "7", 1.0),
        ("order.id", 8, 0.0),
        ("order.ok", True, 1.0),
        ("order.ok", "true", 1.0),
        ("order.ok", 1, 0.0),
        ("order.ok", "1", 0.0),
        ("n", True, 0.0),
        ("text", "7", 1.0),
        ("text", 7, 0.0),
        ("order.items.0.sku", "X", 1.0),
        ("order.items.0.sku", "x", 0.0),
        ("order.items.0.sku", ["W", "X"], 1.0),
        ("order.items", [{"sku": "X"}, None], 1.0),
        ("order.items", '[{"sku": "X"}, null]', 1.0),
        ("order.items.7", "X", 0.0),
        ("order.missing", "X", 0.0),
        ("/order/a.b", "1", 1.0),
        ("order.id.x", 7, 0.0),
        ("order.id", None, None),
    ],
)
def test_field(path: str, gold: Any, expected: float | None) -> None:
    assert reward(JSONField(path), DOCUMENT, answer=gold) == expected
    assert reward(JSONField(path), f"```\n{DOCUMENT}\n```", answer=gold) == expected


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (JSONField("order.id", value=7), 1.0),
        (JSONField("order.id", value="7"), 0.0),
        (JSONField("order.ok", value=1), 0.0),
        (JSONField("order.items.1", value=None), 1.0),
        (JSONField("order.id", value=7.4, tolerance=0.5), 1.0),
        (JSONField("order.items.0.sku", value="x", case=False), 1.0),
        (JSONField("", value={"x": 1}), 0.0),
    ],
)
def test_a_given_value(judge: JSONField, expected: float) -> None:
    assert reward(judge, DOCUMENT) == expected


@pytest.mark.parametrize(
    "build", [lambda: JSONField(3), lambda: JSONField("a..b"), lambda: JSONField("a", tolerance=-1)]
)
def test_fields_that_cannot_work(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()


@settings(max_examples=25)
@given(_JSON, _JSON)
def test_only_equal_json_is_equal(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    judge = JSONField("v", value=other)
    found = reward(judge, json.dumps({"v": one})) == 1.0
    assert found or not same
    if found and not same:  # 1 and 1.0 are one number; nothing else may differ
        assert "." in json.dumps([one, other])


def test_a_megabyte_is_read_in_time() -> None:
    reply = json.dumps({"id": "A", "tags": list(range(150_000))})
    with cpu_time() as spent:
        assert reward(JSONSchema(ORDER), reply) == 1.0
        assert reward(JSONField("id", value="A"), reply) == 1.0
    assert spent() < 2
