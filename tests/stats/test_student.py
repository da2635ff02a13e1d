"""Student's t and Welch's interval against scipy."""

import numpy as np
import pytest
from scipy import stats

from whileai_hf.stats.student import t_quantile, welch_interval


@pytest.mark.parametrize("df", [1, 2, 4, 7.3, 30, 1000])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_quantiles(df, level):
    assert t_quantile(df, level) == pytest.approx(stats.t.ppf(0.5 + level / 2, df), rel=1e-9)


def test_welch():
    generator = np.random.default_rng(0)
    a, b = generator.normal(0, 1, 12), generator.normal(1, 3, 30)
    theirs = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.9)
    assert welch_interval(a, b, 0.9) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_welch_of_almost_nothing():
    assert welch_interval([1.0], [0.0, 1.0]) is None
    assert welch_interval([1.0, 1.0], [0.5, 0.5]) == (-0.5, -0.5)
