"""How often comparisons are wrong, and how often they see what they promise to: simulated, written to compare.json.

Run it from the root of the checkout: `python tests/simulations/compare.py`. It takes some three minutes on one core.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

from whileai_hf.measure.compare import compare_runs, delta_report
from whileai_hf.stats.power import Population, smallest_effect
from whileai_hf.stats.signflip import EXACT_PAIRS, sign_flip_test
from whileai_hf.stats.student import t_quantile


RESULTS = Path(__file__).with_suffix(".json")
SIZES = (6, 8, 10, 20, 100)
# Tasks of one difficulty and of many, few repeats and more.
POPULATIONS = {
    "rate 0.5, k=4": Population(0.5, 4, 0.0),
    "rate 0.9, k=4": Population(0.9, 4, 0.0),
    "rate 0.6 spread 0.3, k=1": Population(0.6, 1, 0.3),
    "rate 0.6 spread 0.3, k=8": Population(0.6, 8, 0.3),
}
UNLIKE_REPEATS, UNLIKE_SIZES = ((1, 8), (4, 8)), (6, 10, 20)
POWER_SIZES = (10, 20, 50, 100, 300)
RUNS = 3
RUNS_DF = 2 * (RUNS - 1)
T_QUANTILE = t_quantile(RUNS_DF)
TRIALS, POWER_TRIALS, ROW_TRIALS = 10_000, 2_000, 25
# Trials per cell that also go through the library's own test, and rows of samples tested at a time.
CHECKED, BLOCK = 200, 500
# Sign patterns drawn per test beyond 16 tasks; the rate of false positives is the same at any number.
DRAWS = 1999


def passes(population: Population, n_tasks: int, trials: int, generator, share: float = 0.0, times: int = 1):
    """Passes of either side, shape (trials, times, n_tasks): the tasks' rates are shared."""
    rates = population.draw(n_tasks, trials, generator)[:, None, :]
    shape = (trials, times, n_tasks)
    more = np.minimum(rates + share * (1.0 - rates), 1.0)
    return generator.binomial(population.k, rates, shape), generator.binomial(population.k, more, shape)


def rows_of(passed, run: int | None = None) -> list[dict]:
    """Rows of verdicts of shape (tasks, rollouts)."""
    return [
        {"scenario_id": f"t{task}", "rollout_index": i, "reward": reward, "lineage": {"eval_run": run}}
        for task, rewards in enumerate(passed.tolist())
        for i, reward in enumerate(rewards)
    ]


def rows_of_runs(counts, k: int) -> list[dict]:
    """Rows of passes of shape (runs, tasks)."""
    return [row for run, line in enumerate(counts) for row in rows_of((np.arange(k) < line[:, None]).astype(int), run)]


def disagrees(test) -> bool:
    """Whether p-value, verdict and interval say different things about zero."""
    low, high = test.interval()
    return len({test.p_value() <= 0.05, test.rejects(), not low <= 0.0 <= high}) != 1


def band(before, after, k: int) -> float:
    """What re-running moves the difference by, from the means of the runs of both sides."""
    means = [side.mean(axis=1) / k for side in (before, after)]
    squares = sum(float(((mean - mean.mean()) ** 2).sum()) for mean in means)
    return T_QUANTILE * math.sqrt(squares / RUNS_DF) * math.sqrt(2 / RUNS)


