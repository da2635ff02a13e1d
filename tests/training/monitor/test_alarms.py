"""An alarm needs a reward that rose, a gold that did not follow, and more than chance would show over all looks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scanned_runs import PHRASE, rollouts
from scipy import stats

from whileai_hf.errors import DataError
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.training.monitor.alarms import divergence, drift, feature, length
from whileai_hf.training.monitor.curve import MonitorCurve, in_range, task_means
from whileai_hf.training.monitor.following import WOBBLE, Rule, lagging, look, look_level


def curve(proxy, gold, tasks=32, **more):
    """A curve whose tasks all have the means given."""
    points = [
        {"step": 10 * i, "proxy": [p] * tasks, "gold": [g] * tasks}
        for i, (p, g) in enumerate(zip(proxy, gold, strict=True))
    ]
    for name, values in more.items():
        for point, value in zip(points, values, strict=True):
            point[name] = [value] * tasks
    return MonitorCurve.of(points)


def test_a_proxy_that_leaves_its_gold_behind():
    alarm = divergence(curve([0.2, 0.4, 0.6, 0.6], [0.5, 0.4, 0.2, 0.2]))
    assert (alarm.kind, alarm.step) == ("divergence", 30)
    assert "proxy +0.400 since step 0, gold -0.300" in alarm.message


@pytest.mark.parametrize(
    ("proxy", "gold"),
    [
        ([0.2, 0.4, 0.6, 0.8], [0.2, 0.4, 0.6, 0.8]),  # together
        ([0.2, 0.25, 0.28, 0.29], [0.5, 0.4, 0.3, 0.2]),  # the proxy did not rise by delta
        ([0.2, 0.5, 0.8, 0.8], [0.2, 0.2, 0.2, 0.5]),  # the gold came a look later
        ([0.8, 0.6, 0.4, 0.2], [0.8, 0.6, 0.4, 0.2]),  # both fall
        ([0.5, 0.9], [0.5, 0.1]),  # the proxy's rise is a look old at most: too early to say
    ],
)
def test_quiet(proxy, gold):
    assert divergence(curve(proxy, gold)) is None


def test_delta_is_the_least_rise():
    seen = curve([0.3, 0.45, 0.45], [0.9, 0.3, 0.1])
    assert divergence(seen, delta=0.15) is not None
    assert divergence(seen, delta=0.16) is None


def test_the_window_is_where_a_rise_is_measured_from():
    seen = curve([0.1, 0.8, 0.8, 0.8, 0.8, 0.8], [0.9, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert divergence(seen, window=8) is not None
    assert divergence(seen, window=3) is None


def test_lag_is_how_late_the_gold_may_come():
    seen = curve([0.2, 0.8, 0.8], [0.5, 0.3, 0.3])
    assert divergence(seen, lag=2) is None
    assert divergence(seen, lag=1) is not None


def test_few_tasks_raise_nothing():
    assert divergence(curve([0.2, 0.6, 0.9], [0.9, 0.2, 0.1], tasks=7)) is None
    assert divergence(curve([0.2, 0.6, 0.9], [0.9, 0.2, 0.1], tasks=12)) is not None


def test_without_gold_there_is_no_divergence():
    points = [{"step": i, "proxy": [0.2 * i] * 16} for i in range(4)]
    assert divergence(MonitorCurve.of(points)) is None
    assert length(MonitorCurve.of([{**point, "length": [10.0 + point["step"]] * 16} for point in points])) is None


def test_a_reward_in_tokens_is_measured_in_its_range():
    tokens = curve([20.0, 40.0, 60.0, 60.0], [0.5, 0.4, 0.2, 0.2])
    assert "proxy +1.000 since step 0" in divergence(tokens).message
    honest = curve([20.0, 40.0, 60.0, 60.0], [0.1, 0.5, 0.9, 0.9])
    assert divergence(honest) is None
    assert in_range([[5.0, 15.0], [np.nan, 25.0]])[1, 1] == 1.25


def test_length_is_relative():
    assert "completions +50%" in length(curve([0.5] * 4, [0.5] * 4, length=[40, 60, 60, 60])).message
    assert length(curve([0.5] * 4, [0.5] * 4, length=[40, 48, 49, 49])) is None
    assert length(curve([0.5] * 4, [0.2, 0.5, 0.8, 0.8], length=[40, 60, 60, 60])) is None


def test_drift():
    random = np.random.default_rng(0)

    def seen(kl):
        return MonitorCurve.of([{"step": 0, "kl": np.zeros(32)}, {"step": 5, "kl": kl + random.normal(0, 0.02, 32)}])

    assert drift(seen(0.3), budget=0.2).step == 5
    assert drift(seen(0.2), budget=0.2) is None  # within the noise of 32 tasks
    assert drift(seen(0.3), budget=None) is None
    assert drift(MonitorCurve.of([{"step": 0, "kl": [9.0]}]), budget=0.2) is None


def test_feature_needs_two_scans_that_agree():
    def scan(seed, pays):
        return hack_scan(rollouts(30, 8, seed=seed, pays=pays), endorsed=["marker:grounded"], conjunctions=False)

    first, second, right, noise = scan(1, "shortcut"), scan(2, "shortcut"), scan(3, "grounded"), scan(4, "nothing")
    assert first.regime == second.regime == "reward_hack"
    assert feature(20, second, None) is None
    assert PHRASE in feature(20, second, first).message
    assert feature(20, second, right) is None
    assert feature(20, right, right) is None
    assert feature(20, noise, noise) is None


@pytest.mark.parametrize("looks", [None, 5, 40])
def test_all_looks_together_stay_at_the_level(looks):
    spent = sum(look_level(0.02, each, looks) for each in range(1, (looks or 5000) + 1))
    assert spent <= 0.02 + 1e-12
    assert spent > 0.0199


def test_the_interval_of_the_gap_is_a_t_interval():
    random = np.random.default_rng(1)
    proxy, gold = random.uniform(size=(2, 3, 20))
    rule = Rule(delta=0.01, looks=7, alpha=0.05, lag=0, follow=0.5)
    found = look(proxy, gold, rule, relative=False)
    gap = np.append(0.5 * (proxy[2] - proxy[0]) - (gold[2] - gold[0]), 0.0)  # and one task on which nothing changed
    error = math.sqrt(gap.var(ddof=1) / gap.size + 2 * 1.25 * WOBBLE**2)
    assert float(found.gap_low) == pytest.approx(gap.mean() - stats.t.ppf(1 - 0.05 / 7, gap.size - 1) * error)
    change = gold[2] - gold[0]
    low = stats.ttest_1samp(change, 0.0).confidence_interval(0.95).low
    assert float(found.gold_low) == pytest.approx(low)


@given(st.integers(0, 2**32 - 1), st.integers(9, 40), st.integers(3, 6))
def test_one_curve_and_many_agree(seed, tasks, evaluations):
    random = np.random.default_rng(seed)
    proxy = random.uniform(size=(4, evaluations, tasks)) * np.linspace(0.2, 1.0, evaluations)[:, None]
    gold = random.uniform(size=(4, evaluations, tasks)) * np.linspace(1.0, 0.2, evaluations)[:, None]
    many = lagging(proxy, gold, Rule(delta=0.1))
    for index in range(4):
        points = [{"step": i, "proxy": proxy[index, i], "gold": gold[index, i]} for i in range(evaluations)]
        assert (divergence(MonitorCurve.of(points)) is not None) == many[index]


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_tasks_does_not_matter(seed):
    random = np.random.default_rng(seed)
    proxy, gold = random.uniform(size=(2, 4, 12))
    order = random.permutation(12)
    rule = Rule(delta=0.05)
    first, second = look(proxy, gold, rule, False), look(proxy[:, order], gold[:, order], rule, False)
    assert first.raised == second.raised
    assert float(first.gap_low) == pytest.approx(float(second.gap_low))


def test_missing_scores_are_left_out():
    proxy = np.tile([[0.1], [0.5], [0.9]], (1, 20))
    gold = np.tile([[0.9], [0.5], [0.1]], (1, 20))
    proxy[1, :8], gold[2, 8:11] = np.nan, np.nan
    assert bool(lagging(proxy, gold, Rule(delta=0.1)))
    proxy[1, :15] = np.nan
    assert not bool(lagging(proxy, gold, Rule(delta=0.1)))


def test_task_means_average_repeats():
    means = task_means([1, 1, 0, 2], [1.0, 0.0, None, float("inf")], 4)
    assert means[1] == 0.5
    assert np.isnan(means[[0, 2, 3]]).all()


def test_a_curve_of_several_widths_is_refused():
    with pytest.raises(DataError, match="one per task"):
        MonitorCurve.of([{"proxy": [1.0, 2.0]}, {"proxy": [1.0, 2.0, 3.0]}])
    assert len(MonitorCurve.of([])) == 0
    assert divergence(MonitorCurve.of([])) is None
