"""Cohen's kappa against the one of scikit-learn and its closed form."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import cohen_kappa


PAIRED = st.lists(st.tuples(st.sampled_from("abt"), st.sampled_from("abt")), min_size=1, max_size=40)


@settings(deadline=None, max_examples=30)
@given(PAIRED)
def test_as_scikit_learn_has_it(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    if found is None:
        assert set(first) == set(second) and len(set(first)) == 1
        return
    assert math.isclose(found, metrics.cohen_kappa_score(first, second), abs_tol=1e-9)


@given(PAIRED)
def test_laws(pairs):
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    assert found == cohen_kappa(second, first)
    assert found is None or -1 <= found <= 1
    assert cohen_kappa(first, first) in (None, 1.0)


def test_edges():
    assert cohen_kappa([], []) is None
    assert cohen_kappa(["a", "a"], ["b", "b"]) == 0.0
    with pytest.raises(ConfigurationError, match="2 and 1"):
        cohen_kappa(["a", "b"], ["a"])
