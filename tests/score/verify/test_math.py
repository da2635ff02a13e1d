"""MathEqual: equal mathematics, decided in a process that can be stopped."""

from __future__ import annotations

import importlib.util
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import grade, verdict
from whileai_hf.score.verify import MathEqual
from whileai_hf.score.verify.algebra import same_algebra


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"whileai-hf\[math\]"):
        MathEqual()


if importlib.util.find_spec("math_verify") is None:
    pytest.skip("math-verify is not installed", allow_module_level=True)


def reward(reply: Any, gold: Any, **row: Any) -> float | None:
    return verdict(MathEqual()({"final_text": reply, "answer": gold, **row})).reward


@pytest.mark.parametrize(
    ("reply", "gold", "expected"),
    [
        (r"So $x = \boxed{0.50}$.", "1/2", 1.0),
        (r"\boxed{\frac12}", "0.5", 1.0),
        (r"\boxed{(x+1)^2}", "x^2+2x+1", 1.0),
        (r"\boxed{x^2}", "x^2+2x+1", 0.0),
        (r"\boxed{(x+1)^2}", "$x^2+2x+2$", 0.0),
        (r"\boxed{\sqrt{18}}", r"3\sqrt{2}", 1.0),
        ("The answer is $2x+1$.", "1+2x", 1.0),
        ("Answer: x = 5", "5", 1.0),
        ("answer: 42 apples", "42", 1.0),
        ("It must be 42.", "42", 1.0),
        ("It must be 43.", "42", 0.0),
        (r"\boxed{[0,1)}", "[0,1)", 1.0),
        (r"\boxed{[0,1]}", "[0,1)", 0.0),
        (r"\boxed{1} or \boxed{2}", r"\{1,2\}", 1.0),
        (r"\boxed{1} or \boxed{2}", "2", 0.0),
        (r"\boxed{\text{even}}", "even", 1.0),
        (r"\boxed{7}", ["6", "7"], 1.0),
        ("1, 2, 3, 4", "4", 0.0),
        ("I'm done", "x^2", 0.0),
        ("", "x^2", 0.0),
        ("odd", "even", None),
        ("x", "", None),
        ("\ud800 \0", "x^2", 0.0),
    ],
)
def test_equal_and_different(reply: str, gold: Any, expected: float | None) -> None:
    assert reward(reply, gold) == expected


def test_endless_simplification_is_a_timeout_and_the_next_row_is_judged() -> None:
    rows = [
        {"final_text": r"\boxed{9^{9^{9^{9}}}}", "answer": "x^2"},
        {"final_text": r"\boxed{\sqrt{8}}", "answer": r"2\sqrt{2}"},
    ]
    started = time.monotonic()
    graded = grade(rows, MathEqual(timeout=1))
    assert graded["judge_status"][:] == ["timeout", "ok"]
    assert graded["reward"][:] == [None, 1.0]
    assert time.monotonic() - started < 60


def test_it_works_from_any_thread() -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(reward(r"\boxed{\sqrt{12}}", r"2\sqrt{3}"))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 3


@pytest.mark.parametrize("timeout", [0, -1, True, "5", float("inf")])
def test_a_timeout_that_is_none(timeout: Any) -> None:
    with pytest.raises(ConfigurationError):
        MathEqual(timeout=timeout)


_N = st.integers(-9, 9)


@settings(max_examples=25)
@given(_N, _N, _N, _N)
def test_products_multiplied_out_are_equal_and_others_are_not(a: int, b: int, c: int, d: int) -> None:
    product = f"({a}x+{b})({c}x+{d})"
    out = f"{a * c}x^2+{a * d + b * c}x+{b * d}".replace("+-", "-")
    assert same_algebra(product.replace("+-", "-"), out) is True
    assert same_algebra(product.replace("+-", "-"), out + "+1") is False


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (r"\frac{x}{2}", "x/2", True),
        (r"\frac{x+1}{x}", r"1+\frac{1}{x}", True),
        ("x^{-2}", r"\frac{1}{x^2}", True),
        (r"2\pi r", r"r \cdot 2\pi", True),
        ("-x^2", "(-x)^2", False),
        ("2x+1", "2y+1", None),
        ("xy", "x+y", None),
        ("1/2x", "x/2", None),
        (r"2\frac{1}{2}", "1", None),
        ("x^12", "x^2", None),
        ("f(x)", "xf", None),
        ("0.33x", "0.34x", None),
        (r"\sqrt{x}", "x", None),
        ("x=5", "5", None),
        ("x/0", "x", None),
        ("(" * 500, "x", None),
        ("x^^2", "x", None),
    ],
)
def test_what_is_plain_algebra(one: str, other: str, expected: bool | None) -> None:
    assert same_algebra(one, other) is expected
