"""Gold answers that are formulas are no numbers; numbers with letters around them are."""

import time

import pytest

from whileai_hf.score.verify import Numeric
from whileai_hf.score.verify.formulas import is_formula
from whileai_hf.score.verify.readings import gold_number, stated_number


FORMULAS = [
    "x^2 + 2x + 1",
    "x + 1",
    "2x",
    "x/2",
    "$x^2+1$",
    r"\frac{x}{2}",
    r"3\sqrt{2}",
    r"2\pi",
    "π/4",
    "√2",
    "sqrt(2)/2",
    "2 + 3i",
    "(x+1)^2",
    "y = 2x + 1",
    "x^2 + y^2 = 25",
    "f(x) = 3x",
    r"\boxed{x^2 + 1}",
    "#### 2n + 1",
    "e^5",
    "a/3",
    "10 - k",
]
NUMBERS = [
    ("x = 5", 5),
    ("f(2) = 7", 7),
    ("P(A) = 1/4", 0.25),
    ("5 m", 5),
    ("12 m^2", 12),
    ("9.8 m/s^2", 9.8),
    ("-3 °C", -3),
    ("3 x 10^8", 3e8),
    ("2e-5", 2e-5),
    (r"\frac{1}{2}", 0.5),
    (r"\frac{3}{4} m", 0.75),
    ("3 x 10^8 m/s", 3e8),
    ("$5/h", 5),
    ("60 km/h", 60),
    ("2 x 3 = 6", 6),
    ("42%", 0.42),
    ("1,234.50 dollars", 1234.5),
    ("5 - 2 = 3 apples", 3),
    ("He has x + 2 of them.\n#### 12", 12),
    ("Area = 12 cm^2", 12),
    (r"12\text{ cm}^2", 12),
    (r"12\text{ m}^2", 12),
    (r"90^\circ", 90),
    ("2^10", 2),
    ("-7", -7),
    ("(5)", 5),
    ("C) 12", 12),
    ("US$1.2 million", 1.2e6),
]


@pytest.mark.parametrize("gold", FORMULAS)
def test_a_formula_is_no_number(gold):
    verdict = Numeric()({"final_text": "Answer: 2", "answer": gold})
    assert verdict["reward"] is None, verdict
    assert verdict["reason"].endswith("is no number")


@pytest.mark.parametrize(("gold", "value"), NUMBERS)
def test_numbers_with_letters_are_no_formulas(gold, value):
    before = stated_number(gold)
    assert gold_number(gold) == before
    if not isinstance(before, str) and gold not in ("2^10",):
        shown = before.value / 100 if before.percent else before.value
        assert float(shown) == pytest.approx(value), before


def test_formulas_are_told_in_no_time():
    begun = time.perf_counter()
    for text in (
        "a" * 200_000,
        " " * 200_000,
        "x" * 299,
        "1 " * 149,
        "x+" * 149,
        "\\frac" * 59,
        "(" * 299,
        "5 m/" * 74,
    ):
        is_formula(text)
    assert time.perf_counter() - begun < 0.2
