"""A model's verdicts on criteria, read out of its reply."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.score.rubrics import Criterion
from whileai_hf.score.rubrics.answers import answer_schema, read_points


TWO = [Criterion("lookup", "Looks A1 up."), Criterion("polite", "Is polite.")]
ONE = TWO[:1]


def values(text, criteria=TWO):
    points, problem = read_points(text, criteria)
    return [points[at].value if at in points else "missing" for at in range(len(criteria))], problem


@pytest.mark.parametrize(
    "text",
    [
        '{"criteria": [{"id": "c1", "reason": "It did.", "verdict": "met"}, {"id": "c2", "verdict": "unmet"}]}',
        '```json\n[{"id": "c2", "verdict": "unmet"}, {"id": "c1", "verdict": "met"}]\n```',
        'Here you go: {"c1": "met", "c2": "not met"} Done.',
        '{"c1": {"verdict": "Met"}, "c2": {"verdict": "Not_met"}}',
        '{"verdicts": {"c1": true, "c2": false}}',
        '{"lookup": "yes", "polite": "no"}',
        '{"results": [{"criterion": "Looks A1 up.", "met": true}, {"criterion": "polite", "met": false}]}',
        '{"criteria": [{"criteria_met": true, "explanation": "x"}, {"criteria_met": false, "explanation": "y"}]}',
        '{"id": "c1", "verdict": "met"}\n{"id": "c2", "verdict": "unmet"}',
        '{"1": 1, "2": 0}',
        '<think>c1: unmet, c2: met?</think>{"c1": "met", "c2": "unmet"}',
        "c1: met - it called get_order\nc2: unmet, it shouts",
        "**C1**: Met\n**C2**: Not met (it shouts)",
        "1. met\n2. unmet because it shouts",
        "- Criterion 1: pass\n- Criterion 2: fail",
    ],
)
def test_arrangements(text):
    assert values(text) == ([1.0, 0.0], None)


@pytest.mark.parametrize(
    "said", ['"cannot_assess"', '"cannot assess"', '"Not applicable"', '"n/a"', "null", '"unknown"', '"unclear"']
)
def test_cannot_assess_is_an_answer(said):
    assert values(f'{{"c1": {said}, "c2": "met"}}') == ([None, 1.0], None)


@pytest.mark.parametrize("said", ['"partially met"', '"mostly"', "0.5", "7", '"erf\u00fcllt"', "[]", '""'])
def test_anything_else_is_missing(said):
    read, problem = values(f'{{"c1": {said}, "c2": "met"}}')
    assert read == ["missing", 1.0]
    assert problem == "the judge gave no verdict on lookup"


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "  ",
        "<think>met",
        "The reply is fine.",
        '{"c1": "met", "c2": "un',
        "[]",
        "{}",
        "[true]",
        '{"c3": "met"}',
        3,
    ],
)
def test_what_cannot_be_read_has_no_points(text):
    read, problem = values(text)
    assert problem is not None
    assert "missing" in read and 0.0 not in read


def test_a_contradiction_is_no_verdict():
    assert values(
        '[{"id": "c1", "verdict": "met"}, {"id": "c1", "verdict": "unmet"}, {"id": "c2", "verdict": "met"}]'
    )[0] == [
        "missing",
        1.0,
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "met", "reason": "It did."}',
        '{"id": "c1", "verdict": "met", "reason": "It did."}',
        '{"criteria": [{"id": "c1", "verdict": "met", "reason": "It did."}]}',
    ],
)
def test_one_criterion(text):
    points, problem = read_points(text, ONE)
    assert (points[0].value, points[0].reason, problem) == (1.0, "It did.", None)


@given(st.lists(st.sampled_from(["met", "unmet", "cannot_assess"]), min_size=1, max_size=20))
def test_what_was_asked_for_is_read_as_it_was_meant(said):
    criteria = [Criterion(f"point {at}", f"Text {at}.") for at in range(len(said))]
    entries = [{"id": f"c{at}", "reason": "r", "verdict": word} for at, word in enumerate(said, start=1)]
    read, problem = values(json.dumps({"criteria": entries}), criteria)
    assert problem is None
    assert read == [{"met": 1.0, "unmet": 0.0, "cannot_assess": None}[word] for word in said]
    assert answer_schema(len(said))["properties"]["criteria"]["minItems"] == len(said)


@given(st.text('{}[]":,cmetun12 \n', max_size=200))
def test_any_text_is_read_without_an_error(text):
    points, problem = read_points(text, TWO)
    assert (problem is None) == (len(points) == 2)


@pytest.mark.parametrize(
    "text", ["c1" * 200_000, "c1: " * 100_000, " " * 400_000, "{" * 200_000, '{"c1":' * 50_000, "1. " * 100_000]
)
def test_long_replies_take_no_time(text):
    start = time.perf_counter()
    read_points(text, TWO)
    assert time.perf_counter() - start < 2
