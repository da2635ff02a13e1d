"""`grade`, what it joins for the judge, and what it never writes."""

from __future__ import annotations

import json
import logging
import uuid
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.rows import dumps, open_rows, view
from whileai_hf.score import failed_traces, grade, grade_report, passes, run_judge
from whileai_hf.score.verify import ExactMatch
from whileai_hf.store import PrivilegedWriter


CASES = Path(__file__).parents[2].parent / "shared" / "real" / "cases.jsonl"

ROWS = [
    {"run_id": "run-1", "scenario_id": "s1", "prompt": "a", "final_text": "yes"},
    {"run_id": "run-1", "scenario_id": "s1", "prompt": "a, please", "final_text": "no"},
    {"run_id": "run-1", "scenario_id": "s2", "prompt": "b", "final_text": "maybe"},
    {"run_id": None, "scenario_id": "s3", "prompt": "c", "final_text": "yes"},
]
TASKS = [
    {"scenario_id": "s1", "prompt": "a", "privileged": {"reference": "yes"}},
    {"scenario_id": "s1", "prompt": "a, please", "privileged": {"reference": "no"}},
    {"scenario_id": "s2", "prompt": "b, asked otherwise", "privileged": {"reference": "maybe"}},
]


def case(case_id: str) -> dict[str, Any]:
    if not CASES.exists():
        pytest.skip("the symptom cases are not on this machine")
    with CASES.open() as lines:
        return next(item for item in map(json.loads, lines) if item["id"] == case_id)


@pytest.fixture
def stored_rows() -> list[dict[str, Any]]:
    """Rollouts of a run this machine has made; each test has a run of its own."""
    run_id = f"run-{uuid.uuid4().hex}"
    writer = PrivilegedWriter(run_id, "tasks")
    for task in TASKS:
        writer.add(dumps([task["scenario_id"], task["prompt"], task["privileged"], [{"tool": "f"}]]))
    writer.close()
    return [{**row, "run_id": row["run_id"] and run_id} for row in ROWS]


@pytest.mark.parametrize("as_dataset", [True, False])
def test_the_key_is_joined_from_the_tasks_for_the_call_only(as_dataset: bool) -> None:
    data = open_rows(ROWS) if as_dataset else ROWS
    graded = grade(data, ExactMatch(), tasks=TASKS)
    assert graded["reward"][:] == [1.0, 1.0, 1.0, None]
    assert graded["judge_status"][3] == "missing_reward"
    assert "no gold answer" in graded["reason"][3]
    assert not {"privileged", "expected_calls"} & set(graded.column_names)
    assert '"reference"' not in json.dumps(list(view(graded).rows()))


def test_the_key_is_joined_from_the_local_store_of_the_run(stored_rows: list[dict[str, Any]]) -> None:
    seen: list[Any] = []

    def judge(row: dict[str, Any]) -> int:
        seen.append((row.get("privileged"), row.get("expected_calls")))
        return 1

    graded = grade(stored_rows, judge, concurrency=1)
    expected = [({"reference": text}, [{"tool": "f"}]) for text in ("yes", "no", "maybe")]
    assert seen == [*expected, (None, None)]
    assert not {"privileged", "expected_calls"} & set(graded.column_names)


def test_tasks_win_over_what_the_row_carries_and_the_store_does_not(stored_rows: list[dict[str, Any]]) -> None:
    rows = [{**stored_rows[0], "privileged": {"reference": "own"}}]
    seen: list[Any] = []
    judge = lambda row: seen.append(row["privileged"]["reference"]) or 1  # noqa: E731
    grade(rows, judge)
    grade(rows, judge, tasks=TASKS)
    assert seen == ["own", "yes"]
    assert rows[0]["privileged"] == {"reference": "own"}


def test_a_foreign_run_id_is_no_obstacle() -> None:
    assert grade([{"run_id": "a/b c", "final_text": "x"}], lambda row: 1)["reward"][:] == [1.0]
    assert grade([{"run_id": 7, "final_text": "x"}], lambda row: 1)["reward"][:] == [1.0]


def test_tasks_without_a_key_are_refused() -> None:
    with pytest.raises(MissingColumnError, match="privileged"):
        grade(ROWS, ExactMatch(), tasks=[{"scenario_id": "s1", "prompt": "a"}])


