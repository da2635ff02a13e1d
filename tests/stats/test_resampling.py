"""The bootstrap interval: where it lies, that it is reproducible, and what it costs."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, bootstrap

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import bootstrap_mean_ci


SAMPLES = {
    "few levels": np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], [10, 20, 30, 25, 15]),
    "all different": np.random.default_rng(3).normal(size=150),
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_agrees_with_scipy(sample):
    reference = bootstrap((sample,), np.mean, n_resamples=40_000, method="percentile", rng=1).confidence_interval
    spread = sample.std() / math.sqrt(sample.size)
    assert bootstrap_mean_ci(sample, n_boot=40_000) == pytest.approx(tuple(reference), abs=0.06 * spread)


def test_agrees_with_the_exact_distribution():
    """Resampled means of 0/1 values are binomial: the ends are its quantiles, here both routes."""
    ones, n = 30, 100
    sample = np.r_[np.ones(ones), np.zeros(n - ones)]
    exact = binom.ppf([0.025, 0.975], n, ones / n) / n
    assert bootstrap_mean_ci(sample, n_boot=50_000) == pytest.approx(tuple(exact), abs=0.011)
    jittered = sample + np.linspace(0, 1e-9, n)  # all different: drawn index by index
    assert bootstrap_mean_ci(jittered, n_boot=50_000) == pytest.approx(tuple(exact), abs=0.011)


@settings(max_examples=40)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=60), st.randoms())
def test_order_does_not_matter(values, random):
    found = bootstrap_mean_ci(values, n_boot=50, seed=5)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert bootstrap_mean_ci(shuffled, n_boot=50, seed=5) == found
    assert min(values) <= found[0] <= found[1] <= max(values)


def test_equal_values_have_themselves_as_interval():
    """The mean of some numbers, thrice, is off by a last bit."""
    value = 43.427506122077304
    assert bootstrap_mean_ci([value] * 3, n_boot=50, seed=5) == (value, value)


def test_seed_and_level():
    sample = SAMPLES["few levels"]
    assert bootstrap_mean_ci(sample, seed=1) == bootstrap_mean_ci(sample, seed=1)
    assert bootstrap_mean_ci(sample, seed=1) != bootstrap_mean_ci(sample, seed=2)
    wide, narrow = bootstrap_mean_ci(sample, level=0.99), bootstrap_mean_ci(sample, level=0.5)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_what_is_not_a_number_is_left_out():
    assert bootstrap_mean_ci([0.0, 1.0, math.nan, 1.0, math.inf]) == bootstrap_mean_ci([0.0, 1.0, 1.0])


@pytest.mark.parametrize("values", [[], [math.nan, math.nan], [0.5], [0.5, math.nan]])
def test_no_spread_no_interval(values):
    assert bootstrap_mean_ci(values) is None


@pytest.mark.parametrize("values", [np.arange(100_000) / 100_000, np.tile([0.0, 0.5, 1.0], 300_000)])
def test_memory_is_bounded(values):
    tracemalloc.start()
    bootstrap_mean_ci(values, n_boot=60)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


@pytest.mark.parametrize("knobs", [{"n_boot": 0}, {"n_boot": 1.5}, {"level": 0.0}, {"level": 1.0}])
def test_impossible_knobs(knobs):
    with pytest.raises(ConfigurationError):
        bootstrap_mean_ci([0.0, 1.0], **knobs)
