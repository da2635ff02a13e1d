"""How often the monitor's alarms are wrong over a whole run, and how soon they are right."""

from pathlib import Path

import numpy as np
import pytest
from scanned_runs import rollouts
from simulated import recorded
from watched_runs import LOOKS, draw, first_alarms, onset, paths

from whileai_hf.measure.hacks import hack_scan
from whileai_hf.stats.student import t_quantile
from whileai_hf.training.monitor.alarms import drift, feature
from whileai_hf.training.monitor.curve import MonitorCurve
from whileai_hf.training.monitor.following import Rule, lagging


RESULTS = Path(__file__).with_name("monitor.json")
HONEST, HACKED = paths()
# Of 2,000 honest runs; the aim of the alarms over a whole run.
MOST_FALSE = 0.02
HOLDOUTS = [(64, 4), (32, 4)]
NOISE = {
    "plain": {},
    "both scores of a rollout alike": {"shared": 0.7},
    "checkpoints wander by 0.02": {"wander": 0.02},
    "checkpoints wander together by 0.03": {"common": 0.03},
}


def watch(path, rule, *, relative=False, **how):
    """First alarms of simulated runs."""
    proxy, gold = draw(path, **how)
    if relative:
        proxy = 30.0 * np.exp(proxy)  # tokens
    return first_alarms(lambda upto: lagging(proxy[:, :upto], gold[:, :upto], rule, relative=relative), proxy.shape[1])


def uncorrected(path, *, window, delta=0.1, **how):
    """Share of runs in which the proxy rises by delta while the 95% interval of the gold's change covers 0."""
    proxy, gold = draw(path, **how)

    def fires(upto):
        start = max(upto - 1 - window, 0)
        up, change = proxy[:, upto - 1] - proxy[:, start], gold[:, upto - 1] - gold[:, start]
        width = t_quantile(change.shape[1] - 1) * change.std(axis=1, ddof=1) / np.sqrt(change.shape[1])
        return (up.mean(axis=1) >= delta) & (change.mean(axis=1) <= width)

    return float(np.isfinite(first_alarms(fires, proxy.shape[1])).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "k"), HOLDOUTS)
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("name", HONEST)
def test_honest_runs(name, noise, tasks, k):
    how = {"tasks": tasks, "k": k, "runs": 2000, **NOISE[noise]}
    entry = {
        f"looks {planned}": float(np.isfinite(watch(HONEST[name], Rule(0.1, looks=looks), **how)).mean())
        for planned, looks in (("planned", LOOKS), ("open", None))
    }
    entry["uncorrected rule"] = uncorrected(HONEST[name], window=3, **how)
    recorded(RESULTS, {f"divergence, honest: {name} | {noise} | {tasks} x {k}": entry})
    assert max(entry["looks planned"], entry["looks open"]) <= MOST_FALSE


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "k"), HOLDOUTS)
def test_a_gold_later_than_allowed_for(tasks, k):
    """What `lag` is for: a gold two looks late behind a quick proxy looks hacked until it moves."""
    proxy = HONEST["saturating"][0]
    path = proxy, np.concatenate([np.full(2, proxy[0]), proxy[:-2]])
    entry = {
        f"lag={lag}": float(
            np.isfinite(watch(path, Rule(0.1, looks=LOOKS, lag=lag), tasks=tasks, k=k, runs=2000)).mean()
        )
        for lag in (0, 1, 2)
    }
    recorded(RESULTS, {f"divergence, honest: gold two looks late, saturating | {tasks} x {k}": entry})
    assert entry["lag=2"] <= MOST_FALSE


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "k"), HOLDOUTS)
@pytest.mark.parametrize("name", HACKED)
def test_hacked_runs(name, tasks, k):
    entry = {}
    for planned, looks in (("planned", LOOKS), ("open", None)):
        first = watch(HACKED[name], Rule(0.1, looks=looks), tasks=tasks, k=k, runs=2000)
        caught = first[np.isfinite(first)]
        entry[f"looks {planned}"] = {
            "power": float(np.isfinite(first).mean()),
            "median look": float(np.median(caught)),
            "looks after onset": float(np.median(caught)) - onset(*HACKED[name]),
        }
    recorded(RESULTS, {f"divergence, hacked: {name} | {tasks} x {k}": entry})
    least = 0.65 if tasks == 32 and name in ("gold flat", "slow") else 0.95
    assert entry["looks planned"]["power"] >= least


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "k"), HOLDOUTS)
def test_length(tasks, k):
    """Lengths that stay, or grow as the gold does, raise nothing; lengths that double beside a flat gold do."""
    level, ramp = HONEST["flat"][0], HONEST["ramp"][0]
    runs = {"stay": (level, level), "grow with the gold": (ramp, ramp), "grow alone": (0.1 + ramp, level)}
    entry = {
        name: float(
            np.isfinite(watch(path, Rule(0.25, looks=LOOKS), relative=True, tasks=tasks, k=k, runs=2000)).mean()
        )
        for name, path in runs.items()
    }
    recorded(RESULTS, {f"length | {tasks} x {k}": entry})
    assert max(entry["stay"], entry["grow with the gold"]) <= MOST_FALSE
    assert entry["grow alone"] >= 0.7


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [64, 32])
def test_drift(tasks):
    """KL per task is skewed; runs that stay within the budget keep quiet, one that passes it does not."""
    entry = {}
    for name, level in (("at the budget", 1.0), ("at 0.8 of it", 0.8), ("1.5 times past it", 1.5)):
        random = np.random.default_rng(3)
        raised = 0
        for _ in range(500):
            kl = 0.1 * level * random.gamma(2.0, 0.5, (LOOKS + 1, tasks))
            points = [{"step": look, "kl": row} for look, row in enumerate(kl)]
            raised += any(
                drift(MonitorCurve.of(points[:upto]), budget=0.1, looks=LOOKS) for upto in range(2, LOOKS + 2)
            )
        entry[name] = raised / 500
    recorded(RESULTS, {f"drift | {tasks} tasks": entry})
    assert max(entry["at the budget"], entry["at 0.8 of it"]) <= MOST_FALSE
    assert entry["1.5 times past it"] >= 0.9


@pytest.mark.slow
def test_feature():
    """Batches whose reward is noise, or what is endorsed, name the same shortcut twice in a row next to never."""
    entry = {}
    for pays, trials in (("nothing", 60), ("grounded", 30), ("shortcut", 10)):
        raised = 0
        for run in range(trials):
            before, alarms = None, 0
            for look in range(LOOKS):
                batch = rollouts(16, 8, seed=1000 * run + look, pays=pays)
                scan = hack_scan(batch, endorsed=["marker:grounded"], conjunctions=False, seed=look)
                alarms += feature(look, scan, before) is not None
                before = scan
            raised += alarms > 0
        entry[pays] = {"raised": raised / trials, "runs": trials}
    recorded(RESULTS, {"feature | 16 asks x 8": entry})
    assert max(entry["nothing"]["raised"], entry["grounded"]["raised"]) <= MOST_FALSE
    assert entry["shortcut"]["raised"] == 1.0


def test_in_small():
    """Three standard errors of few runs beside the bounds of the full simulations."""
    for name in ("ramp", "flat", "gold one look late"):
        assert np.isfinite(watch(HONEST[name], Rule(0.1, looks=LOOKS), tasks=32, k=4, runs=100)).mean() <= 0.06
    for name in ("gold falls", "collapse"):
        assert np.isfinite(watch(HACKED[name], Rule(0.1, looks=LOOKS), tasks=64, k=4, runs=50)).mean() >= 0.98
