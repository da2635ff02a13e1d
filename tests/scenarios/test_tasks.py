"""The rows: what is on them, what they depend on, and what the owner's own asks become."""

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import canonical, dumps
from whileai_hf.sandbox import argument_errors
from whileai_hf.scenarios import draw_tasks, situations
from whileai_hf.spec import AgentSpec


def drawn(spec, n, **knobs):
    return list(itertools.islice(draw_tasks(spec, **knobs), n))


def scalars(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def check_calls(spec, rows):
    for row in rows:
        for call in row["expected_calls"]:
            assert argument_errors(spec.tool(call["tool"]), call["arguments"]) == [], call
            for value in scalars(call["arguments"]):
                assert value in row["prompt"], (value, row["prompt"])


def unquoted(row):
    """The prompt without what came from the calls."""
    text = row["prompt"]
    for value in sorted(
        {v for call in row["expected_calls"] for v in scalars(call["arguments"])}, key=len, reverse=True
    ):
        text = text.replace(value, " ")
    return text


def test_the_values_of_a_call_stand_in_the_ask(shop):
    rows = drawn(shop, 600)
    check_calls(shop, rows)
    assert {call["tool"] for row in rows for call in row["expected_calls"]} == set(shop.names)
    assert any(len(row["expected_calls"]) == 2 for row in rows)


def test_no_ask_shows_its_template(shop):
    for row in drawn(shop, 2000):
        assert not re.search("[{}\ue000-\uf8ff]", row["prompt"]), row["prompt"]
        assert "the record" not in row["prompt"] and "_" not in unquoted(row), row["prompt"]
        assert "  " not in row["prompt"] and row["prompt"] == row["prompt"].strip()
        if row["typing"] == "standard":
            assert row["prompt"][0].isupper() or not row["prompt"][0].isalpha(), row["prompt"]
            assert "a order" not in row["prompt"]


def test_who_is_called_for_what(shop):
    for row in drawn(shop, 800):
        dims, calls = row["scenario_dimensions"], row["expected_calls"]
        if dims["stance"] in ("ambiguous", "adversarial") or dims["tool"] == "unrelated":
            assert calls == []
        elif dims["tool"] == "multi_tool":
            assert len({call["tool"] for call in calls}) == 2
        else:
            assert [call["tool"] for call in calls] == [dims["tool"]]
        assert row["tier"] == (
            dims["stance"] if dims["stance"] in ("ambiguous", "boundary", "adversarial") else "ordinary"
        )
        assert row["world_state"] == dims["world_state"]
        if dims["tool_condition"] == "success":
            assert row["faults"] is None
        else:
            (tool, fault), *more = row["faults"].items()
            assert not more and fault["kind"] == dims["tool_condition"] and tool == calls[0]["tool"]


def test_an_ambiguous_ask_names_no_record_and_an_off_topic_one_names_the_field(shop):
    for row in drawn(shop, 600):
        dims = row["scenario_dimensions"]
        if dims["stance"] == "ambiguous" or dims["tool"] == "unrelated":
            assert "ORD-" not in row["prompt"]
            assert re.search(r"order|address|catal|shop|refund|search|support", row["prompt"], re.IGNORECASE), row[
                "prompt"
            ]


def test_a_rule_is_touched_and_not_quoted(shop):
    subject = {
        "Verify the order before any refund.": r"order|refund",
        "Never refund more than 100 dollars without a supervisor.": r"refund|supervisor",
        "Do not change an address after the order has shipped.": r"order|address|change",
        "Say so when a lookup fails.": r"lookup",
        "Refuse to share another customer's data.": r"customer data",
    }
    rows = [row for row in drawn(shop, 600) if row["scenario_dimensions"]["rule"] != "unspecified"]
    assert len(rows) > 200
    for row in rows:
        rule = row["scenario_dimensions"]["rule"]
        assert rule.rstrip(".") not in row["prompt"]
        if row["typing"] in ("standard", "lowercase"):
            assert re.search(subject[rule], row["prompt"], re.IGNORECASE), row["prompt"]


def test_what_is_privileged_stands_nowhere_else(shop):
    for row in drawn(shop, 500):
        rest = json.dumps({key: value for key, value in row.items() if key != "privileged"})
        for sentence in row["privileged"].values():
            assert sentence.endswith(".") and sentence.count(" ") > 5
            assert sentence not in rest and not re.search("[{}\ue000-\uf8ff]", sentence)
        if row["expected_calls"]:
            assert all(call["tool"] in row["privileged"]["reference"] for call in row["expected_calls"])


def test_people_differ(shop):
    rows = drawn(shop, 1000)
    for key, kinds in (("typing", 4), ("length", 3), ("tone", 6), ("persona", 9)):
        counts = Counter(row[key] for row in rows)
        assert len(counts) == kinds and max(counts.values()) < 800 and min(counts.values()) >= 8, counts
    said = [
        [len(row["prompt"].split()) for row in rows if row["length"] == one] for one in ("short", "medium", "long")
    ]
    means = [sum(words) / len(words) for words in said]
    assert means[0] < 0.75 * means[1] < 0.9 * means[2]


def test_rows_do_not_depend_on_what_else_is_drawn(shop):
    by_id = {row["scenario_id"]: row for row in drawn(shop, 400)}
    others = drawn(shop, 400, fault_rate=0.9)
    shared = [row for row in others if row["scenario_id"] in by_id]
    assert len(shared) > 100 and all(row == by_id[row["scenario_id"]] for row in shared)


def test_the_seed_changes_the_words_and_not_the_situations(shop):
    first, second = drawn(shop, 100), drawn(shop, 100, seed=1)
    assert [row["scenario_id"] for row in first] == [row["scenario_id"] for row in second]
    assert not {row["prompt"] for row in first} & {row["prompt"] for row in second}
    assert [row["faults"] for row in first] == [row["faults"] for row in second]


def test_a_longer_run_begins_like_a_shorter_one(shop):
    assert drawn(shop, 50) == drawn(shop, 300)[:50]


def test_rows_are_canonical_and_the_same_in_every_process(shop, make_tools):
    rows = drawn(shop, 300)
    assert canonical(rows) == rows
    code = (
        "import itertools, sys; from whileai_hf.rows import dumps, loads; from whileai_hf.spec import AgentSpec\n"
        "from whileai_hf.scenarios import draw_tasks\n"
        "tools, prompt = loads(sys.stdin.read())\n"
        "rows = list(itertools.islice(draw_tasks(AgentSpec.from_tools(tools, prompt, name='shop')), 300))\n"
        "sys.stdout.buffer.write(dumps(rows))"
    )
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=dumps([make_tools(), shop.system_prompt]),
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
        )
        assert done.stdout == dumps(rows)


