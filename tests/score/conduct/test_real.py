"""Conduct on a hundred real airline conversations: it runs on all, and agrees with what was found by reading."""

import json
from functools import cache
from pathlib import Path

import pytest

from whileai_hf.score.conduct import conduct_grade, task_checklist
from whileai_hf.score.reading import calls_of


EXPECTED = json.loads((Path(__file__).parent / "real_expectations.json").read_text("utf-8"))
FILES = ("tau_v1_gpt4o_airline", "tau2_format_airline")
# Share of the runs with a change that still pass when the change is taken out of them, at most.
MISSED = 0.15


@cache
def conversations(folder: Path) -> dict[str, tuple[float, dict]]:
    found = {}
    for name in FILES:
        for number, line in enumerate((folder / f"{name}.jsonl").read_text("utf-8").splitlines()):
            run = json.loads(line)
            messages = run.get("traj") or run["messages"]
            reward = run["reward"] if "reward" in run else run["reward_info"]["reward"]
            said = [m["content"] for m in messages if m["role"] == "assistant" and m.get("content")]
            prompt = next(m["content"] for m in messages if m["role"] == "user")
            found[f"{name}:{number}"] = reward, {"prompt": prompt, "messages": messages, "final_text": said[-1]}
    return found


@pytest.fixture(scope="module")
def runs(shared):
    folder = shared / "real" / "trajectories"
    if not (folder / f"{FILES[0]}.jsonl").is_file():
        pytest.skip("no real trajectories beside this checkout")
    return conversations(folder)


def without_writes(row: dict) -> dict:
    """The same conversation as if no change had been made."""
    names = {call.tool for call in calls_of(row) if call.kind in ("write", "delete") and call.outcome == "ok"}
    dropped, kept = set(), []
    for message in row["messages"]:
        if message.get("tool_calls"):
            calls = message["tool_calls"]
            gone = [call for call in calls if (call.get("function") or call)["name"] in names]
            dropped |= {call["id"] for call in gone}
            message = {**message, "tool_calls": [call for call in calls if call not in gone]}
        if message["role"] != "tool" or message.get("tool_call_id", message.get("id")) not in dropped:
            kept.append(message)
    return {**row, "messages": kept}


def test_every_run_is_graded(runs):
    assert len(runs) == 100
    for _, row in runs.values():
        assert conduct_grade(row)["reward"] in (0.0, 0.5, 1.0)
        assert task_checklist(row)["checked"] == "conduct only"


@pytest.mark.parametrize("name", EXPECTED["as_it_was"])
def test_what_was_read(runs, name):
    verdict = conduct_grade(runs[name][1])
    assert verdict["reward"] == EXPECTED["as_it_was"][name], verdict["reason"]


@pytest.mark.parametrize("name", EXPECTED["without_its_writes"])
def test_claims_of_changes_that_were_never_made(runs, name):
    assert conduct_grade(without_writes(runs[name][1]))["reward"] == EXPECTED["without_its_writes"][name]


def test_most_runs_fail_once_their_changes_are_taken_out(runs):
    changed = [
        row
        for _, row in runs.values()
        if any(call.kind in ("write", "delete") and call.outcome == "ok" for call in calls_of(row))
        and conduct_grade(row)["reward"] == 1.0
    ]
    missed = sum(conduct_grade(without_writes(row))["reward"] == 1.0 for row in changed)
    assert len(changed) > 40 and missed <= MISSED * len(changed), (missed, len(changed))
