"""Estimates under early stopping are unbiased for every pass rate: all outcomes summed, not simulated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import end_values, expected_value, full_values, pass_at_k, pass_pow_k, probe_rates
from whileai_hf.stats.stopping import fill_chances


designs = st.integers(2, 9).flatmap(
    lambda k: st.tuples(st.just(k), st.integers(1, k), st.floats(0.02, 1.0), st.integers(1, k))
)
rates = st.floats(0.0, 1.0)


def outcomes(k, probe, carry, p):
    """Every way a group can end, as `(chance, filled, passes)`, from the stopping rule itself."""
    for x in range(probe + 1):
        start = math.comb(probe, x) * p**x * (1 - p) ** (probe - x)
        if probe == k:
            yield start, True, x
            continue
        goes_on = carry if x in (0, probe) else 1.0
        yield start * (1 - goes_on), False, x
        for y in range(k - probe + 1):
            rest = math.comb(k - probe, y) * p**y * (1 - p) ** (k - probe - y)
            yield start * goes_on * rest, True, x + y


def expectation(k, probe, carry, p, full, stopped):
    return math.fsum(
        chance * (full[passes] if filled else stopped[int(passes > 0)])
        for chance, filled, passes in outcomes(k, probe, carry, p)
    )


@settings(max_examples=150, deadline=None)
@given(designs, rates)
def test_unbiased_for_every_rate(design, p):
    k, probe, carry, size = design
    truths = {pass_pow_k: p**size, pass_at_k: 1 - (1 - p) ** size}
    for estimate, truth in truths.items():
        target = estimate(k, np.arange(k + 1), size)
        ends = end_values(target, probe, carry)
        full = full_values(target, probe, carry, ends)
        assert expectation(k, probe, carry, p, full, ends) == pytest.approx(truth, abs=1e-9)
    rate = probe_rates(k, probe, carry)
    assert expectation(k, probe, carry, p, rate, (0.0, 1.0)) == pytest.approx(p, abs=1e-9)
    assert rate.min() >= 0.0
    assert rate.max() <= 1.0


@given(st.integers(3, 9).flatmap(lambda k: st.tuples(st.just(k), st.integers(2, k - 1))), rates)
def test_unbiased_when_no_unanimous_group_is_ever_filled(design, p):
    k, probe = design
    target = pass_pow_k(k, np.arange(k + 1), k)
    ends = end_values(target, probe, 0.0)
    assert ends == (0.0, 1.0)
    full = full_values(target, probe, 0.0, ends)
    assert expectation(k, probe, 0.0, p, full, ends) == pytest.approx(p**k, abs=1e-9)


def test_any_end_values_are_unbiased_and_ours_vary_least():
    k, probe, carry = 8, 3, 0.1
    target = pass_pow_k(k, np.arange(k + 1), k)
    grid = (np.arange(400) + 0.5) / 400
    jeffreys = 1 / np.sqrt(grid * (1 - grid))

    def second_moment(ends):
        full = full_values(target, probe, carry, ends)
        for p in (0.2, 0.9):
            assert expectation(k, probe, carry, p, full, ends) == pytest.approx(p**k, abs=1e-9)
        return np.average([expectation(k, probe, carry, p, full**2, np.square(ends)) for p in grid], weights=jeffreys)

    ours = second_moment(end_values(target, probe, carry))
    weighted_only = second_moment((0.0, 0.0))
    assert ours < second_moment((0.0, 1.0)) < weighted_only / 2
    for move in ((0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)):
        assert ours < second_moment(tuple(np.add(end_values(target, probe, carry), move)))


@given(st.integers(1, 40))
def test_without_stopping_nothing_changes(k):
    target = np.linspace(0, 1, k + 1)
    for probe, carry in ((k, 0.3), (1, 1.0)):
        assert full_values(target, probe, carry, end_values(target, probe, carry)) == pytest.approx(target)
        assert probe_rates(k, probe, carry) == pytest.approx(np.arange(k + 1) / k)


def test_a_group_of_a_thousand():
    target = pass_pow_k(1000, np.arange(1001), 1000)
    full = full_values(target, 3, 0.01, end_values(target, 3, 0.01))
    assert np.isfinite(full).all()
    assert fill_chances(1000, 3, 0.01)[500] == pytest.approx(1 - 0.99 * 2 * math.comb(500, 3) / math.comb(1000, 3))


@pytest.mark.parametrize(("probe", "passes"), [(3, 3), (3, 0), (2, 1), (1, 1)])
def test_what_a_probe_lets_expect_is_the_posterior_mean(probe, passes):
    k = 8
    target = pass_pow_k(k, np.arange(k + 1), k)
    p = (np.arange(200_000) + 0.5) / 200_000
    posterior = p ** (passes - 0.5) * (1 - p) ** (probe - passes - 0.5)
    all_pass = p ** (k - probe) if passes == probe else np.zeros_like(p)
    assert expected_value(target, probe, passes) == pytest.approx(np.average(all_pass, weights=posterior), abs=1e-3)


@pytest.mark.parametrize(("probe", "carry"), [(0, 0.1), (5, 0.1), (2, -0.1), (2, 1.1), (2, math.nan)])
def test_designs_that_are_none(probe, carry):
    with pytest.raises(ConfigurationError):
        end_values([0, 0, 0, 0, 1], probe, carry)
