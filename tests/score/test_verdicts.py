"""The judge contract: what is a reward, what is not, and what is kept of the rest."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.rows import dumps
from whileai_hf.score import JudgeStatus, Verdict, verdict


@pytest.mark.parametrize(
    ("raw", "reward"),
    [
        (1, 1.0),
        (0, 0.0),
        (True, 1.0),
        (False, 0.0),
        (0.7, 0.7),
        (-1, -1.0),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.bool_(True), 1.0),
        (np.array(0.25), 0.25),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        ({"reward": 0.7}, 0.7),
        ({"reward": np.float64(0.7)}, 0.7),
    ],
)
def test_finite_numbers_and_bools_are_rewards(raw: Any, reward: float) -> None:
    read = verdict(raw)
    assert (read.reward, read.status) == (reward, JudgeStatus.OK)
    assert type(read.reward) is float


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (None, "missing_reward"),
        ({}, "missing_reward"),
        ({"reason": "no idea"}, "missing_reward"),
        ({"reward": None}, "missing_reward"),
        ("1", "invalid_result"),
        ("pass", "invalid_result"),
        ([1], "invalid_result"),
        ((1, "why"), "invalid_result"),
        (float("nan"), "invalid_result"),
        (float("inf"), "invalid_result"),
        (1 << 5000, "invalid_result"),
        (1j, "invalid_result"),
        (np.array([1.0]), "invalid_result"),
        (object(), "invalid_result"),
        ({"reward": "1"}, "invalid_result"),
        ({"reward": [1]}, "invalid_result"),
        ({"reward": {}}, "invalid_result"),
        ({"reward": float("-inf")}, "invalid_result"),
        ({"reward": float("nan")}, "invalid_result"),
        ({"reward": Decimal("sNaN")}, "invalid_result"),
    ],
)
def test_anything_else_is_unjudged_and_says_why(raw: Any, status: str) -> None:
    read = verdict(raw)
    assert read.reward is None
    assert read.status == status
    if status == "invalid_result":
        assert "expected a finite number" in read.meta["error"]


def test_a_mapping_keeps_everything_it_says() -> None:
    read = verdict(
        {
            "reward": 0.7,
            "reason": "too long",
            "markers": {"grounded": True, "polite": np.float32(0.5)},
            "failure_class": "verbose",
            "model": "rules-2",
            "votes": (1, 2),
        }
    )
    assert read == Verdict(
        0.7,
        JudgeStatus.OK,
        "too long",
        {"grounded": 1.0, "polite": 0.5},
        "verbose",
        {"model": "rules-2", "votes": [1, 2]},
    )


def test_a_bad_marker_costs_the_marker_not_the_verdict() -> None:
    read = verdict({"reward": 1, "markers": {"good": 1, "text": "yes", "nan": float("nan"), "unmeasured": None}})
    assert read.reward == 1.0
    assert read.markers == {"good": 1.0}
    assert set(read.meta["dropped_markers"]) == {"text", "nan"}


def test_markers_that_are_no_mapping_are_dropped_with_a_note() -> None:
    read = verdict({"reward": 1, "markers": ["grounded"]})
    assert (read.reward, read.markers) == (1.0, {})
    assert "list" in read.meta["dropped_markers"]


def test_a_verdict_without_reward_keeps_its_reason_and_markers() -> None:
    read = verdict({"reason": "the log is cut", "markers": {"complete": 0}})
    assert (read.reward, read.reason, read.markers) == (None, "the log is cut", {"complete": 0.0})


def test_the_judge_cannot_write_a_status_itself() -> None:
    read = verdict({"reward": 1, "judge_status": "error"})
    assert read.status == JudgeStatus.OK
    assert read.meta == {"judge_status": "error"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
_KEYS = st.sampled_from(["reward", "reason", "markers", "failure_class", "extra"])


@given(_JSON | st.dictionaries(_KEYS, _JSON) | st.binary() | st.complex_numbers() | st.sets(st.integers()))
def test_whatever_a_judge_returns_the_verdict_is_well_formed(raw: Any) -> None:
    read = verdict(raw)
    assert (read.reward is None) == (read.status != JudgeStatus.OK)
    assert read.reward is None or math.isfinite(read.reward)
    assert all(math.isfinite(value) for value in read.markers.values())
    assert read.reason is None or isinstance(read.reason, str)
    dumps(read.meta)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.integers(-(10**15), 10**15))
def test_a_reward_is_the_same_bare_or_in_a_mapping(value: Any) -> None:
    assert verdict(value).reward == verdict({"reward": value}).reward == float(value)