def test_phrasings_word_one_situation_anew(shop):
    rows = drawn(shop, 300, phrasings=3)
    for start in range(0, 300, 3):
        one, two, three = rows[start : start + 3]
        assert [row["phrasing"] for row in (one, two, three)] == [0, 1, 2]
        assert one["scenario_id"] == two["scenario_id"] == three["scenario_id"]
        assert one["expected_calls"] == two["expected_calls"] == three["expected_calls"]
        assert one["privileged"] == three["privileged"] and one["faults"] == three["faults"]
    assert len({row["prompt"] for row in rows}) == 300


def test_situations_come_back_only_when_all_are_used_up():
    spec = AgentSpec.from_tools([{"name": "ping", "description": "Ping the server."}])
    rows = drawn(spec, 1200)
    first = [row["scenario_id"] for row in rows if row["phrasing"] == 0]
    assert len(first) == len(set(first)) == 340
    assert [row["phrasing"] for row in rows] == sorted(row["phrasing"] for row in rows)
    assert len({row["prompt"] for row in rows}) == 1200


SEEDS = ["where is order 4412??", "  refund   it, now\n", "Bonjour \U0001f642", "where is order 4412??"]


def test_own_asks_come_first_and_as_they_are(shop):
    with pytest.warns(UserWarning, match=r"'where is order 4412\?\?' was given 2 times"):
        rows = drawn(shop, 10, seeds=SEEDS)
    assert [row["prompt"] for row in rows[:3]] == SEEDS[:3]
    assert all((row["arm"], row["writer_model"], row["tier"]) == ("seed", "seed", "ordinary") for row in rows[:3])
    assert [row["scenario_dimensions"]["tool"] for row in rows[:3]] == ["get_order", "refund_order", "unspecified"]
    assert all(row["arm"] == "structured" for row in rows[3:])
    # The same ask is the same task in any run; the situations behind the asks are those of a run without them.
    assert drawn(shop, 3, seeds=SEEDS[2:] + SEEDS[1:2])[0]["scenario_id"] == rows[2]["scenario_id"]
    assert rows[3:] == drawn(shop, 7)


