"""Intervals for a proportion agree with scipy and keep their promises at the edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import clopper_pearson, wilson
from whileai_hf.stats.beta import beta_cdf, beta_quantile


COUNTS = [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (1, 50), (37, 80), (499, 500), (12_345, 100_000)]
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("k", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("function", "method"), [(wilson, "wilson"), (clopper_pearson, "exact")])
def test_agrees_with_scipy(function, method, k, n, level):
    reference = binomtest(k, n).proportion_ci(level, method=method)
    assert function(k, n, level) == pytest.approx((reference.low, reference.high), abs=1e-10)


@pytest.mark.parametrize("function", [wilson, clopper_pearson])
@given(counts)
def test_bounds(function, k_n):
    k, n = k_n
    low, high = function(k, n)
    assert 0.0 <= low <= k / n <= high <= 1.0
    mirrored = function(n - k, n)
    assert mirrored == pytest.approx((1.0 - high, 1.0 - low), abs=1e-12)
    assert (low == 0.0) == (k == 0)
    assert (high == 1.0) == (k == n)


@given(counts, st.floats(0.001, 0.999))
def test_exact_interval_never_covers_too_little(k_n, p):
    """The defining property: p is left out only where the observed tail is under 2.5%."""
    k, n = k_n
    low, high = clopper_pearson(k, n)
    if p < low:
        assert binom.sf(k - 1, n, p) <= 0.025 + 1e-9
    if p > high:
        assert binom.cdf(k, n, p) <= 0.025 + 1e-9


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (2, 9), (40, 3), (3000, 7000), (500_000, 500_001)])
@pytest.mark.parametrize("x", [0.0, 1e-9, 0.2, 0.3, 0.5, 0.9, 1.0])
def test_beta_distribution(a, b, x):
    assert beta_cdf(x, a, b) == pytest.approx(beta.cdf(x, a, b), abs=1e-9)


@pytest.mark.parametrize("probability", [1e-6, 0.025, 0.5, 0.975])
def test_beta_quantile(probability):
    assert beta_quantile(probability, 7, 44) == pytest.approx(beta.ppf(probability, 7, 44), abs=1e-12)


def test_nothing_tried_is_no_interval():
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None


@pytest.mark.parametrize("function", [wilson, clopper_pearson])
@pytest.mark.parametrize(
    ("k", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (0, -1, 0.95), (1, 2, 95), (1, 2, math.nan)]
)
def test_impossible_counts(function, k, n, level):
    with pytest.raises(ConfigurationError, match=r"0 <= k <= n|between 0 and 1"):
        function(k, n, level)
