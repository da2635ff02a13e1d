"""Samples are of the rows and not of the order they came in; rows that nothing names are no crash."""

import random

import pytest
from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.trust import (
    attach_labels,
    audit_grades,
    corrected_rate,
    judge_agreement,
    judge_probes,
    judge_trust,
    label_sheet,
)
from whileai_hf.measure.trust.drawing import drawn_rows
from whileai_hf.rows import view


def graded(n=120, named=True):
    draws = random.Random(4)
    return [
        {
            **({"task_id": f"t{at}"} if named else {}),
            "prompt": f"Where is order {at}?" if named else "Where is it?",
            "final_text": draws.choice(["Sent.", "Here.", "Lost.", "Soon."]) if named else f"It is at {at}.",
            "reward": float(draws.random() < 0.5),
            "gold_reward": float(draws.random() < 0.5) if at % 2 else None,
            "gold_kind": "human",
        }
        for at in range(n)
    ]


def shuffled(rows, seed):
    return random.Random(seed).sample(rows, len(rows))


def said(rows, judged):
    """The texts a judge was shown by one call."""
    seen = []

    def judge(row):
        seen.append((row["prompt"], row["final_text"]))
        return float(len(row["final_text"]) % 2)

    return judged(rows, judge), sorted(seen)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "judged",
    [
        lambda rows, judge: judge_trust(rows, judge, sample=15),
        lambda rows, judge: audit_grades(rows, auditor=judge, n=15),
        lambda rows, judge: judge_probes(rows, judge, sample=10),
    ],
)
def test_the_same_rows_in_another_order_are_sampled_alike(judged, named):
    rows = graded(named=named)
    report, seen = said(rows, judged)
    for seed in range(3):
        again, other = said(shuffled(rows, seed), judged)
        assert other == seen
        for name in ("agreement", "kappa", "exploitable_by", "consistency"):
            one, two = (getattr(found, name, None) for found in (report, again))
            assert getattr(one, "flips", one) == getattr(two, "flips", two)


def test_sheets_of_the_same_rows_are_the_same():
    rows = graded()
    sheet = label_sheet(rows, 10)
    assert label_sheet(shuffled(rows, 1), 10) == sheet
    assert label_sheet(rows, 10, seed=1) != sheet


def test_draws_are_uniform_and_differ_by_what_they_are_for():
    rows = view([{"task_id": at} for at in range(20)])
    first = [int(drawn_rows(rows, seed)[0]) for seed in range(400)]
    assert min(map(first.count, range(20))) >= 5 and max(map(first.count, range(20))) <= 40
    assert drawn_rows(rows, 0, "a").tolist() != drawn_rows(rows, 0, "b").tolist()
    assert sorted(drawn_rows(rows, 0, "a").tolist()) == list(range(20))


def test_rows_that_nothing_names():
    rows = [{"reward": float(at % 2)} for at in range(20)]
    for source in (rows, Dataset.from_list(rows)):
        found = audit_grades(source, auditor=lambda row: 1, n=6)
        assert (found.n, found.passed_wrongly, found.failed_wrongly) == (6, 0.0, 1.0)
        assert [entry["reply"] for entry in found.queue] == [""] * 3
        with pytest.raises(DataError, match="have none of prompt, final_text, messages, steps"):
            label_sheet(source, 3)
    with pytest.raises(DataError, match="the 2 rows are empty, so no label can name one"):
        attach_labels([{}, {}], {0: 1})
    with pytest.raises(DataError, match="label 0 has no 'label' \\(it is empty\\)"):
        attach_labels(rows, [{}, {}])


@pytest.mark.parametrize(
    "call",
    [
        lambda rows, threshold: judge_trust(rows, threshold=threshold),
        lambda rows, threshold: corrected_rate(rows, threshold=threshold),
        lambda rows, threshold: judge_agreement(rows, threshold=threshold),
        lambda rows, threshold: audit_grades(rows, auditor=lambda row: 1, threshold=threshold),
        lambda rows, threshold: judge_probes(rows, lambda row: 1, threshold=threshold),
    ],
)
@pytest.mark.parametrize("threshold", ["x", None, True, float("nan")])
def test_a_threshold_is_a_number(call, threshold):
    with pytest.raises(ConfigurationError, match=r"threshold=.* is no reward"):
        call(graded(10), threshold)


def test_probes_and_seeds_that_are_none():
    rows = graded(10)

    def unasked(row):
        raise AssertionError("nobody is asked before the arguments are known to be good")

    with pytest.raises(ConfigurationError, match="probes=3 names none; pass 'all' or some of filler"):
        judge_trust(rows, unasked, probes=3)
    for call in (
        lambda: label_sheet(rows, 3, seed="a"),
        lambda: audit_grades(rows, auditor=unasked, seed="a"),
        lambda: judge_probes(rows, unasked, seed="a"),
    ):
        with pytest.raises(ConfigurationError, match="seed='a' is no seed"):
            call()
