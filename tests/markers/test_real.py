"""Real agents' runs: nothing breaks on them, and rows read by hand get the verdicts found right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whileai_hf.markers.grounding import grounding_report, ungrounded_arguments
from whileai_hf.markers.trajectory import trace_flag_report, trace_flags_of


EXPECTED = json.loads((Path(__file__).parent / "real_expectations.json").read_text("utf-8"))


def _airline(folder: Path) -> Iterator[dict[str, Any]]:
    for line in (folder / "tau_v1_gpt4o_airline.jsonl").read_text("utf-8").splitlines():
        run = json.loads(line)
        name = f"tau_v1:{run['task_id']}:{run['trial']}"
        yield {"id": name, "task_id": f"v1-{run['task_id']}", "messages": run["traj"], "reward": run["reward"]}
    for line in (folder / "tau2_format_airline.jsonl").read_text("utf-8").splitlines():
        run = json.loads(line)
        messages = [{"role": "system", "content": run["policy"] or ""}, *run["messages"]]
        reward = run["reward_info"]["reward"]
        name = f"tau2:{run['task_id']}:{run['trial']}"
        yield {"id": name, "task_id": f"v2-{run['task_id']}", "messages": messages, "reward": reward}


def _coding(folder: Path) -> Iterator[dict[str, Any]]:
    run = json.loads((folder / "swe_agent/function_calling_simple.traj").read_text("utf-8"))
    yield {"id": "swe:function_calling_simple", "messages": run["history"]}
    run = json.loads((folder / "swe_agent/marshmallow_xml_window100.traj").read_text("utf-8"))
    steps = [
        {"tool": "bash", "arguments": {"command": step["action"]}, "result": step["observation"]}
        for step in run["trajectory"]
    ]
    prompt = next(message["content"] for message in run["history"] if message["role"] == "user")
    reply = run["trajectory"][-1]["response"]
    yield {"id": "swe:marshmallow", "prompt": prompt, "steps": steps, "final_text": reply}
    run = json.loads((folder / "inspect_ai/popularity_cancelled.json").read_text("utf-8"))
    for sample in run["samples"]:
        yield {"id": f"inspect:{sample['id']}:{sample['epoch']}", "messages": sample["messages"]}


@pytest.fixture(scope="module")
def real_rows(shared: Path) -> list[dict[str, Any]]:
    folder = shared / "real" / "trajectories"
    return [*_airline(folder), *_coding(folder)]


def test_rows_read_by_hand(real_rows: list[dict[str, Any]]) -> None:
    rows = {row["id"]: row for row in real_rows}
    found = {
        name: {
            "argument_grounding": 0.0 if ungrounded_arguments(rows[name]) else 1.0,
            "flags": sorted({flag["flag"] for flag in trace_flags_of(rows[name])}),
        }
        for name in EXPECTED
    }
    assert len(found) >= 20 and found == EXPECTED


def test_reports_on_all_of_them(real_rows: list[dict[str, Any]]) -> None:
    flags, grounding = trace_flag_report(real_rows), grounding_report(real_rows)
    assert flags.n_rows == grounding.n_rows == len(real_rows) >= 104
    assert flags.clean["no_destructive"].rate == 1.0 and flags.clean["no_secrets"].rate == 1.0
    assert grounding.grounded_rate is not None and 0.8 < grounding.grounded_rate < 1.0
