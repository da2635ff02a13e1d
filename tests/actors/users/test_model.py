"""The person played by a model: what it is told, what is held back, when it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from whileai_hf.actors.models import Completion
from whileai_hf.actors.users import ModelUser, UserContext
from whileai_hf.actors.users.model import STOP, system_prompt
from whileai_hf.errors import ModelError


HIDDEN = (
    "Behind the scenes the parcel was handed to a neighbour; on refund_order the call times out; "
    "an earlier visit is on record."
)
REFERENCE = "The reply admits that nothing was confirmed and offers to look again tomorrow."
TASK = {
    "scenario_id": "sc-1",
    "prompt": "I'd like my money back for the kettle.",
    "persona": "busy",
    "tone": "impatient",
    "typing": "clipped",
    "length": "short",
    "expected_calls": [{"tool": "refund_order", "arguments": {"order_id": "ORD-4412"}}],
    "privileged": {"hidden_state": HIDDEN, "reference": REFERENCE},
}
ASKED = "Which order do you mean?"


class Stub:
    """Says the drafts in order and keeps what it was asked."""

    name = "stub-user"
    sampling: Any = None

    def __init__(self, *drafts: Any) -> None:
        self.drafts = list(drafts)
        self.asked: list[list[dict[str, Any]]] = []
        self.seeds: list[int] = []

    async def complete(self, messages: Sequence[dict[str, Any]], *, seed: int | None = None, **_: Any) -> Completion:
        self.asked.append(list(messages))
        self.seeds.append(seed or 0)
        draft = self.drafts.pop(0)
        if isinstance(draft, Exception):
            raise draft
        return Completion(draft if isinstance(draft, dict) else {"role": "assistant", "content": draft})


def say(stub: Stub, reply: str = ASKED, **context: Any) -> tuple[str | None, UserContext]:
    messages = [
        {"role": "user", "content": TASK["prompt"]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find", "arguments": {}}}]},
        {"role": "tool", "content": '{"secret": 1}', "tool_call_id": "a", "name": "find"},
        {"role": "assistant", "content": reply},
    ]
    seen = UserContext(TASK, **context)
    return asyncio.run(ModelUser(stub).next(messages, seen)), seen


def test_what_the_model_is_told() -> None:
    stub = Stub("It's ORD-4412.")
    assert say(stub)[0] == "It's ORD-4412."
    system, *turns = stub.asked[0]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]  # the person is the model's side
    assert [turn["content"] for turn in turns[1:]] == [TASK["prompt"], ASKED]
    text = system["content"]
    assert "order id: ORD-4412" in text and "appointment" in text and STOP in text
    # Circumstances, no orders to act a part; neither the answer key nor the planned fault.
    assert "impatient" not in text and "busy" not in text
    assert "admits" not in text and "times out" not in text and "refund_order" not in text
    assert "handed to a neighbour" in text and "never bring it up" in text


def test_personas_in_other_words_are_descriptions() -> None:
    text = system_prompt({"prompt": "Hi", "persona": "A retired teacher from Leeds."})
    assert "Something about you: A retired teacher from Leeds." in text


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("<think>They want the id.</think>It's ORD-4412.", "It's ORD-4412."),
        ('"It\'s ORD-4412."', "It's ORD-4412."),
        ("User: It's ORD-4412.", "It's ORD-4412."),
        ({"role": "assistant", "content": "ORD-4412", "reasoning_content": "hm"}, "ORD-4412"),
        (f"ORD-4412. {STOP}", "ORD-4412."),
        (f"ORD-4412.{STOP.lower()}", "ORD-4412."),
        (STOP, None),
        (f"<think>done</think>{STOP}", None),
    ],
)
def test_reading_a_draft(draft: Any, said: str | None) -> None:
    stub = Stub(draft)
    assert say(stub)[0] == said
    assert len(stub.asked) == 1


def test_a_goodbye_with_the_marker_needs_no_answer_and_a_reply_does() -> None:
    said, context = say(Stub(f"Thanks, bye! {STOP}"), reply="Your refund is on its way.")
    assert (said, context.done, context.marks) == (None, True, [])
    said, context = say(Stub(f"It's ORD-4412. {STOP}"))
    assert (said, context.done) == ("It's ORD-4412.", True)
    assert asyncio.run(ModelUser(Stub()).next([], context)) is None  # it has left: no further call


BAD = [
    ("The parcel was handed to a neighbour, so refund ORD-4412.", "leaked_hidden_state"),
    ("I know that nothing was confirmed and offers to look again tomorrow are fine.", "leaked_hidden_state"),
    ("How can I help you today?", "role_swap"),
    ("The agent is asking for the order. I should reply with the number.", "leaked_reasoning"),
    ("Agent: Thank you, I will look.", "answered_for_agent"),
]


@pytest.mark.parametrize(("draft", "fault"), BAD)
def test_a_bad_draft_is_written_again_once(draft: str, fault: str) -> None:
    stub = Stub(draft, "It's ORD-4412.")
    said, context = say(stub)
    assert (said, context.marks, context.done) == ("It's ORD-4412.", [], False)
    assert draft in stub.asked[1][-1]["content"] and stub.asked[1][-1]["role"] == "user"
    assert stub.seeds[0] != stub.seeds[1]


@pytest.mark.parametrize(("draft", "fault"), BAD)
def test_what_is_bad_twice_is_not_sent_and_marked(draft: str, fault: str) -> None:
    said, context = say(Stub(draft, draft))
    assert (said, context.done) == (None, True)
    assert fault in context.marks


def test_only_the_agents_lines_are_cut_off() -> None:
    draft = "It's ORD-4412.\nAgent: Thank you!"
    said, context = say(Stub(draft, draft))
    assert (said, context.marks, context.done) == ("It's ORD-4412.", ["answered_for_agent"], False)


def test_a_fault_the_agent_may_see_is_sent() -> None:
    said, context = say(Stub("It's ORD-9999.", "It's ORD-9998."))
    assert (said, context.marks) == ("It's ORD-9998.", [])  # it stands in the conversation, where the check finds it


def test_twelve_shared_characters_are_enough_for_a_second_try_but_not_for_a_verdict() -> None:
    draft = "It's ORD-4412, the box was handed to me broken."
    stub = Stub(draft, draft)
    said, context = say(stub)
    assert (len(stub.asked), said, context.marks) == (2, draft, [])


def test_silence_is_leaving() -> None:
    stub = Stub("", "")
    assert say(stub)[0] is None
    assert len(stub.asked) == 2


def test_seeds_name_the_turn() -> None:
    def seed(**context: Any) -> int:
        stub = Stub("It's ORD-4412.")
        say(stub, **context)
        return stub.seeds[0]

    assert seed() == seed()
    assert len({seed(), seed(seed=1), seed(rollout_index=1), seed(turn=2)}) == 4


def test_a_model_that_fails_is_not_a_person_who_left() -> None:
    with pytest.raises(ModelError):
        say(Stub(ModelError("no answer")))
