"""Pass numbers of runs that stopped groups early: bias and coverage over a thousand simulated runs per rule."""

from pathlib import Path

import numpy as np
import pytest
from simulated import recorded
from stopped_runs import RULES, successive, two_stage

from whileai_hf.measure import pass_at


RESULTS = Path(__file__).with_name("stopping.json")
K, TASKS = 8, 200
RATES = (0.05, 0.3, 0.5, 0.8, 0.95)
POPULATIONS = {f"p={p}": (p,) for p in RATES} | {"mixture": RATES}


def simulate(rule, rates, runs, seed=0):
    """Mean error of the three numbers, share of intervals that hold the truth, and what plain means would say."""
    random = np.random.default_rng([seed, len(rates)])
    rates = np.array(rates)
    truth = np.array([rates.mean(), np.mean(rates**K), np.mean(1 - (1 - rates) ** K)])
    found, hits = [], np.zeros(3)
    for _ in range(runs):
        report = pass_at(RULES[rule](random, random.choice(rates, TASKS)))
        found.append((report.pass_at_1, report.pass_pow_k, report.pass_at_k))
        intervals = (report.ci95, report.pass_pow_k_ci95, report.pass_at_k_ci95)
        hits += [low <= value <= high for (low, high), value in zip(intervals, truth, strict=True)]
    return {
        "truth": truth.tolist(),
        "bias": (np.mean(found, axis=0) - truth).tolist(),
        "sd": np.std(found, axis=0).tolist(),
        "covered": (hits / runs).tolist(),
    }


def degenerate(truth):
    """Whether so few tasks decide a number that no interval can be both honest and narrow."""
    return min(TASKS * truth, TASKS * (1 - truth)) < 10


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_a_thousand_runs(rule, population):
    found = simulate(rule, POPULATIONS[population], runs=1000)
    recorded(RESULTS, {f"{rule} {population}": found})
    one, *k_way = found["bias"]
    assert abs(one) < 0.01
    assert max(map(abs, k_way)) < 0.03
    for truth, covered in zip(found["truth"], found["covered"], strict=True):
        assert degenerate(truth) or 0.925 <= covered <= 0.975


@pytest.mark.parametrize("rule", [two_stage, successive])
def test_stopping_in_small(rule):
    found = simulate(rule.__name__, RATES, runs=25)
    assert max(map(abs, found["bias"])) < 0.03
    assert min(found["covered"]) >= 0.8
