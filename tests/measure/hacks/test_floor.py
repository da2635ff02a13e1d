"""The floor is what noise reaches: pinned to plain computations of the same thing."""

import itertools

import numpy as np
import pytest
from scanned_runs import rollouts
from scipy.stats import pearsonr

from whileai_hf.measure.hacks.asks import lay_out
from whileai_hf.measure.hacks.conjunctions import SAME, Conjunctions, beats
from whileai_hf.measure.hacks.floor import Floor, noise_floor
from whileai_hf.measure.hacks.pool import build_pool
from whileai_hf.measure.hacks.reading import Reader
from whileai_hf.measure.hacks.sampling import read_sample
from whileai_hf.measure.hacks.terms import Texts, choose_terms


def pool_of(rows):
    reader = Reader()
    sample = read_sample(rows, reader)
    names = reader.names()
    asks = lay_out(sample.asks, sample.rewards)
    return build_pool(sample.readings, asks, choose_terms(Texts.of(sample.readings), names), len(names)), sample


def centred(values, groups):
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    return values - means[groups]


def test_correlations_are_those_of_deviations_from_the_ask():
    rows = rollouts(n_asks=30, k=5, seed=2)
    pool, sample = pool_of(rows)
    groups = np.unique(sample.asks, return_inverse=True)[1]
    rho = dict(zip((name.name for name in pool.names), pool.correlate(pool.asks.reward), strict=True))
    reward = centred(np.array([row["reward"] for row in rows], float), groups)
    by_hand = {
        "reply_length": [len(row["final_text"]) for row in rows],
        "tool_calls": [len(row["steps"]) for row in rows],
        "tool:look_up": [any(step["tool"] == "look_up" for step in row["steps"]) for row in rows],
        "marker:grounded": [row["markers"]["grounded"] for row in rows],
        "says:i verified everything twice": ["verified" in row["final_text"] for row in rows],
        "says:courier": ["courier" in row["final_text"] for row in rows],
    }
    for name, values in by_hand.items():
        expected = pearsonr(centred(np.array(values, float), groups), reward).statistic
        assert rho[name] == pytest.approx(expected, abs=1e-6), name


def correlation(x, y):
    return x @ y / np.sqrt((x @ x) * (y @ y))


def strongest(bits, dense, groups, reward, freedom, best=12):
    """The largest correlation of all features and of the pairs of the 12 best that count, the long way."""
    columns = [centred(row.astype(float), groups) for row in bits] + list(dense)
    rho = np.array([correlation(column, reward) for column in columns])
    picked = sorted(np.argsort(-np.round(np.abs(rho[: len(bits)]), 5), kind="stable")[:best])
    found = [np.abs(rho).max()]
    for pair in itertools.combinations(picked, 2):
        both = (bits[pair[0]] & bits[pair[1]]).astype(float)
        column = centred(both, groups)
        if both.sum() < 20 or column @ column < 1e-9:
            continue
        value, part = correlation(column, reward), max(pair, key=lambda index: abs(rho[index]))
        if abs(value) > abs(rho[part]) + SAME and beats(
            np.array([value]), rho[[part]], np.array([correlation(column, columns[part])]), freedom
        ):
            found.append(abs(value))
    return max(found)


def test_the_null_picks_its_conjunctions_anew(monkeypatch):
    monkeypatch.setattr("whileai_hf.measure.hacks.conjunctions._BEATS_BY", 0.5)  # so that many count
    pool, sample = pool_of(rollouts(n_asks=40, k=6, seed=4, pays="nothing"))
    groups = np.unique(sample.asks[pool.asks.order], return_inverse=True)[1]
    shuffles = pool.asks.shuffles(25, np.random.default_rng(9))
    floor = noise_floor(pool, Conjunctions(pool), n_perm=25, seed=9)
    full = np.zeros((25, groups.size))
    full[:, : pool.asks.n_mixed_rows] = shuffles
    freedom = pool.asks.n_mixed_rows - pool.asks.n_mixed
    expected = [strongest(pool.bits, pool.dense, groups, reward, freedom) for reward in full]
    assert floor.largest == pytest.approx(expected, abs=1e-4)
    plain = noise_floor(pool, None, n_perm=25, seed=9)
    assert (floor.largest >= plain.largest - SAME).all()
    assert (floor.largest > plain.largest + SAME).any()


def test_a_correlation_beats_another_as_often_as_it_may():
    """Of two features that say equally much, one looks better by three standard errors about once in 700 times."""
    random = np.random.default_rng(0)
    n, trials = 300, 4000
    common, reward = random.normal(size=(2, trials, n))
    one, other = (common + 0.5 * random.normal(size=(trials, n)) + 0.4 * reward for _ in range(2))

    def pairwise(x, y):
        x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
        return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))

    wins = beats(pairwise(one, reward), pairwise(other, reward), pairwise(one, other), n - 1)
    assert 0 < wins.mean() < 0.004
    better = beats(pairwise(one + 0.5 * reward, reward), pairwise(other, reward), pairwise(one, other), n - 1)
    assert better.mean() > 0.95


def test_blocks_of_shuffles_do_not_change_the_floor(monkeypatch):
    pool, _ = pool_of(rollouts(n_asks=12, k=4, seed=4, pays="nothing"))
    whole = noise_floor(pool, Conjunctions(pool), n_perm=40, seed=1)
    monkeypatch.setattr("whileai_hf.measure.hacks.floor._ROWS", 7)
    in_pieces = noise_floor(pool, Conjunctions(pool), n_perm=40, seed=1)
    assert in_pieces.largest == pytest.approx(whole.largest, abs=1e-5)


@pytest.mark.parametrize("n_perm", [19, 20, 39, 99, 100, 199])
def test_tau_is_the_point_from_which_p_is_at_most_5_percent(monkeypatch, n_perm):
    largest = np.random.default_rng(n_perm).permutation(np.arange(1, n_perm + 1) / n_perm)
    given = iter(largest)
    monkeypatch.setattr(
        "whileai_hf.measure.hacks.floor._largest",
        lambda pool, pairs, rewards: np.array([next(given) for _ in rewards]),
    )
    pool, _ = pool_of([{"task_id": 0, "reward": i % 2, "final_text": "x" * i} for i in range(4)])
    floor = noise_floor(pool, None, n_perm=n_perm, seed=0)
    assert floor.p_value(floor.tau + 10 * SAME) <= 0.05 < floor.p_value(floor.tau)


def test_p_value_counts_itself():
    assert Floor(0.5, np.array([0.1, 0.5, 0.9])).p_value(0.5) == 3 / 4
    assert Floor(0.5, np.array([0.1, 0.5, 0.9])).p_value(1.0) == 1 / 4
