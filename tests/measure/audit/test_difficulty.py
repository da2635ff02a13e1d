"""Thresholds, the band, and how many tasks are enough."""

import numpy as np
import pytest

from whileai_hf.measure.audit.difficulty import pass_band, pass_threshold, task_need
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.rows import view
from whileai_hf.stats.power import Population, tasks_needed
from whileai_hf.stats.signflip import sign_flip_rejections
from whileai_hf.traces.loaded import Loaded


def sample(rewards):
    """Rewards of shape `(tasks, k)` as rows."""
    rows = [{"task_id": t, "reward": value} for t, task in enumerate(rewards) for value in np.asarray(task).tolist()]
    return Sample(Loaded(view(rows), "rows"))


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0, 1, 0], 1.0),
        ([-1, 1], 1.0),
        ([0.0, 2.5], 2.5),
        ([1, 1], 1.0),
        ([0, 0], 1.0),
        ([3, 3], None),
        ([0, 0.5, 1, 2], 2.0),
        ([0, 0.3, 1.0], 1.0),
        ([*np.linspace(0, 0.99, 50), 1.0], None),
        ([*np.linspace(0, 0.99, 50), *[1.0] * 10], 1.0),
        (np.linspace(0, 0.9, 50), None),
        ([], None),
    ],
)
def test_threshold(rewards, expected):
    assert pass_threshold(np.array(rewards, float)) == expected


def test_band_counts_tasks_with_two_rollouts():
    counted = sample([[0] * 5, [1, 0, 0, 0, 0], [1, 1, 1, 1, 0], [1] * 5, [1], [1, None]])
    assert pass_band(counted, 1.0) == {"below": 1, "inside": 2, "above": 1}
    assert pass_band(sample([[1], [0]]), 1.0) is None


def test_need_of_pass_rates_is_that_of_the_population():
    generator = np.random.default_rng(0)
    rates = generator.beta(3, 3, size=4000)
    need = task_need(sample(generator.binomial(1, rates[:, None], size=(4000, 6))), 1.0, 0.1, 0)
    truth = tasks_needed(0.1, Population(0.5, 6, float(np.sqrt(1 / 28))))
    assert need.tasks_needed == pytest.approx(truth, rel=0.1)
    assert (need.k, need.n_tasks, need.method) == (6, 4000, "sign_flip_power")
    assert 0.0 < need.smallest_effect < 0.1


def test_no_room():
    need = task_need(sample([[1, 1]] * 9 + [[1, 0]]), 1.0, 0.1, 0)
    assert need.tasks_needed is None
    assert "no room for a rise of 0.1" in need.notes[0]


def test_need_of_rewards_holds_in_simulation():
    generator = np.random.default_rng(1)
    tasks = generator.uniform(0, 1, size=(300, 1))
    rewards = np.clip(tasks + generator.normal(0, 0.2, size=(300, 4)), 0, 1)
    need = task_need(sample(rewards), None, 0.05, 0)
    noise = np.mean(np.var(rewards, axis=1, ddof=1))
    shape = (2000, need.tasks_needed)
    differences = 0.05 * np.ptp(rewards) + generator.normal(0, np.sqrt(2 * noise / 4), size=shape)
    assert sign_flip_rejections(differences, seed=0).mean() == pytest.approx(0.8, abs=0.04)


def test_rewards_without_noise_need_not_be_told_apart():
    assert task_need(sample([[0.3, 0.3]] * 4), None, 0.05, 0).tasks_needed is None
    assert task_need(sample([[0.1], [0.2], [0.4]]), None, 0.05, 0).notes == [
        "no task has two rollouts, so their noise is not known"
    ]
