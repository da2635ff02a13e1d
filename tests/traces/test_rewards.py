"""Weights of reward functions, read off the advantages that TRL logs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.traces.rewards import centred, find_weights, numbers_of, reward_columns, total


K = 6


def advantages(values, weights, scale):
    """What `GRPOTrainer` makes of rewards, one group after the other (`sum_then_normalize`)."""
    totals = total(values, weights).reshape(-1, K)
    out = totals - np.nanmean(totals, axis=1, keepdims=True)
    if scale == "group":
        out = out / (np.nanstd(totals, axis=1, ddof=1, keepdims=True) + 1e-4)
    elif scale == "batch":
        out = out / (np.nanstd(totals, ddof=1) + 1e-4)
    return np.nan_to_num(out).ravel().astype(np.float32).astype(np.float64)


def groups_of(n):
    return np.repeat(np.arange(n), K)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([1.0, 0.5, 0.25, 0.0, -0.5, 2.0]), min_size=2, max_size=4).filter(any),
    st.sampled_from(["group", "batch", "none"]),
    st.integers(0, 99),
)
def test_totals_rank_rollouts_as_the_advantages_do(weights, scale, seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(20 * K, len(weights))) * [1.0, 10.0, 0.1, 3.0][: len(weights)]
    wanted = advantages(values, weights, scale)
    found = find_weights(values, "abcd"[: len(weights)], groups_of(20), wanted)
    assert found.origin in ("summed", "recovered")
    ours = np.array(list(found.by_name.values()))
    assert np.allclose(ours / np.abs(ours).max(), np.array(weights) / np.abs(weights).max(), atol=2e-3)


def test_a_small_weight_on_a_large_number_is_a_weight():
    generator = np.random.default_rng(3)
    values = np.column_stack([generator.integers(0, 2, 40 * K), generator.integers(0, 2000, 40 * K)]).astype(float)
    found = find_weights(values, ["right", "length"], groups_of(40), advantages(values, [1.0, -0.0005], "group"))
    assert found.by_name == pytest.approx({"right": 1.0, "length": -0.0005}, rel=0.01)


def test_equal_weights_need_no_fit_and_side_columns_have_none():
    generator = np.random.default_rng(0)
    paid = generator.integers(0, 2, size=(10 * K, 2)).astype(float)
    logged = np.column_stack([paid, -paid[:, 0] * 7.0])  # a side column that says the same as a function
    found = find_weights(logged, ["right", "format", "side"], groups_of(10), advantages(paid, [1, 1], "group"))
    assert found.origin == "summed"
    assert found.by_name == {"right": 1.0, "format": 1.0, "side": 0.0}


def test_a_function_that_gave_nothing_adds_nothing():
    generator = np.random.default_rng(1)
    values = generator.normal(size=(20 * K, 2))
    values[::3, 1] = np.nan
    values[5] = np.nan
    found = find_weights(values, ["a", "b"], groups_of(20), advantages(values, [1.0, 0.3], "group"))
    assert found.by_name == pytest.approx({"a": 1.0, "b": 0.3}, abs=2e-3)


def test_advantages_that_are_no_total_are_said_to_be_none():
    generator = np.random.default_rng(2)
    values = generator.normal(size=(20 * K, 2)) * [1.0, 10.0]
    parts = centred(values, groups_of(20)).reshape(20, K, 2)
    normalised = (parts / parts.std(axis=1, keepdims=True)).sum(axis=2).ravel()
    assert find_weights(values, ["a", "b"], groups_of(20), normalised).origin == "contradicted"


def test_without_advantages_nothing_is_confirmed():
    found = find_weights(np.eye(2), ["a", "b"], np.zeros(2, np.int64), None)
    assert (found.origin, found.by_name) == ("unconfirmed", {"a": 1.0, "b": 1.0})


@pytest.mark.parametrize("cells", [["1", 2], [None, None], [[1.0]], [{}], []])
def test_no_numbers(cells):
    assert numbers_of(cells) is None


def test_numbers_know_no_verdict_from_zero():
    assert np.isnan(numbers_of([1, None, float("nan"), float("inf"), True])).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert numbers_of([1 << 4000]) is None


def test_reward_columns_by_place_and_by_name():
    one = np.ones(2)
    numbers = {"step": one, "right": one, "note_len": one, "advantage": one}
    order = ["step", "prompt", "completion", "right", "note", "note_len", "advantage"]
    assert reward_columns(numbers, order, None) == ["right", "note_len"]
    assert reward_columns({"reward_x": one, "n": one, "reward": one}, ["reward_x", "n", "reward"], None) == [
        "reward_x"
    ]
