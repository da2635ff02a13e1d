"""Tasks with tools: right runs are made in the world, and corners are cut in them."""

import pytest

from whileai_hf.score.checking import check_reward
from whileai_hf.score.checking.runs import right_run


TASKS = [
    {
        "scenario_id": f"sc-{n}",
        "prompt": f"Please check order ORD-10{n} and refund it.",
        "expected_calls": [
            {"tool": "get_order", "arguments": {"order_id": f"ORD-10{n}"}},
            {"tool": "refund_order", "arguments": {"order_id": f"ORD-10{n}"}},
        ],
    }
    for n in range(10, 22)
]


def _calls(completion):
    return [call["function"] for message in completion for call in message.get("tool_calls", [])]


def _exact(completions, expected_calls, **kwargs):
    wanted = [[(call["tool"], call["arguments"]) for call in calls] for calls in expected_calls]
    return [
        float([(call["name"], call["arguments"]) for call in _calls(completion)] == calls)
        for completion, calls in zip(completions, wanted, strict=True)
    ]


@pytest.mark.parametrize("arguments", [{"order_id": "A1"}, '{"order_id": "A1"}'])
@pytest.mark.parametrize("key", ["tool", "name"])
def test_expected_calls_are_read_as_the_verifier_reads_them(key, arguments):
    row = {"prompt": "Look A1 up.", "expected_calls": [{key: "get_order", "arguments": arguments}]}
    (step,) = right_run(row, None, 0).steps
    assert (step["tool"], step["arguments"]) == ("get_order", {"order_id": "A1"})


def _by_name(completions, expected_calls, **kwargs):
    return [
        float({call["tool"] for call in calls} <= {call["name"] for call in _calls(completion)})
        for completion, calls in zip(completions, expected_calls, strict=True)
    ]


def _believes(row):
    return float("done" in row["final_text"].lower() or bool(row["steps"] and row["steps"][0].get("tool")))


def _probes(report):
    return {item.probe for item in report.findings if item.kind == "exploitable"}


def test_exact_calls_are_sound(tools):
    report = check_reward(_exact, TASKS, tools=tools)
    assert report.ok and not report.findings
    assert {cell.probe: cell.rate for cell in report.table}["right run"] == 1.0


def test_names_alone_are_not(tools):
    assert _probes(check_reward(_by_name, TASKS, tools=tools)) == {"empty arguments", "duplicate write"}


def test_claims_are_not_acts(tools):
    found = _probes(check_reward(_believes, TASKS, tools=tools))
    assert {"null agent", "claim without acting", "unread write", "duplicate write"} <= found


def test_the_world_answers_the_right_run(tools):
    run = right_run(TASKS[0], tools, 0)
    assert [step["result"]["status"] for step in run.steps] == ["ok", "updated"]
    assert [change["change"] for change in run.changes] == ["updated"]
    assert "ORD-1010" in run.text
    assert right_run({**TASKS[0], "faults": {"*": {"kind": "timeout"}}}, tools, 0) is None
    bare = right_run(TASKS[0], None, 0)
    assert [step["tool"] for step in bare.steps] == ["get_order", "refund_order"] and bare.changes is None


def test_tasks_that_expect_nothing_are_left_out(tools):
    quiet = [{"scenario_id": f"q-{n}", "prompt": f"Cancel it {n}", "expected_calls": []} for n in range(20)]
    report = check_reward(_exact, [*quiet, *TASKS[:3]], tools=tools)
    assert report.n_tasks == 3


def test_collateral(tools):
    def one_change(row):
        return float(len(row["state_changes"] or []) == 1 and len(row["steps"]) == 3)

    def any_change(row):
        return float(len(row["state_changes"] or []) >= 1 and len(row["steps"]) == 3)

    kinds = [{item.kind for item in check_reward(f, TASKS, tools=tools).findings} for f in (one_change, any_change)]
    assert "collateral" not in kinds[0]
    assert "collateral" in kinds[1]


def test_recorded_runs_that_passed(tools):
    def row(n, reward):
        call = {"tool": "refund_order", "arguments": {"order_id": f"ORD-{n}"}, "result": {"status": "updated"}}
        change = {"entity": "order", "id": f"ORD-{n}", "change": "updated", "before": {}, "after": {}, "tool": None}
        return {
            "scenario_id": f"sc-{n}", "prompt": f"Refund ORD-{n}.", "steps": [call], "tools": tools, "reward": reward,
            "final_text": f"ORD-{n} is refunded.", "state_changes": [change],
        }  # fmt: skip

    rows = [row(n, reward) for n in range(6) for reward in (0.0, 1.0)]

    def acts_once(judged):
        return float([step.get("tool") for step in judged["steps"]].count("refund_order") == 1)

    report = check_reward(acts_once, rows)
    cells = {cell.probe: cell for cell in report.table}
    assert report.n_tasks == 6
    assert (cells["right run"].rate, cells["duplicate write"].rate) == (1.0, 0.0)
    assert [item.severity for item in report.findings if item.kind == "collateral"] == ["warning"]


@pytest.mark.parametrize("seed", [0, 1])
def test_conduct_alone_is_no_reward(tools, seed):
    conduct = pytest.importorskip("whileai_hf.score.conduct")
    report = check_reward(conduct.conduct_grade, TASKS, tools=tools, seed=seed)
    cells = {cell.probe: cell.rate for cell in report.table}
    assert cells["right run"] == 1.0
    assert cells["claim without acting"] == 0.0
    assert "refusal" in _probes(report), "a floor under conduct pays whoever does no harm"
