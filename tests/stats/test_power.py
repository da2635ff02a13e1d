"""Power: closed forms against scipy and simulation, and the promise that a detectable effect is detected."""

import importlib.util

import numpy as np
import pytest
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.power import (
    MOST_SIMULATED,
    Population,
    normal_power,
    paired_power,
    smallest_effect,
    tasks_needed,
    unpaired_power,
)
from whileai_hf.stats.signflip import sign_flip_test


def drawn(population, effect, n_tasks, samples, seed=1):
    """Pass rates before and after by the definition, and the counts both sides show."""
    generator = np.random.default_rng(seed)
    if population.spread:
        total = population.base * (1 - population.base) / population.spread**2 - 1
        rates = generator.beta(population.base * total, (1 - population.base) * total, (samples, n_tasks))
    else:
        rates = np.full((samples, n_tasks), population.base)
    more = rates + effect * (1 - rates) / (1 - population.base)
    before, after = (generator.binomial(population.k, p) / population.k for p in (rates, more))
    return before, after


@pytest.mark.parametrize(("base", "k", "spread"), [(0.6, 4, 0.0), (0.6, 4, 0.3), (0.3, 1, 0.2), (0.8, 8, 0.25)])
def test_spreads_are_those_of_the_population(base, k, spread):
    population = Population(base, k, spread)
    before, after = drawn(population, 0.1, 1000, 200)
    assert after.mean() - before.mean() == pytest.approx(0.1, abs=0.003)
    assert (after - before).std() == pytest.approx(population.paired_sd(0.1), rel=0.01)
    unpaired = np.sqrt(after.var() + before.var())
    assert unpaired == pytest.approx(population.unpaired_sd(0.1), rel=0.01)


def test_normal_power_is_the_textbook_formula():
    for ratio in (0.0, 0.5, 1.96, 2.8, 4.0):
        z = stats.norm.ppf(0.975)
        assert normal_power(ratio, 1.0) == pytest.approx(
            stats.norm.sf(z - ratio) + stats.norm.cdf(-z - ratio), abs=1e-9
        )
    assert normal_power(0.1, 0.0) == 1.0


@pytest.mark.skipif(importlib.util.find_spec("statsmodels") is None, reason="statsmodels is not installed")
def test_statsmodels():
    from statsmodels.stats.power import NormalIndPower

    population = Population(0.5, 1, 0.0)
    needed = tasks_needed(0.1, population, paired=False)
    size = 0.1 / (population.unpaired_sd(0.1) / np.sqrt(2))
    assert needed == np.ceil(NormalIndPower().solve_power(size, alpha=0.05, power=0.8))


@pytest.mark.parametrize(("n_tasks", "spread"), [(10, 0.0), (20, 0.3), (300, 0.3)])
def test_the_effect_that_is_promised_is_seen(n_tasks, spread):
    population = Population(0.5, 4, spread)
    effect = smallest_effect(n_tasks, population)
    before, after = drawn(population, effect, n_tasks, 400)
    seen = np.mean([sign_flip_test(row, draws=999).rejects() for row in after - before])
    assert seen == pytest.approx(0.8, abs=0.05 + 3 * 0.02)


@pytest.mark.parametrize("effect", [0.05, 0.25])
def test_tasks_needed_are_enough_and_not_too_many(effect):
    population = Population(0.5, 4, 0.2)
    needed = tasks_needed(effect, population)
    assert paired_power(effect, needed, population) >= 0.8
    assert paired_power(effect, max(6, int(needed * 0.8)), population) < 0.8


def test_below_six_tasks_nothing_is_defined():
    assert paired_power(0.3, 5, Population()) is None
    assert unpaired_power(0.3, 5, Population()) is None
    assert smallest_effect(5, Population()) is None
    assert tasks_needed(0.4, Population(0.6, 50, 0.0)) >= 6


def test_power_goes_over_smoothly_from_simulation_to_the_normal_approximation():
    population = Population(0.6, 4, 0.3)
    at, beyond = (paired_power(0.055, n, population) for n in (MOST_SIMULATED, MOST_SIMULATED + 1))
    assert at == pytest.approx(beyond, abs=0.03)


@pytest.mark.parametrize("given", [{"base": 0.0}, {"base": 1.0}, {"k": 0}, {"spread": 0.6}, {"spread": -0.1}])
def test_no_population(given):
    with pytest.raises(ConfigurationError, match=next(iter(given))):
        Population(**given)


def test_no_effect():
    with pytest.raises(ConfigurationError, match="no rise"):
        tasks_needed(0.5, Population(0.6))
    with pytest.raises(ConfigurationError, match=r"power=1\.5"):
        tasks_needed(0.1, Population(0.6), power=1.5)
