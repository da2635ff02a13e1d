"""Arguments that many reports take: what is one passes as a plain number, anything else is one sentence."""

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.knobs import check_column, check_count, check_seed, check_threshold


@pytest.mark.parametrize("threshold", [1, 0.5, np.float32(0.5), np.int64(1), -1])
def test_thresholds(threshold):
    assert check_threshold(threshold) == threshold and type(check_threshold(threshold)) is float


@pytest.mark.parametrize("threshold", ["x", None, True, np.nan, float("inf"), [1]])
def test_no_thresholds(threshold):
    with pytest.raises(ConfigurationError, match="is no reward"):
        check_threshold(threshold)


def test_seeds_counts_and_columns():
    assert type(check_seed(np.int64(3))) is int and type(check_count("n", np.int32(0))) is int
    assert check_column("ref", "a") == "a"
    for call in (
        lambda: check_seed(-1),
        lambda: check_seed(1.0),
        lambda: check_count("n", 0, 1),
        lambda: check_count("n", False),
        lambda: check_column("ref", b"a"),
    ):
        with pytest.raises(ConfigurationError, match="is no"):
            call()
