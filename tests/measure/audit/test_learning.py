"""Correlations within groups: pinned to numpy on data where groups are the only thing in the way."""

import numpy as np
import pytest

from whileai_hf.measure.audit.learning import length_effect, reward_functions
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.rows import view
from whileai_hf.traces.loaded import Loaded


def make(n_groups, rho, seed=0, k=6):
    generator = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        hard = generator.normal() * 5
        for _ in range(k):
            reward = generator.normal()
            length = 200 + 40 * (rho * reward + np.sqrt(1 - rho * rho) * generator.normal()) - 30 * hard
            parts = {"a": reward + hard, "b": float(generator.normal())}
            text = "x" * max(int(length), 1)
            total = parts["a"] + 0.5 * parts["b"]
            rows.append({"task_id": group, "final_text": text, "reward": total, "rewards": parts})
    return rows


def sample(rows):
    return Sample(Loaded(view(rows), "rows", {"a": 1.0, "b": 0.5}))


def within(rows, name):
    values = np.array([row[name] if name != "length" else len(row["final_text"]) for row in rows]).reshape(-1, 6)
    return (values - values.mean(axis=1, keepdims=True)).ravel()


def test_correlation_is_that_of_centred_numbers():
    rows = make(50, 0.6)
    effect = length_effect(sample(rows), 0)
    assert effect.rho == pytest.approx(np.corrcoef(within(rows, "reward"), within(rows, "length"))[0, 1], abs=1e-9)
    assert effect.ci95[0] < effect.rho < effect.ci95[1]


def test_parts_of_the_signal_add_up_to_one():
    found = reward_functions(sample(make(50, 0.0)), {"a": 1.0, "b": 0.5})
    assert sum(one.share for one in found) == pytest.approx(1.0)
    assert [one.name for one in found] == ["a", "b"]
    assert found[0].share == pytest.approx(0.8, abs=0.1)  # variances 1 and 0.25


def test_intervals_cover():
    hits = 0
    for seed in range(100):
        low, high = length_effect(sample(make(40, 0.3, seed)), seed).ci95
        # Lengths are whole numbers and the total has a second part: the true correlation is 0.3 / sqrt(1.25).
        hits += low <= 0.3 / np.sqrt(1.25) <= high
    assert hits >= 88


def test_many_groups_are_resampled_in_pieces():
    few, many = (length_effect(sample(make(n, 0.3, 1)), 0) for n in (2000, 4000))
    width = [effect.ci95[1] - effect.ci95[0] for effect in (few, many)]
    assert width[1] == pytest.approx(width[0] / np.sqrt(2), rel=0.15)


def test_nothing_that_differs_has_no_correlation():
    rows = [{"task_id": t, "final_text": "same", "reward": float(i)} for t in range(20) for i in range(3)]
    effect = length_effect(sample(rows), 0)
    assert (effect.rho, effect.ci95, effect.n_groups) == (None, None, 0)
    assert length_effect(sample([{"task_id": 1, "reward": 1.0}]), 0) is None


def test_an_interval_does_not_depend_on_the_order_of_rows():
    rows = make(40, 0.3, seed=2)
    effect = length_effect(sample(rows), 0)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        assert length_effect(sample([rows[at] for at in order]), 0) == effect
