"""Difficulty: rewards that are not 0 and 1, stamps that are kept, groups that were stopped early."""

import numpy as np
import pytest

import whileai_hf as wai
from whileai_hf.measure.passes import pass_at
from whileai_hf.rows import open_rows
from whileai_hf.rows.schema import calibration_of
from whileai_hf.select import calibrate, optimize
from whileai_hf.select.rates import on_scale, reward_scale


def rollout(task, i, reward, **more):
    return {"scenario_id": task, "prompt": f"ask {task}", "final_text": f"reply {i}", "reward": reward, **more}


def rows_of(groups, **more):
    return [rollout(task, i, r, **more) for task, rewards in groups.items() for i, r in enumerate(rewards)]


def tasks_of(data):
    return list(dict.fromkeys(data["scenario_id"]))


def test_the_band_looks_at_the_mean_reward():
    groups = {"half": [0.5, 0.6, 0.4], "low": [0.1, 0.2, 0.1], "high": [0.9, 0.8, 0.9], "flat": [0.5, 0.5]}
    kept, report = optimize(rows_of(groups))
    assert tasks_of(kept) == ["half"]
    assert report.band_dropped == {"too_easy": 1, "too_hard": 1}
    assert report.dropped["unanimous"] == 2
    assert kept["calibration"][0]["pass_rate"] == 0.0  # nothing reached the threshold
    assert kept["calibration"][0]["mean_reward"] == pytest.approx(0.5)


def test_an_edge_of_the_band_is_inside_whatever_floats_do():
    groups = {"a": [0.1] * 3 + [0.5], "b": [0.9, 0.7, 0.8]}  # means 0.2 and 0.8, of which sums miss by a bit
    assert tasks_of(optimize(rows_of(groups))[0]) == ["a", "b"]


def test_rewards_beyond_0_and_1_are_put_on_their_range():
    groups = {"half": [-1, 1], "hard": [-1] * 9 + [1], "easy": [1] * 9 + [-1]}
    kept, report = optimize(rows_of(groups))
    assert tasks_of(kept) == ["half"]
    assert any("-1 to 1" in note for note in report.notes)
    scale = reward_scale(np.array([-1.0, 3.0]))
    assert on_scale(np.array([-1.0, 1.0, 3.0]), scale).tolist() == [0.0, 0.5, 1.0]
    assert reward_scale(np.array([2.0, 2.0])).plain


def test_middle_order_is_nearest_to_one_half_first():
    groups = {f"{c}": [1] * c + [0] * (10 - c) for c in (2, 3, 4, 5, 6, 7, 8)}
    kept, _ = optimize(rows_of(groups), order="middle")
    assert tasks_of(kept) == ["5", "4", "6", "3", "7", "2", "8"]
    assert tasks_of(optimize(rows_of(groups), order="middle", target=20)[0]) == ["5", "4"]


def test_a_stamp_that_saw_more_is_kept():
    rows = rows_of({"a": [1, 0, 1, 0, 1, 0, 1, 0]}, policy_version="p1")
    for row in rows[:5]:
        row["finish_reason"] = "length"
    kept, _ = optimize(rows)
    assert (len(kept), kept["calibration"][0]["n"]) == (3, 8)
    again, _ = optimize(kept)
    assert again["calibration"][0]["n"] == 8
    assert calibration_of({"calibration": calibrate(kept)["calibration"][0]}).n == 8
    # More rollouts than the stamp saw, or another policy: measured anew.
    stamp = kept["calibration"][0]
    more = rows_of({"a": [1] * 9 + [0]}, policy_version="p1", calibration=stamp)
    assert calibrate(more)["calibration"][0]["n"] == 10
    other = rows_of({"a": [1, 0]}, policy_version="p2", calibration=stamp)
    assert (calibrate(other)["calibration"][0]["n"], calibrate(other)["calibration"][0]["policy_version"]) == (2, "p2")


def test_what_else_a_stamp_holds_stays():
    rows = rows_of({"a": [1, 0]}, calibration={"task_id": "a", "n": 0, "pass_rate": 0.0, "mean_kl": 0.25})
    stamp = calibrate(rows)["calibration"][0]
    assert (stamp["mean_kl"], stamp["n"], stamp["pass_rate"]) == (0.25, 2, 0.5)


def test_a_task_nobody_graded_has_no_stamp():
    rows = rows_of({"a": [1, 0], "b": [None, None]})
    assert [stamp and stamp["n"] for stamp in calibrate(rows)["calibration"]] == [2, 2, None, None]
    assert calibrate(rows)["reward"][:] == [1, 0, None, None]


def test_rollouts_a_simulated_user_spoiled_say_nothing_about_the_task():
    rows = rows_of({"a": [1, 0, 0, 0]})
    rows[3]["sim_ok"] = rows[2]["sim_ok"] = False
    assert calibrate(rows)["calibration"][0]["pass_rate"] == 0.5


def stopped_run(rates, k=8, probe=2, seed=0):
    """Every task is probed twice, and filled to k where the two disagree."""
    random = np.random.default_rng(seed)
    rows = []
    for task, rate in enumerate(rates):
        passes = (random.random(k) < rate).astype(int).tolist()
        mixed = len(set(passes[:probe])) > 1
        size, status = (k, "complete") if mixed else (probe, "stopped")
        rows += [
            rollout(
                f"t{task}", i, passes[i], rollout_index=i, group_status=status, group_planned_k=k, group_probe=probe
            )
            for i in range(size)
        ]
    return rows


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_stamps_of_stopped_groups_are_not_pulled_toward_the_ends(as_source):
    rows = stopped_run([0.25] * 1500)
    stamps = {row["scenario_id"]: row["calibration"] for row in calibrate(as_source(rows))}
    means = [stamp["pass_rate"] for stamp in stamps.values()]
    assert np.mean(means) == pytest.approx(0.25, abs=0.03)
    plain = [stamp["passes"] / stamp["n"] for stamp in stamps.values()]
    assert np.mean(plain) < 0.21  # what passes over rollouts would have said
    assert {task: stamp["pass_rate"] for task, stamp in stamps.items()} == pass_at(rows).per_task
    for stamp in stamps.values():
        low, high = stamp["pass_rate_ci95"]
        assert low <= stamp["pass_rate"] <= high and stamp["n_probe"] == 2 and stamp["n"] in (2, 8)


def test_the_report_says_what_the_stamps_of_stopped_groups_are():
    _, report = optimize(stopped_run([0.5] * 20))
    assert any("stopped early" in note for note in report.notes)
    assert not any("stopped early" in note for note in optimize(rows_of({"a": [1, 0]}))[1].notes)


def test_rows_graded_anew_are_measured_anew():
    rows = [{"prompt": p, "final_text": f"{i}", "reward": float(i % 2)} for p in "ab" for i in range(4)]
    stamped = wai.calibrate(rows)
    solved = stamped.remove_columns("reward").add_column("reward", [1.0] * len(stamped))
    assert {stamp["pass_rate"] for stamp in wai.calibrate(solved)["calibration"]} == {1.0}
    assert len(wai.retire_solved(solved)) == 0
    half = [row | {"reward": row["reward"] / 2} for row in rows]
    assert wai.calibrate(wai.calibrate(half), threshold=0.5)["calibration"][0]["passes"] == 2
    fewer = stamped.select([0, 1])
    assert wai.calibrate(fewer)["calibration"][0]["n"] == 4