def tested(samples, seed: int):
    """
    The sign-flip test of every row of differences at once: whether it rejects, and whether its interval leaves out 0.

    Thresholds, counts and order statistics are those of `sign_flip_test`; beyond 16 differences all rows of a block
    share their drawn patterns.
    """
    n = samples.shape[1]
    generator = np.random.default_rng(seed)
    rejected, left_out = np.empty(len(samples), bool), np.empty(len(samples), bool)
    for start in range(0, len(samples), BLOCK):
        if n <= EXACT_PAIRS:
            flipped = ((np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1).astype(float)
        else:
            flipped = generator.integers(0, 2, (DRAWS, n)).astype(float)
            flipped = flipped[(flipped.sum(axis=1) > 0) & (flipped.sum(axis=1) < n)]
        part = samples[start : start + BLOCK]
        sizes = flipped.sum(axis=1)
        sums = part @ flipped.T
        one, other = sums / sizes, (part.sum(axis=1)[:, None] - sums) / (n - sizes)
        below, above = np.minimum(one, other).round(12), np.maximum(one, other).round(12)
        patterns = len(flipped) + 1
        most = math.floor(round(0.05 * patterns, 6))
        mean = part.mean(axis=1).round(12)
        counts = 1 + np.where(mean > 0, (below <= 0).sum(axis=1), (above >= 0).sum(axis=1))
        rejected[start : start + BLOCK] = (mean != 0) & (counts <= most)
        low = np.partition(below, most - 1, axis=1)[:, most - 1]
        high = np.partition(above, len(flipped) - most, axis=1)[:, len(flipped) - most]
        left_out[start : start + BLOCK] = (low > 0) | (high < 0)
    return rejected, left_out


def false_positives(population: Population, n_tasks: int, trials: int, seed: int) -> dict:
    """Rates of a verdict of a difference at zero effect: of one run a side, and of `moved` over three."""
    before, after = passes(population, n_tasks, trials, np.random.default_rng(seed), times=RUNS)
    differences = (after - before) / population.k
    single, averaged = differences[:, 0], differences.mean(axis=1)
    wrong, wrong_interval = tested(single, seed)
    repeated, repeated_interval = tested(averaged, seed + 1)
    bands = np.array([band(one, other, population.k) for one, other in zip(before, after, strict=True)])
    # Runs that came out exactly alike estimate no band, and nothing counts as moved.
    moved = repeated & (bands > 1e-12) & (np.abs(averaged.mean(axis=1)) > bands)
    disagreements = int((wrong != wrong_interval).sum() + (repeated != repeated_interval).sum())
    for trial in range(min(CHECKED, trials)):  # the library's own test, one at a time
        test = sign_flip_test(single[trial], seed=trial)
        disagreements += disagrees(test)
        if n_tasks <= EXACT_PAIRS:
            assert test.rejects() == wrong[trial]
        if trial < ROW_TRIALS and n_tasks <= EXACT_PAIRS:
            check_rows(before[trial], after[trial], population.k, test, bool(moved[trial]), trial)
    return {
        "compare_runs": float(wrong.mean()),
        "moved": float(moved.mean()),
        "disagreements": disagreements,
    }


def check_rows(one, other, k: int, test, changed: bool, seed: int) -> None:
    """The reports on rows say what the simulation takes them to say."""
    found = compare_runs(rows_of_runs(one[:1], k), rows_of_runs(other[:1], k), seed=seed, n_boot=2)
    assert (found.verdict != "no_difference_detected") == test.rejects()
    assert found.p_value == test.p_value()
    low, high = test.interval()
    assert found.ci95[0] <= low and high <= found.ci95[1]  # wider where few tasks differ
    assert (found.ci95[0] <= 0.0 <= found.ci95[1]) == (not test.rejects())
    report = delta_report(rows_of_runs(one, k), rows_of_runs(other, k), seed=seed)
    assert (report.verdict in ("moved", "moved_the_wrong_way")) == changed


def unlike_repeats(repeats: tuple[int, int], n_tasks: int, trials: int, seed: int) -> float:
    """The worst false-positive rate over difficulties when the sides have different numbers of repeats."""
    worst = 0.0
    for rate in (0.7, 0.9):
        generator = np.random.default_rng(seed)
        wrong = 0
        for _ in range(trials):
            a, b = (rows_of((generator.random((n_tasks, k)) < rate).astype(int)) for k in repeats)
            wrong += compare_runs(a, b, n_boot=2).verdict != "no_difference_detected"
        worst = max(worst, wrong / trials)
    return worst


def promised_power(population: Population, n_tasks: int, trials: int, seed: int) -> dict:
    """How often the smallest detectable effect is detected; it is promised for 80%."""
    effect = smallest_effect(n_tasks, population)
    if effect is None:
        return {"effect": None, "power": None}
    generator = np.random.default_rng(seed)
    before, after = passes(population, n_tasks, trials, generator, population.share(effect))
    differences = (after - before)[:, 0] / population.k
    return {"effect": round(effect, 4), "power": float(tested(differences, seed)[0].mean())}


def simulate(trials: int = TRIALS, power_trials: int = POWER_TRIALS, sizes=SIZES, power_sizes=POWER_SIZES) -> dict:
    """All results."""
    return {
        "trials": trials,
        "power_trials": power_trials,
        "unlike_repeats_trials": power_trials // 5,
        "draws": DRAWS,
        "false_positives": {
            name: {str(n): false_positives(population, n, trials, n) for n in sizes}
            for name, population in POPULATIONS.items()
        },
        "power_at_detectable_effect": {
            name: {str(n): promised_power(population, n, power_trials, n + 1) for n in power_sizes}
            for name, population in POPULATIONS.items()
        },
        "false_positives_with_unlike_repeats": {
            f"k={a} and k={b}": {str(n): unlike_repeats((a, b), n, power_trials // 5, n) for n in UNLIKE_SIZES}
            for a, b in UNLIKE_REPEATS
        },
    }


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trials", type=int, default=TRIALS)
    found = simulate(arguments.parse_args().trials)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
