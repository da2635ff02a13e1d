"""Failures by what they share: counts by hand, against the passing rows, with rows to look at."""

import math

import pytest

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.failures import diagnose
from whileai_hf.rows import open_rows
from whileai_hf.stats import wilson


def step(tool, status="ok", **arguments):
    return {"tool": tool, "arguments": arguments, "result": {"status": status, "data": {"id": "A1"}}}


def row(steps, reward, task="t", **more):
    return {"scenario_id": task, "prompt": "p", "steps": steps, "reward": reward, "finish_reason": "stop", **more}


def only(found, kind, value):
    (cluster,) = [one for one in found.clusters if (one.kind, one.value) == (kind, value)]
    return cluster


def test_counts_shares_and_lift():
    angry, calm = {"stance": "angry"}, {"stance": "calm"}
    rows = [
        row(
            [step("get"), step("refund", "timeout")],
            0,
            "a",
            scenario_dimensions=angry,
            faults_fired=[{"kind": "timeout"}],
        ),
        row(
            [step("get"), step("refund", "timeout")],
            0,
            "a",
            scenario_dimensions=angry,
            faults_fired=[{"kind": "timeout"}],
        ),
        row([step("refund", "timeout")], 0, "b", scenario_dimensions=calm, faults_fired=[{"kind": "timeout"}]),
        row([step("get")], 0, "c", scenario_dimensions=calm, faults_fired=[]),
        row([step("get"), step("refund")], 1, "a", scenario_dimensions=angry, faults_fired=[]),
        row([step("refund", "timeout"), step("refund")], 1, "b", scenario_dimensions=calm, faults_fired=[]),
        row([step("get")], None, "a"),
        row([step("get")], 0, "a", sim_ok=False),
    ]
    for data in (rows, open_rows(rows)):
        found = diagnose(data)
        assert (found.n_failing, found.n_passing, found.n_unjudged, found.n_user_faults) == (4, 2, 1, 1)
        assert found.failure_rate == pytest.approx(4 / 6)
        worst = only(found, "first_wrong_step", "refund: timeout")
        assert (worst.n_failing, worst.n_passing, worst.n_tasks) == (3, 1, 2)
        assert worst.share == 0.75 and worst.share_ci95 == wilson(3, 4)
        assert worst.passing_share == 0.5 and worst.lift == 1.5
        assert worst.failure_rate == 0.75 and worst.failure_rate_ci95 == wilson(3, 4)
        assert worst.excess == pytest.approx(3 - 4 * 4 / 6)
        assert worst.examples == [{"row": 0, "task": "a"}, {"row": 2, "task": "b"}, {"row": 1, "task": "a"}]
        fault = only(found, "fault", "timeout")
        assert (fault.n_failing, fault.n_passing, fault.lift) == (3, 0, None)
        assert found.clusters[0] is fault or found.clusters[0].excess == fault.excess
        assert only(found, "axis", "stance=angry").n_failing == 2
        assert only(found, "tool", "get").n_failing == 3
        assert "refund: timeout: 3 failures (75 %" in str(found) and "no passing row has it" in str(found)


def test_first_wrong_step():
    twice = [step("get", id="A1"), step("get", id="A1")]
    cases = [
        (row([step("a"), step("b", "not_found"), step("c", "timeout")], 0), "b: not_found"),
        (row(twice, 0), "get: repeated"),
        (row([step("get", id="A1"), step("get", id="A2")], 0), "no failing call: the reply"),
        (row([], 0), "no call was made"),
        (row([step("a")], 0, finish_reason="length"), "cut at the token limit"),
        (row(None, 0), "no call was made"),
    ]
    found = diagnose([one for one, _ in cases])
    assert sorted(cluster.value for cluster in found.of("first_wrong_step")) == sorted({value for _, value in cases})
    assert sum(cluster.n_failing for cluster in found.of("first_wrong_step")) == found.n_failing


def test_calls_in_messages():
    call = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "p"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": '{"status": "permission_denied"}'},
    ]
    found = diagnose(
        [{"prompt": "p", "messages": messages, "reward": 0}, {"prompt": "p", "messages": [], "reward": 1}]
    )
    assert found.of("first_wrong_step")[0].value == "refund: denied"


