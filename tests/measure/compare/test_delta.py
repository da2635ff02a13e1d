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
    before = rollouts(reward=0.5, judged=0.3)
    found = delta_report(before, rollouts(reward=0.5, judged=0.9, seed=1), proxy="judged")
    assert (found.over_optimization, found.headline) == ("over_optimized", "FAIL")
    in_step = delta_report(before, rollouts(reward=0.95, judged=0.75, seed=1), proxy="judged")
    assert in_step.over_optimization == "in_step"
    flat = delta_report(before, rollouts(reward=0.95, judged=0.3, seed=1), proxy="marker:judged")
    assert flat.over_optimization == "proxy_not_up"
    assert delta_report(before, before).over_optimization is None
    with pytest.raises(ConfigurationError, match="proxy='pass_at_1' is the target"):
        delta_report(before, before, proxy="pass_at_1")


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


@pytest.mark.parametrize("run_std", [-1, float("nan"), "0.1", True, {"pass_at_1": -0.1}])
def test_no_standard_deviation(run_std):
    with pytest.raises(ConfigurationError, match="run_std="):
        delta_report(rollouts(), rollouts(), run_std=run_std)


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
    assert lines[2].startswith("  polite: 1.000 -> 1.000 +0.000 [+0.000, +0.000]")
    assert any(line.startswith("  [refund] pass_at_1") for line in lines)
    assert any(line.startswith("warning: ") for line in lines)
    assert found.to_dict()["metrics"]["polite"]["verdict"] == "no_change_detected"
