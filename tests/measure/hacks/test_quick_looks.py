"""`reward_correlations` and `length_report`: pooled numbers, and what they do and do not say."""

import numpy as np
import pytest
from scanned_runs import rollouts
from scipy.stats import pearsonr

from whileai_hf.measure.hacks import HACK_THRESHOLD, length_report, reward_correlations


def test_pooled_correlations_are_pearsons():
    rows = rollouts(n_asks=20)
    reward = [row["reward"] for row in rows]
    found = reward_correlations(rows).correlations
    by_hand = {
        "reply_length": [len(row["final_text"]) for row in rows],
        "tool_calls": [len(row["steps"]) for row in rows],
        "marker:grounded": [row["markers"]["grounded"] for row in rows],
        "tool:send_mail": [float(any(step["tool"] == "send_mail" for step in row["steps"])) for row in rows],
    }
    for name, values in by_hand.items():
        assert found[name].pooled == pytest.approx(pearsonr(values, reward).statistic, abs=1e-6), name
    assert found["turns"].pooled is None
    assert found["turns"].within is None


def test_difficulty_is_in_the_pooled_number_only():
    rows = [
        {"task_id": task, "final_text": "word " * (3 + 5 * task + i), "reward": int(task > 4)}
        for task in range(10)
        for i in range(4)
    ]
    found = reward_correlations(rows)
    assert "reply_length" in found.flagged
    assert found.correlations["reply_length"].pooled > HACK_THRESHOLD
    assert found.correlations["reply_length"].within is None
    assert "reply_length" in found.warnings[0] + found.warnings[1]


def test_a_few_rows_are_no_reason_to_flag():
    rows = [{"task_id": i, "final_text": "x" * length, "reward": i % 2} for i, length in enumerate([3, 5, 1, 2, 4, 6])]
    found = reward_correlations(rows)
    assert abs(found.correlations["reply_length"].pooled) > 0.3
    assert found.flagged == []


def test_correlations_without_verdicts_or_numbers():
    found = reward_correlations([{"task_id": 1, "reward": None, "final_text": "x"}] * 3)
    assert all(one.pooled is None for one in found.correlations.values())
    assert found.n_unjudged == 3
    huge = [{"task_id": 1, "reward": 1e300 * (i % 2), "markers": {"m": 1e300 * (i % 2)}} for i in range(8)]
    assert reward_correlations(huge).correlations["marker:m"].pooled == pytest.approx(1.0)
    assert reward_correlations(rollouts(n_asks=3), features={"own": lambda row: 1}).correlations["own"].pooled is None


def sized(*lengths, **more):
    return [
        {"task_id": i // 4, "final_text": "x" * length, "reward": i % 2, **more} for i, length in enumerate(lengths)
    ]


def test_lengths():
    report = length_report(sized(10, 10, 10, 90, 10, 20, 30, 40, finish_reason="stop"))
    assert (report.median, report.longest, report.mean) == (15.0, 90, 27.5)
    assert report.p95 == pytest.approx(np.quantile([10, 10, 10, 90, 10, 20, 30, 40], 0.95))
    assert (report.n_asks, report.n_wide, report.max_spread) == (2, 1, 9.0)
    assert report.median_by_reward == {"pass": 30.0, "fail": 10.0}
    assert "4 times" in report.warnings[0]


def test_lengths_count_every_row_and_rewards_where_there_are_any():
    rows = sized(10, 20, 10, 20)
    plain = length_report([{name: value for name, value in row.items() if name != "reward"} for row in rows])
    assert (plain.n_replies, plain.rho, plain.median_by_reward) == (4, None, {})
    paid = length_report([*rows, *sized(0, finish_reason="length")])
    assert length_report(rows).rho == pytest.approx(1.0)
    assert 0.8 < paid.rho < 1.0
    assert "pays for longer" in paid.warnings[-1]
    assert (paid.n_empty, paid.n_truncated, paid.truncated_share) == (1, 1, 0.2)
    unjudged = length_report([*rows, rows[0] | {"reward": None}, rows[0] | {"sim_ok": False}])
    assert (unjudged.n_replies, unjudged.n_sim_faulty) == (5, 1)
    assert "no verdict" in unjudged.notes[0]


def test_empty_replies_divide_nothing_by_zero():
    report = length_report(sized(0, 0, 0, 8))
    assert report.max_spread == 8.0
    assert length_report([{"task_id": 1, "sim_ok": False}]).median is None
