"""Verifiers: what passes, what fails, and what stays unjudged."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import open_rows
from whileai_hf.score import Score, grade, verdict
from whileai_hf.score.verify import (
    All,
    ExactMatch,
    Includes,
    JSONValid,
    Regex,
    Weighted,
    verifier,
)
from whileai_hf.score.verify import (
    Any as AnyOf,
)
from whileai_hf.score.verify.base import Verifier


def reward(judge: Verifier, reply: str | None, **row: Any) -> float | None:
    return verdict(judge({"final_text": reply, **row})).reward


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"privileged": {"reference": "42"}, "answer": "no"}, None),
        ({"answer": "42", "target": "no"}, None),
        ({"target": "42"}, None),
        ({"reference": "42"}, None),
        ({"gold": "42"}, None),
        ({"label": "42"}, None),
        ({"solution": 42}, None),
        ({"privileged": {"hidden_state": "x"}, "answer": None, "target": "42"}, None),
        ({"meta": {"keys": ["41", "42"]}, "answer": "no"}, "meta.keys.1"),
        ({"meta.key": "42"}, "meta.key"),
        ({"answer": ["41", "42"]}, None),
    ],
)
def test_the_gold_answer_is_found(row: dict[str, Any], field: str | None) -> None:
    assert reward(ExactMatch(field=field), "42", **row) == 1.0
    assert reward(ExactMatch(field=field), "43", **row) == 0.0


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({}, None),
        ({"answer": None}, None),
        ({"answer": []}, None),
        ({"answer": float("nan")}, None),
        ({"answer": "42"}, "meta.key"),
        ({"meta": ["42"]}, "meta.7"),
        ({"privileged": None}, None),
    ],
)
def test_a_missing_gold_answer_is_unjudged_never_zero(row: dict[str, Any], field: str | None) -> None:
    for judge in (ExactMatch(field=field), Includes(field=field), Regex("(.*)", group=1, field=field)):
        read = verdict(judge({"final_text": "42", **row}))
        assert (read.reward, read.status) == (None, "missing_reward")
        assert "no gold answer" in (read.reason or "")


def test_the_description_of_the_template_writer_is_no_gold() -> None:
    text = "get_order answers for ORD-1 and the reply reports the status."
    row = {"final_text": text, "writer_model": "template", "privileged": {"reference": text}}
    other = {**row, "answer": "shipped"}
    for judge in (ExactMatch(), Includes(), All(ExactMatch(), Includes())):
        read = [grade([each], judge)[0] for each in (row, other, {**row, "writer_model": "pinned"})]
        assert [item["reward"] for item in read] == [None, 0.0, 1.0]
        assert "describes a right run" in read[0]["reason"]
    read = grade([row], ExactMatch())[0]
    assert read["judge_status"] == "missing_reward"
    mapped = open_rows([row]).map(Score(ExactMatch()), batched=True)
    assert mapped["reward"][:] == [None]
    assert ExactMatch(field="privileged.reference")(row)["reward"] == 1.0


def test_a_row_without_a_reply_column_is_unjudged() -> None:
    assert verdict(ExactMatch()({"answer": "x"})).reward is None


@pytest.mark.parametrize(
    ("options", "reply", "gold", "expected"),
    [
        ({}, "  Paris\n", "paris", 1.0),
        ({"strip": False}, " paris", "paris", 0.0),
        ({"case": True}, "Paris", "paris", 0.0),
        ({}, "New   York", "new york", 1.0),
        ({"whitespace": True}, "New   York", "new york", 0.0),
        ({}, "Paris.", "paris", 0.0),
        ({"punctuation": False}, "Paris.", "paris", 1.0),
        ({"punctuation": False}, "$5", "5", 0.0),
        ({"punctuation": False}, "...", "!!!", 0.0),
        ({}, "STRASSE", "straße", 1.0),
        ({}, "cafe\u0301", "caf\u00e9", 1.0),
        ({}, "5", 5, 1.0),
        ({}, "", "", 1.0),
        ({}, "x", "", 0.0),
    ],
)
def test_exact_match(options: dict[str, Any], reply: str, gold: Any, expected: float) -> None:
    assert reward(ExactMatch(**options), reply, answer=gold) == expected


@pytest.mark.parametrize(
    ("judge", "reply", "gold", "expected"),
    [
        (Includes(), "It is Paris.", "paris", 1.0),
        (Includes(), "Order 1234.", "12", 0.0),
        (Includes(words=False), "Order 1234.", "12", 1.0),
        (Includes(), "Order 12, then 1234.", "1234", 1.0),
        (Includes(), "xaa aa", "aa", 1.0),
        (Includes(case=True), "paris", "Paris", 0.0),
        (Includes(), "new\n york it is", "New York", 1.0),
        (Includes(), "London", ["Paris", "London"], 1.0),
        (Includes(all=["a", "b"]), "b and a", None, 1.0),
        (Includes(all=["a", "b"]), "only a", None, 0.0),
        (Includes(any=["a", "b"]), "only a", None, 1.0),
        (Includes(any=["a", "b"]), "neither", None, 0.0),
        (Includes(all=["a"], any=["x", "y"]), "a y", None, 1.0),
        (Includes(all=["a"], any=["x", "y"]), "a", None, 0.0),
        (Includes(all="whole"), "the whole text", None, 1.0),
        (Includes(none=["London"]), "Paris", "Paris", 1.0),
        (Includes(none=["London"]), "Paris or London", "Paris", 0.0),
    ],
)
def test_includes(judge: Verifier, reply: str, gold: Any, expected: float) -> None:
    assert reward(judge, reply, answer=gold) == expected


@pytest.mark.parametrize(
    ("judge", "reply", "gold", "expected"),
    [
        (Regex(r"\d{4}"), "order 4412", None, 1.0),
        (Regex(r"\d{4}"), "order 44", None, 0.0),
        (Regex(r"\d{4}", full=True), "order 4412", None, 0.0),
        (Regex("ok", case=True), "OK", None, 0.0),
        (Regex(r"#### (\d+)", group=1), "#### 1 then #### 42", "42", 1.0),
        (Regex(r"#### (\d+)", group=1), "#### 42 then #### 1", "42", 0.0),
        (Regex(r"answer: (?P<a>\w+)", group="a"), "Answer: B", "b", 1.0),
        (Regex(r"#### (\d+)", group=1), "nothing", "42", 0.0),
    ],
)
def test_regex(judge: Verifier, reply: str, gold: Any, expected: float) -> None:
    assert reward(judge, reply, answer=gold) == expected


def test_a_pattern_that_backtracks_forever_is_a_timeout() -> None:
    judge = Regex(r"(a|aa)+$", timeout=0.2)
    started = time.monotonic()
    graded = grade([{"final_text": "a" * 60 + "b"}, {"final_text": "aaa"}], judge)
    assert time.monotonic() - started < 10
    assert graded["judge_status"][:] == ["timeout", "ok"]
    assert graded["reward"][:] == [None, 1.0]


@pytest.mark.parametrize(
    ("judge", "reply", "expected"),
    [
        (JSONValid(), '{"a": 1}', 1.0),
        (JSONValid(), "```json\n[1, 2]\n```", 1.0),
        (JSONValid(fences=False), "```json\n[1, 2]\n```", 0.0),
        (JSONValid(), "Here: {}", 0.0),
        (JSONValid(), '{"a": NaN}', 0.0),
        (JSONValid(), "{'a': 1}", 0.0),
        (JSONValid(), '{"a": 1,}', 0.0),
        (JSONValid(), "[" * 100_000, 0.0),
        (JSONValid(), "\ud800", 0.0),
        (JSONValid(kind="object"), "[1]", 0.0),
        (JSONValid(kind="array"), "[1]", 1.0),
    ],
)
def test_json_valid(judge: Verifier, reply: str, expected: float) -> None:
    assert reward(judge, reply) == expected


ALL_KINDS = [
    ExactMatch(),
    ExactMatch(punctuation=False, strip=False, whitespace=True),
    Includes(),
    Includes(words=False),
    Includes(all=["a"]),
    Includes(any=["a"]),
    Regex(".*"),
    Regex(".*", full=True),
    Regex("(.*)", group=1),
    JSONValid(),
    All(ExactMatch(), Regex(".*")),
    AnyOf(ExactMatch(), Regex(".*"), JSONValid()),
    Weighted({ExactMatch(): 1, Regex(".*"): 2}),
    verifier(lambda candidate, gold: True),
    verifier(lambda candidate: 1),
]


@settings(max_examples=25)
@given(reply=st.sampled_from(["", " ", "\n\t", None]), gold=st.text(min_size=1).filter(str.strip))
def test_an_empty_reply_never_scores(reply: str | None, gold: str) -> None:
    for judge in ALL_KINDS:
        assert reward(judge, reply, answer=gold) == 0.0


@settings(max_examples=25)
@given(gold=st.text(min_size=1).filter(str.strip))
def test_the_gold_answer_itself_always_scores(gold: str) -> None:
    for judge in (ExactMatch(), ExactMatch(punctuation=False), Includes(), Includes(words=False)):
        assert reward(judge, gold, answer=gold) == 1.0


@pytest.mark.parametrize(
    "build",
    [
        lambda: Regex("("),
        lambda: Regex(None),
        lambda: Regex("a", group=1),
        lambda: Regex("a", timeout=0),
        lambda: Includes(all=[""]),
        lambda: Includes(any=[" "]),
        lambda: Includes(all=[3]),
        lambda: Includes(none=[""]),
        lambda: JSONValid(kind="set"),
        lambda: ExactMatch(field=""),
        lambda: All(),
        lambda: All(ExactMatch),
        lambda: AnyOf("x"),
        lambda: Weighted({}),
        lambda: Weighted({ExactMatch(): 0}),
        lambda: Weighted([(ExactMatch(), float("nan"))]),
        lambda: Weighted([(ExactMatch(),)]),
        lambda: verifier(lambda: 1),
        lambda: verifier(lambda a, b, c: 1),
        lambda: verifier(3),
    ],
)
def test_what_cannot_work_is_refused_at_construction(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()


def _fixed(value: Any, name: str) -> Verifier:
    return verifier(name=name)(lambda candidate: value)


_REWARD = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0])


@settings(max_examples=25)
@given(st.lists(_REWARD, min_size=1, max_size=4))
def test_composition_laws(rewards: list[float | None]) -> None:
    parts = [_fixed(value, f"p{i}") for i, value in enumerate(rewards)]
    known = [value for value in rewards if value is not None]
    whole = len(known) == len(rewards)
    expected_all = min(known) if known and (whole or min(known) == 0) else None
    expected_any = max(known) if known and (whole or max(known) == 1) else None
    assert reward(All(*parts), "x") == expected_all
    assert reward(AnyOf(*parts), "x") == expected_any
    mean = reward(Weighted([(part, 1) for part in parts]), "x")
    assert mean == (pytest.approx(sum(known) / len(known)) if whole else None)
    markers = verdict(All(*parts)({"final_text": "x"})).markers
    assert markers == {f"verify:p{i}": value for i, value in enumerate(rewards) if value is not None}


def test_weights_names_and_reasons() -> None:
    rubric = Weighted([(JSONValid(), 1), (Includes(all=["refund"]), 3), (Includes(all=["x"], name="includes"), 4)])
    read = verdict(rubric({"final_text": "your refund"}))
    assert read.reward == 3 / 8
    assert read.markers == {"verify:json_valid": 0.0, "verify:includes": 1.0, "verify:includes#2": 0.0}
    assert "missing: x" in (read.reason or "")


def test_a_part_may_be_any_judge_and_its_markers_come_along() -> None:
    def rule(row: dict[str, Any]) -> dict[str, Any]:
        row["final_text"] = "changed"
        return {"reward": 1, "markers": {"polite": 1}}

    def down(row: dict[str, Any]) -> int:
        raise OSError("no network")

    read = verdict(All(rule, ExactMatch())({"final_text": "x", "answer": "x"}))
    assert (read.reward, read.markers) == (1.0, {"polite": 1.0, "verify:rule": 1.0, "verify:exact_match": 1.0})
    read = verdict(All(down, ExactMatch())({"final_text": "x", "answer": "x"}))
    assert read.reward is None and "no network" in (read.reason or "")
    assert All(rule).columns() is None
    assert set(All(JSONValid(), ExactMatch(field="a.b")).columns() or ()) == {"final_text", "prompt", "a", "a.b"}


def test_a_verifier_needs_no_row() -> None:
    assert ExactMatch().judge("a", "A")["reward"] == 1.0
    assert ExactMatch().judge("a")["reward"] is None
    assert All(ExactMatch(field="deep.key"), Regex("a")).judge("a", "a")["reward"] == 1.0


def test_a_decorated_function_is_a_verifier() -> None:
    @verifier(field="task.key", name="close")
    def near(candidate: str, gold: Any) -> dict[str, Any]:
        return {"reward": abs(float(candidate) - gold) < 0.1, "reason": "distance"}

    rows = [{"final_text": text, "task": {"key": 1.0}} for text in ("1.05", "2", "one")]
    graded = grade(rows, near)
    assert graded["reward"][:] == [1.0, 0.0, None]
    assert graded["judge_name"][:] == ["close"] * 3
    assert graded["judge_status"][2] == "error"


def test_a_verifier_reads_only_what_it_needs() -> None:
    class Whole(ExactMatch):
        def __call__(self, row: Any) -> dict[str, Any]:
            return {"reward": len(row)}

    available = ["prompt", "final_text", "messages", "answer"]
    assert Score(ExactMatch()).reads(available) == ["prompt", "final_text", "answer"]
    assert Score(JSONValid()).reads(available) == ["prompt", "final_text"]
    assert Score(Includes(echo=True)).reads(available) == ["final_text", "answer"]
    assert Score(Whole()).reads(available) == available
    assert Score(ExactMatch(), columns=["prompt"]).reads(available) == ["prompt"]
