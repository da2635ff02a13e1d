"""Rollouts that repeat another one of their group."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.measure.hygiene import dedupe_groups, duplicate_report
from whileai_hf.rows import open_rows


def call(tool="get_order", order="A1", result="ok", **more):
    return {"tool": tool, "arguments": {"order_id": order, "n": 1}, "result": {"status": result}, **more}


def row(text="Done.", steps=(), task="t", prompt="p", **more):
    return {"scenario_id": task, "prompt": prompt, "final_text": text, "steps": list(steps), **more}


def test_what_makes_a_copy():
    rows = [
        row("It has shipped.", [call()]),
        row("it has  SHIPPED.", [call()]),  # a copy: case and white space
        row(
            "It has shipped.",
            [{"result": {"status": "ok"}, "arguments": {"n": 1, "order_id": "A1"}, "tool": "get_order"}],
        ),
        row("It has shipped.", [call(logprob=-0.5)]),  # a copy: numbers of the sampler are no behaviour
        row("It has shipped.", [call(order="A2")]),
        row("It has shipped.", [call(result="timeout")]),
        row("It has shipped.", [call(), call()]),
        row("It has shipped.", [{"text": "Let me see."}, call()]),
        row("It has shipped!", [call()]),
        row("It has shipped.", [call()], prompt="another phrasing"),
        row("It has shipped.", [call()], task="another task"),
    ]
    for data in (rows, open_rows(rows)):
        kept, found = dedupe_groups(data)
        assert found.rows == [1, 2, 3]
        assert (found.n_rows, found.n_kept, found.n_dropped) == (11, 8, 3) and len(kept) == 8
        assert (found.n_groups, found.n_groups_affected, found.n_groups_single) == (3, 1, 0)
        assert "3 of 11" in str(found)


@given(st.text("aB \t\n\x1c\x85\xa0\u2028\u3000\u200b\u00df", max_size=8), st.text("aB \n\xa0\u00df", max_size=8))
def test_replies_are_alike_when_their_words_are(one, other):
    alike = one.casefold().split() == other.casefold().split()
    assert (duplicate_report([row(one, [call()]), row(other, [call()])]).rows == [1]) is alike


def test_conflicting_rewards_and_groups_of_one():
    rows = [row(reward=1.0), row(reward=0.0), row(reward=None), row(task="u", reward=None), row(task="u", reward=None)]
    found = duplicate_report(rows)
    assert (found.n_dropped, found.n_conflicting, found.n_groups_single) == (3, 1, 2)
    assert "contradicts itself" in found.warnings[0]


def test_the_one_with_a_verdict_stays():
    kept, found = dedupe_groups([row(reward=None), row(reward=1.0), row(reward=1.0)])
    assert found.rows == [0, 2] and kept["reward"][:] == [1.0]


def test_rows_of_messages():
    def said(text):
        return {"prompt": "p", "messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": text}]}

    assert duplicate_report([said("a"), said("b"), said("a")]).rows == [2]


def test_nothing_known_is_no_copy():
    assert duplicate_report([{"prompt": "p", "final_text": None}, {"prompt": "p", "final_text": ""}]).rows == []
    with pytest.raises(MissingColumnError, match="what the agent did"):
        duplicate_report([{"prompt": "p", "reward": 1}])
    with pytest.raises(MissingColumnError, match="scenario_id"):
        duplicate_report([{"final_text": "x"}])
    with pytest.raises(DataError):
        duplicate_report([])


def test_odd_rows():
    rows = [
        row("\ud800", [{"tool": None, "arguments": "{", "result": 1 << 80}]),
        row("\ud800", [{"tool": None, "arguments": "{", "result": 1 << 80}]),
        row(7, "not steps"),
        row(["x"]) | {"steps": None},
        row("x" * 1_000_000, [None, "text"]),
    ]
    assert duplicate_report(rows).rows == [1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "X ", "y"]), st.integers(0, 2)), min_size=1))
def test_keeps_the_first_of_each(kinds):
    rows = [row(text, [call(order=str(order))], prompt=prompt) for prompt, text, order in kinds]
    expected, seen = [], set()
    for prompt, text, order in kinds:
        key = (prompt, text.strip().lower(), order)
        expected.append(key not in seen)
        seen.add(key)
    assert duplicate_report(rows).rows == [index for index, fresh in enumerate(expected) if not fresh]


def test_a_second_pass_finds_nothing():
    rows = [row(text) for text in "aabac"]
    kept, _ = dedupe_groups(rows)
    assert dedupe_groups(kept)[1].n_dropped == 0
