"""Rules out of a system prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.spec import split_policy
from whileai_hf.spec.policy import MAX_CLAUSE, MAX_CLAUSES, MIN_CLAUSE


@pytest.mark.parametrize(
    ("policy", "clauses"),
    [
        ("You are a shop agent.\n1. Verify the order first.\n2) Never guess a status.", None),
        ("- Verify the order first.\n* Never guess a status.", None),
        ("Verify the order first\nNever guess a status", ("Verify the order first", "Never guess a status")),
        ("Verify the order first.\n\nNever guess a status.", None),
        ("Verify the order first. Never guess a status.", None),
        ("Verify the order first; Never guess a status.", ("Verify the order first", "Never guess a status.")),
        ("# Verify\n**Verify** the `order` first.\n## Rules\nNever *guess* a [status](https://example.com/z).", None),
        ("<rules>\nVerify the order first.\n</rules>\n> Never guess a status.", None),
        ("Verify the order first.\nVERIFY the order first!\nNever guess a status.", None),
        ("(1) Verify the order first. (2) Never guess a status.", None),
    ],
)
def test_the_ways_to_write_two_rules(policy: str, clauses: tuple[str, ...] | None) -> None:
    assert split_policy(policy) == (clauses or ("Verify the order first.", "Never guess a status."))


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "You are a helpful assistant.",
        "# Policy",
        "Hi.",
        "The current time is 2024-05-15 15:00:00 EST.",
        "As an airline agent, you can help users book flights.",
        "```\nNever print this code.\n```",
    ],
)
def test_what_states_no_rule(policy: str) -> None:
    assert split_policy(policy) == ()


def test_a_role_with_a_prohibition_is_a_rule() -> None:
    assert split_policy("You are a bank agent and must never share a PIN.") != ()
    assert split_policy("You are not allowed to give legal advice.") != ()


def test_an_intro_with_a_condition_stays_with_its_items() -> None:
    policy = "If any of the following is true, refuse the refund:\n- the order is old\n- the item was used\n"
    assert split_policy(policy) == (
        "If any of the following is true, refuse the refund: the order is old",
        "If any of the following is true, refuse the refund: the item was used",
    )


def test_conditions_that_hold_together_stay_together() -> None:
    policy = "Refund right away if all of these hold:\n  a. the order is late\n  b. the user asks"
    assert split_policy(policy) == ("Refund right away if all of these hold: the order is late; the user asks",)


def test_an_intro_that_says_nothing_is_dropped() -> None:
    policy = "You must follow these rules:\n- Verify the order first.\n- Never guess a status."
    assert split_policy(policy) == ("Verify the order first.", "Never guess a status.")


def test_wrapped_lines_are_one_rule_and_quotes_are_not_split() -> None:
    policy = (
        "- Before you delete anything, ask the customer the question in the exact words\n"
        '  "Are you sure? This is final." and wait.\n'
        "- Use e.g. the order id; Mr. Smith may help."
    )
    assert split_policy(policy) == (
        'Before you delete anything, ask the customer the question in the exact words "Are you sure? This is final." '
        "and wait.",
        "Use e.g. the order id",
        "Mr. Smith may help.",
    )


def test_a_sentence_that_reverses_the_one_before_stays_with_it() -> None:
    policy = "Orders can be cancelled within a day. Otherwise, they cannot. Refunds take a week."
    assert split_policy(policy) == (
        "Orders can be cancelled within a day. Otherwise, they cannot.",
        "Refunds take a week.",
    )


def test_rules_in_a_table_and_without_spaces() -> None:
    assert "Gold: refund within 60 days" in split_policy(
        "| Plan | Window |\n|---|---|\n| Gold | refund within 60 days |"
    )
    assert split_policy("不要猜测订单的状态。请先核实订单和客户。") == ("不要猜测订单的状态。", "请先核实订单和客户。")


def test_over_the_cap_the_binding_rules_stay_in_order() -> None:
    lines = [f"Fact number {i} about the shop." for i in range(30)]
    lines += [f"Never do forbidden thing {i}." for i in range(MAX_CLAUSES - 1)]
    kept = split_policy("\n".join(f"- {line}" for line in lines))
    assert kept == (lines[0], *lines[30:])
    assert len(split_policy("\n".join(f"- {line}" for line in lines), None)) == len(lines)


@given(st.text(alphabet=st.sampled_from('aB .;:\n-*#1)("`|_é。'), max_size=300))
def test_any_text_splits_within_the_bounds(policy: str) -> None:
    clauses = split_policy(policy)
    assert len(clauses) <= MAX_CLAUSES
    assert all(MIN_CLAUSE <= len(clause) <= MAX_CLAUSE and "\n" not in clause for clause in clauses)
    assert len({clause.casefold() for clause in clauses}) == len(clauses)
    assert split_policy(policy) == clauses
