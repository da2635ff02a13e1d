# ruff: noqa: RUF001 - look-alike signs are what is tested
"""Numeric: any notation of a number is that number, and no other."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import verdict
from whileai_hf.score.verify import Numeric
from whileai_hf.score.verify.numbers import numbers, plainer, whole_number
from whileai_hf.score.verify.stated import stated


def reward(reply: Any, gold: Any, **options: Any) -> float | None:
    return verdict(Numeric(**options)({"final_text": reply, "answer": gold})).reward


SAME = [
    ("42", 42),
    (".8", 0.8),
    ("0,8", 0.8),
    ("8/10", 0.8),
    ("4/5", "8/10"),
    ("80%", 0.8),
    ("80 percent", "0.8"),
    ("80%", 80),
    ("80", "80%"),
    ("0.8", "80%"),
    ("5‰", 0.005),
    ("1,234", 1234),
    ("1,234,567.5", 1234567.5),
    ("1.234.567", 1234567),
    ("1.234,5", 1234.5),
    ("1 234,5", 1234.5),
    ("1\u202f234", 1234),
    ("1'234.5", 1234.5),
    ("12,34,567", 1234567),
    ("1_000", 1000),
    ("1e3", 1000),
    ("1.5E-3", 0.0015),
    ("3 x 10^8", 3e8),
    ("3 × 10⁸", 300000000),
    ("10^-3", 0.001),
    ("−5", -5),
    ("-$5", -5),
    ("$-5", -5),
    ("–5", -5),
    ("x = - 5", -5),
    ("$5", 5),
    ("USD 5.50", 5.5),
    ("5 €", "€5"),
    ("2 million", 2000000),
    ("3½", 3.5),
    ("1 1/2", 1.5),
    ("٤٢", 42),
    ("１２", 12),
    ("5 km", "5000 m"),
    ("42 apples", 42),
    ("2 hours", "120 min"),
    (r"\frac{3}{4}", 0.75),
    (r"$1{,}234$", 1234),
    ("0.30000000000000004", 0.3),
    ("3.0", 3),
    ("12345678901234567890123", "12345678901234567890123"),
    ("5 of them", "5"),
    ("It is 5.", 5),
    ("007", 7),
]
DIFFERENT = [
    ("0.8", 0.08),
    ("0.8%", 0.8),
    ("41", 42),
    ("-5", 5),
    ("1,234", 1.234),
    ("1.234", 1234),
    ("ORD-42", 42),
    ("A42", 42),
    ("v42.1", 42.1),
    ("10:42", 42),
    ("2026-05-42", 42),
    ("x^42", 42),
    ("42 km", "42 miles"),
    ("€5", "$5"),
    ("5 kg", "5 km"),
    ("12345678901234567891", "12345678901234567890"),
    ("1000000001", 1000000000),
    ("819999999999.96", "819999999999.18"),
    ("3.14", 3.14159),
    ("1/0", 0),
    ("none", 0),
    ("8/10", 8),
    ("3/4/2024", 0.75),
    ("42abc7", 42),
]


@pytest.mark.parametrize(("reply", "gold"), SAME)
def test_notations_of_one_number(reply: str, gold: Any) -> None:
    assert reward(reply, gold) == 1.0


@pytest.mark.parametrize(("reply", "gold"), DIFFERENT)
def test_other_numbers_and_things_that_are_none(reply: str, gold: Any) -> None:
    assert reward(reply, gold) == 0.0


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        ("The answer is 42, because 49 - 7 is 42 and not 12.", 42, 1.0),
        ("Answer: 6 * 7 = 42, not 41", 42, 1.0),
        ("3 + 4 = 7", 7, 1.0),
        ("She has 12 apples and gives away 5, so 7 are left.", 7, 1.0),
        (r"First 12, so \boxed{1,234} in 2 steps", 1234, 1.0),
        ("12 steps\n#### 42\nsee page 7", 42, 1.0),
        ("<answer>42</answer> in 7 steps", 42, 1.0),
        ("**Answer:** 42", 42, 1.0),
        ("**Answer**: 42\n(7 steps)", 42, 1.0),
        ("Answer:\n$$\n42\n$$\nSee 7.", 42, 1.0),
        ("The answer is 41. Final answer: 42", 42, 1.0),
        ("Final answer: 42. Some say the answer is 41.", 42, 1.0),
        ("The answer isn't 41, it's 42", 42, 1.0),
        ("Die Antwort ist 42, nicht 7", 42, 1.0),
        ("答案是42，不是7", 42, 1.0),
        ("She had 12.\n\n5", 5, 1.0),
        ("41 or 42", 42, 0.0),
        ("40, 41, 42", 42, 0.0),
        ("40\n41\n42", 42, 0.0),
        ("- 40\n- 41\n- 42", 42, 0.0),
        ("1. 40\n2. 41\n3. 42", 42, 0.0),
        ("40 41 and 42", 42, 0.0),
        ("between 40 and 42", 42, 0.0),
        ("10-42", 42, 0.0),
        ("The answer is 41 or 42", 41, 0.0),
        (r"\boxed{41} or \boxed{42}", 42, 0.0),
        ("Answer: 1\nAnswer: 2\nAnswer: 3\nAnswer: 42", 42, 0.0),
        ("42 or 42.0", 42, 1.0),
    ],
)
def test_which_number_a_reply_states(reply: str, gold: Any, expected: float) -> None:
    assert reward(reply, gold) == expected


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        ("forty-two", 42, 1.0),
        ("The answer is forty-two. (7 steps)", 42, 1.0),
        ("I have one hundred and five apples", 105, 1.0),
        ("minus three point one four", -3.14, 1.0),
        ("two and a half", 2.5, 1.0),
        ("It is one half.", 0.5, 1.0),
        ("three quarters", 0.75, 1.0),
        ("eighty percent", 0.8, 1.0),
        ("five km", "5000 m", 1.0),
        ("The answer is one.", 1, 1.0),
        ("No one knows", 1, 0.0),
        ("One moment, please", 1, 0.0),
        ("half asleep", 0.5, 0.0),
        ("the twenty fifth", 20, 0.0),
        ("forty or forty-two", 42, 0.0),
        ("not forty-two", 42, 0.0),
        ("In two steps: 42", 2, 0.0),
        ("5 remain of the original 12", 5, 1.0),
        ("3 of a total of 8", 3, 1.0),
        ("She keeps 5 of her 12 apples", 5, 1.0),
        ("After 3 steps the sum of the numbers is 12", 12, 1.0),
        ("He ate 3 of the 12, so 9 are left", 9, 1.0),
        ("3 of 12 is the same as 1 of the 4", 1, 1.0),
    ],
)
def test_numbers_in_words_and_parts_of_a_whole(reply: str, gold: Any, expected: float) -> None:
    assert reward(reply, gold) == expected


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split()
)
_TIES = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def _in_words(value: int, hyphen: str, joint: str) -> str:
    if value < 20:
        return _ONES[value]
    if value < 100:
        rest = value % 10
        return _TIES[value // 10 - 2] + (hyphen + _ONES[rest] if rest else "")
    size, name = next(pair for pair in _SIZES if value >= pair[0])
    rest = value % size
    head = f"{_in_words(value // size, hyphen, joint)} {name}"
    return head + (joint + _in_words(rest, hyphen, joint) if rest else "")


_SIZES = [(10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")]


@settings(max_examples=40)
@given(
    st.integers(0, 10**15 - 1) | st.integers(0, 2000),
    st.sampled_from(["-", " "]),
    st.sampled_from([" ", " and "]),
    st.sampled_from(["", "The answer is ", "I count "]),
    st.booleans(),
)
def test_a_number_written_in_words_is_read_back(value: int, hyphen: str, joint: str, lead: str, upper: bool) -> None:
    words = _in_words(value, hyphen, joint)
    text = f"{lead}{words.capitalize() if upper else words}."
    assert reward(text, str(value)) == 1.0 or (value == 1 and lead == "I count ")
    assert reward(text, str(value + 1)) == 0.0


@pytest.mark.parametrize(
    ("options", "reply", "gold", "expected"),
    [
        ({"abs_tol": 0.1}, "9.9", 10, 1.0),
        ({"abs_tol": 0.1}, "9.89", 10, 0.0),
        ({"rel_tol": 0.01}, "99", 100, 1.0),
        ({"rel_tol": 0.01}, "98.9", 100, 0.0),
        ({"percent": "fraction"}, "80%", 80, 0.0),
        ({"percent": "number"}, "80%", 80, 1.0),
        ({"percent": "number"}, "80%", 0.8, 0.0),
        ({"units": False}, "5 km", "5 miles", 1.0),
        ({"decimal": ","}, "1.234", 1234, 1.0),
        ({"decimal": ","}, "1,234", "1,234", 1.0),
        ({}, "7", ["6", "7"], 1.0),
        ({}, "Because...\n#### 7", "2 + 5 = 7\n#### 7", 1.0),
    ],
)
def test_options(options: dict[str, Any], reply: str, gold: Any, expected: float) -> None:
    assert reward(reply, gold, **options) == expected


@pytest.mark.parametrize("gold", ["Paris", True, {"a": 1}, "41 or 42", float("inf")])
def test_a_gold_answer_that_is_no_number_is_unjudged(gold: Any) -> None:
    assert reward("42", gold) is None


@pytest.mark.parametrize(
    "options", [{"abs_tol": -1}, {"rel_tol": float("nan")}, {"abs_tol": True}, {"percent": 1}, {"decimal": ";"}]
)
def test_options_that_cannot_work(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Numeric(**options)


_VALUES = st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, places=2)
_FORMATS = st.sampled_from(
    [
        str,
        lambda v: f"{v:,}",
        lambda v: f"{v:,}".replace(",", "\u202f"),
        lambda v: f"{v:,}".replace(",", "'"),
        lambda v: f"{v:,}".translate(str.maketrans(",.", ".,")) if abs(v) >= 1000 else str(v).replace(".", ",", 1),
        lambda v: f"{v:,}".replace(",", " "),
        lambda v: f"{v:E}",
        lambda v: f"${v}",
        lambda v: f"{v} apples",
        lambda v: str(v).replace("-", "−"),
        lambda v: f"{v * 100}%",
        lambda v: rf"\boxed{{{v}}}",
        lambda v: f"#### {v}",
        lambda v: f"The answer is {v}.",
        lambda v: f"After 3 steps and 17 checks the total is {v:,}",
    ]
)


@settings(max_examples=25)
@given(_VALUES, _FORMATS)
def test_any_notation_of_the_same_number_passes(value: Decimal, write: Any) -> None:
    assert reward(write(value), str(value)) == 1.0


@settings(max_examples=25)
@given(_VALUES, _VALUES, _FORMATS)
def test_another_number_fails(value: Decimal, other: Decimal, write: Any) -> None:
    # A percent sign can be read in two ways.
    if value != other and abs(other) != 100 * abs(value):
        assert reward(write(value), str(other)) == 0.0


@settings(max_examples=40)
@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for number in numbers(plainer(text)):
        assert number.value.is_finite()
        assert 0 <= number.start < number.end
    whole_number(text)
    assert all(answer.strip() == answer for answer in stated(text))
    assert reward(text, 424242.5) in (0.0, 1.0)


@pytest.mark.parametrize(
    "piece",
    [
        "9",
        " ",
        "1,",
        "1 ",
        "1.",
        "answer ",
        "answer: ",
        "answer to a",
        "\\boxed{",
        "1/",
        "1e",
        "a",
        "1-",
        "1:",
        "1^",
        "$",
        "<answer>",
        "#### ",
        "\n",
        "{,",
        "½",
        "\\frac{1",
        "forty ",
        "hundred and ",
        "1. a\n",
        "-",
        "1 111 ",
        "\ud800",
        "\0",
    ],
)
def test_long_replies_take_no_time(piece: str) -> None:
    size = 200_000 if piece in ("a", " ", "9") else 60_000
    with cpu_time() as spent:
        Numeric()({"final_text": piece * (size // len(piece)), "answer": 42})
    assert spent() < 0.8
