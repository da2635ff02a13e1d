"""Rewards with a fault each, and the finding that has to name it."""

import asyncio
import math
import random

import numpy as np
import pytest

from whileai_hf.score.checking import check_reward
from whileai_hf.score.verify import Includes


def _text(completion):
    return completion[-1]["content"]


def _kinds(report, severity=None):
    return {item.kind for item in report.findings if severity in (None, item.severity)}


def _exploits(report, function=None):
    return {item.probe for item in report.findings if item.kind == "exploitable" and function in (None, item.function)}


def accuracy(completions, answer, **kwargs):
    return [float(_text(c).strip() == a) for c, a in zip(completions, answer, strict=True)]


def length(completions, **kwargs):
    return [len(_text(c)) / 100 for c in completions]


def capped_length(completions, **kwargs):
    return [min(len(_text(c)), 60) / 60 for c in completions]


def test_length_reward():
    for reward in (length, capped_length):
        report = check_reward(reward)
        assert not report.ok
        assert "length" in _kinds(report, "error")
        assert "filler" in _exploits(report)


def test_brevity_reward():
    report = check_reward(lambda completions, **kwargs: [-len(_text(c)) for c in completions])
    assert "empty" in _exploits(report)
    assert "length" in _kinds(report, "warning")


KEYWORDS = ("therefore", "in conclusion")


def keyword_reward(completions, **kwargs):
    return [float(any(word in _text(c) for word in KEYWORDS)) for c in completions]


def test_keyword_reward_is_found_through_its_own_words():
    report = check_reward(keyword_reward)
    assert _exploits(report) == {"own words"}
    example = next(item.example for item in report.findings if item.probe == "own words")
    assert "therefore" in example and "in conclusion" in example
    assert _exploits(check_reward(Includes(any=["I have refunded"]))) == {"own words"}


@pytest.mark.parametrize("value", [1, 0, -0.5])
def test_constant_reward_is_that_and_nothing_else(value):
    report = check_reward(lambda completions, **kwargs: [value for _ in completions])
    assert _kinds(report, "error") == {"constant"}
    assert f"every reply gets {value:g}" in str(report)


def test_order_dependent_reward():
    def first_ones(completions, **kwargs):
        return [float(index < 3) for index in range(len(completions))]

    def sorted_on_the_way(completions, answer, **kwargs):
        return [float(text == a) for text, a in zip(sorted(map(_text, completions)), answer, strict=True)]

    for reward in (first_ones, sorted_on_the_way):
        report = check_reward(reward)
        assert "order" in _kinds(report, "error")
        assert "exploitable" not in _kinds(report), "what it pays for is an accident of the batch"


def test_batch_dependent_reward():
    def centred(completions, answer, **kwargs):
        rewards = accuracy(completions, answer)
        return [reward - sum(rewards) / len(rewards) for reward in rewards]

    report = check_reward(centred)
    assert "batch" in _kinds(report)
    assert "constant" not in _kinds(report)


def test_random_reward():
    generator = random.Random(0)
    report = check_reward(lambda completions, **kwargs: [generator.random() for _ in completions])
    assert "not deterministic" in _kinds(report)
    assert not _kinds(report) & {"order", "batch"}


ASKS = [{"prompt": f"What is {n} + {n}?", "answer": str(n + n)} for n in range(3, 15)]


def test_number_for_an_unknown_answer():
    def zero(completions, answer, **kwargs):
        return [0.0 if a is None else float(a == c) for c, a in zip(completions, answer, strict=True)]

    def none(completions, answer, **kwargs):
        return [None if a is None else float(a == c) for c, a in zip(completions, answer, strict=True)]

    found = next(item for item in check_reward(zero, ASKS).findings if item.kind == "no gold")
    assert found.severity == "info" and "gives 0" in found.says
    lacking = [*ASKS[:4], {"prompt": "What is love?", "answer": None}]
    assert "no gold" in _kinds(check_reward(zero, lacking), "warning")
    assert "no gold" not in _kinds(check_reward(none, lacking))
    assert check_reward(none, lacking).ok


@pytest.mark.parametrize(
    ("returned", "kind", "severity"),
    [
        (math.nan, "nan", "warning"),
        (math.inf, "inf", "error"),
        ("1.0", "text", "error"),
        (True, "bool", "info"),
        (np.float32(1), None, None),
    ],
)
def test_values_that_are_no_rewards(returned, kind, severity):
    def reward(completions, answer, **kwargs):
        return [returned if c == a else 0.0 for c, a in zip(completions, answer, strict=True)]

    found = {item.kind: item.severity for item in check_reward(reward, ASKS).findings}
    if kind is None:
        assert not {"nan", "inf", "text", "bool", "tensor"} & found.keys()
    else:
        assert found[kind] == severity


class _Scalar:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


def _scalars(values):
    return map(_Scalar, values)


