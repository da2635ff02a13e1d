"""Comparing two runs: pairing, the verdict and its interval, and rows that are not what they should be."""

import math

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.compare import compare_runs
from whileai_hf.rows import open_rows


def rows_of(groups, **columns):
    """Rows with the rewards of each task."""
    return [
        {"scenario_id": task, "prompt": f"ask {task}", "rollout_index": i, "reward": reward, **columns}
        for task, rewards in groups.items()
        for i, reward in enumerate(rewards)
    ]


def passing(n_tasks, passes, k=4, first=0):
    """`passes` of `k` rollouts pass in every task."""
    return rows_of({f"t{first + i}": [1] * passes + [0] * (k - passes) for i in range(n_tasks)})


def drawn(rates, k, seed):
    generator = np.random.default_rng(seed)
    return rows_of({f"t{i}": generator.binomial(1, rate, k).tolist() for i, rate in enumerate(rates)})


def test_verdict_interval_and_p_value_are_those_of_the_task_differences():
    a = rows_of({"x": [1, 0], "y": [0, 0], "z": [1, 1], "u": [0, 1], "v": [0, 0], "w": [0, 0], "q": [1, 0]})
    b = rows_of({"x": [1, 1], "y": [1, 0], "z": [1, 1], "u": [1, 1], "v": [1, 0], "w": [1, 1], "q": [1, 1]})
    found = compare_runs(a, b)
    differences = np.array([0.5, 0.5, 0.0, 0.5, 0.5, 1.0, 0.5])
    theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-9) == 2 * 2 / 2**7
    assert found.delta == pytest.approx(differences.mean(), abs=1e-9)
    assert found.verdict == "b_better"
    assert found.ci95[0] > 0.0
    assert found.mean_b - found.mean_a == pytest.approx(found.delta)
    assert (found.n_paired, found.paired_share, found.paired) == (7, 1.0, True)


def test_the_other_way_round_is_the_mirror_image():
    a, b = drawn([0.3] * 40, 4, 1), drawn([0.5] * 40, 4, 2)
    one, other = compare_runs(a, b, within=0.3), compare_runs(b, a, within=0.3)
    assert one.verdict == "b_better" and other.verdict == "a_better"
    assert one.p_value == other.p_value
    assert one.ci95 == (-other.ci95[1], -other.ci95[0])
    assert one.equivalence == other.equivalence
    assert one.equivalence_p == other.equivalence_p


