"""Coverage of the intervals of pass numbers, over simulated evaluations whose true values are known."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset
from simulated import recorded

from whileai_hf.measure import pass_at


RESULTS = Path(__file__).with_name("pass_intervals.json")
# Pass rates of n tasks, and how E p^k and E (1 - p)^k come out.
SAME = {f"p={p}": (lambda random, n, p=p: np.full(n, p), p) for p in (0.5, 0.9)}
NUMBERS = ("pass_at_1", "pass_pow_k", "pass_at_k")


def evaluation(random, rates, k):
    """Graded rows of one evaluation: k rollouts of every task."""
    rewards = (random.random((rates.size, k)) < rates[:, None]).astype(float)
    task = np.repeat(np.arange(rates.size), k)
    names = pa.array([f"t{i}" for i in range(rates.size)])
    return Dataset(pa.table({"scenario_id": names.take(pa.array(task)), "reward": rewards.ravel()}))


def coverage(p, n_tasks, k, runs, seed=0):
    """Share of intervals that hold the truth, by number; and the number of tasks that decide each."""
    random = np.random.default_rng([seed, n_tasks, k])
    truth = dict(zip(NUMBERS, (p, p**k, 1 - (1 - p) ** k), strict=True))
    hits = dict.fromkeys(NUMBERS, 0)
    for _ in range(runs):
        found = pass_at(evaluation(random, np.full(n_tasks, p), k))
        intervals = (found.ci95, found.pass_pow_k_ci95, found.pass_at_k_ci95)
        for name, (low, high) in zip(NUMBERS, intervals, strict=True):
            hits[name] += low <= truth[name] <= high
    return {name: hits[name] / runs for name in NUMBERS}, truth


def check(covered, truth, n_tasks, slack):
    for name, theta in truth.items():
        assert covered[name] >= 0.93 - slack, f"{name} = {theta:.4f} at {n_tasks} tasks"
        if min(n_tasks * theta, n_tasks * (1 - theta)) >= 10:
            assert covered[name] <= 0.97 + slack, f"{name} = {theta:.4f} at {n_tasks} tasks"


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.9])
@pytest.mark.parametrize("k", [4, 8])
@pytest.mark.parametrize("n_tasks", [30, 100, 400])
def test_coverage_over_two_thousand_evaluations(n_tasks, k, p):
    covered, truth = coverage(p, n_tasks, k, runs=2000)
    check(covered, truth, n_tasks, slack=0.0)
    recorded(RESULTS, {f"p={p} tasks={n_tasks} k={k}": covered})


def test_coverage_in_small():
    """Three standard errors of 150 evaluations beside the bounds of the full simulation."""
    covered, truth = coverage(0.9, 30, 4, runs=150)
    check(covered, truth, 30, slack=0.053)
    assert max(covered.values()) <= 1.0