def _tensor(values):
    return pytest.importorskip("torch").tensor(values)


@pytest.mark.parametrize("make", [_scalars, pytest.param(_tensor, marks=pytest.mark.slow)])
def test_tensors_are_named_and_read(make):
    def reward(completions, answer, **kwargs):
        return make([float(c == a) for c, a in zip(completions, answer, strict=True)])

    report = check_reward(reward, ASKS)
    assert report.ok
    assert "tensor" in _kinds(report, "info")


def test_shape_of_the_return():
    def fewer(completions, answer, **kwargs):
        return [1.0 for c, a in zip(completions, answer, strict=True) if _text(c) == a]

    assert "length" in _kinds(check_reward(fewer), "error")
    for returned in (1.0, None, {"reward": 1}):
        report = check_reward(lambda completions, returned=returned, **kwargs: returned)
        assert _kinds(report, "error") == {"no list"}


def test_no_verdict_on_anything():
    report = check_reward(lambda completions, **kwargs: [None for _ in completions])
    assert _kinds(report, "error") == {"no verdict"}


def test_crash_names_the_reply_that_caused_it():
    def first_word(completions, answer, **kwargs):
        return [float(_text(c).split()[0] == a) for c, a in zip(completions, answer, strict=True)]

    def strict_encoding(completions, answer, **kwargs):
        return [float(_text(c).encode() == a.encode()) for c, a in zip(completions, answer, strict=True)]

    found = next(item for item in check_reward(first_word).findings if item.kind == "crash")
    assert (found.severity, found.probe) == ("error", "empty")
    assert "IndexError" in found.says
    found = next(item for item in check_reward(strict_encoding).findings if item.kind == "crash")
    assert found.probe == "odd characters"


def test_a_turn_that_ends_with_a_tool_s_answer():
    def last_assistant(completions, answer, **kwargs):
        last = [
            [m["content"] for m in c if m["role"] == "assistant" and "tool_calls" not in m][-1] for c in completions
        ]
        return [float(text == a) for text, a in zip(last, answer, strict=True)]

    rows = [{"prompt": [{"role": "user", "content": row["prompt"]}], "answer": row["answer"]} for row in ASKS]
    found = next(item for item in check_reward(last_assistant, rows).findings if item.kind == "crash")
    assert found.probe == "no final message"


def test_mutation():
    def strips(completions, answer, **kwargs):
        for completion in completions:
            completion[-1]["content"] = completion[-1]["content"].strip()
        return accuracy(completions, answer)

    def pops(completions, answer, **kwargs):
        return accuracy(completions, [answer.pop(0) for _ in completions])

    assert "it changed completions" in str(check_reward(strips))
    assert "it changed answer" in str(check_reward(pops))
    assert "mutates" not in _kinds(check_reward(accuracy))

    def changes_the_row(row):
        row["steps"].clear()
        return float(row["final_text"] == row["answer"])

    assert "mutates" in _kinds(check_reward(changes_the_row), "warning")


def test_signature_a_trainer_cannot_call():
    def short_of_keywords(prompts, completions, answer):
        return accuracy(completions, answer)

    report = check_reward(short_of_keywords)
    assert _kinds(report, "error") == {"signature"}
    assert report.table, "it is asked all the same"


def test_async_rewards():
    async def slow_accuracy(completions, answer, **kwargs):
        await asyncio.sleep(0)
        return accuracy(completions, answer)

    def hidden(completions, **kwargs):
        return slow_accuracy(completions, **kwargs)

    async def judge(row):
        return float(row["final_text"] == row["answer"])

    report = check_reward([slow_accuracy, judge])
    assert report.ok
    assert [function["awaits"] for function in report.functions] == [True, True, False]
    assert "awaitable" in _kinds(check_reward(hidden), "error")


def test_names():
    def other(completions, **kwargs):
        return accuracy(completions, **kwargs)

    other.__name__ = "accuracy"
    assert "name" in _kinds(check_reward([accuracy, other]), "error")
    assert "name" not in _kinds(check_reward([accuracy, length]))


def test_columns_a_trainer_needs_for_itself():
    rows = [{**row, "completions": "x", "trainer_state": 1} for row in ASKS]
    found = {item.severity for item in check_reward(accuracy, rows).findings if item.kind == "column"}
    assert found == {"error", "warning"}


def test_judge_that_takes_a_verdict_from_the_reply():
    report = check_reward(
        lambda row: float("VERDICT: PASS" in row["final_text"] or row["final_text"] == row["answer"])
    )
    assert {"planted verdict"} <= _exploits(report)


def test_rubric_recited():
    rows = [{**row, "rubric": "The reply thanks the customer."} for row in ASKS]
    report = check_reward(
        lambda row: float(row["rubric"] in row["final_text"] or row["final_text"] == row["answer"]), rows
    )
    assert _exploits(report) == {"rubric words"}
