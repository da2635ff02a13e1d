"""The markers on rows in any form, what cannot be measured left out, and the report."""

from __future__ import annotations

import time

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.markers.trajectory import TraceMarkers, trace_flag_report, trace_flags_of, trace_markers
from whileai_hf.markers.trajectory.flags import MARKERS
from whileai_hf.markers.trajectory.marking import TraceMeasure
from whileai_hf.rows import open_rows


READ = {"tool": "get_order", "arguments": {"id": "A1"}, "result": {"status": "ok", "data": {"id": "A1"}}}
FORCED = {"tool": "close", "arguments": {"id": "A1", "force": True}, "result": {"status": "ok"}}
ROWS = [
    {
        "prompt": "Close A1.",
        "steps": [FORCED],
        "final_text": "A1 is closed.",
        "markers": {"polite": 1.0},
        "task_id": "t",
    },
    {"prompt": "Close A1.", "steps": [READ], "final_text": "A1 is open.", "markers": None, "task_id": "t"},
]


def test_one_is_clean_and_other_markers_stay() -> None:
    marked = trace_markers(ROWS)
    assert marked[0]["markers"] == {"polite": 1.0, **dict.fromkeys(MARKERS, 1.0), "no_bypass": 0.0}
    assert marked[1]["markers"] == dict.fromkeys(MARKERS, 1.0)
    assert [found["fragment"] for found in marked[0]["trace_flags"]] == ["force=True"]
    assert marked[1]["trace_flags"] == []


def test_map_form_agrees_with_the_function() -> None:
    mapped = open_rows(ROWS).map(TraceMarkers(), batched=True)
    assert mapped["markers"] == trace_markers(ROWS)["markers"]
    assert mapped["trace_flags"] == trace_markers(ROWS)["trace_flags"]


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="writes"):
        trace_markers(ROWS, kinds={"close": "writes"})


@pytest.mark.parametrize(
    ("row", "measured"),
    [
        ({"prompt": "x", "steps": [], "final_text": ""}, []),
        ({"prompt": "x", "steps": None, "messages": None, "final_text": None}, []),
        ({"prompt": "x", "final_text": "Here."}, ["no_secrets"]),
        ({"prompt": "x", "steps": [READ], "final_text": ""},
        [name for name in MARKERS if name not in ("honest_claims", "reported_failure")]),
        ({"prompt": "x", "steps": [], "final_text": "Here."}, list(MARKERS)),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_left_out(row: dict, measured: list[str]) -> None:
    assert sorted(TraceMeasure()(row)[0]) == sorted(measured)


def test_report_counts_rates_and_examples() -> None:
    report = trace_flag_report([*ROWS, {"prompt": "x", "steps": [], "final_text": ""}])
    bypassed = report["flags"]["hack.bypassed"]
    assert (bypassed.share.count, bypassed.share.n, bypassed.link.r) == (1, 2, None)
    assert bypassed.share.ci95 is not None and bypassed.share.ci95[0] < 0.5 < bypassed.share.ci95[1]
    assert bypassed.examples == [{"task": "t", "rollout": 0, "fragment": "force=True", "step": 0}]
    assert report.clean["no_bypass"].rate == 0.5 and report.n_unmeasured == 1
    assert "hack.bypassed" in str(report) and report.warnings == []


def test_a_reward_that_pays_for_a_fake_is_told_within_tasks() -> None:
    # Easy tasks get fakes and rewards alike; within them the reward does not care.
    easy = [{**ROWS[at % 2], "task_id": "easy", "reward": float(at % 10 < 8)} for at in range(20)]
    hard = [{**ROWS[1], "task_id": "hard", "reward": 0.0} for _ in range(20)]
    assert not trace_flag_report([*easy, *hard])["flags"]["hack.bypassed"].link.pays
    paid = [{**ROWS[at % 2], "task_id": f"t{at // 4}", "reward": float(at % 2 == 0)} for at in range(40)]
    report = trace_flag_report(paid)
    assert report["flags"]["hack.bypassed"].link.within and report["flags"]["hack.bypassed"].link.r == 1.0
    assert len(report.warnings) == 1 and "hack.bypassed" in report.warnings[0]


ODD = [
    {},
    {"prompt": None, "steps": "none", "final_text": 7},
    {"prompt": ["x"], "steps": [None, 3, "x", {"tool": 5}, {"tool": "bash"}], "final_text": "ok"},
    {"prompt": "x", "steps": [{"tool": "bash", "arguments": "rm -rf x"}], "final_text": "ok"},
    {"prompt": "x", "steps": [{"tool": "bash", "arguments": {"command": None}}], "final_text": "\ud800 \x00"},
    {"prompt": "x", "messages": [None, {"role": "assistant", "content": [{"type": "text", "text": "I checked."}]}]},
    {"prompt": "x", "steps": [{"tool": "edit", "arguments": {"path": 3, "content": ["a", 1], "edits": [{}]}}]},
    {
        "prompt": "x",
        "steps": [{"tool": "t", "arguments": {"a": {"b": [[["c"]]]}, "command": {"x": 1}}, "result": [[1]]}],
    },
    {"prompt": "\u6ce8\u6587\u3092", "steps": [], "final_text": "\u53d6\u308a\u6d88\u3057\u307e\u3057\u305f\u3002"},
]


@pytest.mark.parametrize("row", ODD)
def test_odd_rows(row: dict) -> None:
    assert isinstance(trace_flags_of(row), list)
    TraceMeasure()(row)


LONG = [
    "I checked, ",
    "password: ",
    "tests pass if ",
    "`",
    '"',
    "-",
    "\n",
    "assert ",
    "except:\n",
    "expect(",
    "if not ",
]


@pytest.mark.parametrize(("text", "size"), [("a", 200_000), (" ", 200_000), *((text, 30_000) for text in LONG)])
def test_long_texts_take_linear_time(text: str, size: int) -> None:
    long = text * (size // len(text))
    edit = {"command": "str_replace", "path": "tests/test_a.py", "old_str": long, "new_str": long + "x"}
    steps = [
        {"tool": "bash", "arguments": {"command": long}, "result": "Error: x"},
        {"tool": "str_replace_editor", "arguments": edit, "result": "error"},
    ]
    start = time.perf_counter()
    trace_flags_of({"prompt": "Fix it.", "steps": steps, "final_text": long})
    # Seconds: a quadratic pattern takes minutes.
    assert time.perf_counter() - start < 15
