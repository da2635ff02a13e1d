# ruff: noqa: RUF001 - look-alike signs are what is tested
"""What a reply denies is not its answer, and a reply that states and denies its answer has none."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from timing import cpu_time

from whileai_hf.score import verdict
from whileai_hf.score.verify import Includes, JSONField, MathEqual, MultipleChoice, Numeric
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.denials import denied, may_deny


JUDGES: list[Verifier] = [Numeric(), Includes(), MultipleChoice(choices=["75", "80"])]
if importlib.util.find_spec("math_verify") is not None:
    JUDGES.append(MathEqual())

TAKEN_BACK = [
    "The answer is not 80.",
    "It isn't 80",
    "It isn’t 80",
    "It isnt 80",
    "It is 80. It is not 80.",
    "It is not 80. It is 80.",
    "not 80 but I don't know",
    "anything but 80",
    "The answer is anything other than 80",
    "The answer is definitely not 80.",
    r"The answer is not \boxed{80}.",
    r"\boxed{80} is wrong.",
    r"\boxed{80}. No, it is not \boxed{80}.",
    "80 is not the answer.",
    "80 would be wrong",
    "80, which is incorrect",
    "80 isn't.",
    "I don't think it is 80.",
    "I don't believe that the answer is **80**",
    "The answer is 80. No, it is not 80.",
    "The answer is 80. The answer is not 80.",
    "It can't be 80",
    "It cannot possibly be 80",
    "Is it 80? No.",
    "It is neither 80 nor 70",
    r"x \neq 80",
    "x != 80",
    "It does not equal 80",
    "It is false that it is 80",
    "It is 70 rather than 80",
    "$80$ is incorrect",
    "Nicht 80",
    "#### not 80",
]
GIVEN = [
    "It is not 75 but 80",
    "80, not 75",
    "80, and not 75",
    "The answer isn't 75; it's 80",
    "The answer is surely not 75 but 80.",
    "It's 80 rather than 75",
    "Not 75. 80.",
    r"The answer is not \boxed{75}, it is \boxed{80}.",
    "The answer is not $75$, it is $80$.",
    "It is neither 75 nor 70, but 80",
    "It can't be anything but 80",
    "It is none other than 80",
    "No doubt it is 80",
    "No, it is 80.",
    "I can't believe it is 80",
    "It is 80, not a guess",
    "80 is not prime, and it is the answer: 80",
    "I thought it is not 80, as 75 fits too. It does not, so I was wrong.\n#### 80",
]


@pytest.mark.parametrize("reply", TAKEN_BACK)
def test_a_denied_answer_scores_nothing(reply: str) -> None:
    for judge in JUDGES:
        read = verdict(judge({"final_text": reply, "answer": "80"}))
        assert read.reward == 0.0, judge
        assert judge.name == "includes" or read.reason, judge


@pytest.mark.parametrize("reply", GIVEN)
def test_denying_something_else_does_no_harm(reply: str) -> None:
    for judge in JUDGES:
        assert verdict(judge({"final_text": reply, "answer": "80"})).reward == 1.0, judge


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It is (C). It is not (C).", 0.0),
        ("not (C)", 0.0),
        ("anything but (C)", 0.0),
        ("The answer is C. The answer is not C.", 0.0),
        ("(C), not (B)", 1.0),
        ("It is not (B) but (C)", 1.0),
    ],
)
def test_letters(reply: str, expected: float) -> None:
    assert verdict(MultipleChoice()({"final_text": reply, "answer": "C"})).reward == expected


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        ("Your ticket is not refundable", "refundable", 0.0),
        ("Your ticket is not refundable", "not refundable", 1.0),
        ("It's not in Oslo", "Oslo", 0.0),
        ("The order has not shipped.", "shipped", 0.0),
        ("It is open daily except Monday", "Monday", 1.0),
        ("It's not only cheap, but also refundable", "refundable", 1.0),
        ("It is Oslo, not Paris", ["Oslo", "Paris"], 1.0),
        ("It is not clear who won, I would say Oslo", "Oslo", 1.0),
    ],
)
def test_words(reply: str, gold: Any, expected: float) -> None:
    assert verdict(Includes()({"final_text": reply, "answer": gold})).reward == expected


def test_texts_asked_for_are_taken_as_they_stand() -> None:
    assert verdict(Includes(all=["refunded"])({"final_text": "It was not refunded"})).reward == 1.0
    assert verdict(JSONField("n")({"final_text": '{"n": "not 80"}', "answer": "80"})).reward == 0.0


def test_formulas() -> None:
    if len(JUDGES) < 4:
        pytest.skip("math-verify is not installed")
    for reply, expected in [
        (r"It is not $x^2+2x+1$.", 0.0),
        (r"\boxed{x^2+2x+1}, no: it is not $(x+1)^2$", 0.0),
        (r"It is not $x^2$ but $x^2+2x+1$", 1.0),
        (r"The answer is not $x^2$. The answer is $x^2+2x+1$.", 1.0),
    ]:
        assert verdict(MathEqual()({"final_text": reply, "answer": "(x+1)^2"})).reward == expected, reply


@pytest.mark.parametrize(
    "piece", ["not ", "not the ", "80 is not ", "nor", " ", "a", "n't it is ", "\\boxed{", "(", "80? "]
)
def test_long_texts_take_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    with cpu_time() as spent:
        assert may_deny(text) in (True, False)
        denied(text, len(text) // 2, len(text) // 2 + 2)
        for judge in JUDGES[:3]:
            judge({"final_text": text + " not 80", "answer": "80"})
    assert spent() < 1.5
