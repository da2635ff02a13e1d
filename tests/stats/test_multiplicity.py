"""Benjamini-Hochberg against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.multiplicity import benjamini_hochberg


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_scipy(p_values):
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values), abs=1e-9)


def test_what_was_not_tested_counts_as_no_test():
    found = benjamini_hochberg([0.01, np.nan, 0.04])
    assert np.isnan(found[1])
    assert found[[0, 2]] == pytest.approx(stats.false_discovery_control([0.01, 0.04]))
    assert benjamini_hochberg([]).size == 0


def test_no_p_value():
    with pytest.raises(ConfigurationError, match="outside 0 to 1"):
        benjamini_hochberg([0.2, 1.2])