def test_planned_faults_where_nothing_says_what_fired():
    rows = [row([], 0, faults={"refund": {"mode": "timeout"}}), row([], 1, faults={"*": {"kind": "stale_result"}})]
    assert [cluster.value for cluster in diagnose(rows).of("fault")] == ["timeout"]
    fired = [{**one, "faults_fired": []} for one in rows]
    assert diagnose(fired).of("fault") == []


def test_what_is_alike_in_both_explains_nothing():
    rows = [row([step("get", "timeout")], index % 2, f"t{index}") for index in range(20)]
    cluster = diagnose(rows).of("first_wrong_step")[0]
    assert cluster.lift == 1.0 and cluster.excess == 0


def test_judges_classes_thresholds_and_sizes():
    rows = [row([], 0.4, failure_class="refused"), row([], 0.6), row([], 1.0)]
    assert diagnose(rows).n_failing == 2
    assert diagnose(rows, threshold=0.5).n_failing == 1
    assert [one.value for one in diagnose(rows, kinds=("failure_class",)).clusters] == ["refused"]
    assert diagnose(rows, min_failing=2, kinds=("failure_class",)).clusters == []
    assert diagnose(rows, examples=0).clusters[0].examples == []


def test_edges():
    assert diagnose([row([], 1)]).clusters == []
    none = diagnose([row([], None), row([], math.nan)])
    assert (none.failure_rate, none.clusters) == (None, []) and none.notes[0].startswith("not graded")
    all_fail = diagnose([row([], 0)])
    assert all_fail.clusters[0].lift is None and all_fail.clusters[0].passing_share is None
    assert "no row passed" in all_fail.notes[0]
    assert all_fail.to_dict()["clusters"][0]["share"] == 1.0
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        diagnose([{"prompt": "p"}])
    with pytest.raises(DataError):
        diagnose([])
    for knobs in ({"kinds": "tool"}, {"kinds": ("tools",)}, {"kinds": ()}, {"examples": -1}):
        with pytest.raises(ConfigurationError):
            diagnose([row([], 0)], **knobs)


def test_odd_rows():
    rows = [
        {"prompt": None, "reward": 0, "steps": "text", "faults_fired": "x", "scenario_dimensions": [1]},
        {
            "prompt": "\ud800",
            "reward": False,
            "steps": [None, {"tool": 3}, {"tool": "\ud800", "result": "x" * 500_000}],
        },
        {"prompt": "p", "reward": 0, "faults": {"a": None}, "scenario_dimensions": {"n": 3, "m": None}},
    ]
    found = diagnose(rows)
    assert found.n_failing == 3 and only(found, "axis", "n=3").n_failing == 1
    assert str(found)


def test_rows_that_do_not_say_what_was_called():
    rows = [{"task_id": at, "final_text": "x", "reward": float(at % 2), "failure_class": "late"} for at in range(8)]
    bare = [{"task_id": at, "reward": float(at % 2)} for at in range(8)]
    for source in (rows, open_rows(rows)):
        found = diagnose(source)
        assert [(one.kind, one.value) for one in found.clusters] == [("failure_class", "late")]
        assert "the rows have neither steps nor messages, so the calls they made are not known" in found.notes
    for source in (bare, open_rows(bare)):
        assert (diagnose(source).clusters, diagnose(source).n_failing) == ([], 4)
    assert not any("neither steps" in note for note in diagnose(rows, kinds=["axis"]).notes)
    said = [{**one, "steps": []} for one in rows]
    assert diagnose(said).of("first_wrong_step")[0].value == "no call was made"


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"threshold": "x"}, "threshold='x' is no reward"),
        ({"kinds": 3}, "kinds=3 is not a list"),
        ({"kinds": [3]}, "is not a list of what to count"),
        ({"examples": "x"}, "examples='x' is no count"),
        ({"examples": True}, "examples=True is no count"),
        ({"min_failing": 1.5}, "min_failing=1.5 is no count"),
    ],
)
def test_wrong_arguments_are_one_sentence(knobs, says):
    with pytest.raises(ConfigurationError, match=says):
        diagnose([row([], 0)], **knobs)
