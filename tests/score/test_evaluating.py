"""Measuring: verdicts that must not be trained on, and signs that a run measured nothing."""

from __future__ import annotations

from typing import Any

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import evaluate, grade, grade_report


TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("get_order", "refund")]


def _row(*called: str, **more: Any) -> dict[str, Any]:
    steps = [{"tool": name, "arguments": {}, "result": {"status": "ok"}} for name in called]
    return {"prompt": "Hi", "final_text": "Done.", "steps": steps, "tools": TOOLS, **more}


def _warnings(rows: list[dict[str, Any]], judge: Any = lambda row: 1) -> list[str]:
    return list(grade_report(evaluate(rows, judge)).warnings)


def test_rows_say_that_they_were_measured_and_which_model() -> None:
    measured = evaluate([_row("get_order", model_version="old")], lambda row: 1, model="tuned-v1", version="2")
    assert measured["lineage"][0]["source"] == "eval" and measured["lineage"][0]["judge_version"] == "2"
    assert measured["model_version"][:] == ["tuned-v1"]
    assert evaluate([_row(model_version="old")], lambda row: 1)["model_version"][:] == ["old"]
    assert grade([_row()], lambda row: 1)["lineage"][0]["source"] == "grade"
    with pytest.raises(ConfigurationError, match="model=''"):
        evaluate([_row()], lambda row: 1, model="")


def test_a_run_without_a_tool_call_is_hollow(caplog: pytest.LogCaptureFixture) -> None:
    (warning,) = _warnings([_row(), _row()])
    assert "none of the 2 rollouts called a tool" in warning
    assert "none of the 2 rollouts" in caplog.text
    assert not any("called a tool" in line for line in _warnings([_row(tools=[])]))


def test_a_tool_nobody_touched_is_named() -> None:
    (warning,) = _warnings([_row("get_order"), _row("get_order")])
    assert "no rollout called refund;" in warning
    assert _warnings([_row("get_order"), _row("refund")]) == []


def test_messages_of_other_stacks_count_as_calls() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
    row = {
        "prompt": "Hi",
        "final_text": "x",
        "messages": [{"role": "assistant", "tool_calls": [call]}],
        "tools": TOOLS,
    }
    (warning,) = _warnings([row])
    assert "no rollout called get_order;" in warning


def test_a_marker_that_never_changes_is_named() -> None:
    rows = [_row("get_order", "refund", n=index) for index in range(3)]
    lines = _warnings(rows, lambda row: {"reward": 1, "markers": {"flat": 1.0, "live": row["n"]}})
    assert [line for line in lines if "same value" in line and "flat" in line and "live" not in line]


def test_many_unjudged_rows_are_counted() -> None:
    rows = [_row("get_order", "refund", n=index) for index in range(10)]
    lines = _warnings(rows, lambda row: None if row["n"] < 4 else 1)
    assert any("4 of 10 rows are unjudged" in line for line in lines)


def test_grading_does_not_warn_about_what_an_evaluation_would() -> None:
    assert grade_report(grade([_row(), _row()], lambda row: 1)).warnings == []


def test_without_judge_and_rubric_the_floor_is_graded_and_said() -> None:
    report = grade_report(grade([_row("get_order")]))
    assert report.floor and report.judge_name == "conduct_grade"
    assert "only the conduct floor" in report.warnings[0] and "only the conduct floor" in str(report)
    assert not grade_report(grade([_row()], lambda row: 1)).floor
    with pytest.raises(ConfigurationError, match="use_privileged"):
        grade([_row()], use_privileged=True)


def test_a_rubric_beside_a_judge_of_ones_own_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="does not read rubric="):
        grade([_row()], lambda row: 1, rubric="Be kind.")
    with pytest.raises(ConfigurationError, match="row\\['privileged'\\] already"):
        grade([_row()], lambda row: 1, use_privileged=True)
    with pytest.raises(ConfigurationError, match="did you mean 'timeout'"):
        grade([_row()], lambda row: 1, time_out=3)  # type: ignore[call-arg]


def test_markers_of_others_may_be_lists() -> None:
    rows = [_row("get_order", "refund", markers={"x": [index]}) for index in range(2)]
    assert _warnings(rows) == []


def test_the_model_measured_does_not_judge_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHILEAI_JUDGE", raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    row = _row(rollout_status="error")
    judged = evaluate([row], rubric="Be kind.", model="meta-llama/Llama-3.3-70B-Instruct")
    assert "Qwen" in judged["judge_meta"][0]["model"]