@pytest.mark.parametrize(("judge", "message"), [(7, "cannot be called"), ("rules", "model"), (ExactMatch, "class")])
def test_a_judge_that_is_none_is_refused(judge: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        grade(ROWS, judge)


def test_empty_rows_are_refused() -> None:
    with pytest.raises(DataError, match="empty"):
        grade([], lambda row: 1)


def test_lists_are_read_as_they_are_and_all_columns_stay() -> None:
    rows = [{"prompt": "x", "mine": {"deep": [1, None]}, "reward": 9, "n": 1}, {"prompt": "y", "other": 2.5}]
    graded = grade(rows, lambda row: row["prompt"] == "x")
    assert graded.column_names[:5] == ["prompt", "mine", "reward", "n", "other"]
    assert graded["reward"][:] == [1.0, 0.0]
    assert graded["mine"][:] == [{"deep": [1, None]}, None]
    assert graded["other"][:] == [None, 2.5]


def test_a_selection_of_a_dataset_is_graded_in_its_order() -> None:
    data = open_rows(ROWS).select([3, 0, 2])
    graded = grade(data, lambda row: {"reward": 1, "reason": row["prompt"]})
    assert graded["reason"][:] == ["c", "a", "b"] == graded["prompt"][:]


def test_the_runs_report_stays_on_the_dataset() -> None:
    data = open_rows(ROWS)
    data.info.description = '{"run": 1}'
    assert grade(data, lambda row: 1).info.description == '{"run": 1}'


def test_run_judge_is_the_same_thing() -> None:
    judge = {"yes": 1, "no": 0}.get
    one, two = (f(ROWS, lambda row: judge(row["final_text"]), version="3", name="j") for f in (grade, run_judge))
    assert list(view(one).rows()) == list(view(two).rows())
    assert one["judge_meta"][0]["version"] == "3"


def test_unjudged_rows_are_counted_and_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    def judge(row: dict[str, Any]) -> Any:
        if row["final_text"] == "maybe":
            raise RuntimeError("judge is down")
        return None if row["final_text"] == "no" else 1

    with caplog.at_level(logging.WARNING):
        graded = grade(ROWS, judge, name="mine", version="2")
    assert "2 of 4 rows are unjudged" in caplog.text
    report = grade_report(graded)
    assert (report.n_rows, report.judged, report.unjudged, report.mean_reward) == (4, 2, 2, 1.0)
    assert report.by_status == {"ok": 2, "missing_reward": 1, "invalid_result": 0, "error": 1, "timeout": 0}
    assert (report["judge_name"], report.judge_version) == ("mine", "2")
    assert "missing_reward 1" in report.warnings[0] and "error 1" in report.warnings[0]
    assert "2 of 4 rows judged by mine 2, mean reward 1.000" in str(report)


def test_nothing_is_said_when_all_rows_are_judged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        graded = grade(ROWS, lambda row: 1, trust="off")
    assert not caplog.text
    assert grade_report(graded).warnings == []


def test_a_report_on_nothing_judged_has_no_mean() -> None:
    assert grade_report(grade(ROWS, lambda row: None)).mean_reward is None
    with pytest.raises(MissingColumnError, match="grade them first"):
        grade_report(ROWS)


def test_passed_and_failed_leave_the_unjudged_out() -> None:
    rewards = [1.0, 0.0, None, 0.99, True, float("nan"), 2]
    rows = [{"n": n, "reward": reward} for n, reward in enumerate(rewards)]
    assert passes(rows)["n"][:] == [0, 4, 6]
    assert failed_traces(rows)["n"][:] == [1, 3]
    data = Dataset.from_dict({"n": [0, 1], "reward": [1.0, None]})
    assert passes(data)["n"][:] == [0]
    assert len(failed_traces(data)) == 0 and failed_traces(data).column_names == ["n", "reward"]
    assert failed_traces([{"n": 1, "reward": 1}]).column_names == ["n", "reward"]
    with pytest.raises(MissingColumnError, match="grade them first"):
        passes([{"n": 1}])


@pytest.mark.parametrize("as_dataset", [True, False])
def test_no_result_carries_what_only_a_judge_may_see(as_dataset: bool) -> None:
    secret = {"reference": "s3cret"}
    step = {"tool": "f", "result": {"privileged": secret, "status": "ok"}}
    rows = [
        {"n": n, "reward": n, "steps": [step], "mine": {"expected_calls": ["s3cret"], "k": 1}, "privileged": secret}
        for n in (0, 1)
    ]
    data = open_rows(rows) if as_dataset else rows
    judge = lambda row: {"reward": row["n"], "privileged": row["privileged"], "deep": [{"privileged": secret}]}  # noqa: E731
    for result in (grade(data, judge), passes(data), failed_traces(data)):
        found = list(view(result).rows())
        assert "s3cret" not in json.dumps(found)
        assert "privileged" not in result.column_names
        assert found[0]["steps"] == [{"tool": "f", "result": {"status": "ok"}}]
        assert found[0]["mine"] == {"k": 1}
    assert [len(passes(data)), passes(data)["n"][0], failed_traces(data)["n"][0]] == [1, 1, 0]


def test_an_unjudged_rollout_is_left_out_of_the_mean_of_its_group() -> None:
    symptom = case("O033")
    rewards = symptom["input"]["group_rewards"]
    graded = grade([{"n": n} for n in range(len(rewards))], lambda row: rewards[row["n"]])
    report = grade_report(graded)
    expected = symptom["expected"]
    assert (report.judged, report.unjudged) == (expected["baseline_over"], expected["unjudged"])
    assert report.mean_reward == pytest.approx(expected["mean"])


def test_a_rollout_that_never_acted_is_not_scored_zero() -> None:
    group = case("O034")["input"]["group"]
    graded = grade([{"n": n} for n in range(len(group))], lambda row: {"reward": group[row["n"]]["reward"]})
    assert graded["reward"][:] == [row["reward"] for row in group]


def test_only_finite_numbers_are_rewards() -> None:
    symptom = case("O035")
    returns = symptom["input"]["judge_returns"]
    graded = grade([{"n": n} for n in range(len(returns))], lambda row: returns[row["n"]])
    assert graded["judge_status"][:] == symptom["expected"]["judge_status"]
    assert graded["reward"][:] == symptom["expected"]["rewards"]
