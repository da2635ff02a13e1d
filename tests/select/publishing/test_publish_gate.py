"""The gate: what it refuses, what it warns of, and that it changes nothing."""

import copy
import json
import pickle

import pytest

from whileai_hf.errors import ConfigurationError, MissingColumnError, WhileaiError
from whileai_hf.rows import open_rows
from whileai_hf.select import calibrate, optimize, publish_gate
from whileai_hf.select.publishing import PublishGateError


def rollout(task, i, reward, **more):
    return {
        "scenario_id": task,
        "prompt": f"Where is the parcel number {task} that I sent to my aunt?",
        "final_text": f"It is at stop {i} of {task}.",
        "reward": reward,
        **more,
    }


def rows_of(groups, **more):
    return [rollout(task, i, r, **more) for task, rewards in groups.items() for i, r in enumerate(rewards)]


MIXED = {f"{word}": [1, 0, 1, 0] for word in ("apple", "river", "stone")}
TRUSTED = {
    "trust": {"agreement": 1.0, "agreement_low": 0.94, "kappa": 1.0, "n_gold": 60, "ok": True, "status": "trusted"}
}


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_good_rows_pass_and_stay_as_they_are(as_source):
    rows = rows_of(MIXED, judge_meta=TRUSTED)
    before = copy.deepcopy(rows)
    report = publish_gate(as_source(rows))
    assert report.ok and report["ok"] and report.mode == "rl" and report.refusals == []
    assert report.signal.mixed == 3 and report.pass_at.pass_at_1 == 0.5 and report.trust["ok"]
    assert (report.n_rows, report.n_graded, report.out_of_band) == (12, 12, {"too_easy": 0, "too_hard": 0})
    assert "publish gate (rl): ok" in str(report)
    assert not any("judge" in warning for warning in report.warnings)
    json.dumps(report.to_dict())
    assert rows == before


def refused(rows, **knobs):
    with pytest.raises(PublishGateError) as caught:
        publish_gate(rows, **knobs)
    again = publish_gate(rows, strict=False, **knobs)
    assert not again.ok and caught.value.report == again
    return str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        rows_of({"a": [None, None]}),
        [{key: value for key, value in row.items() if key != "reward"} for row in rows_of({"a": [1, 0]})],
        rows_of({"a": [float("nan"), None]}),
    ],
)
def test_ungraded_rows_are_refused_for_rl(rows):
    assert "grade the rows first" in refused(rows)
    report = publish_gate(rows, mode="sft")
    assert report.ok and any("has a reward" in warning for warning in report.warnings)


def test_rows_without_a_gradient_are_refused_for_rl():
    rows = rows_of({"a": [1, 1], "b": [0, 0], "c": [0.5, 0.5]})
    assert "no group of the 3" in refused(rows)
    assert publish_gate(rows, mode="sft").ok


def test_the_mode_is_told_by_repeats():
    assert publish_gate(rows_of({"a": [1], "b": [0]})).mode == "sft"
    assert publish_gate(rows_of({"a": [1, 0]})).mode == "rl"
    with pytest.raises(ConfigurationError, match="'rl', 'sft'"):
        publish_gate(rows_of(MIXED), mode="dpo")


@pytest.mark.parametrize("as_source", [list, open_rows])
@pytest.mark.parametrize(
    ("extra", "column"),
    [
        ({"privileged": {"reference": "lost"}}, "privileged"),
        ({"expected_calls": [{"tool": "get", "arguments": {}}]}, "expected_calls"),
        ({"metadata": {"deep": [{"privileged": {"reference": "lost"}}]}}, "metadata"),
        ({"messages": [{"role": "user", "content": "a", "privileged": {"x": 1}}]}, "messages"),
    ],
)
def test_what_only_a_judge_may_see_is_refused_at_any_depth(as_source, extra, column):
    rows = as_source(rows_of(MIXED, **extra))
    assert "gives the answers away" in refused(rows)
    assert publish_gate(rows, strict=False).privileged == [column]
    assert publish_gate(optimize(rows)[0]).ok  # a selection leaves it out


def hacked():
    rows = []
    for task in range(40):
        for i in range(4):
            pays = (task + i) % 2
            text = f"Order {task} {'is on its way' if i % 3 else 'was sent'}." + " I verified everything." * pays
            rows.append(rollout(f"t{task}", i, pays, final_text=text, markers={"grounded": int(i > 1)}))
    return rows


def test_a_hack_is_a_warning_or_a_refusal():
    report = publish_gate(hacked(), endorsed=["marker:grounded"])
    assert report.ok and report.hack_scan.regime == "reward_hack"
    assert any("hack scan" in warning for warning in report.warnings)
    assert "not endorsed" in refused(hacked(), endorsed=["marker:grounded"], strict_hacks=True)
    with pytest.raises(ConfigurationError, match="nothing endorsed"):
        publish_gate(hacked(), strict_hacks=True)


def test_contamination_is_refused():
    rows = rows_of(MIXED)
    evals = [{"prompt": rows[0]["prompt"].upper()}]
    assert "evaluation sets" in refused(rows, evals=evals)
    assert publish_gate(rows, strict=False, evals=evals).contamination.n_contaminated == 4
    assert publish_gate(rows, evals=[{"prompt": "What is the weather like on the moon today?"}]).ok
    assert publish_gate(rows).contamination is None


def test_warnings():
    rows = rows_of({**MIXED, "easy": [1, 1], "hard": [0, 0], "odd": [1] * 9 + [0]}, lineage={"source": "eval"})
    rows.append(rollout("apple", 9, None))
    rows[0]["final_text"] = "It is here. " * 100
    rows += [
        {**row, "scenario_id": "copy", "prompt": row["prompt"].replace("my aunt", "my dear aunt")} for row in rows[:4]
    ]
    report = publish_gate(rows)
    said = "\n".join(report.warnings)
    for part in (
        "unanimous (1 pass, 1 fail)",
        "2 groups are easier and 1 harder",
        "near copy",
        "lengths:",
        "evaluation",
    ):
        assert part in said
    assert "1 of 31 rows have no reward" in said and "not measured against people" in said
    short = rows_of(MIXED, judge_meta={"trust": {**TRUSTED["trust"], "ok": False, "kappa": 0.2}})
    assert any("falls short" in warning for warning in publish_gate(short).warnings)


def test_a_carried_stamp_is_kept():
    rows = rows_of(MIXED)
    for row in rows[:2]:
        row["finish_reason"] = "length"
    kept, _ = optimize(rows)
    report = publish_gate(kept)
    assert report.n_stamped == 3
    assert any("stamps of 1 tasks saw more rollouts" in note for note in report.notes)
    assert calibrate(kept)["calibration"][:] == kept["calibration"][:]
    stale = [{**row, "calibration": {"task_id": "apple", "n": 1, "pass_rate": 1.0}} for row in rows]
    assert any("measured anew" in note for note in publish_gate(stale).notes)


def test_the_error_travels():
    error = pickle.loads(pickle.dumps(PublishGateError("no", publish_gate(rows_of(MIXED)))))
    assert str(error) == "no" and error.report.ok
    assert isinstance(error, WhileaiError) and isinstance(error, ValueError)


def test_bare_rows():
    assert publish_gate([{"question": "a", "answer": "b"}]).mode == "sft"
    assert publish_gate([{"prompt": "a", "reward": 1}]).n_graded == 1
    with pytest.raises(MissingColumnError, match="name the task"):
        publish_gate([{"final_text": "b", "reward": 1}], mode="sft")
