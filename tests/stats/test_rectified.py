"""Rates with the judge's mistakes taken out: closed forms, enumeration, scipy, and coverage on real judgments."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.rectified import Precision, ppi_mean, rogan_gladen, t_quantile


BITS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=30)


@pytest.mark.parametrize("freedom", [1, 2, 9, 59, 1000, 100_000])
def test_students_t(freedom):
    scipy = pytest.importorskip("scipy.stats")
    for tail in (0.05, 0.025, 0.005):
        assert math.isclose(t_quantile(tail, freedom), scipy.t.ppf(1 - tail, freedom), rel_tol=1e-9)


def by_hand(y, f, g):
    """PPI++ for a mean as in the paper: the weight of its equation (6), clipped, and the two variances."""
    n, m = len(y), len(g)
    pooled = ((f - f.mean()) @ (f - f.mean())) / n**2 + ((g - g.mean()) @ (g - g.mean())) / m**2
    weight = np.clip(((y - y.mean()) @ (f - f.mean())) / n**2 / pooled, 0, 1) if pooled else 0.0
    residual = y - weight * f
    variance = np.sum((residual - residual.mean()) ** 2) / n**2 + weight**2 * np.sum((g - g.mean()) ** 2) / m**2
    variance *= n / (n - 1)
    return weight * g.mean() + residual.mean(), weight, math.sqrt((variance * n**2 + 2) / (n + 2) ** 2)


@settings(deadline=None, max_examples=60)
@given(BITS, st.lists(st.booleans(), min_size=1, max_size=40))
def test_as_the_paper_has_it(pairs, others):
    y, f = (np.array(values, float) for values in zip(*pairs, strict=True))
    g = np.array(others, float)
    value, weight, error = by_hand(y, f, g)
    found = ppi_mean(y, f, g)
    assert math.isclose(found.weight, weight, abs_tol=1e-12)
    assert math.isclose(found.value, min(1, max(0, value)), abs_tol=1e-12)
    assert math.isclose(found.standard_error, error, rel_tol=1e-12)
    assert 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1
    assert found.units == len(y)


@settings(deadline=None, max_examples=30)
@given(BITS, st.lists(st.booleans(), min_size=1, max_size=20), st.integers(2, 4))
def test_copies_of_a_row_in_one_task_are_no_evidence(pairs, others, times):
    """Clustered by task, every row said several times over gives the same estimate and nearly the same spread."""
    y, f = (np.array(values, float) for values in zip(*pairs, strict=True))
    g = np.array(others, float)
    units, more = np.arange(len(y)), np.arange(len(y), len(y) + len(g))
    once = ppi_mean(y, f, g, units=units, other_units=more)
    often = ppi_mean(
        *(np.repeat(v, times) for v in (y, f, g)), units=np.repeat(units, times), other_units=np.repeat(more, times)
    )
    assert math.isclose(once.value, often.value, abs_tol=1e-12) and math.isclose(
        once.weight, often.weight, abs_tol=1e-9
    )
    plain = ppi_mean(y, f, g)
    assert math.isclose(plain.standard_error, once.standard_error, rel_tol=1e-12)
    # Only the two pseudo rows weigh less among more rows.
    n = len(y)
    clean = once.standard_error**2 * (n + 2) ** 2 - 2
    assert math.isclose(
        often.standard_error**2 * (n * times + 2) ** 2 - 2, clean * times**2, rel_tol=1e-6, abs_tol=1e-6
    )


def test_tasks_that_hang_together_widen_the_interval():
    generator = np.random.default_rng(0)
    task = np.repeat(np.arange(30), 4)
    y = np.repeat(generator.random(30) < 0.5, 4).astype(float)
    f = np.where(generator.random(120) < 0.8, y, 1 - y)
    g, others = np.ones(8), np.repeat([0, 1], 4)
    assert ppi_mean(y, f, g, units=task, other_units=others).standard_error > 1.5 * ppi_mean(y, f, g).standard_error


def test_whole_tasks_labelled_are_covered_when_clustered():
    """15 tasks of 4 rollouts each labelled out of 100; the judge passes every rollout of some tasks."""
    generator, held = np.random.default_rng(0), {"by task": 0, "by row": 0}
    unit = np.repeat(np.arange(100), 4)
    for _ in range(300):
        rate = np.repeat(generator.beta(0.4, 0.4, 100), 4)
        y = (generator.random(400) < rate).astype(float)
        wrong = np.repeat(generator.random(100) < 0.2, 4)
        f = np.where(wrong, 1.0, np.where(generator.random(400) < 0.9, y, 1 - y))
        drawn = np.isin(unit, generator.permutation(100)[:15])
        arrays = y[drawn], f[drawn], f[~drawn]
        for name, more in (("by task", {"units": unit[drawn], "other_units": unit[~drawn]}), ("by row", {})):
            low, high = ppi_mean(*arrays, **more).interval
            held[name] += low <= 0.5 <= high
    assert held["by task"] >= 0.9 * 300 and held["by row"] < 0.85 * 300


def test_a_judge_that_is_always_right_and_one_that_says_nothing():
    y = np.array([1.0, 0] * 30)
    g = np.array([1.0, 1, 1, 0] * 250)
    right, useless = ppi_mean(y, y, g), ppi_mean(y, np.ones(60), np.ones(1000))
    assert right.weight > 0.9 and math.isclose(right.value, 0.5 + right.weight * 0.25)
    assert useless.weight == 0 and useless.value == 0.5
    assert right.standard_error < useless.standard_error
    contrary = ppi_mean(y, 1 - y, g)
    assert contrary.weight == 0  # clipped: a judge that is always wrong is not believed the other way round
    alone = ppi_mean(y, y, [])
    assert (alone.value, alone.weight) == (0.5, 0.0)


def test_edges():
    assert ppi_mean([1, 0], [1, 1], [1]) is None
    assert ppi_mean([1, 0, 1, 1], [1, 1, 1, 1], [1], units=["a", "a", "b", "b"], other_units=["c"]) is None
    with pytest.raises(ConfigurationError, match="3 labels and 2"):
        ppi_mean([1, 0, 1], [1, 1], [1])
    with pytest.raises(ConfigurationError, match="finite"):
        ppi_mean([1, 0, math.nan], [1, 1, 0], [1])
    with pytest.raises(ConfigurationError, match="go together"):
        ppi_mean([1, 0, 1], [1, 1, 0], [1], units=[1, 2, 3])
    with pytest.raises(ConfigurationError, match="confidence level"):
        ppi_mean([1, 0, 1], [1, 1, 0], [1], level=95)


def test_rogan_gladen_is_the_inverse_of_judging():
    """A true rate sent through a judge of known sensitivity and specificity comes back."""
    for rate, se, sp in itertools.product((0, 20, 50, 95, 100), (60, 90, 100), (55, 80, 100)):
        passes = rate * se + (100 - rate) * (100 - sp)
        value, (low, high) = rogan_gladen(passes, 10_000, (se, 100), (sp, 100))
        assert math.isclose(value, rate / 100, abs_tol=1e-9)
        assert low <= value <= high


def test_rogan_gladen_interval_as_published_formula():
    z = 1.959963984540054
    n, k, se_k, se_n, sp_k, sp_n = 500, 180, 45, 50, 70, 80
    p, m = (k + z * z / 2) / (n + z * z), n + z * z
    se, sp = (se_k + 1) / (se_n + 2), (sp_k + 1) / (sp_n + 2)
    theta = (p + sp - 1) / (se + sp - 1)
    error = math.sqrt(
        p * (1 - p) / m + theta**2 * se * (1 - se) / (se_n + 2) + (1 - theta) ** 2 * sp * (1 - sp) / (sp_n + 2)
    ) / (se + sp - 1)
    shift = 2 * z * z * (theta * se * (1 - se) / (se_n + 2) - (1 - theta) * sp * (1 - sp) / (sp_n + 2))
    _, (low, high) = rogan_gladen(k, n, (se_k, se_n), (sp_k, sp_n))
    assert (low, high) == pytest.approx((theta + shift - z * error, theta + shift + z * error), abs=1e-12)


def test_rogan_gladen_says_nothing_where_nothing_follows():
    assert rogan_gladen(5, 10, (0, 0), (3, 4)) is None
    assert rogan_gladen(5, 10, (3, 4), (0, 0)) is None
    assert rogan_gladen(5, 10, (1, 2), (1, 2)) is None
    assert rogan_gladen(0, 0, (1, 1), (1, 1)) is None
    with pytest.raises(ConfigurationError, match="11 of 10"):
        rogan_gladen(11, 10, (1, 1), (1, 1))


def test_precision_planned_is_precision_got():
    """What [`Precision`] promises is what the interval has, on average."""
    generator = np.random.default_rng(3)
    for agree, base in ((0.9, 0.5), (0.75, 0.3)):
        widths, spreads, ties = [], [], []
        for _ in range(300):
            y = (generator.random(1000) < base).astype(float)
            f = np.where(generator.random(1000) < agree, y, 1 - y)
            low, high = ppi_mean(y[:80], f[:80], f[80:]).interval
            widths.append((high - low) / 2)
            spreads.append(y.std())
            ties.append(np.corrcoef(y, f)[0, 1])
        planned = Precision(np.mean(spreads), np.mean(ties), 1000)
        assert planned.half_width(80) == pytest.approx(np.mean(widths), rel=0.05)


def test_labels_for():
    plan = Precision(0.5, 0.7, 2000)
    needed = plan.labels_for(0.08)
    assert plan.half_width(needed) <= 0.08 < plan.half_width(needed - 1)
    assert needed < Precision(0.5, 0.0, 2000).labels_for(0.08)
    assert plan.labels_for(0.001) is None
    assert Precision(0.5, 0.7, 2).labels_for(0.5) is None
    assert plan.labels_for(1.0) >= 3
