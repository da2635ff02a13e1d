"""Replies without an answer in them: no verifier may pay for one, unless the gold answer says so."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.score import grade, verdict
from whileai_hf.score.verify import (
    ExactMatch,
    Includes,
    JSONField,
    JSONSchema,
    JSONValid,
    MathEqual,
    MultipleChoice,
    Numeric,
    Regex,
    ToolCalls,
)
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.reply import own_words


ASK = 'Which is it: (A) 41, (B) 42 or (C) 43? Reply as {"n": 42} or with #### 42.'
CASES: list[tuple[Verifier, Any]] = [
    (ExactMatch(), "42"),
    (Includes(), "42"),
    (Includes(any=["42"]), None),
    (Regex(r"\b42\b"), None),
    (Regex(r"#### (\d+)", group=1), "42"),
    (Numeric(), 42),
    (MultipleChoice(), "B"),
    (MultipleChoice(choices=["41", "42", "43"]), "B"),
    (JSONValid(), None),
    (JSONSchema({"type": "object"}), None),
    (JSONField("n"), 42),
    (ToolCalls("strict"), None),
    (ToolCalls("unordered"), None),
    (ToolCalls("subset"), None),
    (ToolCalls("superset"), None),
]
if importlib.util.find_spec("math_verify") is not None:
    CASES.append((MathEqual(), "42"))
NULL = [
    "",
    " \n\t",
    None,
    [],
    [{"type": "image"}],
    ASK,
    f" {ASK.upper()}\n",
    f'"{ASK}"',
    f"{ASK} {ASK}",
    "I'm done",
    "Done.",
]


@pytest.mark.parametrize("reply", NULL)
def test_a_null_agent_never_scores(reply: Any) -> None:
    for judge, gold in CASES:
        row = {"prompt": ASK, "final_text": reply, "answer": gold, "steps": [], "expected_calls": [{"tool": "look"}]}
        assert verdict(judge(row)).reward == 0.0, judge


@pytest.mark.parametrize(("judge", "gold"), [case for case in CASES if case[0].searches])
@pytest.mark.parametrize("reply", [f"You asked: {ASK}\n", f"{ASK} I'm done", f"> {ASK}\n\nI have handled that."])
def test_a_quoted_ask_is_no_answer(judge: Verifier, gold: Any, reply: str) -> None:
    assert verdict(judge({"prompt": ASK, "final_text": reply, "answer": gold})).reward == 0.0


@pytest.mark.parametrize(
    ("judge", "reply"),
    [(Includes(), "41, 42, 43"), (Numeric(), "41, 42"), (Numeric(), "41, 42 or 43"), (MultipleChoice(), "A, B, C")],
)
def test_a_list_of_options(judge: Verifier, reply: str) -> None:
    gold = "B" if judge.name == "multiple_choice" else "42"
    assert verdict(judge({"final_text": reply, "answer": gold})).reward == 0.0


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        ("It could be 41, 42 or 43.", "41", 0.0),
        ("It could be 41, 42 or 43.", "42", 0.0),
        ("It could be 41, 42 or 43.", "43", 0.0),
        ("41 or 42 or 43", "42", 0.0),
        ("I think Rome, Oslo or Paris, but who knows", "Rome", 0.0),
        ("The options are Rome, Oslo, Paris or Bonn", "Oslo", 0.0),
        ("Rome/Oslo/Paris", "Oslo", 0.0),
        ("41\n42\n43", "42", 0.0),
        ("- Rome\n- Oslo\n- Paris\n- Bonn\n- Kyiv", "Paris", 0.0),
        ("Paris, France, Europe", "Paris", 1.0),
        ("It is Paris, or so I think, and I am sure.", "Paris", 1.0),
        ("Rome, Oslo and Paris", "Paris", 1.0),
        ("The total is $42, shipped Monday, to Paris", "42", 1.0),
        ("Sure, the refund, order 4412, is done, thanks.", "refund", 1.0),
        ("If you wait a day or two, the order, 4412, will ship", "4412", 1.0),
        ("Your ticket is refundable, or you can rebook, or cancel", "refundable", 1.0),
        ("41, 42, 43", "41, 42, 43", 1.0),
        ("41, 42 or 43? It must be 42.", "42", 1.0),
    ],
)
def test_one_of_several_alternatives_is_no_answer(reply: str, gold: str, expected: float) -> None:
    read = verdict(Includes()({"final_text": reply, "answer": gold}))
    assert read.reward == expected
    assert expected or "alternatives" in (read.reason or "")


def test_an_answer_beside_the_quoted_ask_counts() -> None:
    row = {"prompt": ASK, "final_text": f"{ASK} It is 42.", "answer": "42"}
    assert verdict(Includes()(row)).reward == 1.0
    assert verdict(Numeric()(row)).reward == 1.0


def test_the_reference_may_say_so() -> None:
    assert (
        verdict(ExactMatch()({"prompt": "Repeat: hello", "final_text": "Repeat: hello", "answer": "hello"})).reward
        == 0.0
    )
    assert verdict(ExactMatch()({"prompt": "hello", "final_text": "hello", "answer": "Hello"})).reward == 1.0
    assert verdict(Includes()({"prompt": "hello", "final_text": "hello", "answer": ["x", "hello"]})).reward == 1.0
    assert verdict(ToolCalls()({"steps": [], "expected_calls": []})).reward == 1.0
    asked = {"prompt": "Is it Paris or Rome?", "final_text": "Is it Paris or Rome?", "answer": "Paris"}
    assert verdict(Includes()(asked)).reward == 0.0
    assert verdict(Includes(echo=True)(asked)).reward == 1.0


@settings(max_examples=25)
@given(st.text(), st.text())
def test_own_words_laws(reply: str, ask: str) -> None:
    own = own_words(reply, ask, cut=False)
    assert own is None or own == reply
    if ask.strip():
        assert own_words(f"  {ask}\n", ask, cut=True) is None
    assert own_words(reply, "", cut=True) == reply


@pytest.mark.parametrize(
    "reply", ["\ud800", "\0", "x" * 1_000_000, "é" * 100_000, 7, {"text": "no"}, [None, "no", {"text": 3}]]
)
def test_strange_replies_are_judged(reply: Any) -> None:
    for judge, gold in CASES:
        row = {"prompt": ASK, "final_text": reply, "answer": gold, "steps": [], "expected_calls": [{"tool": "look"}]}
        assert judge.name == "math_equal" or verdict(judge(row)).reward == 0.0, judge


def test_blocks_are_read_as_text() -> None:
    blocks = [
        {"type": "text", "text": "It is "},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "42."},
    ]
    assert verdict(Numeric()({"final_text": blocks, "answer": 42})).reward == 1.0
    assert verdict(Includes()({"final_text": blocks, "answer": "It is 42"})).reward == 1.0


def test_prompts_that_are_conversations() -> None:
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": ASK}]}]
    assert verdict(Includes()({"prompt": prompt, "final_text": ASK, "answer": "42"})).reward == 0.0


def test_gold_missing_on_some_rows_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"final_text": "42", "answer": gold} for gold in ("42", None, "41", None)]
    with caplog.at_level("WARNING"):
        graded = grade(rows, Numeric())
    assert graded["reward"][:] == [1.0, None, 0.0, None]
    assert "2 of 4" in caplog.text
