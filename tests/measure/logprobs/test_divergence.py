"""KL from sampled tokens: both estimators, their intervals, and what may not be counted."""

import math

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.logprobs import mean_kl, stamp_kl
from whileai_hf.rows import open_rows
from whileai_hf.rows.schema import calibration_of


def sampled(p, q, n_rows, length, n_tasks, seed=0):
    """Rollouts of a policy whose every token comes from `p`, and what a reference with `q` says of them."""
    draws = np.random.default_rng(seed)
    rows = []
    for index in range(n_rows):
        tokens = draws.choice(len(p), size=draws.integers(1, length), p=p)
        own, other = np.log(p)[tokens], np.log(q)[tokens]
        rows.append(
            {
                "task_id": index % n_tasks,
                "logprob": float(own.sum()),
                "n_tokens": len(tokens),
                "token_logprobs": own.tolist(),
                "ref_logprob": float(other.sum()),
                "ref_n_tokens": len(tokens),
                "ref_token_logprobs": other.tolist(),
            }
        )
    return rows


P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
TRUE = float((P * np.log(P / Q)).sum())


def test_both_estimators_are_unbiased():
    found = mean_kl(sampled(P, Q, 3000, 30, 300))
    assert found.k1 == pytest.approx(TRUE, abs=0.01)
    assert found.k3 == pytest.approx(TRUE, abs=0.01)
    assert found.n_tokens == found.n_tokens_k3 and found.n_used == 3000
    assert (found.notes, found.warnings) == ([], [])
    assert found.k3_ci95[1] - found.k3_ci95[0] < found.k1_ci95[1] - found.k1_ci95[0]


def test_intervals_cover():
    hits = [
        [low <= TRUE <= high for low, high in (found.k1_ci95, found.k3_ci95)]
        for found in (mean_kl(sampled(P, Q, 120, 12, 40, seed)) for seed in range(120))
    ]
    assert np.mean(hits, axis=0) == pytest.approx(0.95, abs=0.06)


def test_arithmetic_by_hand():
    rows = [
        {"task_id": "a", "logprob": -3.0, "n_tokens": 2, "ref_logprob": -5.0, "token_logprobs": [-1.0, -2.0],
         "ref_token_logprobs": [-2.0, -3.0]},
        {"task_id": "a", "logprob": -1.0, "n_tokens": 2, "ref_logprob": -1.0},
        {"task_id": "b", "logprob": -4.0, "n_tokens": 4, "ref_logprob": -2.0},
    ]  # fmt: skip
    for data in (rows, open_rows(rows)):
        found = mean_kl(data)
        assert found.k1 == pytest.approx((2 + 0 - 2) / 8)
        assert found.by_task["a"] == {"n_rows": 2, "n_tokens": 4, "k1": 0.5, "k3": pytest.approx(math.exp(-1))}
        assert found.by_task["b"]["k1"] == -0.5 and found.by_task["b"]["k3"] is None
        assert found.n_tokens_k3 == 2
        # the spread between two tasks of a ratio, spelled out
        error = math.sqrt(2 * (2**2 + 2**2)) / 8
        assert found.k1_ci95 == pytest.approx((-1.96 * error, 1.96 * error), abs=1e-3)


@pytest.mark.parametrize(
    "bad",
    [
        {"logprob": math.nan},
        {"logprob": None},
        {"logprob": 2.0},
        {"logprob": -math.inf},
        {"ref_logprob": math.nan},
        {"ref_logprob": None},
        {"n_tokens": 0},
        {"n_tokens": None},
        {"logprob": "-1"},
    ],
)
def test_what_is_no_log_probability_is_left_out(bad):
    good = {"task_id": 1, "logprob": -2.0, "n_tokens": 2, "ref_logprob": -3.0}
    found = mean_kl([good, {**good, **bad}])
    assert (found.n_used, found.n_skipped, found.k1) == (1, 1, 0.5)
    assert "left out" in found.notes[0]


def test_other_tokens_are_no_comparison():
    good = {"task_id": 1, "logprob": -2.0, "n_tokens": 2, "ref_logprob": -3.0, "ref_n_tokens": 2}
    found = mean_kl([good, {**good, "ref_n_tokens": 3, "ref_logprob": -30.0}])
    assert (found.n_mismatched, found.k1) == (1, 0.5)
    assert any("other tokens" in note for note in found.notes)


def test_sums_on_steps():
    last = {"text": "y", "logprob": -1.0, "n_tokens": 3}
    steps = [{"tool": "t", "logprob": -1.0, "n_tokens": 1}, {"tool": "u"}, {"user": "x"}, last]
    assert mean_kl([{"task_id": 1, "steps": steps, "ref_logprob": -4.0}]).k1 == 0.5
    steps[3]["logprob"] = None  # a sum over some of the turns would pass for the whole
    assert mean_kl([{"task_id": 1, "steps": steps, "ref_logprob": -4.0}]).n_used == 0


def test_warnings():
    odd = [{"task_id": k, "logprob": -5.0 - k % 3 * 0.1, "n_tokens": 2, "ref_logprob": -3.0} for k in range(30)]
    assert "cannot be" in mean_kl(odd).warnings[0]
    warm = [{**row, "ref_logprob": -9.0, "sampling": {"temperature": 0.7}} for row in odd]
    assert "temperature 0.7" in mean_kl(warm).warnings[0]


def test_nothing_to_measure():
    found = mean_kl([{"task_id": 1, "logprob": None, "ref_logprob": None}])
    assert (found.k1, found.k1_ci95, found.k3, found.n_tokens) == (None, None, None, 0)
    assert found.to_dict()["by_task"] == {"1": {"n_rows": 0, "n_tokens": 0, "k1": None, "k3": None}}
    assert "n/a" in str(found)
    with pytest.raises(MissingColumnError, match="reference_logprobs"):
        mean_kl([{"task_id": 1, "logprob": -1.0}])
    with pytest.raises(MissingColumnError, match="scenario_id"):
        mean_kl([{"logprob": -1.0, "n_tokens": 1, "ref_logprob": -1.0}])
    with pytest.raises(DataError):
        mean_kl([])


def test_stamp_kl_writes_into_new_rows():
    rows = [
        {"task_id": "a", "logprob": -3.0, "n_tokens": 4, "ref_logprob": -5.0,
         "calibration": {"task_id": "a", "n": 8, "pass_rate": 0.5}},
        {"task_id": "a", "logprob": None, "n_tokens": None, "ref_logprob": None, "calibration": None},
        {"task_id": "b", "logprob": None, "n_tokens": None, "ref_logprob": None, "calibration": {"mean_kl": 7.0}},
    ]  # fmt: skip
    before = repr(rows)
    stamped = stamp_kl(rows)
    assert stamped["calibration"][0] == {"task_id": "a", "n": 8, "pass_rate": 0.5, "mean_kl": 0.5}
    assert stamped["calibration"][1]["mean_kl"] == 0.5
    assert stamped["calibration"][2]["mean_kl"] is None
    assert repr(rows) == before
    assert calibration_of(stamped[1]).n == 0
    assert stamp_kl(stamped)["calibration"][:] == stamped["calibration"][:]


def test_a_reference_is_the_name_of_a_column():
    rows = [{"task_id": 1, "logprob": -3.0, "ref_logprob": -5.0, "n_tokens": 4}]
    for call in (mean_kl, stamp_kl):
        for ref in (3, None, "", ["ref_logprob"]):
            with pytest.raises(ConfigurationError, match=r"ref=.* is no name of a column"):
                call(rows, ref=ref)
