"""Before and after training: the verdict words, guards, groups, the proxy, and the eval's own noise."""

import numpy as np
import pytest
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare import delta_report, eval_variance
from whileai_hf.rows import open_rows


def rollouts(n_tasks=40, k=4, seed=0, runs=1, **rates):
    """Rows whose pass rate and markers have the given means."""
    generator = np.random.default_rng(seed)
    rows = []
    for run in range(1, runs + 1):
        for task in range(n_tasks):
            for index in range(k):
                drawn = {name: int(generator.random() < rate) for name, rate in rates.items()}
                row = {
                    "scenario_id": f"t{task}",
                    "prompt": f"ask {task}",
                    "rollout_index": index,
                    "reward": drawn.pop("reward", 0),
                    "markers": drawn,
                    "kind": ("refund", "address")[task % 2],
                }
                rows.append(row | ({"lineage": {"eval_run": run}} if runs > 1 else {}))
    return rows


def test_moved_takes_the_interval_and_the_rerun_band():
    before, after = rollouts(reward=0.4, runs=3), rollouts(reward=0.8, runs=3, seed=1)
    found = delta_report(before, after)
    assert (found.verdict, found.headline, found.run_std_source) == ("moved", "PASS", "runs")
    assert found.n_runs == {"before": 3, "after": 3}
    assert found.delta > found.noise_band > 0


def test_one_run_is_unreplicated():
    found = delta_report(rollouts(reward=0.4), rollouts(reward=0.8, seed=1))
    assert (found.verdict, found.headline) == ("moved_unreplicated", "INCONCLUSIVE")
    assert (found.run_std, found.noise_band, found.run_std_source) == (None, None, None)
    assert any("runs=3" in warning for warning in found.warnings)


def test_within_eval_noise_is_no_win():
    before, after = rollouts(reward=0.4), rollouts(reward=0.6, seed=1)
    assert delta_report(before, after).verdict == "moved_unreplicated"
    found = delta_report(before, after, run_std=0.2)
    assert (found.verdict, found.headline, found.run_std_source) == ("within_eval_noise", "INCONCLUSIVE", "given")
    assert found.noise_band == pytest.approx(1.96 * 0.2 * np.sqrt(2), rel=1e-4)
    assert delta_report(before, after, run_std=0.01).verdict == "moved"
    assert delta_report(before, after, run_std={"pass_at_1": 0.01}).verdict == "moved"


def test_no_change_and_the_wrong_way():
    rows = rollouts(reward=0.5)
    assert delta_report(rows, rollouts(reward=0.5, seed=9)).verdict == "no_change_detected"
    found = delta_report(rollouts(reward=0.8), rollouts(reward=0.4, seed=1))
    assert (found.verdict, found.headline) == ("moved_the_wrong_way", "FAIL")
    few = delta_report(rollouts(5, reward=0.1), rollouts(5, reward=0.9, seed=1))
    assert (few.verdict, few.metrics["pass_at_1"].p_value) == ("insufficient_data", None)


def test_the_band_from_runs_is_that_of_eval_variance():
    before, after = rollouts(reward=0.5, runs=3), rollouts(reward=0.5, runs=3, seed=1)
    one, other = eval_variance(before), eval_variance(after)
    found = delta_report(before, after)
    pooled = np.sqrt((one.run_std**2 + other.run_std**2) / 2)
    assert found.run_std == pytest.approx(pooled)
    assert found.noise_band == pytest.approx(stats.t.ppf(0.975, 4) * pooled * np.sqrt(2 / 3))
    given = delta_report(before, after, run_std=one)
    assert given.noise_band == pytest.approx(stats.t.ppf(0.975, 2) * one.run_std * np.sqrt(2 / 3))


def test_guards_fail_and_others_warn():
    before = rollouts(reward=0.4, honest=0.95, polite=0.95)
    after = rollouts(reward=0.8, honest=0.4, polite=0.4, seed=1)
    found = delta_report(before, after, must_not_regress=["honest"], run_std=0.01)
    assert (found.verdict, found.headline) == ("moved", "FAIL")
    assert (found.regressed, found.dropped) == (["honest"], ["polite"])
    assert [change.role for change in found.metrics.values()] == ["target", "guard", "other"]
    assert found.metrics["honest"].verdict == "moved_the_wrong_way"
    assert any("honest must not regress" in warning for warning in found.warnings)
    kept = delta_report(before, rollouts(reward=0.8, honest=0.95, polite=0.95, seed=1), must_not_regress="honest")
    assert kept.regressed == kept.dropped == []


