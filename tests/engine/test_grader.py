"""The judge beside a run, when it does not do what judges do."""

import asyncio
import json
import time
from pathlib import Path

import pytest

import whileai_hf as wai
from whileai_hf.errors import ModelStopError
from whileai_hf.rows import view


TOOLS = [{"name": "get_order", "parameters": {"type": "object", "properties": {}}}]


def run(grader, **knobs):
    agent = knobs.pop("agent", lambda message: {"steps": [], "final_text": f"Hello, {message}"})
    return wai.simulate(agent, tools=TOOLS, system_prompt="Help.", grader=grader, **{"budget": 16} | knobs)


def test_a_call_its_client_cancelled_is_a_verdict():
    async def cancelled(row):
        raise asyncio.CancelledError

    assert set(run(cancelled)["judge_status"]) == {"error"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_interrupt_in_it_is_the_callers(asynchronous):
    def interrupted(row):
        raise KeyboardInterrupt

    async def interrupted_async(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted_async if asynchronous else interrupted)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_one_whose_model_answers_no_more_ends_the_run_and_is_asked_again_later(asynchronous, tmp_path):
    path, asked, spent = str(tmp_path / "rows.jsonl"), [], True

    def judge(row):
        asked.append(row["rollout_index"])
        if spent and len(asked) > 20:
            raise ModelStopError("the allowance is spent", "quota_spent")
        return row["rollout_index"] % 2

    async def judge_async(row):
        return judge(row)

    grader = judge_async if asynchronous else judge
    knobs = {"mode": "rl", "repeats": 8, "budget": 160, "concurrency": 4}
    data = run(grader, output=path, **knobs)
    report = wai.run_report(data)
    assert report.stopped_because == "quota_spent" and any("allowance" in line for line in report.warnings)
    assert 20 <= len(data) < 160 and data["judge_status"][:].count("ok") == 20
    undecided = [row for row in view(data).rows(["reward", "group_status"]) if row["reward"] is None]
    assert {row["group_status"] for row in undecided} <= {"cut", "complete"}
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert sum("judge_status" in line for line in lines) == 20

    spent = False
    asked.clear()
    again = run(grader, resume=path, output=path, **knobs)
    assert len(asked) == len(again) - 20 and set(again["judge_status"]) == {"ok"}
    whole = run(grader, **knobs)
    assert list(view(again).rows()) == list(view(whole).rows())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_it_is_not_asked_when_the_run_is_over(asynchronous):
    asked = []

    def judge(row):
        asked.append(row)
        time.sleep(0.05)
        return 1

    async def judge_async(row):
        asked.append(row)
        await asyncio.sleep(0.05)
        return 1

    grader = judge_async if asynchronous else judge
    run(grader, budget=2000, concurrency=2, time_budget=0.4, stop_grace=0.0)
    seen = len(asked)
    time.sleep(0.3)
    assert len(asked) <= seen + 8


def test_what_another_judge_said_does_not_count_in_a_resumed_run(tmp_path):
    def even(row):
        return row["rollout_index"] % 2

    def never(row):
        return 0

    knobs = {"mode": "rl", "repeats": 8, "budget": 80}
    for resumed in (never, None):
        path = str(tmp_path / "rows.jsonl")
        run(even, output=path, **knobs)
        rows = list(view(run(resumed, resume=path, **knobs)).rows())
        assert rows == list(view(run(resumed, **knobs)).rows())


def test_a_judged_file_says_what_the_dataset_says(tmp_path):
    path = str(tmp_path / "rows.jsonl")
    data = run(lambda row: 1, output=path, budget=12)
    assert [row["lineage"] for row in wai.open_rows(path)] == [row["lineage"] for row in data]
    assert data[0]["lineage"]["source"] == "grade" and wai.open_rows(path)["reward"][:] == data["reward"][:]


def test_rows_without_a_verdict_are_counted():
    data = run(lambda row: None, budget=12)
    assert any("12 of 12 rows have no verdict" in warning for warning in wai.run_report(data).warnings)
