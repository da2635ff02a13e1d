"""The fitted distribution of pass rates says what the counts say, whatever ended the groups."""

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.mixture import bootstrap_mixture, fit_mixture


RATES = np.array([0.0, 0.05, 0.5, 0.95, 1.0])


def draw(n_groups, n, seed=0):
    random = np.random.default_rng(seed)
    return random.binomial(n, random.choice(RATES, n_groups))


def test_moments_up_to_the_size_of_a_group_are_those_of_the_counts():
    c = draw(4000, 8)
    fit = fit_mixture(np.full(c.size, 8), c)
    assert fit.weights.sum() == pytest.approx(1.0)
    assert fit.pass_pow(1) == pytest.approx(c.mean() / 8, abs=1e-3)
    assert fit.pass_pow(8) == pytest.approx((c == 8).mean(), abs=0.01)
    assert fit.pass_at(8) == pytest.approx((c > 0).mean(), abs=0.01)


def test_stopped_groups_do_not_mislead_it():
    """Two rollouts, six more only where they disagree: counts alone would say 0.44 and 0.56."""
    random = np.random.default_rng(0)
    passed = random.random((20_000, 8)) < random.choice(RATES, 20_000)[:, None]
    split = passed[:, 0] != passed[:, 1]
    n, c = np.where(split, 8, 2), np.where(split, passed.sum(1), passed[:, :2].sum(1))
    fit = fit_mixture(n, c)
    assert (c == n).mean() > 0.4
    assert fit.pass_pow(8) == pytest.approx(np.mean(RATES**8), abs=0.02)
    assert fit.pass_at(8) == pytest.approx(np.mean(1 - (1 - RATES) ** 8), abs=0.02)


def test_resamples_spread_like_fresh_samples():
    spread = np.std([fit_mixture(np.full(200, 8), draw(200, 8, seed)).pass_pow(8) for seed in range(60)])
    again = bootstrap_mixture(np.full(200, 8), draw(200, 8), n_boot=200, seed=1)
    assert again.weights.shape == (200, again.points.size)
    assert np.std(again.pass_pow(8)) == pytest.approx(spread, rel=0.3)
    same = bootstrap_mixture(np.full(200, 8), draw(200, 8)[::-1], n_boot=200, seed=1)
    assert np.array_equal(again.weights, same.weights)


def test_long_groups_do_not_underflow():
    fit = fit_mixture([5000] * 3, [0, 2500, 5000])
    assert fit.pass_pow(1) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(("n", "c"), [([], []), ([0], [0]), ([2], [3]), ([2], [-1])])
def test_counts_that_are_none(n, c):
    with pytest.raises(ConfigurationError, match="check the counts"):
        fit_mixture(n, c)
