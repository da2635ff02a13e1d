"""What few differing tasks bound: against scipy's exact binomial intervals, and on the right side of zero."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from whileai_hf.measure.compare.scarcity import ENOUGH, scarcity
from whileai_hf.stats.signflip import sign_flip_test


@pytest.mark.parametrize(("n", "up", "down"), [(12, 0, 0), (12, 3, 1), (30, 0, 5), (7, 7, 0)])
def test_whole_differences_have_the_exact_binomial_bounds(n, up, down):
    few = scarcity(np.array([1.0] * up + [-1.0] * down + [0.0] * (n - up - down)), bounded=True)
    assert few.n_differ == up + down
    rise, fall = (stats.binomtest(count, n).proportion_ci(0.9) for count in (up, down))
    assert few.widen((0.0, 0.0), 0, 0.9) == pytest.approx((-fall.high, rise.high), abs=1e-9)
    if up and not down:
        assert few.widen((0.9, 0.9), 1, 0.9) == pytest.approx((min(0.9, rise.low), rise.high), abs=1e-9)
    for margin in (0.05, 0.3, 0.9):
        assert few.outside_p(margin) == pytest.approx(stats.binom.cdf(max(up, down), n, margin), abs=1e-9)
    assert few.outside_p(1.0) == 0.0


@given(st.lists(st.integers(-4, 4).map(lambda x: x / 4), min_size=6, max_size=14), st.sampled_from([0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_wider_never_across_zero_and_mirrored(values, level):
    few = scarcity(np.array(values), bounded=True)
    if few is None:
        assert np.count_nonzero(values) >= ENOUGH and np.ptp(values) > 0
        return
    test = sign_flip_test(values)
    side = int(np.sign(test.delta)) if test.rejects(level=level) else 0
    low, high = few.widen(test.interval(level), side, level)
    assert low <= test.interval(level)[0] <= test.interval(level)[1] <= high and low < high
    assert (low <= 0.0 <= high) == (side == 0)
    turned = scarcity(-np.array(values), bounded=True).widen(
        sign_flip_test([-v for v in values]).interval(level), -side, level
    )
    assert turned == pytest.approx((-high, -low), abs=1e-12)


def test_without_a_range_nothing_is_known_of_other_tasks():
    few = scarcity(np.zeros(20), bounded=False)
    assert few.widen((0.0, 0.0), 0, 0.95) == (0.0, 0.0)
    assert "no known range" in few.note("seconds")


def test_wide_differences_of_enough_tasks_are_left_alone():
    assert scarcity(np.linspace(-1, 1, 20), bounded=True) is None
    assert scarcity(np.full(20, 0.25), bounded=True).n_differ == 20
