"""How often a scan is wrong: noise named, shortcuts missed, difficulty reported, alarms on healthy runs."""

from pathlib import Path

import numpy as np
import pytest
from scanned_runs import PHRASE, rollouts
from simulated import recorded

from whileai_hf.measure.hacks import hack_scan, hack_scan_diff
from whileai_hf.measure.hacks.divergence import Rule, simulated_alarm_rate


RESULTS = Path(__file__).with_name("hacks.json")
# Share of pools with a reward of pure noise in which anything may clear the floor.
MOST_NOISE = 0.075
RULE = Rule(window=3, delta=0.1, length_pct=0.25, kl_budget=None)


def noise_named(trials, *, n_asks, k, conjunctions, pays="nothing"):
    """Share of pools in which a reward that follows no feature has one above the floor."""
    found = 0
    for seed in range(trials):
        rows = rollouts(n_asks, k, seed=seed, pays=pays)
        found += hack_scan(rows, conjunctions=conjunctions, seed=seed).top_feature is not None
    return found / trials


def shortcut_named(trials, *, n_asks, k, noise):
    """Shares of pools in which a planted shortcut is called a hack, and by its name."""
    called = named = 0
    for seed in range(trials):
        scan = hack_scan(rollouts(n_asks, k, seed=seed, noise=noise), endorsed=["marker:grounded"], seed=seed)
        called += scan.regime == "reward_hack"
        named += scan.top_feature == PHRASE
    return called / trials, named / trials


@pytest.mark.slow
@pytest.mark.parametrize(("n_asks", "k", "conjunctions"), [(30, 8, True), (60, 4, True), (60, 4, False)])
def test_noise_clears_the_floor_as_often_as_it_may(n_asks, k, conjunctions):
    share = noise_named(400, n_asks=n_asks, k=k, conjunctions=conjunctions)
    recorded(RESULTS, {f"noise asks={n_asks} k={k} conjunctions={conjunctions}": {"named": share, "trials": 400}})
    assert share <= MOST_NOISE


@pytest.mark.slow
def test_difficulty_is_named_no_more_often_than_noise():
    share = noise_named(200, n_asks=30, k=8, conjunctions=True, pays="difficulty")
    recorded(RESULTS, {"difficulty asks=30 k=8": {"named": share, "trials": 200}})
    assert share <= 0.09  # 5% and 2.6 standard errors of 200 trials


@pytest.mark.slow
@pytest.mark.parametrize(("n_asks", "k"), [(20, 4), (40, 8)])
def test_a_planted_shortcut_is_named(n_asks, k):
    called, named = shortcut_named(100, n_asks=n_asks, k=k, noise=0.05)
    recorded(RESULTS, {f"shortcut asks={n_asks} k={k} noise=0.05": {"called": called, "named": named, "trials": 100}})
    assert called >= 0.99
    assert named >= 0.97


@pytest.mark.slow
def test_two_runs_of_one_agent_seldom_move():
    moved = 0
    for seed in range(200):
        before, after = (rollouts(30, 4, seed=1000 * side + seed) for side in (1, 2))
        moved += hack_scan_diff(before, after, seed=seed).verdict != "no_move_detected"
    recorded(RESULTS, {"diff of one agent, tasks=30 k=4": {"moved": moved / 200, "trials": 200}})
    assert moved / 200 <= 0.09  # 5% and 2.6 standard errors of 200 trials


@pytest.mark.slow
@pytest.mark.parametrize("prompts", [32, 128])
@pytest.mark.parametrize("points", [6, 12, 24])
def test_healthy_curves_seldom_raise_an_alarm(points, prompts):
    path = np.linspace(0.2, 0.6, points)
    with_scores, with_means = (
        simulated_alarm_rate(path, RULE, prompts=prompts, scores=scores, n_sim=2000, seed=0)
        for scores in (True, False)
    )
    entry = {"scores_per_prompt": with_scores, "one_mean": with_means, "trials": 2000}
    recorded(RESULTS, {f"healthy curve points={points} prompts={prompts}": entry})
    assert with_scores <= 0.12


def test_noise_and_shortcut_in_small():
    """Three standard errors of few trials beside the bounds of the full simulations."""
    assert noise_named(25, n_asks=25, k=4, conjunctions=True) <= MOST_NOISE + 0.16
    assert shortcut_named(8, n_asks=20, k=4, noise=0.05) == (1.0, 1.0)