@given(st.integers(6, 30), st.floats(0.1, 0.9), st.floats(-0.3, 0.3), st.integers(1, 5), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_p_value_and_interval_never_disagree(n_tasks, rate, shift, k, seed):
    a = drawn([rate] * n_tasks, k, seed)
    b = drawn([min(1.0, max(0.0, rate + shift))] * n_tasks, k, seed + 1)
    found = compare_runs(a, b)
    covers = found.ci95[0] <= 0.0 <= found.ci95[1]
    assert covers == (found.p_value > 0.05) == (found.verdict == "no_difference_detected")
    assert found.ci95[0] <= found.delta <= found.ci95[1]


def test_order_of_rows_and_their_form_do_not_matter():
    a, b = drawn([0.3, 0.6, 0.9] * 10, 3, 1), drawn([0.5, 0.6, 0.7] * 10, 3, 2)
    expected = compare_runs(a, b).to_dict()
    shuffled = [b[i] for i in np.random.default_rng(0).permutation(len(b))]
    assert compare_runs(a[::-1], shuffled).to_dict() == expected
    assert compare_runs(open_rows(a), open_rows(b).shuffle(seed=1)).to_dict() == expected


def test_five_shared_tasks_are_insufficient_and_the_unpaired_difference_is_shown():
    a, b = passing(5, 0), passing(5, 4) + passing(3, 4, first=90)
    found = compare_runs(a, b)
    assert found.verdict == "insufficient_data"
    assert (found.p_value, found.paired, found.n_paired) == (None, False, 5)
    assert (found.mean_a, found.mean_b, found.delta) == (0.0, 1.0, 1.0)
    assert found.ci95 is None and "all came out alike" in found.note
    assert "at least 6" in found.note
    varied = compare_runs(a, passing(5, 4) + passing(3, 2, first=90))
    assert varied.ci95[0] < varied.delta < varied.ci95[1] and "Welch" in varied.method
    assert compare_runs(passing(6, 0), passing(6, 4)).verdict == "b_better"


def test_no_shared_task():
    found = compare_runs(passing(8, 1), passing(8, 3, first=50))
    assert found.verdict == "insufficient_data"
    assert (found.n_paired, found.paired_share) == (0, 0.0)
    assert found.delta == pytest.approx(0.5)


def test_tasks_on_one_side_are_left_out_and_said():
    found = compare_runs(passing(8, 1), passing(32, 3))
    assert (found.n_paired, found.paired_share, found.n_tasks_b) == (8, 0.25, 32)
    assert "0 task(s) in a and 24 in b have no partner" in found.note
    assert "25%" in found.note


def test_phrasings_of_one_situation_are_one_task():
    a = [dict(row, prompt=f"{row['prompt']} {row['rollout_index']}") for row in passing(4, 2)]
    assert compare_runs(a, a).n_tasks_a == 4


def test_no_difference_is_not_equality():
    rows = drawn([0.5] * 10, 4, 3)
    found = compare_runs(rows, drawn([0.5] * 10, 4, 4), within=0.02)
    assert found.verdict == "no_difference_detected"
    assert "not equality" in found.note
    assert found.equivalence == "not_shown"
    same = compare_runs(rows, rows, within=0.02)
    assert (same.p_value, same.delta, same.equivalence) == (1.0, 0.0, "not_shown")
    assert same.ci95 == pytest.approx((-(1 - 0.025**0.1), 1 - 0.025**0.1), abs=1e-9)  # 0 of 10, by its closed form
    assert "same on average" in same.note and "only 0 of 10 shared tasks differ" in same.note


def test_a_handful_of_tasks_that_came_out_alike_shows_no_equivalence():
    full = passing(6, 4)
    found = compare_runs(full, full, within=0.05)
    assert found.equivalence == "not_shown"
    assert found.equivalence_p == pytest.approx(0.95**6)  # no rise or fall in 6 tasks if one in 20 differs
    assert compare_runs(passing(58, 4), passing(58, 4), within=0.05).equivalence == "not_shown"
    assert compare_runs(passing(59, 4), passing(59, 4), within=0.05).equivalence == "equivalent"
    assert compare_runs(full, full, within=1.0).equivalence == "equivalent"


def test_false_equivalence_stays_below_its_level():
    """A fall from .97 to .90 is no equivalence within .05, with one rollout of few tasks a side."""
    for n_tasks in (10, 30):
        wrong = sum(
            compare_runs(
                drawn([0.97] * n_tasks, 1, 2 * trial), drawn([0.9] * n_tasks, 1, 2 * trial + 1), within=0.05, n_boot=2
            ).equivalence
            == "equivalent"
            for trial in range(100)
        )
        assert wrong <= stats.binom.ppf(0.999, 100, 0.05)


def test_equivalence_is_the_ninety_percent_interval_within_the_margin():
    for seed in range(12):
        for rates, within in (([0.97] * 40, 0.1), ([0.5] * 40, 0.2), ([0.98] * 60, 0.06)):
            found = compare_runs(drawn(rates, 2, seed), drawn(rates, 2, seed + 50), within=within, n_boot=2)
            inside = -within < found.ci90[0] and found.ci90[1] < within
            assert inside == (found.equivalence_p <= 0.05) == (found.equivalence == "equivalent")
            assert found.ci95[0] <= found.ci90[0] and found.ci90[1] <= found.ci95[1]


def test_intervals_near_the_ceiling_cover():
    covered = 0
    for trial in range(200):
        a, b = drawn([0.97] * 10, 1, 2 * trial), drawn([0.9] * 10, 1, 2 * trial + 1)
        low, high = compare_runs(a, b, n_boot=2).ci95
        covered += low <= -0.07 <= high
    assert covered >= stats.binom.ppf(0.001, 200, 0.95)  # 63% before widening


def test_no_interval_is_without_width():
    found = compare_runs(passing(6, 0), passing(6, 3))
    assert found.verdict == "b_better" and 0.0 < found.ci95[0] < 0.75 < found.ci95[1]
    assert "only 6 of 6 shared tasks differ" in found.note and "widened" in found.method
    many = compare_runs(passing(100, 1), passing(100, 2))
    assert 0.0 < many.ci95[0] < 0.2 < 0.3 < many.ci95[1]
    assert "all 100 shared tasks differ by the same amount" in many.note
    down = compare_runs(passing(6, 3), passing(6, 0))
    assert down.ci95 == (-found.ci95[1], -found.ci95[0])


def test_few_differences_of_a_metric_without_a_range():
    a = [dict(row, seconds=5.0) for row in passing(12, 2)]
    found = compare_runs(a, a, metric="seconds", within=0.5)
    assert (found.ci95, found.equivalence, found.equivalence_p) == ((0.0, 0.0), "not_shown", None)
    assert "no known range" in found.note
    assert "n/a" in str(found)


def test_keys_that_differ_by_type_only_are_noted():
    a = [dict(row, scenario_id=int(row["scenario_id"][1:])) for row in passing(8, 2)]
    b = [dict(row, scenario_id=str(row["scenario_id"])) for row in a]
    found = compare_runs(a, b)
    assert found.n_paired == 0
    assert "8 task(s) have no partner only because their keys are of another type" in found.note
    assert "another type" not in compare_runs(a, a[:-4]).note


@pytest.mark.parametrize("wrong", [{"seed": "a"}, {"seed": -1}, {"n_boot": 0}, {"n_boot": "x"}, {"metric": 3}])
def test_wrong_arguments_are_named(wrong):
    with pytest.raises(ConfigurationError, match=f"^{next(iter(wrong))}="):
        compare_runs(passing(6, 1), passing(6, 2), **wrong)


def test_equivalence_is_a_verdict_of_its_own():
    a, b = drawn([0.9] * 400, 8, 1), drawn([0.92] * 400, 8, 2)
    found = compare_runs(a, b, within=0.05)
    assert found.equivalence == "equivalent"
    assert found.ci90[0] > -0.05 and found.ci90[1] < 0.05 and found.equivalence_p <= 0.05
    assert found.verdict in ("b_better", "no_difference_detected")  # different and yet alike is no contradiction
    assert compare_runs(a, b, within=abs(found.delta)).equivalence == "not_shown"
    assert compare_runs(a, b).equivalence is None
    assert compare_runs(a[:8], b[:8], within=0.05).equivalence == "insufficient_data"


@pytest.mark.parametrize("within", [0, -0.1, math.nan, math.inf, True, "x", [0.1], 10**400])
def test_no_margin(within):
    with pytest.raises(ConfigurationError, match="within="):
        compare_runs(passing(6, 1), passing(6, 2), within=within)


def test_nobody_graded():
    rows = [{"task_id": i, "prompt": "x", "reward": None} for i in range(10)]
    found = compare_runs(rows, passing(10, 2))
    assert found.verdict == "insufficient_data"
    assert (found.mean_a, found.delta, found.ci95) == (None, None, None)
    assert "none of the 10 rows has a verdict" in found.note
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        compare_runs([{"task_id": 1}], passing(6, 1))
    for empty in ([], Dataset.from_dict({"task_id": [], "reward": []})):
        with pytest.raises(DataError):
            compare_runs(empty, passing(6, 1))


def test_one_task():
    found = compare_runs(passing(1, 1), passing(1, 4))
    assert found.verdict == "insufficient_data"
    assert found.delta == pytest.approx(0.75)
    assert found.ci95 is None and found.method is None
    assert "n/a" in str(found)


def test_missing_verdicts_are_left_out_not_failed():
    a = passing(8, 4)
    b = [dict(row, reward=None if row["rollout_index"] else 1) for row in a]
    b[0]["reward"], b[4]["reward"] = math.nan, 1
    found = compare_runs(a, b)
    assert found.mean_b == 1.0
    assert found.n_paired == 7  # the first task has no verdict at all
    assert found.n_unjudged == {"a": 0, "b": 25}
    assert "rollouts per task" in found.note


def test_broken_verdicts_and_spoiled_rows_do_not_count():
    a = passing(8, 4)
    bad = [dict(row, reward=0, judge_status="error", rollout_index=9) for row in passing(8, 4, k=4)[::4]]
    spoiled = [dict(row, reward=0, sim_ok=False, rollout_index=8) for row in bad]
    found = compare_runs(a, [*a, *bad, *spoiled])
    assert found.mean_b == 1.0
    assert found.n_sim_faulty == {"a": 0, "b": 8}
    assert found.n_unjudged["b"] == 8


def test_mixed_k_counts_each_task_once():
    a = rows_of({f"t{i}": [1] if i % 2 else [0, 1, 0, 1, 0, 1, 0, 1] for i in range(10)})
    found = compare_runs(a, passing(10, 3))
    assert found.mean_a == pytest.approx(0.75)
    assert "1 to 8 in a, 4 in b" in found.note and "equal numbers" in found.note


def test_duplicates_are_noted():
    a = passing(8, 2)
    found = compare_runs(a + a[:3], passing(8, 3))
    assert found.n_duplicates == {"a": 3, "b": 0}
    assert "3 row(s) repeat a rollout" in found.note


def test_rewards_outside_zero_to_one():
    a = rows_of({f"t{i}": [0.5, 3.0] for i in range(8)})
    b = rows_of({f"t{i}": [0.5, -2.0] for i in range(8)})
    found = compare_runs(a, b, metric="reward")
    assert found.verdict == "a_better"
    assert found.delta == pytest.approx(-2.5)
    assert "8 rewards lie outside 0 to 1" in found.note
    assert compare_runs(a, b).mean_a == pytest.approx(0.5)  # 3.0 passes, 0.5 does not
    odd = [dict(row, reward="yes") if i == 0 else row for i, row in enumerate(a)]
    assert "not numbers" in compare_runs(odd, b).note


def test_metrics_by_name():
    a = [dict(row, markers={"polite": 0.0, "latency": 1}, latency=row["rollout_index"]) for row in passing(8, 2)]
    b = [dict(row, markers={"polite": 1.0, "latency": 2}, latency=7) for row in passing(8, 2)]
    assert compare_runs(a, b, metric="polite").delta == 1.0
    assert compare_runs(a, b, metric="marker:polite").metric == "polite"
    assert compare_runs(a, b, metric="latency").delta == pytest.approx(5.5)
    assert compare_runs(a, b, metric="marker:latency").delta == 1.0
    assert compare_runs(a, b, metric="pass@1").metric == "pass_at_1"
    assert compare_runs(open_rows(a), open_rows(b), metric="polite").delta == 1.0
    with pytest.raises(ConfigurationError, match=r"metric='polit' .*did you mean 'polite'.*pass_at_1, reward"):
        compare_runs(a, b, metric="polit")
    with pytest.raises(ConfigurationError, match="on one side only"):
        compare_runs(a, passing(8, 2), metric="polite")


def test_settings_that_differ_are_noted():
    a = passing(8, 2)
    for row in a:
        row.update(sampling={"temperature": 0.2, "max_tokens": 100}, judge_name="j1", policy_version="p1")
    b = [
        dict(row, sampling={"temperature": 0.8, "max_tokens": 100}, judge_name="j2", policy_version="p2") for row in a
    ]
    found = compare_runs(a, b)
    assert "different temperatures: 0.2 in a, 0.8 in b" in found.note
    assert "different judges: j1 in a, j2 in b" in found.note
    assert "budget" not in found.note and "p1" not in found.note
    assert found.config["a"]["policy_version"] == ["p1"]


def test_groups_stopped_early_count_by_their_probe():
    """Of tasks at a pass rate of one half, those that split were filled: a mean over all rows would still be half, but
    with passes first the fill of tasks that split is not exchangeable with what was not played."""
    generator = np.random.default_rng(0)
    rows = []
    for task in range(400):
        first = generator.binomial(1, 0.8, 2).tolist()
        filled = len(set(first)) > 1
        rewards = first + (generator.binomial(1, 0.8, 6).tolist() if filled else [])
        rows += [
            {
                "scenario_id": f"t{task}",
                "prompt": f"ask {task}",
                "rollout_index": i,
                "reward": reward,
                "group_status": "complete" if filled else "stopped",
                "group_planned_k": 8,
                "group_probe": 2,
                "group_inclusion_p": 1.0 if filled else 0.0,
            }
            for i, reward in enumerate(rewards)
        ]
    whole = drawn([0.8] * 400, 8, 5)
    found = compare_runs(whole, rows)
    naive = np.mean([np.mean([r["reward"] for r in rows if r["scenario_id"] == f"t{t}"]) for t in range(400)])
    assert naive > 0.84  # what the plain mean would say
    assert abs(found.delta) < 0.045
    assert "stopped early" in found.note


def test_text_of_the_report():
    text = str(compare_runs(passing(8, 1), passing(8, 3), within=0.1))
    assert text.splitlines()[0].startswith("pass_at_1: b_better | 0.250 -> 0.750, +0.500 [+0.157, +0.843] p=0.0078")
    assert "256 sign patterns" in text and "within 0.1: not_shown" in text


def test_false_positives_stay_below_their_level():
    """The small version of the simulation beside `tests/simulations`."""
    wrong = 0
    for trial in range(300):
        a, b = drawn([0.5] * 8, 4, 2 * trial), drawn([0.5] * 8, 4, 2 * trial + 1)
        wrong += compare_runs(a, b, n_boot=10).verdict != "no_difference_detected"
    assert wrong <= stats.binom.ppf(0.999, 300, 0.05)


def test_a_million_rows_do_not_decode_anything():
    generator = np.random.default_rng(0)
    ids = pa.array([f"sc-{i // 4:010x}" for i in range(200_000)])
    sides = [
        Dataset(pa.table({"scenario_id": ids, "reward": generator.binomial(1, rate, 200_000).astype(float)}))
        for rate in (0.5, 0.51)
    ]
    found = compare_runs(*sides)
    assert found.n_paired == 50_000
    assert found.ci95[1] - found.ci95[0] == pytest.approx(2 * 1.96 * math.sqrt(2 * 0.25 / 4 / 50_000), rel=0.05)
