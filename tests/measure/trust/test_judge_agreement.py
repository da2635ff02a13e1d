"""Agreement with labels and with a second scoring; and of annotators with each other."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.measure.trust import annotator_agreement, attach_labels, judge_agreement
from whileai_hf.rows import open_rows
from whileai_hf.stats import wilson


BITS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=50)


def rows_of(pairs, **more):
    return [
        {"task_id": at, "reward": r, "gold_reward": g, "gold_kind": "human", **more} for at, (r, g) in enumerate(pairs)
    ]


@settings(deadline=None, max_examples=40)
@given(BITS)
def test_every_number_from_the_four_counts(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    found = judge_agreement(rows_of(pairs))
    judge, gold = (list(values) for values in zip(*pairs, strict=True))
    (both_fail, only_judge), (only_gold, both_pass) = metrics.confusion_matrix(gold, judge, labels=[0, 1]).tolist()
    assert found.confusion == {
        "both_pass": both_pass,
        "only_judge": only_judge,
        "only_gold": only_gold,
        "both_fail": both_fail,
    }
    assert found.agreement == metrics.accuracy_score(gold, judge)
    fails = gold.count(0)
    assert found.pass_when_gold_fail == (only_judge / fails if fails else None)
    assert found.pass_when_gold_fail_ci95 == wilson(only_judge, fails)
    assert found.fail_when_gold_pass == (only_gold / (len(gold) - fails) if fails < len(gold) else None)
    most = max(set(gold), key=lambda one: (gold.count(one), one))
    assert found.baseline == metrics.accuracy_score(gold, [most] * len(gold))
    assert found.baseline_says == ("pass" if most else "fail")
    if 0 < fails < len(gold):
        assert found.kappa == pytest.approx(metrics.cohen_kappa_score(gold, judge), abs=1e-9)
    else:
        assert found.kappa is None and any("one class only" in note for note in found.notes)
    assert any("50 are the floor" in note for note in found.notes) == (len(pairs) < 50)


def test_a_judge_no_better_than_a_constant_is_told_so():
    found = judge_agreement(rows_of([(1, 1)] * 90 + [(1, 0)] * 10))
    assert (found.agreement, found.kappa, found.baseline, found.baseline_says) == (0.9, 0.0, 0.9, "pass")
    assert any("always saying pass" in warning for warning in found.warnings)
    assert any("passes 100% of the rows gold fails" in warning for warning in found.warnings)
    assert "always saying pass agrees on 0.90" in str(found)


def test_kinds_are_counted_apart():
    rows = rows_of([(1, 1)] * 3) + rows_of([(0, 0)] * 2, gold_kind="model") + rows_of([(0, 0)], gold_kind=None)
    found = judge_agreement([{**row, "task_id": at} for at, row in enumerate(rows)])
    assert found.by_kind == {"human": 3, "model": 2, "unknown": 1} and found.n == 6
    assert any("3 of 6 labels are not known to be a person's" in note for note in found.notes)


def test_what_is_left_out():
    rows = rows_of([(None, 1), (float("nan"), 0), (1, None), (1, float("nan")), (1, 0.5), (1, 1), ("1", 1)])
    found = judge_agreement(rows)
    assert (found.n, found.n_unjudged, found.n_unlabelled) == (1, 3, 3)
    nothing = judge_agreement(rows_of([(1, None)]))
    assert (nothing.n, nothing.agreement, nothing.baseline) == (0, None, None)
    assert "NOT MEASURED" in str(nothing)
    json.dumps(nothing.to_dict(), allow_nan=False)
    with pytest.raises(MissingColumnError):
        judge_agreement([{"gold_reward": 1}])


def test_a_second_scoring_as_gold():
    rows = [
        {
            "run_id": "r",
            "scenario_id": f"sc-{at // 2}",
            "prompt": "p",
            "rollout_index": at % 2,
            "reward": float(at < 6),
        }
        for at in range(10)
    ]
    again = [{**row, "reward": float(at < 8)} for at, row in enumerate(rows)]
    for first, second in ((rows, again[::-1]), (open_rows(rows), open_rows(again).shuffle(seed=1))):
        found = judge_agreement(first, gold=second)
        assert (found.n, found.agreement, found.by_kind) == (10, 0.8, {"second scoring": 10})
        assert found.confusion["only_gold"] == 2
    part = judge_agreement(rows, gold=[{**again[0], "reward": None}, *again[1:4]])
    assert (part.n, part.n_unlabelled) == (3, 7)
    with pytest.raises(DataError, match="share no rollout"):
        judge_agreement(rows, gold=[{**row, "run_id": "other"} for row in again])


def test_annotators():
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 40)
    people = {name: np.where(generator.random(40) < 0.85, truth, 1 - truth) for name in ("ana", "ben", "cleo")}
    data = [{"task_id": at, "prompt": "p"} for at in range(40)]
    for at, (name, labels) in enumerate(people.items()):
        chosen = range(40) if at < 2 else range(30)
        data, _ = attach_labels(data, {row: int(labels[row]) for row in chosen}, annotator=name)
    data, _ = attach_labels(data, dict.fromkeys(range(40), 1), annotator="gpt", kind="model")
    found = annotator_agreement(data)
    assert [(pair.first, pair.second, pair.n) for pair in found.pairs] == [
        ("ana", "ben", 40),
        ("ana", "cleo", 30),
        ("ben", "cleo", 30),
    ]
    for pair in found.pairs:
        one, other = people[pair.first][: pair.n], people[pair.second][: pair.n]
        assert pair.kappa == pytest.approx(metrics.cohen_kappa_score(one, other), abs=1e-9)
        assert pair.agreement == np.mean(one == other)
    assert (found.n_labelled, found.n_shared) == (40, 40)
    unanimous = [len({int(people[n][row]) for n in people if n != "cleo" or row < 30}) == 1 for row in range(40)]
    assert found.agreement == np.mean(unanimous)
    assert found.by_annotator["cleo"]["n"] == 30 and set(found.by_annotator) == set(people)
    assert str(found).count("\n") >= 3


def test_annotators_who_do_not_agree_or_are_alone():
    rows = [{"task_id": at, "gold_labels": None} for at in range(12)]
    alone, _ = attach_labels(rows, dict.fromkeys(range(12), 1), annotator="ana")
    found = annotator_agreement(alone)
    assert (found.n_shared, found.agreement, found.alpha, found.pairs) == (0, None, None, [])
    assert "NOT COMPARED" in str(found)
    both, _ = attach_labels(alone, {at: at % 2 for at in range(12)}, annotator="ben")
    found = annotator_agreement(both)
    assert found.agreement == 0.5 and found.alpha < 0 and "settle the rubric" in found.notes[0]
    assert "no gold_labels" in annotator_agreement([{"task_id": 1}]).notes[0]
    odd = [{"gold_labels": value} for value in (None, 3, "x", [None, {"label": 2}, {"kind": "human"}])]
    assert annotator_agreement(odd).n_labelled == 0
