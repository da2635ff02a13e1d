"""Coverage of log probabilities, reward against confidence, and staleness."""

import math

import numpy as np
import pytest

from whileai_hf.errors import DataError
from whileai_hf.measure.logprobs import logprob_report, staleness_report
from whileai_hf.measure.logprobs.confidence import correlate_within
from whileai_hf.measure.logprobs.staleness import same_model
from whileai_hf.rows import open_rows


def graded(n_asks=60, k=6, slope=0.0, difficulty=3.0, seed=0):
    draws = np.random.default_rng(seed)
    rows = []
    for ask in range(n_asks):
        base = draws.normal() * difficulty
        for _ in range(k):
            sure = draws.normal()
            rows.append(
                {
                    "prompt": f"ask {ask}",
                    "logprob": -200.0 + 10 * (sure + base),
                    "n_tokens": 10,
                    "reward": float(draws.normal() + slope * sure + base > 0),
                }
            )
    return rows


def test_coverage():
    rows = [
        {"prompt": "a", "logprob": -4.0, "n_tokens": 4, "token_logprobs": [-1.0] * 4, "finish_reason": "stop"},
        {"prompt": "a", "logprob": -2.0, "n_tokens": 1, "token_logprobs": None, "finish_reason": "length"},
        {"prompt": "b", "logprob": None, "n_tokens": None},
        {"prompt": "b", "logprob": math.nan, "n_tokens": 3},
        {"prompt": "b", "logprob": 1.0, "n_tokens": 3},
    ]
    found = logprob_report(rows)
    assert (found.n_rows, found.n_with_logprobs, found.coverage, found.n_with_token_logprobs) == (5, 2, 0.4, 1)
    assert (found.n_tokens, found.mean_token_logprob, found.n_truncated) == (5, -1.2, 1)
    assert found.n_broken == 2  # a list keeps the NaN that a Dataset would not
    assert found.reward_correlation is None and "not compared" in found.notes[1]
    assert "simulate(logprobs=True)" in found.warnings[0]
    assert logprob_report(open_rows(rows)).n_with_logprobs == 2


def test_difficulty_is_no_confidence():
    """Pooled, reward follows confidence strongly; within an ask it does not."""
    found = logprob_report(graded(slope=0.0))
    low, high = found.reward_correlation_ci95
    assert low < 0 < high and abs(found.reward_correlation) < 0.15
    assert not found.warnings
    tracked = logprob_report(graded(slope=3.0, difficulty=0.5))
    assert tracked.reward_correlation_ci95[0] > 0.3
    assert "follows the policy's confidence" in tracked.warnings[0]
    assert "reward and confidence" in str(tracked)


def test_interval_covers():
    truth = correlate_within(*_big()).value
    hits = []
    for seed in range(300):
        x, y, ask = _draw(40, seed)
        low, high = correlate_within(x, y, ask).ci95
        hits.append(low <= truth <= high)
    assert 0.915 <= np.mean(hits) <= 0.98


def _draw(n_asks, seed, k=5):
    draws = np.random.default_rng(seed)
    ask = np.repeat(np.arange(n_asks), k)
    x = draws.normal(size=ask.size) + draws.normal(size=n_asks)[ask]
    y = (0.5 * x + draws.normal(size=ask.size) + draws.normal(size=n_asks)[ask] > 0).astype(float)
    return x, y, ask


def _big():
    return _draw(40_000, 99)


def test_correlation_matches_numpy_and_ignores_flat_asks():
    x, y, ask = _draw(30, 1)
    centred = [v - np.array([v[ask == a].mean() for a in ask]) for v in (x, y)]
    found = correlate_within(x, y, ask)
    assert found.value == pytest.approx(np.corrcoef(*centred)[0, 1], abs=1e-12)
    more = (np.append(x, [0.3, 0.3]), np.append(y, [1.0, 1.0]), np.append(ask, [30, 30]))
    assert correlate_within(*more).value == pytest.approx(found.value, abs=1e-9)
    assert correlate_within(*more).n_asks == found.n_asks


def test_too_little_to_correlate():
    one = [{"prompt": "a", "logprob": -1.0 * k, "n_tokens": 1, "reward": k % 2} for k in range(1, 5)]
    found = logprob_report(one)
    assert found.reward_correlation is not None and found.reward_correlation_ci95 is None
    assert "10 are needed" in found.notes[0]
    with pytest.raises(DataError):
        logprob_report([])
    nothing = logprob_report([{"prompt": "a"}])
    assert (nothing.coverage, nothing.mean_token_logprob, nothing.row_mean_quantiles) == (0.0, None, None)


def test_staleness():
    sampled = {"logprob": -1.0, "n_tokens": 2, "policy_version": "v1", "sampling": {"temperature": 0.8}}
    rows = [
        {**sampled, "model_version": "Qwen/Qwen3-4B"},
        {**sampled, "model_version": "vllm:Qwen/Qwen3-4B@http://localhost:8000/v1"},
        {**sampled, "model_version": "Qwen/Qwen3-1.7B", "policy_version": "v0"},
        {"model_version": "Qwen/Qwen3-1.7B", "policy_version": "v0"},
        {**sampled, "model_version": "Qwen/Qwen3-1.7B", "policy_version": None},
        {"model_version": None, "policy_version": None},
    ]
    for data in (rows, open_rows(rows)):
        found = staleness_report(data, base_model="Qwen/Qwen3-4B")
        assert (found.n_stale, found.n_stale_usable, found.n_unknown) == (3, 1, 1)
        assert found.stale_share == pytest.approx(3 / 5)
        assert found.policy_versions == {"v1": 2, "v0": 2} and found.temperatures == {"0.8": 4}
        assert found.logprob_coverage == pytest.approx(4 / 6) and found.token_logprob_coverage == 0
        assert "2 policy versions" in found.warnings[0] and "2 of 3 stale rows" in found.warnings[1]
    unasked = staleness_report(rows)
    assert (unasked.n_stale, unasked.stale_share, unasked.n_stale_usable) == (None, None, None)
    assert "no base_model" in str(unasked)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("hf:Qwen/Qwen3-4B:novita", True),
        ("transformers:Qwen/Qwen3-4B", True),
        ("Qwen/Qwen3-4B-Base", False),
        ("vllm:Qwen/Qwen3-8B@http://localhost:1/v1", False),
        (None, False),
    ],
)
def test_names_of_one_model(name, same):
    assert same_model(name, "Qwen/Qwen3-4B") is same
