"""Cohen's kappa against the one of scikit-learn and its closed form."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats import cohen_kappa
from whileai_hf.stats.agreement import kappa_of_table, krippendorff_alpha


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


def test_alpha_as_published():
    """Krippendorff's own example of four observers with values missing (2011, "Computing Krippendorff's alpha")."""
    observers = [
        (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
        (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
    ]
    items = [[value for value in item if value is not None] for item in zip(*observers, strict=True)]
    assert round(krippendorff_alpha(items), 3) == 0.743


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=4), max_size=12))
def test_alpha_from_all_pairs(items):
    """Observed and expected disagreement, pair by pair."""
    rated = [item for item in items if len(item) > 1]
    values = [value for item in rated for value in item]
    observed = sum(sum(a != b for a, b in permutations(item, 2)) / (len(item) - 1) for item in rated)
    expected = sum(a != b for a, b in permutations(values, 2))
    found = krippendorff_alpha(items)
    if not expected:
        assert found is None
        return
    n = len(values)
    assert math.isclose(found, 1 - (observed / n) / (expected / (n * (n - 1))), abs_tol=1e-9)


def test_kappa_of_a_table():
    metrics = pytest.importorskip("sklearn.metrics")
    assert kappa_of_table([[0, 0], [0, 0]]) is None
    assert kappa_of_table([[5, 0], [0, 0]]) is None
    table = [[30, 4], [7, 59]]
    first = [row for row in (0, 1) for column in (0, 1) for _ in range(table[row][column])]
    second = [column for row in (0, 1) for column in (0, 1) for _ in range(table[row][column])]
    assert math.isclose(kappa_of_table(table), metrics.cohen_kappa_score(first, second), abs_tol=1e-12)
    assert kappa_of_table([[10**12, 1], [1, 10**12]]) == pytest.approx(1, abs=1e-9)
    with pytest.raises(ConfigurationError, match="not square"):
        kappa_of_table([[1, 2, 3], [4, 5, 6]])
