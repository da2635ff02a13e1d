"""The interval of a mean of shares: exact where it is binomial, and covering where it is not."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.shares import share_interval


@pytest.mark.parametrize("n", [20, 100, 400])
@pytest.mark.parametrize("passes", [0, 1, 7, 8, 12, 13])
def test_tasks_that_pass_or_fail_give_the_binomial_intervals(passes, n):
    found = share_interval([0.0, 1.0], [n - passes, passes])
    method = "exact" if min(passes, n - passes) < 8 else "wilson"
    reference = stats.binomtest(passes, n).proportion_ci(method=method)
    assert found[:2] == pytest.approx((reference.low, reference.high), abs=1e-9)
    assert found.method == {"exact": "clopper_pearson", "wilson": "wilson"}[method]


@pytest.mark.parametrize("n", [20, 50, 100, 400])
def test_coverage_by_enumeration_over_every_share(n):
    """Of every number of passes, how likely it is and whether its interval holds the truth: no simulation."""
    ends = np.array([share_interval([0.0, 1.0], [n - c, c])[:2] for c in range(n + 1)])
    shares = np.linspace(0.0005, 0.9995, 1999)[:, None]
    covering = (ends[:, 0] <= shares) & (shares <= ends[:, 1])
    coverage = (stats.binom.pmf(np.arange(n + 1), n, shares) * covering).sum(axis=1)
    assert coverage.min() >= 0.927
    inner = (n * shares[:, 0] >= 10) & (n * (1 - shares[:, 0]) >= 10)
    assert coverage[inner].min() >= 0.93
    assert coverage[inner].max() <= 0.9705


def test_alike_tasks_say_no_more_than_their_rollouts():
    capped = share_interval([0.75], [40], trials=160)
    reference = stats.binomtest(120, 160).proportion_ci(method="wilson")
    assert capped.method == "wilson_effective"
    assert capped.low == pytest.approx(reference.low, abs=0.01)
    assert capped.low < reference.low  # the correction for a spread that is itself estimated


def test_tasks_of_two_kinds_are_as_unsure_as_their_number():
    """Rollouts within a task that all agree add nothing, however many there are."""
    some = share_interval([0.0, 1.0], [20, 20], trials=40)
    assert share_interval([0.0, 1.0], [20, 20], trials=40_000) == some
    mixed = share_interval([0.01, 0.99], [20, 20], trials=40_000)
    assert mixed[1] - mixed[0] == pytest.approx(some[1] - some[0], abs=0.02)


def test_weighted_shares_have_students_interval():
    values = np.random.default_rng(0).normal(0.4, 1.5, 50)
    reference = stats.ttest_1samp(values, 0).confidence_interval()
    found = share_interval(values, weighted=True)
    assert found.method == "student_t"
    assert found[:2] == pytest.approx((max(0.0, reference.low), min(1.0, reference.high)), abs=1e-9)


def test_means_carried_to_the_edge_by_weights():
    """No narrower than tasks of which none passes."""
    found = share_interval([-0.2, 0.1], [10, 10], weighted=True)
    none = stats.binomtest(0, 20).proportion_ci(method="exact")
    assert found.low == 0.0
    assert found.high == pytest.approx(none.high)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.randoms())
def test_an_interval_holds_its_mean_in_any_order(values, random):
    found = share_interval(values)
    assert 0.0 <= found.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= found.high <= 1.0
    random.shuffle(values)
    assert share_interval(values) == found


def test_failures_are_passes_seen_from_the_other_side():
    values = [0.0, 0.25, 0.25, 0.5, 0.75, 1.0, 1.0]
    low, high, _ = share_interval(values)
    other = share_interval([1 - value for value in values])
    assert (other.low, other.high) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize("values", [[1e-20, 3e-20], [0.5, 0.5 + 1e-15], [1 - 1e-12, 1 - 2e-12], [0.3] * 4])
def test_shares_that_hardly_differ(values):
    low, high, _ = share_interval(values)
    assert low <= min(values) <= max(values) <= high
    assert high > low


def test_what_cannot_be_told():
    assert share_interval([]) is None
    assert share_interval([0.5]) is None
    with pytest.raises(ConfigurationError, match="nan"):
        share_interval([0.5, math.nan])
    with pytest.raises(ConfigurationError, match="level"):
        share_interval([0.5, 1.0], level=95)