def test_the_asks_of_the_spec_come_before_those_of_the_call(make_tools):
    spec = AgentSpec.from_tools(make_tools(), "", seeds=["one order", "two orders"])
    assert [row["prompt"] for row in drawn(spec, 3, seeds=["three", "one order"])] == [
        "one order",
        "two orders",
        "three",
    ]


def test_situations_is_a_dataset_and_never_drops_an_ask(shop):
    data = situations(shop, n=2, seeds=["a", "b", "c"])
    assert data["prompt"] == ["a", "b", "c"] and data[0]["faults"] is None
    again = situations(tools=shop.openai_tools(), system_prompt=shop.system_prompt, n=30, seed=3)
    assert len(again) == 30 and again["prompt"] == [row["prompt"] for row in drawn(shop, 30, seed=3)]
    assert again[0]["expected_calls"] == drawn(shop, 1, seed=3)[0]["expected_calls"]


@pytest.mark.parametrize(
    "knobs, said",
    [
        ({"n": 0}, "n is 0"),
        ({"n": True}, "n is True"),
        ({"n": -3}, "n is -3"),
        ({"fault_rate": 1.5}, "fault_rate is 1.5"),
        ({"fault_rate": "half"}, "fault_rate is 'half'"),
        ({"phrasings": 0}, "phrasings is 0"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"seeds": "one ask"}, "seeds is 'one ask'"),
        ({"seeds": ["ok", 3]}, r"seeds\[1\] is 3"),
        ({"seeds": [" "]}, r"seeds\[0\] is ' '"),
        ({"seeds": None}, "seeds is None"),
    ],
)
def test_bad_input_is_named(shop, knobs, said):
    with pytest.raises(ConfigurationError, match=said):
        situations(shop, **knobs)


def schema(required, **properties):
    return {"type": "object", "properties": properties, "required": required}


NODE = schema(["v", "kids"], v={"type": "integer"}, kids={"type": "array", "items": {"$ref": "#/$defs/Node"}})
CITY = "\u57ce\u5e02"
ODD = [
    {"name": "f"},
    {
        "name": "weather",
        "description": "\u67e5\u8be2\u5929\u6c14",
        "parameters": schema([CITY], **{CITY: {"type": "string"}}),
    },
    {
        "name": "insert",
        "description": "Insert a node into a tree.",
        "parameters": {**schema(["node"], node={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}},
    },
    {
        "name": "check-vat",
        "description": "Tool for validating a VAT number.",
        "parameters": schema(
            ["vat", "n", "c", "x", "codes", "deep", "when", "note"],
            vat={"type": "string", "pattern": "^[A-Z]{2}[0-9]{9}$"},
            n={"type": "integer", "minimum": 5, "maximum": 7},
            c={"const": 3},
            x={"anyOf": [{"type": "integer"}, {"type": "string"}]},
            codes={"type": "array", "items": {"type": "integer", "minimum": 3}, "minItems": 4, "uniqueItems": True},
            deep={"type": "boolean"},
            when={"type": "string", "format": "date-time"},
            note={"type": ["string", "null"], "maxLength": 12},
        ),
    },
]


def test_odd_schemas_are_asked_for_with_valid_values():
    spec = AgentSpec.from_tools(ODD)
    rows = drawn(spec, 400)
    check_calls(spec, rows)
    assert len({row["prompt"] for row in rows}) == 400
    assert {call["tool"] for row in rows for call in row["expected_calls"]} == set(spec.names)