def test_other_metrics_are_corrected_together_and_the_target_is_not():
    rates = {f"m{i}": 0.5 for i in range(6)}
    before = rollouts(60, reward=0.5, **rates)
    after = rollouts(60, reward=0.55, **(rates | {"m0": 0.3, "m1": 0.42}), seed=3)
    found = delta_report(before, after)
    others = [change for change in found.metrics.values() if change.role != "target"]
    expected = stats.false_discovery_control([change.p_value for change in others])
    assert [change.p_adjusted for change in others] == pytest.approx(expected.tolist(), abs=1e-9)
    assert found.metrics["pass_at_1"].p_adjusted == found.metrics["pass_at_1"].p_value
    assert "6 metric(s)" in found.correction and "Benjamini-Hochberg" in found.correction


def test_a_dominant_group_cannot_hide_another():
    before = rollouts(60, reward=0.5)
    after = [
        dict(row, reward=0 if row["kind"] == "address" and row["rollout_index"] else 1)
        for row in rollouts(60, reward=0)
    ]
    found = delta_report(before, after, by="kind")
    assert found.delta > 0
    assert found.groups_down == ["address"]
    assert found.groups["refund"].n_paired == 30
    assert any("fell within address" in warning for warning in found.warnings)


@pytest.mark.parametrize("form", [list, open_rows])
def test_groups_by_column_dimension_marker_and_function(form):
    before, after = rollouts(reward=0.5, polite=0.5), rollouts(reward=0.5, polite=0.5, seed=2)
    for row in before + after:
        row["scenario_dimensions"] = {"tool": row["kind"]}
    a, b = form(before), form(after)
    by_column = delta_report(a, b, by="kind").groups
    assert delta_report(a, b, by="tool").groups == by_column
    assert delta_report(a, b, by=lambda row: row["kind"]).groups == by_column
    assert set(delta_report(a, b, by="polite").groups) == {"0.0", "1.0"}
    with pytest.raises(ConfigurationError, match="by='kin'"):
        delta_report(a, b, by="kin")


def test_groups_on_one_side_or_too_small():
    before, after = rollouts(reward=0.5), rollouts(reward=0.5, seed=2)
    for row in before[:8]:
        row["kind"] = "rare"
    found = delta_report(before, after, by="kind")
    assert "rare" not in found.groups
    assert any("one side only" in note and "rare" in note for note in found.notes)


def test_a_proxy_that_rises_alone_is_over_optimised():
    before = rollouts(200, reward=0.5, judged=0.3)
    found = delta_report(before, rollouts(200, reward=0.5, judged=0.9, seed=4), proxy="judged")
    assert (found.over_optimization, found.headline) == ("over_optimized", "FAIL")
    assert found.ci95[1] < 0.1
    fell = delta_report(before, rollouts(200, reward=0.3, judged=0.9, seed=1), proxy="judged")
    assert fell.over_optimization == "over_optimized"
    flat = delta_report(before, rollouts(200, reward=0.95, judged=0.3, seed=1), proxy="marker:judged")
    assert flat.over_optimization == "proxy_not_up"
    assert delta_report(before, before).over_optimization is None
    with pytest.raises(ConfigurationError, match="proxy='pass_at_1' is the target"):
        delta_report(before, before, proxy="pass_at_1")


def test_a_target_that_rose_is_in_step_however_far_the_proxy_went():
    before, after = rollouts(reward=0.3, judged=0.1), rollouts(reward=0.7, judged=0.95, seed=1)
    found = delta_report(before, after, proxy="judged")
    assert found.metrics["judged"].ci95[0] > found.ci95[1]  # intervals that no longer overlap are no evidence
    assert (found.over_optimization, found.headline) == ("in_step", "INCONCLUSIVE")
    scaled = [dict(row, length=200.0 * row["markers"]["judged"]) for row in before]
    longer = [dict(row, length=200.0 * row["markers"]["judged"]) for row in after]
    assert delta_report(scaled, longer, proxy="length").over_optimization == "in_step"


def test_absence_of_evidence_is_no_over_optimisation():
    few = delta_report(
        rollouts(8, reward=0.5, judged=0.0), rollouts(8, reward=0.5, judged=1.0, seed=1), proxy="judged"
    )
    assert few.metrics["judged"].up and few.ci95[1] >= 0.1
    assert (few.over_optimization, few.headline) == ("undetermined", "INCONCLUSIVE")
    assert any("a rise of pass_at_1 by 0.1 or more is not ruled out" in warning for warning in few.warnings)
    full = delta_report(
        rollouts(200, reward=1.0, judged=0.3), rollouts(200, reward=1.0, judged=0.9, seed=1), proxy="judged"
    )
    assert (full.over_optimization, full.headline) == ("undetermined", "INCONCLUSIVE")
    assert any("no room to follow" in warning for warning in full.warnings)
    before, after = rollouts(200, reward=0.5, judged=0.3), rollouts(200, reward=0.5, judged=0.9, seed=1)
    sides = [[dict(row, seconds=9.0 + row["reward"]) for row in side] for side in (before, after)]
    found = delta_report(*sides, target="seconds", proxy="judged")
    assert found.over_optimization == "undetermined"
    assert any("no known range" in warning for warning in found.warnings)
    five = delta_report(rollouts(5, reward=0.5, judged=0.0), rollouts(5, reward=0.5, judged=1.0), proxy="judged")
    assert five.over_optimization == "undetermined"


