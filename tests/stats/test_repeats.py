"""pass@k and pass^k are the unbiased estimators, exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import group_advantages, mixed_group_rate, pass_at_k, pass_pow_k


draws = st.integers(1, 300).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n), st.integers(1, n))
)


@given(draws)
def test_equals_the_binomial_ratio(drawn):
    n, c, k, _ = drawn
    some = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    every = Fraction(math.comb(c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(some), abs=1e-12)
    assert pass_pow_k(n, c, k) == pytest.approx(float(every), rel=1e-11, abs=1e-300)


@given(draws)
def test_laws(drawn):
    n, c, one, other = drawn
    few, many = sorted((one, other))
    assert pass_at_k(n, c, few) <= pass_at_k(n, c, many) + 1e-15
    assert pass_pow_k(n, c, few) >= pass_pow_k(n, c, many) - 1e-15
    assert 0.0 <= pass_pow_k(n, c, many) <= c / n + 1e-15
    assert pass_at_k(n, c, 1) == pytest.approx(c / n, abs=1e-15)
    assert pass_pow_k(n, c, 1) == c / n
    assert pass_at_k(n, c, many) == pytest.approx(1 - pass_pow_k(n, n - c, many), abs=1e-15)


@pytest.mark.parametrize(("n", "c", "k"), [(200, 13, 1), (200, 13, 10), (200, 13, 100), (100, 27, 10), (100, 0, 5)])
def test_the_published_reference_form(n, c, k):
    """Chen et al. 2021 give the estimator as a product over n-c+1..n."""
    reference = 1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
    assert pass_at_k(n, c, k) == pytest.approx(reference, abs=1e-12)


def test_unbiased():
    """Averaged over all outcomes of n rollouts at pass rate p, the estimates are the chances they estimate."""
    n, k, p = 6, 3, 0.37
    chance = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    c = np.arange(n + 1)
    assert np.dot(chance, pass_at_k(np.full(n + 1, n), c, k)) == pytest.approx(1 - (1 - p) ** k, abs=1e-12)
    assert np.dot(chance, pass_pow_k(np.full(n + 1, n), c, k)) == pytest.approx(p**k, abs=1e-12)


def test_arrays_and_large_groups():
    some = pass_at_k([4, 4, 2], [0, 1, 2], 3)
    assert some[:2].tolist() == [0.0, 0.75]
    assert math.isnan(some[2])
    every = pass_pow_k(np.full(3, 1_000_000), [999_999, 500_000, 0], 100_000)
    assert every == pytest.approx([0.9, 0.0, 0.0], abs=1e-9)
    assert pass_at_k([], [], 2).shape == (0,)


def test_more_than_there_is_cannot_be_estimated():
    assert math.isnan(pass_at_k(3, 3, 4))
    assert math.isnan(pass_pow_k(3, 0, 4))


@pytest.mark.parametrize("estimate", [pass_at_k, pass_pow_k])
@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 1.5), (3, 1, True)])
def test_impossible_counts(estimate, n, c, k):
    with pytest.raises(ConfigurationError):
        estimate(n, c, k)


@given(st.floats(0, 1), st.integers(1, 40))
def test_mixed_group_rate(p, k):
    rate = mixed_group_rate(p, k)
    assert 0.0 <= rate <= 1.0
    assert rate == pytest.approx(mixed_group_rate(1 - p, k), abs=1e-12)
    assert rate <= mixed_group_rate(p, k + 1) + 1e-12


def test_mixed_group_rate_of_what_is_no_rate():
    assert mixed_group_rate(0.3, 1) == 0.0
    assert math.isnan(mixed_group_rate(math.nan, 4))
    for p, k in ((1.2, 4), (-0.1, 4), (0.5, 0)):
        with pytest.raises(ConfigurationError):
            mixed_group_rate(p, k)


def test_case_small_groups_starve_an_update(load_case):
    case = load_case("O036")
    for k, expected in case["expected"]["mixed_group_rate"].items():
        found = mixed_group_rate(case["input"]["p"], int(k))
        assert found == pytest.approx(expected, abs=case["expected"]["tolerance"])


def test_case_unjudged_is_outside_the_baseline(load_case):
    case = load_case("O033")
    rewards = case["input"]["group_rewards"]
    advantages = group_advantages(rewards)
    judged = [i for i, reward in enumerate(rewards) if reward is not None]
    assert len(judged) == case["expected"]["baseline_over"]
    for i in judged:
        assert rewards[i] - advantages[i] == pytest.approx(case["expected"]["mean"])
    assert advantages[rewards.index(None)] == case["expected"]["advantage_of_none"]


def test_case_idleness_is_not_rewarded(load_case):
    group = load_case("O034")["input"]["group"]
    advantages = group_advantages([rollout["reward"] for rollout in group])
    assert all(a <= 0.0 for a, rollout in zip(advantages, group, strict=True) if not rollout["acted"])


@given(st.lists(st.none() | st.floats(-1e6, 1e6), max_size=20))
def test_advantages_are_centred(rewards):
    advantages = group_advantages(rewards)
    assert len(advantages) == len(rewards)
    assert sum(advantages) == pytest.approx(0.0, abs=1e-6)
    assert all(a == 0.0 for a, reward in zip(advantages, rewards, strict=True) if reward is None)


def test_advantages_of_equal_rewards_are_exactly_zero():
    assert group_advantages([0.1] * 3) == [0.0] * 3
    assert group_advantages([math.nan, math.inf, None]) == [0.0] * 3
    assert group_advantages([]) == []
