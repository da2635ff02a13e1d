"""Corrected rates: what they are worth, when they are not given, and how many labels they take."""

import json

import numpy as np
import pytest
from scipy.stats import norm, t

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.trust import attach_labels, corrected_rate, label_budget, label_sheet
from whileai_hf.measure.trust.clusters import Labelled, clustered_share, stretch
from whileai_hf.rows import open_rows
from whileai_hf.stats import wilson
from whileai_hf.stats.rectified import ppi_mean, rogan_gladen


def graded(n=600, rate=0.6, wrong=0.2, seed=0, k=1):
    """Graded rows, and what people would say of each; the judge errs towards a pass."""
    generator = np.random.default_rng(seed)
    truth = (generator.random(n) < rate).astype(int)
    reward = np.where((truth == 0) & (generator.random(n) < 2 * wrong), 1, truth)
    rows = [
        {
            "scenario_id": f"sc-{at // k}",
            "prompt": "p",
            "rollout_index": at % k,
            "final_text": "x",
            "reward": float(reward[at]),
        }
        for at in range(n)
    ]
    return rows, truth


def labelled(rows, truth, n=60, random=True, seed=1):
    drawn = np.random.default_rng(seed).permutation(len(rows))[:n]
    keys = [(rows[at]["scenario_id"], rows[at]["rollout_index"]) for at in drawn]
    return attach_labels(rows, dict(zip(keys, truth[drawn].tolist(), strict=True)), annotator="ana", random=random)[
        0
    ], drawn


def test_the_numbers_are_those_of_the_statistics():
    rows, truth = graded()
    data, drawn = labelled(rows, truth)
    found = corrected_rate(data)
    reward = np.array([row["reward"] for row in rows])
    rest = np.setdiff1d(np.arange(600), drawn)
    direct = ppi_mean(truth[drawn], reward[drawn], reward[rest])
    assert (found.corrected, found.weight) == (pytest.approx(direct.value), pytest.approx(direct.weight))
    assert found.corrected_ci95 == pytest.approx(direct.interval)
    assert found.raw == reward.mean() and found.raw_ci95 == pytest.approx(wilson(int(reward.sum()), 600))
    assert found.labels == truth[drawn].mean()
    y, f = truth[drawn], reward[drawn]
    inverse = rogan_gladen(
        int(reward.sum()),
        600,
        (int((y * f).sum()), int(y.sum())),
        (int(((1 - y) * (1 - f)).sum()), int((1 - y).sum())),
    )
    assert (found.rogan_gladen, found.rogan_gladen_ci95) == inverse
    assert (found.n_labels, found.n_tasks, found.n_judged, found.random) == (60, 60, 600, True)
    assert found.warnings == [] and "PPI++" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_it_finds_the_peoples_rate_where_the_judge_is_wrong():
    rows, truth = graded(4000, wrong=0.25)
    data, _ = labelled(rows, truth, 300)
    found = corrected_rate(data)
    assert found.raw_ci95[0] > truth.mean() + 0.1
    assert found.corrected_ci95[0] < truth.mean() < found.corrected_ci95[1]
    assert found.rogan_gladen_ci95[0] < truth.mean() < found.rogan_gladen_ci95[1]
    span = found.corrected_ci95[1] - found.corrected_ci95[0]
    assert span < 0.95 * (found.labels_ci95[1] - found.labels_ci95[0])


def test_whether_the_slice_was_random_is_heeded():
    rows, truth = graded()
    unknown = corrected_rate(labelled(rows, truth, random=None)[0])
    assert unknown.random is None and unknown.corrected is not None
    assert any("not recorded whether" in warning for warning in unknown.warnings)
    assert corrected_rate(labelled(rows, truth, random=None)[0], random=True).warnings == []
    picked = corrected_rate(labelled(rows, truth, random=False)[0])
    assert (picked.random, picked.corrected, picked.corrected_ci95) == (False, None, None)
    assert picked.rogan_gladen is not None and any("not drawn at random" in one for one in picked.warnings)
    # What the labels say outweighs the argument.
    assert corrected_rate(labelled(rows, truth, random=False)[0], random=True).random is False


