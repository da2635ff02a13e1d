"""Pass numbers stay true when groups were stopped because of their verdicts; plain means over the same rows do not."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from datasets import Dataset
from stopped_runs import RULES, K, successive, table, two_stage

import whileai_hf as wai
from whileai_hf.measure import group_signal, pass_at
from whileai_hf.rows import open_rows, view
from whileai_hf.rows.rng import unit


RATES = np.array([0.0, 0.05, 0.5, 0.95, 1.0])
# Pass rates of n tasks, and the mean over tasks of p, p^8 and 1 - (1 - p)^8.
POPULATIONS = {
    "coins": (lambda random, n: random.choice(RATES, n), 0.5, np.mean(RATES**K), np.mean(1 - (1 - RATES) ** K)),
    # E p^8 = B(10, 2) / B(2, 2), the other by symmetry.
    "beta": (lambda random, n: random.beta(2, 2, n), 0.5, 6 / 110, 1 - 6 / 110),
    # One-sided, so that errors at the two ends do not cancel in pass@1.
    "one rate": (lambda random, n: np.full(n, 0.8), 0.8, 0.8**K, 1 - 0.2**K),
}


ESTIMATORS = {"two_stage": "order_weighted", "successive": "probe_split"}


def bare(data, where=None):
    """Rows (those of one group status) that do not say what was stopped."""
    rows = data.data.table if where is None else data.data.table.filter(pc.equal(data.data["group_status"], where))
    return Dataset(rows.drop_columns([name for name in rows.column_names if name.startswith("group_")]))


def plainly(data):
    """What the closed forms say of the same rows: of all of them, and of full groups only."""
    return pass_at(bare(data), k=1, n_boot=1), pass_at(bare(data, "complete"), n_boot=1)


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_no_bias_where_plain_means_are_far_off(rule, population):
    """The mean over 200 runs of 200 groups, taken as one run of 40,000: means are linear in groups."""
    draw, rate, all_pass, some_pass = POPULATIONS[population]
    random = np.random.default_rng(5)
    data = RULES[rule](random, draw(random, 40_000))
    found = pass_at(data)
    assert found.estimator == ESTIMATORS[rule]
    assert found.k == K
    assert found.n_groups == found.n_tasks == 40_000
    assert abs(found.pass_at_1 - rate) < 0.01
    assert abs(found.pass_pow_k - all_pass) < 0.01
    assert abs(found.pass_at_k - some_pass) < 0.01
    assert np.mean(list(found.per_task.values())) == pytest.approx(found.pass_at_1)
    assert found.curve[1]["pass_at"] == found.curve[1]["pass_pow"] == found.pass_at_1
    for number, interval in (
        (found.pass_at_1, found.ci95),
        (found.pass_pow_k, found.pass_pow_k_ci95),
        (found.pass_at_k, found.pass_at_k_ci95),
    ):
        assert interval[0] <= number <= interval[1] < interval[0] + 0.03
    # The same rows taken as they stand: what this test would not let through.
    everything, full = plainly(data)
    stayed_unanimous = np.mean([share == 1 for share in everything.per_task.values()])
    assert stayed_unanimous - all_pass > 0.05
    assert max(abs(full.pass_pow_k - all_pass), abs(full.pass_at_k - some_pass)) > 0.04
    assert population != "one rate" or everything.pass_at_1 - rate > 0.04
    signal = group_signal(data)
    assert abs(signal.expected_mixed_rate - (some_pass - all_pass)) < 0.02
    assert signal.mixed_rate < signal.expected_mixed_rate - 0.05


def coverage(rule, population, runs, n, n_boot):
    draw, *truths = POPULATIONS[population]
    random = np.random.default_rng(11)
    hits, found = np.zeros(3), []
    for _ in range(runs):
        report = pass_at(RULES[rule](random, draw(random, n)), n_boot=n_boot)
        intervals = (report.ci95, report.pass_pow_k_ci95, report.pass_at_k_ci95)
        hits += [low <= truth <= high for (low, high), truth in zip(intervals, truths, strict=True)]
        found.append((report.pass_at_1, report.pass_pow_k, report.pass_at_k))
    return hits / runs, np.mean(found, axis=0) - truths


@pytest.mark.parametrize("rule", RULES)
def test_intervals_hold_the_truth(rule):
    hits, _ = coverage(rule, "coins", runs=30, n=200, n_boot=200)
    # Three standard errors of 30 runs below 95% and 92%.
    assert hits[0] >= 0.83
    assert min(hits[1:]) >= 0.77


@pytest.mark.slow
@pytest.mark.parametrize("population", ["coins", "beta"])
@pytest.mark.parametrize("rule", RULES)
def test_coverage_over_a_thousand_runs(rule, population):
    hits, bias = coverage(rule, population, runs=1000, n=200, n_boot=1000)
    assert 0.92 <= hits[0] <= 0.97
    assert min(hits[1:]) >= 0.90
    assert np.abs(bias).max() < 0.01


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_tasks_does_not_matter(rule):
    """Hard tasks first: the successive rule then stops easy and hard groups at different sizes."""
    random = np.random.default_rng(2)
    rates = np.sort(random.choice(RATES, 20_000))
    found = pass_at(RULES[rule](random, rates), n_boot=1)
    assert abs(found.pass_pow_k - np.mean(rates**K)) < 0.015
    assert abs(found.pass_at_k - np.mean(1 - (1 - rates) ** K)) < 0.015
    assert abs(found.pass_at_1 - rates.mean()) < 0.01


def test_decisions_by_something_else_than_the_verdicts():
    """Behaviour tells extreme tasks from others better than three verdicts do."""
    random = np.random.default_rng(3)
    rates = random.choice(RATES, 40_000)
    looks_alike = random.random(rates.size) < np.where(np.abs(rates - 0.5) > 0.4, 0.8, 0.2)
    data = two_stage(random, rates, unanimous=looks_alike)
    found = pass_at(data, n_boot=1)
    assert found.estimator == "inverse_probability"
    assert any("recorded chance" in note for note in found.notes)
    assert abs(found.pass_at_1 - 0.5) < 0.01
    assert abs(found.pass_pow_k - np.mean(RATES**K)) < 0.015
    assert abs(found.pass_at_k - np.mean(1 - (1 - RATES) ** K)) < 0.015


def test_without_an_order_the_mixture_is_fitted_and_named():
    random = np.random.default_rng(4)
    data = successive(random, random.choice(RATES, 3000)).remove_columns("rollout_index")
    found = pass_at(data)
    assert found.estimator == "mixture"
    assert "likelihood" in found.notes[0]
    assert abs(found.pass_at_1 - 0.5) < 0.03
    assert abs(found.pass_pow_k - np.mean(RATES**K)) < 0.05
    assert found.pass_pow_k_ci95[0] < np.mean(RATES**K) < found.pass_pow_k_ci95[1]
    assert pass_at(data.shuffle(seed=1)).pass_pow_k == found.pass_pow_k


def test_runs_in_which_nothing_was_stopped_keep_the_closed_forms():
    random = np.random.default_rng(6)
    passed = random.random((50, 4)) < random.choice(RATES, 50)[:, None]
    for probe, chance in ((4, 1.0), (4, None), (2, None)):
        data = table(passed, np.full(50, 4), ["complete"] * 50, probe, [chance] * 50)
        found, plain = pass_at(data), pass_at(bare(data))
        assert found == plain
        assert (found.estimator, found.stopping) == ("closed_form", {})
    assert group_signal(data) == group_signal(bare(data))


def test_what_is_left_after_stopped_groups_were_dropped_is_not_the_agent():
    random = np.random.default_rng(7)
    data = two_stage(random, random.choice(RATES, 300))
    found = pass_at(data.filter(lambda chance: chance == 1.0, input_columns="group_inclusion_p"))
    assert found.estimator == "closed_form"
    assert any("not among these rows" in note for note in found.notes)


def test_rows_in_any_order_and_container():
    random = np.random.default_rng(8)
    data = two_stage(random, random.choice(RATES, 150))
    rows = list(view(data).rows())
    order = random.permutation(len(rows)).tolist()
    assert pass_at(rows) == pass_at(data)
    shuffled, as_stored = pass_at(data.select(order)), pass_at(data)
    assert shuffled == pass_at([rows[i] for i in order])
    assert shuffled.to_dict() | {"per_task": {}} == as_stored.to_dict() | {"per_task": {}}
    assert shuffled.per_task == as_stored.per_task


def test_the_report_says_how():
    random = np.random.default_rng(9)
    found = pass_at(two_stage(random, random.choice(RATES, 100), carry=0.05))
    assert str(found).splitlines()[0].endswith("(100 groups, k=8, order_weighted)")
    assert found.stopping["stopped"] + found.stopping["complete"] == 100
    assert any("were carried on to k" in note for note in found.notes)
    assert any(f"{found.stopping['stopped']} of 100 groups were stopped early" in note for note in found.notes)


def test_groups_cut_or_lost_are_stood_in_for():
    """A third of the mixed groups cut at five rollouts, a tenth of the others before any decision."""
    random = np.random.default_rng(10)
    rates = random.choice(RATES, 40_000)
    passed = random.random((rates.size, K)) < rates[:, None]
    unanimous = np.isin(passed[:, :3].sum(axis=1), (0, 3))
    filled = ~unanimous | (random.random(rates.size) < 0.1)
    n, status = np.where(filled, K, 3), np.where(filled, "complete", "stopped")
    chance = np.where(unanimous, 0.1, 1.0)
    cut = ~unanimous & (random.random(rates.size) < 1 / 3)
    early = unanimous & (random.random(rates.size) < 0.1)
    n, status = np.where(cut, 5, np.where(early, 3, n)), np.where(cut | early, "cut", status)
    data = table(passed, n, status, 3, np.where(early, np.nan, chance))
    found = pass_at(data)
    assert found.stopping["cut"] == np.count_nonzero(cut | early)
    assert found.n_groups == found.n_tasks
    assert abs(found.pass_pow_k - np.mean(RATES**K)) < 0.01
    assert abs(found.pass_at_k - np.mean(1 - (1 - RATES) ** K)) < 0.01
    assert any("stand in for them" in note for note in found.notes)
    # A mean over fewer groups is less sure, although every group has a value.
    all_there = pass_at(two_stage(random, rates))
    width = [report.pass_pow_k_ci95[1] - report.pass_pow_k_ci95[0] for report in (found, all_there)]
    assert width[0] > width[1]


def test_lost_verdicts_and_spoilt_conversations_are_left_out():
    random = np.random.default_rng(12)
    rows = two_stage(random, random.choice(RATES, 20_000)).data.table
    fate = random.random(rows.num_rows)
    lost, spoilt = fate < 0.03, fate > 0.97
    rewards = np.where(spoilt, 0.0, rows["reward"].to_numpy())  # a conversation the user spoiled mostly fails
    rows = rows.drop_columns("reward").append_column("reward", pa.array(rewards, mask=lost))
    rows = rows.append_column("sim_ok", pa.array(~spoilt, mask=lost))
    found = pass_at(Dataset(rows), n_boot=1)
    assert (found.n_unjudged, found.n_sim_faulty) == (np.count_nonzero(lost), np.count_nonzero(spoilt))
    assert found.n_scored + found.n_unjudged + found.n_sim_faulty == found.n_rows
    assert any("sim_ok is false" in note for note in found.notes)
    assert 0 < len(found.excluded) < 0.25 * found.n_tasks
    assert abs(found.pass_at_1 - 0.5) < 0.01
    assert abs(found.pass_pow_k - np.mean(RATES**K)) < 0.015
    assert abs(found.pass_at_k - np.mean(1 - (1 - RATES) ** K)) < 0.015


def test_spoilt_conversations_are_left_out_of_plain_runs():
    rows = [{"scenario_id": f"t{i}", "prompt": "p", "reward": i % 2, "sim_ok": i % 5 > 0} for i in range(50)]
    for source in (rows, open_rows(rows)):
        found = pass_at(source)
        assert (found.n_scored, found.n_unjudged, found.n_sim_faulty) == (40, 0, 10)
        assert found.pass_at_1 == 0.5
    assert any("sim_ok is false" in note for note in group_signal(rows).notes)


def test_a_smaller_and_a_larger_draw():
    random = np.random.default_rng(13)
    data = two_stage(random, random.choice(RATES, 20_000))
    found = pass_at(data, k=5, n_boot=1)
    assert abs(found.pass_pow_k - np.mean(RATES**5)) < 0.015
    assert list(found.curve) == [1, 2, 3, 4, 5]
    assert all(
        a["pass_at"] <= b["pass_at"]
        for a, b in zip(found.curve.values(), list(found.curve.values())[1:], strict=False)
    )
    larger = pass_at(data, k=9, n_boot=1)
    assert (larger.pass_at_k, larger.curve, larger.n_groups) == (None, {}, 0)
    assert any("left out of pass^9" in note for note in larger.notes)


def test_runs_of_one_task_are_groups_apart():
    """The same tasks twice, once stopped early and once in full: both count, each by its own design."""
    random = np.random.default_rng(14)
    rates = random.choice(RATES, 5000)
    stopped = two_stage(random, rates)
    passed = random.random((rates.size, K)) < rates[:, None]
    full = table(passed, np.full(rates.size, K), ["complete"] * rates.size, K, [1.0] * rates.size)
    both = Dataset(
        pa.concat_tables(
            [
                part.add_column("run_id", [name] * len(part)).data.table
                for name, part in (("first", stopped), ("second", full))
            ]
        )
    )
    found = pass_at(both)
    assert (found.n_tasks, found.n_groups, found.n_duplicates) == (5000, 5000, 0)
    assert abs(found.pass_pow_k - np.mean(rates**K)) < 0.015
    narrow = pass_at(stopped).pass_pow_k_ci95
    assert found.pass_pow_k_ci95[1] - found.pass_pow_k_ci95[0] < narrow[1] - narrow[0]


def test_ungraded_rows_are_reported_not_refused():
    random = np.random.default_rng(15)
    data = two_stage(random, random.choice(RATES, 30)).remove_columns("reward")
    found = pass_at(data.add_column("reward", [None] * len(data)))
    assert (found.pass_at_1, found.pass_at_k, found.per_task) == (None, None, {})
    assert found.notes[0].startswith("not graded")


@pytest.mark.parametrize("policy", ["two_stage", "successive"])
def test_rows_of_the_engine(policy):
    """What `simulate` writes is what is read here."""

    def coin(message):
        rollout = wai.current_rollout()
        passed = unit(7, message, rollout.rollout_index) < rollout.task["rate"]
        return {"steps": [], "final_text": "done" if passed else "failed"}

    tasks = [{"scenario_id": f"s{i}", "prompt": f"Ask {i}", "rate": RATES[i % 5]} for i in range(200)]
    data = wai.simulate(
        coin,
        system_prompt="Answer.",
        tasks=tasks,
        mode="rl",
        repeat_policy=policy,
        budget=800,
        grader=lambda row: row["final_text"] == "done",
        concurrency=8,
    )
    found, signal = pass_at(data), group_signal(data)
    assert found.estimator == ESTIMATORS[policy]
    assert found.k == K
    assert found.stopping["stopped"] == signal.stopped > 0
    assert signal.saved == wai.run_report(data).search["groups"]["rollouts_saved"]
    low, high = found.pass_pow_k_ci95
    assert low - 0.1 < np.mean(RATES**K) < high + 0.1
