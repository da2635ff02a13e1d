"""ToolCalls: the meaning of the four modes and of the rules for arguments."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import grade, verdict
from whileai_hf.score.verify import All, JSONValid, ToolCalls


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


GET, PAY, LIST = call("get", id="A1"), call("pay", id="A1", amount=5), call("list")


def reward(judge: ToolCalls, *steps: Any, **row: Any) -> float | None:
    return verdict(judge({"steps": list(steps), **row})).reward


@pytest.mark.parametrize(
    ("made", "expected", "strict", "unordered", "subset", "superset"),
    [
        ([GET, PAY], [GET, PAY], 1, 1, 1, 1),
        ([PAY, GET], [GET, PAY], 0, 1, 1, 1),
        ([GET], [GET, PAY], 0, 0, 1, 0),
        ([GET, PAY, LIST], [GET, PAY], 0, 0, 0, 1),
        ([GET, GET], [GET], 0, 0, 0, 1),
        ([GET], [GET, GET], 0, 0, 1, 0),
        ([LIST], [GET], 0, 0, 0, 0),
        ([], [], 1, 1, 1, 1),
        ([GET], [], 0, 0, 0, 1),
        ([], [GET], 0, 0, 0, 0),
        ([GET, PAY], ["get", "pay"], 1, 1, 1, 1),
    ],
)
def test_modes(made: Any, expected: Any, strict: int, unordered: int, subset: int, superset: int) -> None:
    wanted = {"strict": strict, "unordered": unordered, "subset": subset, "superset": superset}
    for mode, value in wanted.items():
        assert reward(ToolCalls(mode, expected=expected), *made) == value, mode  # type: ignore[arg-type]
        assert reward(ToolCalls(mode), *made, expected_calls=expected) == value, mode  # type: ignore[arg-type]


_CALLS = st.lists(st.sampled_from([GET, PAY, LIST, call("get", id="A2")]), max_size=5)


@settings(max_examples=40)
@given(_CALLS, _CALLS)
def test_modes_are_relations_of_multisets(made: list[Any], expected: list[Any]) -> None:
    a, b = (Counter(json.dumps(item, sort_keys=True) for item in calls) for calls in (made, expected))
    idle = bool(expected) and not made
    assert reward(ToolCalls("strict", expected=expected), *made) == float(made == expected)
    assert reward(ToolCalls("unordered", expected=expected), *made) == float(a == b)
    assert reward(ToolCalls("subset", expected=expected), *made) == float(a <= b and not idle)
    assert reward(ToolCalls("superset", expected=expected), *made) == float(a >= b)


@pytest.mark.parametrize(
    ("options", "made", "expected"),
    [
        ({}, {"id": "A1", "amount": 5.0}, 1.0),
        ({}, {"id": "A1", "amount": "5"}, 0.0),
        ({}, {"id": "A1", "amount": True}, 0.0),
        ({}, {"id": "A1"}, 0.0),
        ({}, {"id": "A1", "amount": 5, "note": "x"}, 0.0),
        ({"arguments": "superset"}, {"id": "A1", "amount": 5, "note": "x"}, 1.0),
        ({"arguments": "subset"}, {"id": "A1"}, 1.0),
        ({"arguments": "subset"}, {"id": "A2"}, 0.0),
        ({"arguments": "ignore"}, {}, 1.0),
        ({"rules": {"pay": "ignore"}}, {}, 1.0),
        ({"rules": {"pay": "superset"}}, {"id": "A1", "amount": 5, "note": "x"}, 1.0),
        ({"rules": {"amount": 0.5}}, {"id": "A1", "amount": 5.4}, 1.0),
        ({"rules": {"amount": 0.5}}, {"id": "A1", "amount": 5.6}, 0.0),
        ({"rules": {"id": "caseless"}}, {"id": " a1", "amount": 5}, 1.0),
        ({"rules": {"note": "ignore"}}, {"id": "A1", "amount": 5, "note": "x"}, 1.0),
        ({"rules": {"id": "ignore"}}, {"amount": 5}, 1.0),
        ({"rules": {"id": re.compile("a\\d", re.I)}}, {"id": "A7", "amount": 5}, 1.0),
        ({"rules": {"id": re.compile("A\\d")}}, {"id": "A77", "amount": 5}, 0.0),
        ({"rules": {"pay.id": "ignore", "id": "exact"}}, {"id": "B", "amount": 5}, 1.0),
        ({"rules": {"get.id": "ignore"}}, {"id": "B", "amount": 5}, 0.0),
        ({"rules": {"amount": lambda made, wanted: made > wanted}}, {"id": "A1", "amount": 6}, 1.0),
    ],
)
def test_arguments(options: dict[str, Any], made: dict[str, Any], expected: float) -> None:
    for mode in ("strict", "unordered"):
        assert reward(ToolCalls(mode, expected=[PAY], **options), {"tool": "pay", "arguments": made}) == expected


def test_a_loose_rule_does_not_take_the_call_another_needs() -> None:
    expected = [call("pay", amount=5), call("pay", amount=6)]
    judge = ToolCalls("unordered", expected=expected, rules={"amount": 1})
    assert reward(judge, call("pay", amount=5.5), call("pay", amount=4)) == 1.0
    assert reward(judge, call("pay", amount=4), call("pay", amount=4)) == 0.0


NESTED = [{"id": "1", "type": "function", "function": {"name": "get", "arguments": '{"id": "A1"}'}}]
MESSAGES = [{"role": "user", "content": "?"}, {"role": "assistant", "content": None, "tool_calls": NESTED}]


@pytest.mark.parametrize(
    "row",
    [
        {"steps": [GET]},
        {"steps": [{"text": "one moment"}, {**GET, "result": None}, "noise", None, {"tool": 3}]},
        {"steps": [{"tool": "get", "arguments": '{"id": "A1"}'}]},
        {"messages": MESSAGES},
        {"steps": [], "messages": MESSAGES},
        {"messages": [*MESSAGES, "noise", None, {"role": "tool", "content": "ok"}]},
    ],
)
def test_calls_are_read_from_every_shape(row: dict[str, Any]) -> None:
    for expected in ([GET], NESTED, [{"name": "get", "args": {"id": "A1"}}], ["get"], "get", GET):
        assert verdict(ToolCalls()({**row, "expected_calls": expected})).reward == 1.0
    assert verdict(ToolCalls(field="meta.calls")({**row, "meta": {"calls": [GET]}})).reward == 1.0
    assert verdict(ToolCalls()({**row, "privileged": {"expected_calls": [GET]}})).reward == 1.0
    assert verdict(ToolCalls()({**row, "privileged": {"expected_calls": [PAY]}})).reward == 0.0


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"steps": []}, "no expected calls"),
        ({"steps": [], "expected_calls": 3}, "expected a list"),
        ({"steps": [], "expected_calls": [3]}, "expected call 0"),
        ({"steps": [], "expected_calls": [{"tool": "a", "arguments": "{"}]}, "expected call 0"),
        ({"expected_calls": []}, "neither steps nor messages"),
    ],
)
def test_what_cannot_be_compared_is_unjudged(row: dict[str, Any], reason: str) -> None:
    read = verdict(ToolCalls()(row))
    assert read.reward is None and reason in (read.reason or "")


@pytest.mark.parametrize(
    "build",
    [
        lambda: ToolCalls("exact"),
        lambda: ToolCalls(expected=[3]),
        lambda: ToolCalls(arguments="some"),
        lambda: ToolCalls(rules={"id": "nearly"}),
        lambda: ToolCalls(rules={"id": -1}),
        lambda: ToolCalls(rules=["id"]),
    ],
)
def test_what_cannot_work_is_refused_at_construction(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()


def test_in_grade_and_in_a_composition() -> None:
    rows = [{"steps": [GET], "final_text": "{}", "expected_calls": [GET]}, {"steps": [PAY], "final_text": "{}"}]
    graded = grade(rows, ToolCalls())
    assert graded["reward"][:] == [1.0, None]
    assert "expected_calls" not in graded.column_names
    whole = verdict(All(ToolCalls(), JSONValid())(rows[0]))
    assert (whole.reward, set(whole.markers)) == (1.0, {"verify:tool_calls", "verify:json_valid"})


def test_a_slow_pattern_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whileai_hf.score.verify.arguments._TIMEOUT", 0.1)
    judge = ToolCalls(expected=[call("get", id="")], rules={"id": re.compile("(a|aa)+$")})
    assert grade([{"steps": [call("get", id="a" * 60 + "b")]}], judge)["judge_status"][:] == ["timeout"]
