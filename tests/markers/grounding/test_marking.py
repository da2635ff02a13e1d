"""The grounding marker on rows in any form, and its report."""

from __future__ import annotations

from whileai_hf.markers.grounding import ArgumentGrounding, grounding_report, mark_grounding
from whileai_hf.rows import open_rows


def row(prompt: str, *ids: object, **columns: object) -> dict:
    steps = [{"tool": "refund", "arguments": {"order_id": name}, "result": "ok"} for name in ids]
    return {"prompt": prompt, "steps": steps, "final_text": "Done.", **columns}


ROWS = [row("Refund A-7.", "A-7"), row("Refund it.", "A-7"), row("Hello."), {"prompt": "x", "final_text": "y"}]


def test_rows_without_calls_are_grounded_and_unknown_ones_not_measured() -> None:
    marked = mark_grounding([{**one, "markers": {"polite": 1.0}} for one in ROWS])
    assert [one["markers"].get("argument_grounding") for one in marked] == [1.0, 0.0, 1.0, None]
    assert all(one["markers"]["polite"] == 1.0 for one in marked)


def test_map_form_agrees_with_the_function() -> None:
    rows = open_rows([row("Refund A-7.", "A-7"), row("Refund it.", "B-9")])
    assert rows.map(ArgumentGrounding(), batched=True)["markers"] == mark_grounding(rows)["markers"]
    allowed = rows.map(ArgumentGrounding(allow=["b-9"]), batched=True)
    assert [one["argument_grounding"] for one in allowed["markers"]] == [1.0, 1.0]


def test_report_names_the_invented_values_by_tool_and_key() -> None:
    report = grounding_report([*ROWS, row("Refund it.", "B-1", "B-2"), row("Refund it.", "A-7")])
    assert (report.with_calls.count, report.with_calls.n, report.grounded_rate) == (1, 4, 0.25)
    assert (report.overall.count, report.overall.n) == (2, 5)
    assert report["invented"] == [{"tool": "refund", "key": "order_id", "count": 4, "values": ["A-7", "B-1", "B-2"]}]
    assert report.examples[0]["value"] == "A-7" and report.examples[0]["rollout"] == 1
    assert len(report.notes) == 1 and "refund.order_id: 4 invented" in str(report)
    assert report.with_calls.ci95 is not None and report.with_calls.ci95[0] < 0.25 < report.with_calls.ci95[1]


def test_report_reads_datasets_and_lists_alike() -> None:
    rows = [row("Refund A-7.", "A-7"), row("Refund it.", "B-9")]
    assert grounding_report(open_rows(rows)).to_dict() == grounding_report(rows).to_dict()


def test_a_reward_that_pays_for_inventing_is_told() -> None:
    rows = [
        row(f"Refund {'A-7' if at % 2 else 'it'}.", "A-7", task_id=at // 4, reward=float(at % 2 == 0))
        for at in range(40)
    ]
    assert "invented arguments" in grounding_report(rows).warnings[0]


def test_without_calls_there_is_no_rate() -> None:
    report = grounding_report([row("Hello.")])
    assert report.grounded_rate is None and report.overall.rate == 1.0
    assert "not measured" in str(report)
