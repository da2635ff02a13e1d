"""Which arguments came from the conversation."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.markers.grounding import ungrounded_arguments


HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("invented", [True, False])
def test_cases(invented: bool) -> None:
    rows = [case["row"] for case in CASES if case["invented"] is invented]
    assert len(rows) > 50
    assert [row for row in rows if bool(ungrounded_arguments(row)) is not invented] == []


def call(tool: str, result: object = "ok", **arguments: object) -> dict:
    return {"tool": tool, "arguments": arguments, "result": result}


def test_nested_arguments_are_named_by_their_path() -> None:
    step = call("order", items=[{"sku": "A-1"}, {"sku": "B-2"}], to={"city": "Oslo"})
    found = ungrounded_arguments({"prompt": "Order A-1 to Bergen.", "steps": [step]})
    assert [(entry["key"], entry["value"]) for entry in found] == [("items[1].sku", "B-2"), ("to.city", "Oslo")]
    assert found[0]["tool"] == "order" and found[0]["step"] == 0


def test_only_earlier_results_ground() -> None:
    look, act = call("list", {"orders": [{"id": "ORD-77"}]}), call("cancel", id="ORD-77")
    assert ungrounded_arguments({"prompt": "Cancel my order.", "steps": [look, act]}) == []
    assert ungrounded_arguments({"prompt": "Cancel my order.", "steps": [act, look]})


def test_calls_made_at_once_do_not_ground_each_other() -> None:
    calls = [
        {"id": "a", "function": {"name": "list", "arguments": "{}"}},
        {"id": "b", "function": {"name": "cancel", "arguments": '{"id": "ORD-77"}'}},
    ]
    messages = [
        {"role": "user", "content": "Cancel my order."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": '{"id": "ORD-77"}'},
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
    ]
    assert [found["value"] for found in ungrounded_arguments({"messages": messages})] == ["ORD-77"]


def test_what_the_agent_said_itself_grounds_nothing() -> None:
    messages = [{"role": "assistant", "content": "Your order is ORD-77."}]
    row = {"prompt": "Cancel it.", "messages": messages, "steps": [call("cancel", id="ORD-77")]}
    assert ungrounded_arguments(row)


def test_ignored_keys_and_allowed_values() -> None:
    row = {"prompt": "Go.", "steps": [call("act", region="north-7", items=[{"sku": "A-1"}], count=42)]}
    assert len(ungrounded_arguments(row)) == 3
    assert [found["key"] for found in ungrounded_arguments(row, ignore_keys=["region", "items[].sku"])] == ["count"]
    assert [found["key"] for found in ungrounded_arguments(row, allow=["NORTH-7", 42])] == ["items[0].sku"]


def test_programs_and_contents_of_files_are_the_agents_own() -> None:
    steps = [
        call("bash", command="head -n 37 data_91.csv"),
        call("write_file", path="src/new_17.py", content="x = 4711\n"),
        call("edit_file", path="a.py", old="x = 1", new="x = 4711"),
    ]
    assert ungrounded_arguments({"prompt": "Fix a.py.", "steps": steps}) == []


@given(st.text(alphabet="abcXYZ019-_", min_size=3, max_size=12).filter(lambda text: any(c.isdigit() for c in text)))
def test_a_value_from_the_prompt_is_grounded_in_any_case(value: str) -> None:
    row = {"prompt": f"Please look at {value} now.", "steps": [call("look", id=value.upper())]}
    assert ungrounded_arguments(row) == []


@given(st.integers(2, 10**9), st.integers(2, 10**9))
def test_numbers_are_checked(given_amount: int, passed: int) -> None:
    row = {"prompt": f"Pay ${given_amount:,}.", "steps": [call("pay", amount=passed)]}
    assert bool(ungrounded_arguments(row)) is (given_amount != passed)


ODD = [
    {},
    {"prompt": None, "steps": "none"},
    {"prompt": ["x"], "steps": [None, 3, {"tool": 5}, {"tool": "t"}, {"tool": "t", "arguments": "id=7"},
        {"tool": "t", "arguments": [1]}]},
    {"prompt": "x", "steps": [call("t", a=float("nan"), b=float("inf"), c=10**400, d="\ud800", e="\x00", f=b"x")]},
    {"prompt": "x", "tools": "broken", "steps": [call("t", a="ZZ-9")]},
    {"prompt": "x", "tools": [{"name": "t", "parameters": {"properties": {"a": {"$ref": "#/nope"}, "b": 3}}}],
        "steps": [call("t", a="ZZ-9", b=77)]},
]  # fmt: skip


@pytest.mark.parametrize("row", ODD)
def test_odd_rows(row: dict) -> None:
    assert isinstance(ungrounded_arguments(row), list)


def test_deep_and_long_arguments() -> None:
    deep: object = "ZZ-9"
    for _ in range(500):
        deep = {"x": [deep]}
    start = time.perf_counter()
    ungrounded_arguments(
        {
            "prompt": "a" * 200_000,
            "steps": [call("t", a=deep, b="word " * 40_000, c="7-" * 100_000, d=list(range(50_000)))],
        }
    )
    assert time.perf_counter() - start < 10
