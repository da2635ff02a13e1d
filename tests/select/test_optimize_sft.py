"""Rejection sampling: the best completion of each prompt, and the chance controls it is measured against."""

import pytest

from whileai_hf.rows import open_rows
from whileai_hf.select import optimize


def rollout(prompt, reward, text, **more):
    return {"prompt": prompt, "final_text": text, "reward": reward, **more}


ROWS = [
    rollout("a", 1, "long reply here"),
    rollout("a", 1, "short"),
    rollout("a", 1, "short!"[:-1] + "."),
    rollout("a", 0, "wrong"),
    rollout("b", 0, "no"),
    rollout("b", 0.5, "half"),
    rollout("c", 1, "first!"),
    rollout("c", 1, "other!"),
    rollout("d", None, "unjudged"),
]


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_best_of_each_prompt(as_source):
    kept, report = optimize(as_source(ROWS), mode="sft")
    # The shorter reply wins a tie, then the earlier row.
    assert list(zip(kept["prompt"], kept["final_text"], strict=True)) == [("a", "short"), ("c", "first!")]
    assert {gate: n for gate, n in report.dropped.items() if n} == {
        "ungraded": 1,
        "below_min_reward": 3,
        "not_selected": 3,
    }
    assert kept["calibration"][0]["pass_rate"] == 0.75
    assert "n0" not in kept.column_names
    assert any("completions a prompt" in warning for warning in report.warnings)


def test_partial_credit():
    kept, _ = optimize(ROWS, mode="sft", min_reward=0.5)
    assert kept["final_text"][:] == ["short", "half", "first!"]


def test_the_higher_reward_wins_over_the_shorter_reply():
    rows = [rollout("a", 1.0, "ok"), rollout("a", 1.5, "a much longer reply")]
    assert optimize(rows, mode="sft")[0]["final_text"][:] == ["a much longer reply"]


def test_top_k_overall():
    kept, _ = optimize(ROWS, mode="sft", select="top_k_overall", target=3)
    assert kept["final_text"][:] == ["short", "short.", "first!"]
    # Without a target: as many as there are prompts with a good completion.
    assert len(optimize(ROWS, mode="sft", select="top_k_overall")[0]) == 2


@pytest.mark.parametrize("select", ["random_per_prompt", "random_k_overall"])
def test_chance_controls(select):
    rows = [rollout(f"p{p}", int(i == 0), f"reply {i}", number=10 * p + i) for p in range(40) for i in range(10)]
    best, _ = optimize(rows, mode="sft")
    kept, report = optimize(rows, mode="sft", select=select, seed=1)
    assert len(kept) == len(best) == 40
    assert 0 < sum(kept["reward"]) < 20  # chance finds about 4 of the 40 good ones
    assert kept["number"][:] == optimize(rows, mode="sft", select=select, seed=1)[0]["number"][:]
    assert kept["number"][:] != optimize(rows, mode="sft", select=select, seed=2)[0]["number"][:]
    assert report.dropped["below_min_reward"] == 0
    if select == "random_per_prompt":
        assert kept["prompt"][:] == best["prompt"][:]
        fewer = optimize(rows[:200], mode="sft", select=select, seed=1)[0]
        assert fewer["number"][:] == kept["number"][:20]  # other prompts do not move the pick


def test_target_takes_turns_over_faults():
    rows = [rollout(f"p{i}", 1, "done") for i in range(6)]
    rows += [rollout(f"f{i}", 1, "done", faults={"*": {"kind": "timeout"}}) for i in range(2)]
    kept, report = optimize(rows, mode="sft", target=4)
    assert kept["prompt"][:] == ["p0", "p1", "f0", "f1"]
    assert report.dropped["over_target"] == 4


def test_cut_replies_are_no_example():
    rows = [rollout("a", 1, "cut", finish_reason="length"), rollout("a", 1, "whole reply", finish_reason="stop")]
    assert optimize(rows, mode="sft")[0]["final_text"][:] == ["whole reply"]
    assert optimize(rows, mode="sft", truncated="keep")[0]["final_text"][:] == ["cut"]


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_a_conversation_whose_user_erred_is_no_example(as_source):
    rows = [rollout("a", 1, "played well", sim_ok=True), rollout("b", 1, "no user", sim_ok=None)]
    rows += [rollout("c", 1, "a user that made things up", sim_ok=False)]
    kept, report = optimize(as_source(rows), mode="sft")
    assert kept["prompt"][:] == ["a", "b"] and report.dropped["unusable"] == 1