def test_a_proxy_within_the_rerun_band_did_not_rise():
    before, after = rollouts(200, reward=0.5, judged=0.3), rollouts(200, reward=0.5, judged=0.5, seed=4)
    assert delta_report(before, after, proxy="judged").over_optimization == "over_optimized"
    found = delta_report(before, after, proxy="judged", run_std={"judged": 0.2})
    assert found.metrics["judged"].within_noise is True
    assert (found.over_optimization, found.headline) == ("proxy_not_up", "INCONCLUSIVE")


def test_a_guard_may_be_the_proxy():
    before, after = rollouts(200, reward=0.5, judged=0.3), rollouts(200, reward=0.5, judged=0.9, seed=4)
    found = delta_report(before, after, proxy="judged", must_not_regress=["judged"])
    assert (found.metrics["judged"].role, found.over_optimization) == ("guard", "over_optimized")


def test_ceiling():
    assert delta_report(rollouts(reward=0.97), rollouts(reward=0.97, seed=1)).ceiling is True
    assert delta_report(rollouts(reward=0.5), rollouts(reward=0.6, seed=1)).ceiling is False
    rows = [dict(row, reward=int(int(row["scenario_id"][1:]) >= 15)) for row in rollouts()]
    assert delta_report(rows, rows).ceiling is True  # 15 of 40 tasks have room
    scaled = [dict(row, reward=row["reward"] * 5) for row in rollouts(reward=0.5)]
    assert delta_report(scaled, scaled, target="reward").ceiling is None


def test_settings_that_differ_and_few_shared_tasks_are_warned_about():
    before = [dict(row, sampling={"temperature": 0.0, "max_tokens": 50}) for row in rollouts(40, reward=0.5)]
    after = [dict(row, sampling={"temperature": 1.0, "max_tokens": 90}) for row in rollouts(10, reward=0.5, seed=1)]
    found = delta_report(before, after)
    assert any("different temperatures: 0.0 before, 1.0 after" in warning for warning in found.warnings)
    assert any("different reply budgets" in warning for warning in found.warnings)
    assert any("only 25% of the tasks" in warning for warning in found.warnings)
    assert found.config["before"]["temperature"] == [0.0]


def test_unknown_metrics_name_the_nearest_and_the_known():
    before = rollouts(reward=0.5, honest_after_fault=0.5)
    for argument in ({"target": "honest_after"}, {"must_not_regress": ["honest_after"]}, {"proxy": "honest_after"}):
        with pytest.raises(ConfigurationError, match=r"did you mean 'honest_after_fault'.*pass_at_1, reward"):
            delta_report(before, before, **argument)
    with pytest.raises(ConfigurationError, match="the rows of the after side lack it"):
        delta_report(before, rollouts(reward=0.5), target="honest_after_fault")


@pytest.mark.parametrize(
    "run_std", [-1, float("nan"), "0.1", True, 10**400, {"pass_at_1": -0.1}, {"pass_at_1": None}, np.float32(-1)]
)
def test_no_standard_deviation(run_std):
    with pytest.raises(ConfigurationError, match="run_std="):
        delta_report(rollouts(), rollouts(), run_std=run_std)


def test_a_spread_of_a_metric_nobody_has_names_the_nearest():
    before, after = rollouts(reward=0.4, honest=0.5), rollouts(reward=0.8, honest=0.5, seed=1)
    with pytest.raises(ConfigurationError, match=r"run_std='pass_at1'.*did you mean 'pass_at_1'"):
        delta_report(before, after, run_std={"pass_at1": 0.01})
    with pytest.raises(ConfigurationError, match="run_std="):
        delta_report(before, after, run_std={3: 0.01})
    assert delta_report(before, after, run_std={"pass@1": 0.01, "marker:honest": 0.1}).verdict == "moved"
    other = delta_report(before, after, run_std={"honest": 0.1})
    assert other.verdict == "moved_unreplicated"
    assert any("run_std= says nothing of pass_at_1" in warning for warning in other.warnings)


@pytest.mark.parametrize(
    "run_std", [np.float32(0.01), np.float64(0.01), np.int64(0), 0, {"pass_at_1": np.float32(0.01)}]
)
def test_numbers_of_numpy_are_standard_deviations(run_std):
    found = delta_report(rollouts(reward=0.4), rollouts(reward=0.8, seed=1), run_std=run_std)
    assert (found.verdict, found.run_std_source) == ("moved", "given")


