"""The person without a model: what it answers, and that it leaves finished conversations alone."""

from __future__ import annotations

from typing import Any

import pytest

from whileai_hf.actors.users import TemplateUser, UserContext
from whileai_hf.actors.users.requests import requests_in
from whileai_hf.actors.users.template import lines


TASK = {
    "scenario_id": "sc-1",
    "prompt": "I'd like my money back for the kettle.",
    "expected_calls": [{"tool": "refund_order", "arguments": {"order_id": "ORD-4412", "reason": "late"}}],
}


def answer(reply: str, task: dict[str, Any] = TASK, before: tuple[str, ...] = (), **context: Any) -> str | None:
    """What the person says to `reply`, after exchanges in which the agent said the same."""
    messages = [{"role": "user", "content": task["prompt"]}]
    for said in before:
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": said}]
    messages.append({"role": "assistant", "content": reply})
    return TemplateUser().reply(messages, UserContext(task, turn=1 + len(before), **context))


@pytest.mark.parametrize(
    "reply",
    [
        "Your order ORD-4412 is on its way.",
        "I have refunded order ORD-4412. Is there anything else I can help you with?",
        "Done. Let me know if you have any other questions!",
        "I cannot do that: it goes against the rules. If you need further assistance, feel free to ask.",
        "The request timed out. Please try again later.",
        "That is outside what I can do here. I can look up and refund orders, so tell me if it is about one of those.",
        "Refunded. Would you like to know more about our policies?",
        "",
    ],
)
def test_an_answer_ends_the_conversation(reply: str) -> None:
    assert answer(reply) is None


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("Which order do you mean?", ["ORD-4412"]),
        ("Could you please provide the order number?", ["ORD-4412"]),
        ("To proceed I'll need your order ID.", ["ORD-4412"]),
        ("Please tell me the order id and the reason for the refund.", ["ORD-4412", "late"]),
        ("Why do you want to return it?", ["late"]),
        ("I could not find it. Could you check the reference?", ["ORD-4412"]),
        ("Before I can start I need the order id. Could you send it?", ["ORD-4412"]),
        ("Sure!\n\n1. Order number?\n2. Reason?", ["ORD-4412", "late"]),
    ],
)
def test_it_tells_what_it_is_asked_for(reply: str, values: list[str]) -> None:
    said = answer(reply) or ""
    assert [value for value in ("ORD-4412", "late") if value in said] == values


@pytest.mark.parametrize("reply", ["What is your date of birth?", "Could you share your email address?"])
def test_what_it_does_not_know_it_says_once(reply: str) -> None:
    said = answer(reply)
    assert said in lines("unknown")
    assert answer(reply, before=(said or "",)) is None


@pytest.mark.parametrize(
    "reply",
    [
        "I found the order. Shall I go ahead and refund it?",
        "The refund is 12.50 dollars. Would you like me to proceed?",
        "You want a refund for ORD-4412, is that correct?",
        "Please confirm that I should refund order ORD-4412.",
    ],
)
def test_it_agrees_to_what_it_asked_for(reply: str) -> None:
    assert answer(reply) in lines("yes")


def test_it_corrects_an_agent_with_the_wrong_record() -> None:
    said = answer("I will refund order ORD-9999. Shall I go ahead?") or ""
    assert "ORD-4412" in said and said not in lines("yes")


def test_an_offer_of_something_else_is_no_reason_to_go_on() -> None:
    assert answer("It is done. Would you like me to sign you up for the newsletter?") is None


def test_it_does_not_say_the_same_thing_for_ever() -> None:
    reply = "Which order do you mean?"
    first = answer(reply) or ""
    second = answer(reply, before=(first,)) or ""
    assert "ORD-4412" in second
    assert answer(reply, before=(first, second)) is None


def test_the_number_of_a_vague_ask_is_on_file_unless_the_ask_says_otherwise() -> None:
    hidden = {
        "hidden_state": "Behind the scenes order ORD-7001 is on file once, untouched.",
        "reference": "Asks which.",
    }
    vague = {"prompt": "Sort out my order please.", "expected_calls": [], "privileged": hidden}
    assert "ORD-7001" in (answer("Which order is it?", vague) or "")
    lost = {**vague, "prompt": "Sort out my order, I can't find the number."}
    assert answer("Which order is it?", lost) in lines("unknown")


def test_facts_listed_by_the_task() -> None:
    known = {"known": {"email": "jo@shop.example", "date of birth": "1990-05-01"}}
    task = {"prompt": "Reset my password.", "expected_calls": [], "privileged": known}
    assert "jo@shop.example" in (answer("Could you share your email address?", task) or "")
    assert "1990-05-01" in (answer("And your date of birth, please?", task) or "")


def test_same_seed_same_words_and_the_persons_way_of_typing() -> None:
    asked = "Which order do you mean?"
    said = {answer(asked, rollout_index=index) for index in range(20)}
    assert len(said) > 1
    assert [answer(asked, rollout_index=3)] * 3 == [answer(asked, rollout_index=3) for _ in range(3)]
    lower = [answer(asked, {**TASK, "typing": "lowercase"}, rollout_index=index) or "" for index in range(20)]
    assert all(text[0].islower() or text.startswith("ORD") or text.startswith("oRD") is False for text in lower)


def test_requests_are_told_from_courtesies() -> None:
    assert [r.kind for r in requests_in("Which one? Shall I cancel it? Anything else?")] == ["detail", "confirmation"]
    assert requests_in("Please note that refunds take a week. Have a nice day!") == ()
