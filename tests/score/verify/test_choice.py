"""MultipleChoice: one option picked, in any of the usual forms; two are none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import verdict
from whileai_hf.score.verify import MultipleChoice


CITIES = ["Rome", "Oslo", "Paris", "Paris, Texas"]
PLAIN, KNOWN = MultipleChoice(), MultipleChoice(choices=CITIES)


def reward(judge: MultipleChoice, reply: Any, gold: Any, **row: Any) -> float | None:
    return verdict(judge({"final_text": reply, "answer": gold, **row})).reward


@pytest.mark.parametrize(
    "reply",
    [
        "C",
        "c",
        "(c)",
        "c.",
        "(C)",
        "**C**",
        "C.",
        "C)",
        "[C]",
        "`C`",
        "Answer: C",
        "answer: (c)",
        "The answer is C.",
        "The answer is (C), since A is wrong.",
        "**Answer:** C",
        "**C) Paris**",
        "**C.** Paris",
        "C) Paris",
        "Option C",
        "I would choose option C here.",
        r"\boxed{C}",
        r"$\boxed{\text{(C)}}$",
        "#### C",
        "<answer>C</answer>",
        "C, I think",
        "C because it is the capital",
        "C is correct.",
        "not (A), but (C)",
        "(A) is wrong. (C) is right",
        "The answer is not A. The answer is C.",
        "The answer is B... Final answer: C",
        "Answer:\nC",
        "Antwort: C",
        "C\n\nExplanation: (A) is the wrong one.",
        "The correct answer is option C: the capital",
    ],
)
def test_forms_of_one_choice(reply: str) -> None:
    for judge in (PLAIN, KNOWN):
        assert reward(judge, reply, "C") == 1.0
        assert reward(judge, reply, "B") == 0.0


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        ("Paris", "C", 1.0),
        ("It must be Paris.", 2, 1.0),
        ("it must be PARIS", "Paris", 1.0),
        ("Paris, Texas", "D", 1.0),
        ("Paris, Texas", "C", 0.0),
        ("The answer is Paris.", "C", 1.0),
        ("Rome or Paris", "C", 0.0),
        ("B) Paris", "C", 0.0),
        ("B) Paris", "B", 0.0),
        ("C", "2", 1.0),
        ("Berlin", "C", 0.0),
        ("Answer: E", "C", 0.0),
    ],
)
def test_texts_of_the_options(reply: str, gold: Any, expected: float) -> None:
    assert reward(KNOWN, reply, gold) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "A, B, C, D",
        "A B C D",
        "A\nB\nC\nD",
        "(A) (B) (C) (D)",
        "A or B or C or D",
        "A/B/C/D",
        "- A\n- B\n- C\n- D",
        "Answer: A\nAnswer: B\nAnswer: C\nAnswer: D",
        "Answer: A, B, C, D",
        "A) Rome\nB) Oslo\nC) Paris\nD) Paris, Texas",
        "A. Rome B. Oslo C. Paris D. Paris, Texas",
        "Rome, Oslo, Paris, Paris, Texas",
        "**A** **B** **C** **D**",
        r"\boxed{A} \boxed{B} \boxed{C} \boxed{D}",
        "The answer is A and B and C and D",
        "A. B. C. D.",
        "1. A\n2. B\n3. C\n4. D",
    ],
)
def test_a_list_of_all_options_never_scores(reply: str) -> None:
    for judge, gold in itertools.product((PLAIN, KNOWN), "ABCD"):
        assert reward(judge, reply, gold) == 0.0


@settings(max_examples=40)
@given(
    st.permutations("ABCD"), st.sampled_from([", ", " or ", "/", "\n", " and ", ") ", "; "]), st.sampled_from("ABCD")
)
def test_no_order_of_options_scores(order: list[str], joiner: str, gold: str) -> None:
    assert reward(PLAIN, joiner.join(order), gold) == 0.0
    if joiner != "\n":  # the line behind the mark is the answer
        assert reward(PLAIN, f"Answer: {joiner.join(order)}", gold) == 0.0


@pytest.mark.parametrize("reply", ["I'm done", "I am done", "A dog barks", "So it goes", "I", "As is", "done"])
def test_words_are_no_letters(reply: str) -> None:
    for gold in ("A", "D"):
        assert reward(PLAIN, reply, gold) == 0.0


@pytest.mark.parametrize(
    ("choices", "reply", "gold", "expected"),
    [
        (["1", "2", "3"], "2", "2", 1.0),
        (["1", "2", "3"], "Answer: 2", "B", 1.0),
        ({"1": "x", "2": "y"}, "(2) y", "2", 1.0),
        ({"1": "x", "2": "y"}, "1, 2", "2", 0.0),
        ({"label": ["1", "2"], "text": ["cat", "dog"]}, "It is the dog.", "2", 1.0),
        ([{"label": "A", "text": "cat"}, {"label": "B", "text": "dog"}], "dog", "B", 1.0),
        (["A dog", "A cat"], "The answer is A cat", "B", 1.0),
        (["yes", "no"], "No.", 1, 1.0),
        ("x", "A", "A", None),
        (["only"], "A", "A", None),
        (["cat", "dog"], "A", "bird", None),
        (["cat", "dog"], "A", 7, None),
    ],
)
def test_options_of_the_row(choices: Any, reply: str, gold: Any, expected: float | None) -> None:
    assert reward(PLAIN, reply, gold, choices=choices) == expected


def test_two_options_say_so_and_unknown_gold_is_unjudged() -> None:
    assert PLAIN({"final_text": "B or C", "answer": "C"}) == {"reward": 0.0, "reason": "the reply picks B and C"}
    assert reward(PLAIN, "C", "Paris") is None
    assert reward(PLAIN, "C", True) is None
    assert reward(PLAIN, "C", ["B", "C"]) == 1.0


@pytest.mark.parametrize("choices", [[], ["one"], "text", {"A": "x", "a": "y"}, list("x" * 27)])
def test_choices_that_are_none(choices: Any) -> None:
    with pytest.raises(ConfigurationError):
        MultipleChoice(choices=choices)


@pytest.mark.parametrize(
    "piece", ["A ", "(A", "(", " ", "*", "A, ", "**A", "A\n", "not ", "Paris", "option ", "x is ", "\0"]
)
def test_long_replies_take_no_time(piece: str) -> None:
    reply = piece * (200_000 // len(piece))
    with cpu_time() as spent:
        for judge in (PLAIN, KNOWN):
            judge({"final_text": reply, "answer": "C"})
    assert spent() < 1.5
