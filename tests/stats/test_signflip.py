"""The sign-flip test: against scipy's exact enumeration, and the interval that cannot contradict the p-value."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.signflip import EXACT_PAIRS, sign_flip_rejections, sign_flip_test


quarters = st.integers(-4, 4).map(lambda x: x / 4)
thirds = st.integers(-3, 3).map(lambda x: x / 3)
differences = st.lists(st.one_of(quarters, thirds, st.floats(-2, 2, allow_subnormal=False)), min_size=1, max_size=12)


def enumerated(values, shift=0.0):
    """The p-value by its definition: the share of sign patterns at least as far from the shift."""
    moved = [value - shift for value in values]
    seen = abs(sum(moved))
    flips = [
        abs(sum(s * v for s, v in zip(signs, moved, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(moved))
    ]
    return sum(flip >= seen - 1e-9 for flip in flips) / len(flips)


@pytest.mark.parametrize("n", [2, 5, 6, 9, 11])
@pytest.mark.parametrize("kind", ["quarters", "reals", "lopsided"])
def test_scipy_with_all_patterns(n, kind):
    generator = np.random.default_rng(n)
    for _ in range(4):
        values = {
            "quarters": generator.integers(-4, 5, n) / 4,
            "reals": generator.normal(0.3, 1.0, n),
            "lopsided": generator.exponential(1.0, n) - 0.2,
        }[kind]
        theirs = stats.permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
        )
        test = sign_flip_test(values)
        assert test.exact
        assert test.p_value() == pytest.approx(min(1.0, theirs.pvalue), abs=1e-9)
        assert test.delta == pytest.approx(values.mean(), abs=1e-9)


@given(st.lists(quarters, min_size=2, max_size=7), quarters)
@settings(max_examples=40, deadline=None)
def test_every_shift_has_the_p_value_of_its_definition(values, shift):
    assert sign_flip_test(values).p_value(shift) == pytest.approx(enumerated(values, shift), abs=1e-12)


@given(differences, st.sampled_from([0.8, 0.9, 0.95, 0.99]), st.floats(-2, 2))
@settings(max_examples=200, deadline=None)
def test_interval_and_p_value_agree_at_any_shift(values, level, shift):
    test = sign_flip_test(values)
    interval = test.interval(level)
    for at in (0.0, shift, test.delta, *(interval or ())):
        inside = interval is None or interval[0] <= at <= interval[1]
        near_an_end = interval is not None and min(abs(at - interval[0]), abs(at - interval[1])) < 1e-11
        if not near_an_end or at == 0.0:
            assert test.rejects(at, level) == (not inside)
        assert test.rejects(at, level) == (test.p_value(at) <= round(1 - level, 9))


@pytest.mark.parametrize("n", [17, 40, 200, 3000])
def test_drawn_patterns_agree_with_themselves_and_with_the_t_test(n):
    generator = np.random.default_rng(n)
    for shift in (0.0, 0.05, 0.1, 0.2):
        for values in (generator.normal(shift, 0.5, n), generator.integers(-4, 5, n) / 4 + shift):
            test = sign_flip_test(values)
            low, high = test.interval()
            assert not test.exact
            assert test.rejects() == (not low <= 0.0 <= high) == (test.p_value() <= 0.05)
            theirs = stats.ttest_1samp(values, 0.0)
            assert test.p_value() == pytest.approx(theirs.pvalue, abs=0.03 if n > 100 else 0.1)
            near = theirs.confidence_interval()
            assert (low, high) == pytest.approx((near.low, near.high), abs=0.08 * (near.high - near.low))


@given(differences, st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_order_does_not_matter_and_signs_turn_the_interval(values, seed):
    values = values * 3 if seed % 2 else values  # beyond the exact range, too
    one, shuffled = sign_flip_test(values), sign_flip_test(np.random.default_rng(seed).permutation(values))
    assert one.p_value() == shuffled.p_value()
    assert one.interval() == shuffled.interval()
    turned = sign_flip_test([-value for value in values])
    assert turned.p_value() == one.p_value()
    interval = one.interval()
    if interval is not None:
        assert turned.interval() == (-interval[1], -interval[0])


def test_six_is_the_fewest_that_can_reject():
    assert sign_flip_test([1.0] * 5).p_value() == 2 / 2**5
    assert sign_flip_test([1.0, 2.0, 3.0, 4.0, 5.0]).interval() is None
    six = sign_flip_test([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert six.p_value() == 2 / 2**6
    assert six.interval() == (1.0, 6.0)


def test_the_observed_pattern_is_counted_among_the_drawn_ones():
    test = sign_flip_test(np.arange(1.0, 61.0), draws=99)
    assert test.patterns == 100
    assert test.p_value() == 1 / 100


def test_rounding_does_not_split_ties():
    # 0.1 + 0.2 is not 0.3 in floating point; the pattern that flips all three is a tie with zero difference.
    values = [0.1, 0.2, -0.3, 0.1, 0.2, -0.3]
    assert sign_flip_test(values).p_value() == 1.0
    assert sign_flip_test(values).delta == 0.0
    assert sign_flip_test([1 / 3] * 3 + [-1 / 3] * 3 + [1 / 3]).p_value() == enumerated([1] * 3 + [-1] * 3 + [1])


def test_no_difference_at_all():
    test = sign_flip_test(np.zeros(30))
    assert test.p_value() == 1.0
    assert test.interval() == (0.0, 0.0)
    assert sign_flip_test(np.zeros(4)).p_value() == 1.0


def test_what_is_no_number_is_left_out():
    assert sign_flip_test([1.0, np.nan, 2.0, np.inf]).n == 2
    with pytest.raises(ConfigurationError, match="no difference to test"):
        sign_flip_test([np.nan])
    with pytest.raises(ConfigurationError, match="draws=0"):
        sign_flip_test([1.0], draws=0)


@given(st.lists(quarters, min_size=6, max_size=12), st.sampled_from([0.05, 0.2, 0.5, 1.0]))
@settings(max_examples=80, deadline=None)
def test_equivalence_is_the_ninety_percent_interval_within_the_margin(values, margin):
    test = sign_flip_test(values)
    low, high = test.interval(0.90)
    assert (test.equivalence_p(margin) <= 0.05) == (-margin < low and high < margin)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_many_samples_at_once_are_the_single_test(n):
    samples = np.random.default_rng(n).integers(-3, 5, (300, n)) / 4
    assert sign_flip_rejections(samples).tolist() == [sign_flip_test(sample).rejects() for sample in samples]


@pytest.mark.parametrize("n", [30, 2100])
def test_many_samples_of_many_differences(n):
    samples = np.random.default_rng(n).normal(2.2 / np.sqrt(n), 1.0, (12, n))
    found = sign_flip_rejections(samples)
    p_values = np.array([sign_flip_test(sample).p_value() for sample in samples])
    sure = np.abs(p_values - 0.05) > 0.02
    assert np.array_equal(found[sure], p_values[sure] <= 0.05)


def test_large_samples_stay_cheap():
    values = np.random.default_rng(0).normal(0.01, 1.0, 200_000)
    test = sign_flip_test(values)
    near = stats.ttest_1samp(values, 0.0).confidence_interval()
    assert test.interval() == pytest.approx((near.low, near.high), abs=0.1 * (near.high - near.low))
    assert EXACT_PAIRS < 20
