"""Replies cut at the token limit, what the policy would learn, and what only a judge may see."""

import copy

import pytest
from datasets import Dataset

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.rows import open_rows
from whileai_hf.select import optimize, select_for_rl, select_for_sft


def rollout(task, i, reward, **more):
    return {"scenario_id": task, "prompt": f"ask {task}", "final_text": f"reply {i}", "reward": reward, **more}


def rows_of(groups, **more):
    return [rollout(task, i, r, **more) for task, rewards in groups.items() for i, r in enumerate(rewards)]


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_penalized_rollouts_are_failures_that_keep_what_the_judge_said(as_source):
    rows = rows_of({"a": [1, 1, 1, 0], "b": [1, 1, 0, 0]})
    rows[0]["finish_reason"] = rows[5]["finish_reason"] = "length"
    kept, report = optimize(as_source(rows), truncated="penalize")
    assert kept["scenario_id"][:] == ["b"] * 4 + ["a"] * 4  # mean reward after the penalty: 0.25 and 0.5
    assert kept["reward"][:] == [1, 0, 0, 0, 0, 1, 1, 0]
    assert kept["reward_before_penalty"][:] == [None, 1, None, None, 1, None, None, None]
    assert (report.n_penalized, kept["n1"][0], kept["n1"][4]) == (2, 1, 2)
    assert kept["calibration"][4]["pass_rate"] == 0.75  # the stamp keeps what the grader saw
    assert any("reward_before_penalty" in note for note in report.notes)
    assert rows[0]["reward"] == 1


def test_a_penalty_can_make_a_group_mixed_and_can_make_it_dead():
    rows = rows_of({"mixed": [1, 1], "dead": [1, 0]})
    rows[0]["finish_reason"] = rows[2]["finish_reason"] = "length"
    kept, report = optimize(rows, truncated="penalize")
    assert set(kept["scenario_id"]) == {"mixed"}
    assert report.dropped["unanimous"] == 2


def test_a_failure_is_the_lowest_reward_where_rewards_go_below_zero():
    rows = rows_of({"a": [1, 1, -1]})
    rows[0]["finish_reason"] = "length"
    assert optimize(rows, truncated="penalize")[0]["reward"][:] == [-1, 1, -1]


def test_ungraded_cut_rollouts_stay_ungraded():
    rows = rows_of({"a": [1, 0, None]})
    rows[2]["finish_reason"] = "length"
    assert optimize(rows, truncated="penalize")[1].dropped["ungraded"] == 1


def hacked(n=40):
    """Rewards that pay for a sentence."""
    rows = []
    for task in range(n):
        for i in range(4):
            pays = (task + i) % 2
            text = f"Order {task} {'is on its way' if i % 3 else 'was sent'}." + " I verified everything." * pays
            rows.append(rollout(f"t{task}", i, pays, final_text=text, markers={"grounded": int(i > 1)}))
    return rows


def test_endorsed_carries_the_scan():
    rows = hacked()
    _, report = optimize(rows, endorsed=["marker:grounded"])
    assert report.hack_scan == hack_scan(rows, endorsed=["marker:grounded"])
    assert report.hack_scan.regime == "reward_hack"
    assert report.hack_scan.warnings
    assert all(any(warning in line for line in report.hygiene_warnings) for warning in report.hack_scan.warnings)
    assert "hack scan: reward_hack" in str(report)
    assert report.n_kept > 0  # flagged, not pruned
    assert optimize(rows)[1].hack_scan is None
    with pytest.raises(ConfigurationError, match="one string"):
        optimize(rows, endorsed="marker:grounded")


HIDDEN = {"reference": "says that it is lost"}


@pytest.mark.parametrize("mode", ["rl", "sft"])
@pytest.mark.parametrize("as_source", [list, open_rows])
def test_what_only_a_judge_may_see_is_left_out(as_source, mode):
    rows = rows_of({"a": [1, 0]}, privileged=HIDDEN, expected_calls=[{"tool": "x", "arguments": {}}])
    for row in rows:
        row["metadata"] = {"task": {"privileged": HIDDEN, "kept": 1}, "vector": [0.1]}
        row["steps"] = [{"tool": "f", "arguments": {}, "result": {"said": 'the word "privileged" alone'}}]
    before = copy.deepcopy(rows)
    source = as_source(rows)
    kept, report = optimize(source, mode=mode)
    assert not {"privileged", "expected_calls"} & set(kept.column_names)
    assert kept["metadata"][0] == {"task": {"kept": 1}}
    assert kept["steps"][0] == rows[0]["steps"]
    assert sorted(report.privileged) == ["expected_calls", "metadata", "privileged"]
    assert any("only a judge" in note for note in report.notes)
    assert rows == before
    if as_source is open_rows:
        assert "privileged" in source.column_names


def test_modes_by_name():
    rows = rows_of({"a": [1, 0, 1, 0]})
    assert select_for_rl(rows)[1] == optimize(rows, mode="rl")[1]
    assert select_for_sft(rows, k=2)[1] == optimize(rows, mode="sft", k=2)[1]
    with pytest.raises(ConfigurationError, match="use optimize"):
        select_for_rl(rows, mode="sft")
    with pytest.raises(ConfigurationError, match="did you mean 'target'"):
        select_for_sft(rows, targt=1)


def test_other_peoples_values_do_not_crash():
    blocks = [{"type": "text", "text": "hi"}]
    rows = [
        {"prompt": blocks, "final_text": blocks, "steps": [], "reward": 1, "finish_reason": None},
        {"prompt": blocks, "final_text": "\ud800", "steps": None, "reward": 0, "finish_reason": ["length"]},
        {"prompt": blocks, "final_text": "x" * 1_000_000, "steps": "no list", "reward": 0.0, "faults": [1]},
        {"prompt": None, "final_text": 7, "steps": [None, {"tool": None}], "reward": "1", "policy_version": {"a": 1}},
    ]
    for mode in ("rl", "sft"):
        _, report = optimize(rows, mode=mode, truncated="penalize", k=2)
        assert report.n_in == 4 == report.n_kept + sum(report.dropped.values())


def test_structs_of_other_peoples_datasets_are_cleared_too():
    rows = rows_of({"a": [1, 0]})
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    data = Dataset.from_dict({**columns, "extra": [{"privileged": {"reference": "x"}, "kept": i} for i in range(2)]})
    kept, report = optimize(data)
    assert [cell["kept"] for cell in kept["extra"]] == [0, 1]
    assert "privileged" not in kept["extra"][0] and report.privileged == ["extra"]


def test_a_second_penalty_keeps_what_the_judge_said():
    rows = [
        {"prompt": "a", "final_text": f"{i}", "reward": reward, "finish_reason": "length" if i == 3 else "stop"}
        for i, reward in enumerate([-1.0, 1.0, -1.0, 1.0])
    ]
    once, _ = wai.optimize(rows, truncated="penalize")
    again, _ = wai.optimize(once, truncated="penalize")
    assert sorted(again["reward_before_penalty"], key=str) == sorted(once["reward_before_penalty"], key=str)
    assert 1.0 in again["reward_before_penalty"][:]