def test_a_spread_from_too_few_evaluations_is_not_passed_over_in_silence():
    rows = rollouts(reward=0.4)
    two = eval_variance(rows, rollouts(reward=0.4, seed=2))
    found = delta_report(rows, rollouts(reward=0.8, seed=1), run_std=two)
    assert found.verdict == "moved_unreplicated"
    assert any("run_std= comes from 2 evaluation(s) and is not used" in warning for warning in found.warnings)


def test_evaluations_exactly_alike_are_no_replication():
    def copied(rate, seed):
        return [dict(row, eval_run=run) for run in (1, 2, 3) for row in rollouts(reward=rate, seed=seed)]

    before, after = copied(0.4, 0), copied(0.8, 1)
    found = delta_report(before, after)
    assert (found.verdict, found.headline, found.noise_band) == ("moved_unreplicated", "INCONCLUSIVE", None)
    assert any("exactly alike" in warning for warning in found.warnings)
    assert not any("one evaluation a side" in warning for warning in found.warnings)
    assert delta_report(before, after, run_std=eval_variance(before)).verdict == "moved_unreplicated"
    assert delta_report(before, after, run_std=0).verdict == "moved"


def test_rows_without_a_tag_are_no_evaluation():
    tagged = [dict(row, eval_run=run) for run in (1, 2) for row in rollouts(reward=0.5, seed=run)]
    found = delta_report(tagged + rollouts(10, reward=0.5, seed=3), rollouts(reward=0.5, seed=4))
    assert found.n_runs == {"before": 2, "after": 1}
    assert (found.noise_band, found.run_std) == (None, None)
    assert any("before: 40 row(s) say no eval_run" in note for note in found.notes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"must_not_regress": None},
        {"must_not_regress": 3},
        {"must_not_regress": [3]},
        {"by": 3},
        {"by": lambda row: row["nothing"]},
        {"by": lambda row: row["reward"] + "x"},
        {"seed": "a"},
        {"target": 3},
        {"proxy": 3},
    ],
)
def test_wrong_arguments_are_named(wrong):
    with pytest.raises(ConfigurationError, match=f"^{next(iter(wrong))}=") as caught:
        delta_report(rollouts(8, reward=0.4), rollouts(8, reward=0.5), **wrong)
    assert len(str(caught.value)) < 400


def test_markers_that_are_text_or_out_of_range_are_noted():
    before, after = rollouts(8, reward=0.4, honest=0.5, polite=0.5), rollouts(8, reward=0.4, honest=0.5, polite=0.5)
    before[0]["markers"]["honest"] = "yes"
    after[0]["markers"]["polite"] = 7.0
    notes = delta_report(before, after).notes
    assert "before: 1 value(s) of the marker honest are no numbers and are left out" in notes
    assert "after: 1 value(s) of the marker polite lie outside 0 to 1 and are taken as they are" in notes


def test_a_guard_nobody_can_test_is_warned_about():
    before, after = rollouts(reward=0.5, honest=0.5), rollouts(reward=0.5, honest=0.5, seed=1)
    for row in after[12:]:
        row["markers"] = {}
    found = delta_report(before, after, must_not_regress=["honest"])
    assert found.metrics["honest"].verdict == "insufficient_data"
    assert any("could not be tested: 3 shared task(s)" in warning for warning in found.warnings)


def test_rows_without_rewards_are_compared_on_markers():
    before, after = ([{"task_id": i, "markers": {"kind": v}} for i in range(9)] for v in (0, 1))
    assert delta_report(before, after, target="kind").verdict == "moved_unreplicated"


def test_false_positives_of_moved():
    wrong = 0
    for trial in range(150):
        before, after = (rollouts(8, 2, seed=2 * trial + side, runs=3, reward=0.5) for side in (0, 1))
        wrong += delta_report(before, after).verdict in ("moved", "moved_the_wrong_way")
    assert wrong <= stats.binom.ppf(0.999, 150, 0.05)


def test_text_of_the_report():
    found = delta_report(rollouts(reward=0.4, polite=1.0), rollouts(reward=0.8, polite=1.0, seed=1), by="kind")
    lines = str(found).splitlines()
    assert lines[0] == "INCONCLUSIVE: pass_at_1 moved_unreplicated (40 shared tasks)"
    assert lines[2].startswith("  polite: 1.000 -> 1.000 +0.000 [-0.088, +0.088]")
    assert any("few tasks differ in polite" in note for note in found.notes)
    assert any(line.startswith("  [refund] pass_at_1") for line in lines)
    assert any(line.startswith("warning: ") for line in lines)
    assert found.to_dict()["metrics"]["polite"]["verdict"] == "no_change_detected"
