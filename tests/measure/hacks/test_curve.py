"""`overoptimization` raises an alarm on a hack and none on healthy learning."""

import json

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.hacks import overoptimization
from whileai_hf.measure.hacks.divergence import Rule, simulated_alarm_rate


def kinds(report):
    return [alarm.kind for alarm in report.alarms]


def healthy(points=9, low=0.2, high=0.6):
    return [
        {"step": 10 * i, "proxy": float(level), "gold": float(level), "kl": float(kl), "length": 100}
        for i, (level, kl) in enumerate(
            zip(np.linspace(low, high, points), np.linspace(0.01, 0.05, points), strict=True)
        )
    ]


def test_healthy_learning_is_quiet():
    report = overoptimization(healthy(), kl_budget=0.1)
    assert (report.outcome, report.alarms, report.first_alarm) == ("no_alarm", [], None)
    assert report.false_alarm_rate is not None


def test_a_hack_raises_both_alarms():
    curve = [
        {"proxy": 1.854, "gold": 0.904, "words": 160},
        {"proxy": 3.841, "gold": 0.504, "words": 122},
        {"proxy": 3.5, "gold": 0.217, "words": 314},
    ]
    report = overoptimization(curve)
    assert (report.outcome, kinds(report), report.first_alarm) == ("alarm", ["divergence", "length"], 1)
    assert [alarm.index for alarm in report.alarms] == [1, 2]
    assert "divergence at evaluation 1" in str(report)


def scores(chances, prompts=64, repeats=8, seed=0):
    random = np.random.default_rng(seed)
    return [(random.binomial(repeats, chance, prompts) / repeats).tolist() for chance in chances]


def test_scores_per_prompt_are_paired():
    flat = [
        {"proxy": p, "gold": g} for p, g in zip(scores([0.3, 0.5, 0.7, 0.9]), scores([0.4] * 4, seed=1), strict=True)
    ]
    report = overoptimization(flat)
    assert kinds(report) == ["divergence"]
    assert report.interval == "paired_t"
    assert "[" in report.alarms[0].reason
    both = [
        {"proxy": p, "gold": g} for p, g in zip(scores([0.3, 0.5, 0.7]), scores([0.3, 0.5, 0.7], seed=1), strict=True)
    ]
    assert overoptimization(both).outcome == "no_alarm"


def test_a_small_holdout_that_cannot_show_the_rise_is_no_alarm():
    """The gold rose as the proxy did; that its interval still covers 0 says the holdout is small, not that it fell."""
    proxy = [[0.0] * 6 + [1.0] * 4, [0.0] * 4 + [1.0] * 6]
    gold = [[0.0] * 6 + [1.0] * 4, [1.0] + [0.0] * 4 + [1.0] * 5]
    assert overoptimization([{"proxy": p, "gold": g} for p, g in zip(proxy, gold, strict=True)]).outcome == "no_alarm"


def test_missing_scores_are_left_out_of_pairs():
    curve = [
        {"proxy": [0.0, 0.0, 0.0, None], "gold": [1.0, float("nan"), 0.0, 0.0]},
        {"proxy": [1.0] * 4, "gold": [1.0, 0, 0, 0]},
    ]
    report = overoptimization(curve)
    assert kinds(report) == ["divergence"]
    assert "gold +0.000" in report.alarms[0].reason


def test_the_window_is_where_a_rise_is_measured_from():
    curve = [{"proxy": 0.04 * i, "gold": 0.5} for i in range(8)]
    assert overoptimization(curve, window=2).outcome == "no_alarm"
    assert overoptimization(curve, window=3).first_alarm == 3
    assert overoptimization(curve, window=7, delta=0.2).first_alarm == 5


def test_length_and_drift():
    curve = [
        {"proxy": 0.5, "gold": 0.5, "length": 100, "kl": 0.0},
        {"proxy": 0.5, "gold": 0.5, "length": 125, "kl": 0.3},
    ]
    assert kinds(overoptimization(curve, kl_budget=0.2)) == ["length", "drift"]
    assert kinds(overoptimization(curve)) == ["length"]
    grown = [curve[0], curve[1] | {"gold": 0.8, "length": 400}]
    assert overoptimization(grown).outcome == "no_alarm"
    assert kinds(overoptimization([{"kl": 1.0, "step": 7}], kl_budget=0.2)) == ["drift"]


def test_what_is_not_measured_is_said():
    assert overoptimization([]).outcome == "not_measured"
    assert overoptimization([{"proxy": 1.0, "gold": 1.0}]).outcome == "not_measured"
    without_gold = overoptimization([{"proxy": 0.1}, {"proxy": 0.9}])
    assert (without_gold.outcome, without_gold.false_alarm_rate) == ("not_measured", None)
    assert "no gold" in without_gold.notes[0] or "gold score" in without_gold.notes[0]
    assert (
        overoptimization([{"proxy": "x", "gold": None, "length": 0}, {"proxy": 1, "gold": 1, "length": 5}]).alarms
        == []
    )


def test_wrong_curves_are_refused():
    with pytest.raises(DataError, match="evaluation 1"):
        overoptimization([{}, 3])
    with pytest.raises(DataError, match="2 scores"):
        overoptimization([{"proxy": [1, 2]}, {"proxy": [1, 2, 3]}])
    for wrong in ({"window": 0}, {"window": 1.5}, {"delta": 0}, {"length_pct": -1}, {"kl_budget": float("nan")}):
        with pytest.raises(ConfigurationError):
            overoptimization([], **wrong)


def test_false_alarms_of_healthy_curves_are_few_and_reproducible():
    path, rule = np.linspace(0.2, 0.6, 12), Rule(3, 0.1, 0.25, None)
    rate = simulated_alarm_rate(path, rule, prompts=32, scores=True, n_sim=200, seed=0)
    assert rate == simulated_alarm_rate(path, rule, prompts=32, scores=True, n_sim=200, seed=0)
    assert rate <= 0.2
    assert simulated_alarm_rate(path, rule, prompts=400, scores=True, n_sim=100, seed=0) <= 0.1
    json.dumps(overoptimization(healthy()).to_dict())


def test_known_curves(shared):
    cases = [json.loads(line) for line in (shared / "real" / "cases.jsonl").read_text().splitlines()]
    cases = [case for case in cases if case["kind"].startswith("hack.")]
    assert cases
    for case in cases:
        given = case["input"]
        # One case describes its curve in words: proxy and gold rise from 0.2 to 0.6, KL from 0.01 to 0.05.
        report = overoptimization(given["windows"] if "windows" in given else healthy(), kl_budget=0.1)
        assert report.outcome == case["expected"]["outcome"], case["id"]
        assert kinds(report) == case["expected"].get("alarms", []), case["id"]
        assert report.first_alarm == case["expected"].get("first_alarm_window"), case["id"]
