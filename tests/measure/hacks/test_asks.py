"""Laying rows out by ask changes nothing but their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.measure.hacks.asks import lay_out
from whileai_hf.measure.hacks.products import row_products


def by_hand(values, groups):
    out = np.empty(len(values))
    for group in set(groups.tolist()):
        which = groups == group
        part = values[which]
        out[which] = np.where(np.isnan(part), 0.0, part - (np.nanmean(part) if (~np.isnan(part)).any() else 0.0))
    return out


pools = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0, -3.0]), st.booleans()), min_size=1, max_size=60
)


@given(pools)
@settings(max_examples=80, deadline=None)
def test_centring_and_spreads_are_those_of_each_ask(rows):
    groups, rewards, bits = (np.array(column) for column in zip(*rows, strict=True))
    asks = lay_out(groups, rewards)
    assert sorted(asks.order.tolist()) == list(range(len(rows)))
    values = np.where(bits, rewards, np.nan)
    assert asks.centred(values[asks.order]) == pytest.approx(by_hand(values, groups)[asks.order])
    apart = by_hand(rewards, groups)[asks.order]
    assert asks.reward == pytest.approx(apart / (np.abs(apart).max() or 1.0))
    feature = bits.astype(np.uint8)
    spread = np.sqrt((by_hand(feature.astype(float), groups) ** 2).sum())
    assert asks.spreads(feature[asks.order][None])[0] == pytest.approx(spread, abs=1e-4)
    assert not asks.reward[asks.n_mixed_rows :].any()


@given(pools, st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_a_shuffle_keeps_the_rewards_of_every_mixed_ask(rows, seed):
    groups, rewards, _ = (np.array(column) for column in zip(*rows, strict=True))
    asks = lay_out(groups, rewards)
    drawn = asks.shuffles(3, np.random.default_rng(seed))
    at = groups[asks.order][: asks.n_mixed_rows]
    for group in set(at.tolist()):
        for one in drawn[:, at == group]:
            assert np.sort(one) == pytest.approx(np.sort(asks.reward[: asks.n_mixed_rows][at == group]), abs=1e-6)


@pytest.mark.parametrize("size", [3, 4, 70])
def test_every_place_is_as_likely(size):
    """Fisher and Yates for small asks, numpy's own for large ones: where the one success goes is uniform."""
    rewards = np.zeros(size)
    rewards[0] = 1.0
    drawn = lay_out(np.zeros(size, np.int64), rewards).shuffles(4000, np.random.default_rng(1))
    counts = np.bincount(drawn.argmax(axis=1), minlength=size)
    expected = 4000 / size
    assert ((counts - expected) ** 2 / expected).sum() < 1.6 * size + 12


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 5), (12, 12, 2500), (40, 70, 1000), (0, 3, 4), (3, 2, 0)])
def test_products_in_pieces_are_products(m, k, n):
    random = np.random.default_rng(0)
    left, right = random.normal(size=(m, n)), random.normal(size=(k, n))
    assert row_products(left, right) == pytest.approx(left @ right.T)
