"""What the reports count, and when they warn."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from whileai_hf.markers.style import refusal_report, style_markers, style_report
from whileai_hf.markers.style.paying import holm, numbered, payment
from whileai_hf.stats import wilson


def rows_of(pairs: list[tuple[str, float | None]], k: int = 4) -> list[dict]:
    return [
        {
            "scenario_id": f"sc-{i // k}",
            "rollout_index": i % k,
            "prompt": f"Ask {i // k}",
            "final_text": text,
            "reward": r,
        }
        for i, (text, r) in enumerate(pairs)
    ]


def test_hits_rates_and_examples() -> None:
    texts = ["I think it shipped.", "It shipped.", "It shipped. So sorry!", ""]
    report = style_report(rows_of([(text, None) for text in texts]))
    hedging = report["markers"]["no_hedging"]
    assert (hedging["hits"], hedging["n"], hedging["ci95"]) == (1, 3, wilson(1, 3))
    assert hedging["examples"] == [
        {"row": 0, "scenario_id": "sc-0", "rollout_index": 0, "fragment": "I think it shipped."}
    ]
    assert report["markers"]["answered"]["hits"] == 1 and report["markers"]["answered"]["n"] == 4
    assert (report.n_rows, report.n_replies, report.n_without_reply) == (4, 3, 1)
    assert report.warnings == [] and "no row has a reward" in report.notes[0]
    assert hedging["correlation"] is hedging["correlation_pooled"] is hedging["p_value"] is None


def test_the_report_and_the_markers_agree() -> None:
    rows = rows_of([(text, 1.0) for text in ("Certainly! It shipped.", "It shipped.", "I can't do that.", "Sorry!")])
    marked = style_markers(rows)["markers"][:]
    for name, found in style_report(rows)["markers"].items():
        assert found["hits"] == sum(1 for markers in marked if markers[name] == 0.0)


def test_a_reward_that_pays_for_hedging_is_named_and_noise_is_not() -> None:
    draws = random.Random(0)
    texts = ["I think it shipped.", "It shipped on Monday."]
    paid, noise = [], []
    for _ in range(240):
        hedged = draws.random() < 0.5
        paid.append((texts[not hedged], float(draws.random() < (0.8 if hedged else 0.3))))
        noise.append((texts[not hedged], float(draws.random() < 0.5)))
    report = style_report(rows_of(paid))
    found = report["markers"]["no_hedging"]
    assert report["warnings"] == [f"reward pays for hedging (corr {found['correlation']:+.2f} within tasks, 240 rows)"]
    assert found["correlation"] > 0.3 and "warning: reward pays for hedging" in str(report)
    assert style_report(rows_of(noise))["warnings"] == []


def test_a_tic_that_only_marks_hard_tasks_is_no_payment() -> None:
    # Easy tasks are hedged and rewarded, hard ones neither: the judge need not look at the hedge at all.
    pairs = [("I think it shipped.", 1.0)] * 80 + [("It shipped on Monday.", 0.0)] * 80
    mixed = [
        ("I think it shipped.", 1.0),
        ("I think it shipped.", 0.0),
        ("It shipped.", 1.0),
        ("It shipped.", 0.0),
    ] * 10
    found = style_report(rows_of(pairs + mixed))["markers"]["no_hedging"]
    assert found["correlation_pooled"] > 0.5 and found["correlation"] == pytest.approx(0.0) and not found["pays"]


def test_false_warnings_stay_below_their_level() -> None:
    texts = ["I think it shipped.", "Certainly! It shipped.", "So sorry, it shipped.", "Great question! It shipped."]
    wrong = 0
    for seed in range(60):
        draws = random.Random(seed)
        pairs = [(draws.choice([*texts, "It shipped."]), float(draws.random() < 0.5)) for _ in range(80)]
        wrong += bool(style_report(rows_of(pairs)).warnings)
    assert wrong <= 8  # 5 % of 60 is 3; nine or more has a chance below 1 in 200


def test_correlations_are_those_of_numpy() -> None:
    draws = np.random.default_rng(1)
    tic, reward = draws.integers(0, 2, 60).astype(float), draws.random(60)
    groups = np.repeat(np.arange(15), 4)
    found = payment(tic.tolist(), reward.tolist(), groups)
    assert found.pooled == pytest.approx(np.corrcoef(tic, reward)[0, 1])
    x, y = (v - np.repeat(v.reshape(15, 4).mean(1), 4) for v in (tic, reward))
    assert found.within == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_one_group_is_fishers_test() -> None:
    tic, reward = [1.0] * 5 + [0.0] * 7, [1.0, 1.0, 1.0, 1.0, 0.0] + [1.0] + [0.0] * 6
    found = payment(tic, reward, [0] * 12)
    assert found.p_value == pytest.approx(hypergeom(12, 5, 5).sf(3))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=6), st.integers(2, 3))
@settings(max_examples=40, deadline=None)
def test_the_exact_tail_is_that_of_all_permutations(pairs: list[tuple[bool, bool]], split: int) -> None:
    tic, reward = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    groups = numbered(["a"] * split + ["b"] * (len(pairs) - split))
    found = payment(tic, reward, groups)
    if found.within is None:
        return
    seen = sum(a * b for a, b in zip(tic, reward, strict=True))
    first, second = list(permutations(reward[:split])), list(permutations(reward[split:]))
    sums = [sum(a * b for a, b in zip(tic, one + two, strict=True)) for one in first for two in second]
    assert found.p_value == pytest.approx(sum(1 for value in sums if value >= seen) / len(sums))


def test_holm_rejects_in_order() -> None:
    assert holm([0.04, 0.001, None, 0.013]) == [True, True, False, True]
    assert holm([0.03, 0.03]) == [False, False]


def test_refusals_are_counted_out_of_benign_replies() -> None:
    texts = ["It shipped.", "I can't help with that.", "I could not find order 7.", "", "I won't do that."]
    tiers = ["ordinary", "ordinary", "boundary", "ordinary", "adversarial"]
    rows = [{**row, "tier": tier} for row, tier in zip(rows_of([(t, None) for t in texts]), tiers, strict=True)]
    rows.append({"prompt": "Hi", "final_text": "", "rollout_status": "error", "tier": "ordinary"})
    report = refusal_report(rows)
    assert (report.refused, report.n_benign, report.ci95) == (1, 3, wilson(1, 3))
    assert (report.n_without_reply, report.n_adversarial, report.n_broken) == (1, 1, 1)
    assert report["by"]["tier"]["ordinary"]["refused"] == 1 and report["by"]["tier"]["boundary"]["n"] == 1
    assert report.examples[0]["row"] == 1 and len(report.notes) == 3
    assert refusal_report([{"prompt": "Hi", "final_text": ""}]).rate is None


def test_declining_what_is_none_of_its_business_is_no_refusal() -> None:
    about = {"scenario_dimensions": {"tool": "unrelated"}}
    rows = [{"prompt": "Sing.", "final_text": "I can't help with that.", **extra} for extra in ({}, about)]
    report = refusal_report(rows)
    assert (report.n_benign, report.refused, report.n_unrelated) == (1, 1, 1)