def test_labels_that_were_picked_do_not_count_beside_a_random_slice():
    rows, truth = graded()
    data, drawn = labelled(rows, truth, 60)
    alone = corrected_rate(data)
    others = [at for at in range(600) if at not in set(drawn.tolist()) and not truth[at]][:40]
    more, _ = attach_labels(data, {(f"sc-{at}", 0): 0 for at in others}, annotator="ben", random=False)
    found = corrected_rate(more)
    assert (found.corrected, found.n_labels) == (alone.corrected, 60)
    assert any("40 labels of rows that were not drawn" in note for note in found.notes)


def test_rollouts_of_a_task_count_as_one_where_they_say_the_same():
    rows, truth = graded(800, k=4)
    truth = np.repeat(truth[::4], 4)
    sheet = [(f"sc-{at // 4}", at % 4) for at in range(160)]
    data, _ = attach_labels(rows, dict(zip(sheet, truth[:160].tolist(), strict=True)), random=True)
    found = corrected_rate(data)
    assert (found.n_labels, found.n_tasks) == (160, 40)
    few = corrected_rate(open_rows([{**row, "scenario_id": str(at // 50)} for at, row in enumerate(data)]))
    assert any("labels are of 4 tasks" in note for note in few.notes)
    apart = corrected_rate(open_rows([{**row, "scenario_id": str(at)} for at, row in enumerate(data)]))
    assert found.corrected_ci95[1] - found.corrected_ci95[0] > 1.4 * (
        apart.corrected_ci95[1] - apart.corrected_ci95[0]
    )


def test_what_cannot_be_corrected():
    rows, truth = graded(100)
    bare = corrected_rate(rows)
    assert bare.raw is not None and bare.corrected is bare.rogan_gladen is bare.labels is None
    assert "no row has a label" in bare.notes[0] and bare.warnings == []
    few = corrected_rate(labelled(rows, truth, 9)[0])
    assert few.corrected is None and few.labels is not None and "9 labels are too few" in few.notes[0]
    ungraded = corrected_rate([{**row, "reward": None} for row in rows])
    assert ungraded.raw is None and ungraded.n_judged == 0
    one = corrected_rate(labelled(rows, np.ones(100, int), 40)[0])
    assert one.rogan_gladen is None and any("one class only" in note for note in one.notes)
    model = [{**row, "gold_reward": 1, "gold_kind": "model"} for row in rows]
    assert corrected_rate(model).corrected is None
    assert corrected_rate(model, allow_model_gold=True).corrected is not None
    everything = corrected_rate(labelled(rows, truth, 100)[0])
    assert everything.corrected == pytest.approx(truth.mean()) and everything.warnings == []
    nan = corrected_rate([{**row, "reward": float("nan"), "gold_reward": float("nan")} for row in rows])
    assert nan.n_labels == nan.n_judged == 0


def test_a_budget_that_is_kept():
    """Labels as many as the plan says give an interval as narrow as was asked for."""
    rows, truth = graded(2000, wrong=0.1)
    pilot, _ = labelled(rows, truth, 60, seed=5)
    plan = label_budget(pilot, half_width=0.06)
    assert plan.measured and plan.n_rows == 2000 and plan.labels < plan.without_judge
    widths = []
    for seed in range(6):
        low, high = corrected_rate(labelled(rows, truth, plan.labels, seed=seed)[0]).corrected_ci95
        widths.append((high - low) / 2)
    assert np.mean(widths) == pytest.approx(0.06, rel=0.15)
    assert f"{plan.labels} labels of 2000 judged rows" in str(plan)


def test_a_budget_from_assumptions():
    plan = label_budget(half_width=0.1)
    assert not plan.measured and (plan.pass_rate, plan.correlation, plan.n_rows) == (0.5, 0.6, 1000)
    assert plan.curve[100] > plan.curve[200] and "assumed" in str(plan)
    better = label_budget(half_width=0.1, correlation=0.9)
    assert better.labels < plan.labels <= plan.without_judge == better.without_judge
    rows, _ = graded(400)
    assert label_budget(rows).pass_rate == np.mean([row["reward"] for row in rows])
    hopeless = label_budget(rows, half_width=0.01)
    assert hopeless.labels is None and "roll out more tasks" in str(hopeless)
    assert label_budget([{**row, "reward": 1.0} for row in rows], half_width=0.1).labels is not None
    for wrong in ({"half_width": 0}, {"half_width": 2}, {"pass_rate": -1}, {"correlation": "high"}, {"n_rows": 2}):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            label_budget(**wrong)


def test_a_sheet_is_a_random_slice():
    rows, _ = graded()
    by_key = dict(zip([entry["key"] for entry in label_sheet(rows, 600, seed=9)], range(600), strict=True))
    assert len(by_key) == 600
    drawn = label_sheet(rows, 60, seed=9)
    assert [entry["key"] for entry in drawn] == list(by_key)[:60]


def test_intervals_are_over_tasks():
    """Rollouts of a task that always go alike are one row each; unequal tasks are weighted as they are in the rate."""
    alike = np.arange(120) // 8
    passed = alike % 3 == 0
    low, high = clustered_share(passed, alike)
    assert (low, high) == pytest.approx(clustered_share(passed[::8], alike[::8]))
    assert high - low > 2 * np.diff(wilson(int(passed.sum()), 120))[0]
    assert clustered_share(passed, np.zeros(120, int)) is None
    sizes = np.array([1, 5, 2, 9, 4, 7, 3, 6, 8, 10])
    task = np.repeat(np.arange(10), sizes)
    passed = np.arange(task.size) % 3 > 0
    rows = np.bincount(task)
    error = np.bincount(task, passed) - passed.mean() * rows
    variance = 10 / 9 * (error**2).sum() / task.size**2
    low, high = clustered_share(passed, task)
    effective = passed.mean() * (1 - passed.mean()) / variance
    assert low < passed.mean() < high
    assert high - low >= 2 * 1.9 * np.sqrt(variance) * min(1.0, np.sqrt(effective / task.size))
    order = np.random.default_rng(0).permutation(task.size)
    assert clustered_share(passed[order], task[order]) == pytest.approx((low, high))


def test_rogan_gladen_is_wider_where_rows_hang_together():
    judge, task = np.arange(240) % 4 > 0, np.arange(240)
    index = np.arange(0, 240, 4)
    label = np.arange(60) % 3 > 0
    assert stretch(Labelled(judge, task, index, label), 0.5) == 1.0
    copies = Labelled(np.repeat(judge, 6), np.repeat(task, 6), np.arange(0, 1440, 24), label)
    assert stretch(copies, 0.5) > 1.0
    certain = Labelled(np.ones(240, bool), task // 8, index, np.ones(60, bool))
    assert stretch(certain, 1.0) == pytest.approx(np.sqrt(8 * 30 / 29) * t.ppf(0.975, 29) / norm.ppf(0.975), rel=1e-5)
    plain = rogan_gladen(600, 1000, (45, 50), (40, 50))
    wide = rogan_gladen(600, 1000, (45, 50), (40, 50), stretch=2.0)
    assert plain[0] == wide[0] and np.diff(wide[1]) == pytest.approx(2 * np.diff(plain[1]))


def test_rates_of_one_task_have_no_interval():
    rows = [{"task_id": 1, "rollout_index": at, "reward": at % 2, "final_text": "x"} for at in range(20)]
    found = corrected_rate(rows)
    assert found.raw == 0.5 and found.raw_ci95 is None
    assert "0.500 (no interval: all rows are of one task)" in str(found)
