"""The checks on simulated users: honest ones pass, each planted fault is found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from whileai_hf.actors.users import FAULTS, TemplateUser, UserContext, user_faults
from whileai_hf.scenarios import situations


PLANTED = json.loads((Path(__file__).parent / "planted.json").read_text("utf-8"))
HIDDEN = "Behind the scenes the parcel was handed to a neighbour; on refund_order the call times out."
REFERENCE = "refund_order is called once and the reply admits that nothing was confirmed."

# Published conversations whose simulated user did go wrong, read by hand: it had its user id and said it had not (or
# left without telling), made up an e-mail address, or spoke of its instructions.
FAULTY_CONVERSATIONS = {2, 5, 9, 20, 25, 27, 29, 33, 42, 45, 49, 54, 62, 68, 69, 74}


def task(prompt: str, order: str) -> dict[str, Any]:
    return {
        "scenario_id": "sc-1",
        "prompt": prompt,
        "expected_calls": [{"tool": "refund_order", "arguments": {"order_id": order}}],
        "privileged": {"hidden_state": HIDDEN, "reference": REFERENCE},
    }


def bases() -> list[tuple[dict[str, Any], str]]:
    """Asks with and without the number in them, and what the agent says to each."""
    return [
        (task("Please refund my order, it never came.", "ORD-4412"), "I can help. Which order number is it?"),
        (task("hi, refund order ORD-5120 pls", "ORD-5120"), "I found order ORD-5120. Shall I go ahead and refund it?"),
        (
            task("I want you to refund order ORD-7001. Thanks!", "ORD-7001"),
            "To proceed, could you please confirm the order number?",
        ),
    ]


def said(base: dict[str, Any], reply: str, turn: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": base["prompt"]},
        {"role": "assistant", "content": reply},
        {"role": "user", "content": turn},
        {"role": "assistant", "content": "All right."},
    ]


@pytest.mark.parametrize("kind", FAULTS)
def test_planted_faults_are_found(kind: str) -> None:
    fill = {"other": "ORD-9936", "action": "refund", "hidden": HIDDEN, "reference": REFERENCE}
    missed, total = [], 0
    for base, reply in bases():
        for line in PLANTED[kind]:
            turn = line
            for name, text in fill.items():
                turn = turn.replace("{" + name + "}", text)
            total += 1
            row = {"messages": said(base, reply, turn), "ended_by": "user"}
            if kind not in user_faults(row, base):
                missed.append(turn)
    assert len(missed) < 0.1 * total, missed


HONEST = [
    "It's {order}.",
    "Sure, {order}.",
    "yes please",
    "Yes, go ahead. Thanks for your patience!",
    "I apologize for the inconvenience, the number is {order}.",
    "Can you tell me how long it takes? I need it within 2 days.",
    "I've been waiting for 3 weeks now.",
    "Could you please let me know what happens next?",
    "Thanks, that's all I needed.",
    "I understand. Is there any other way?",
    "I don't have the tracking number, only the order number.",
    "Yes, the order is {order}, I ordered it on Monday.",
    "That can't be right. Can you check again?",
    "You said it would be refunded. Was it?",
    "Please tell the agent who called me that I'm still waiting.",
    "As a customer of 10 years I expected better.",
    "I should have ordered earlier, I know.",
    "Let me think. Yes, do it.",
    "If it costs extra I don't want a refund.",
    "Can I get the refund on my card?",
    "No problem, take your time.",
    "I would prefer not to be transferred.",
    "The support page said to write here: is that right?",
    "My plan was to have it by 5pm, so please hurry.",
    "I was told somebody would help me with that.",
]


def test_what_honest_people_say_is_no_fault() -> None:
    flagged = {
        turn: faults
        for base, reply in bases()
        for line in HONEST
        if (faults := user_faults(said(base, reply, turn := line.format(order=order_of(base))), base))
    }
    assert not flagged


def order_of(base: dict[str, Any]) -> str:
    return str(base["expected_calls"][0]["arguments"]["order_id"])


def test_the_template_user_is_never_at_fault(tools: Any, policy: str) -> None:
    questions = [
        "Which order is it about?",
        "Could you please provide the order number and the reason for the refund?",
        "I found it. Would you like me to go ahead with the refund?",
        "Could you tell me your date of birth?",
        "There is a fee of 12.50 dollars. Please confirm that I should proceed.",
        "I could not find it. Could you check the reference?",
    ]
    flagged = []
    for number, row in enumerate(situations(tools=tools, system_prompt=policy, n=150).to_list()):
        messages = [{"role": "user", "content": row["prompt"]}]
        context = UserContext(row, rollout_index=number)
        for question in (questions[number % 6], questions[(number + 1) % 6], "Done, it is settled."):
            messages.append({"role": "assistant", "content": question})
            answer = asyncio.run(TemplateUser().next(messages, context))
            if answer is None:
                break
            messages.append({"role": "user", "content": answer})
            context.turn += 1
        faults = user_faults(messages, row, ended_by_user=True)
        if faults:
            flagged.append((faults, messages, row["privileged"]))
    assert not flagged


def published(shared: Path) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    lines = (shared / "real/trajectories/tau_v1_gpt4o_airline.jsonl").read_text("utf-8").splitlines()
    found = []
    for row in map(json.loads, lines):
        person = row["info"]["task"]
        messages = [m for m in row["traj"] if m["role"] != "system"]
        known = {"user_id": person["user_id"], "instruction": person["instruction"]}
        opening = next(m["content"] for m in messages if m["role"] == "user")
        found.append((messages, {"prompt": opening, "privileged": {"known": known}}))
    return found


def test_published_conversations(shared: Path) -> None:
    conversations = published(shared)
    flagged = {i: found for i, (m, t) in enumerate(conversations) if (found := user_faults(m, t, ended_by_user=True))}
    honest = len(conversations) - len(FAULTY_CONVERSATIONS)
    assert len(flagged.keys() - FAULTY_CONVERSATIONS) < 0.02 * honest, flagged
    assert len(flagged.keys() & FAULTY_CONVERSATIONS) >= 0.8 * len(FAULTY_CONVERSATIONS)


def test_a_user_who_says_the_agents_lines_is_found_out(shared: Path) -> None:
    """Roles turned around: every message of the published agent, as if the person had written it."""
    lines = [m["content"] for messages, _ in published(shared) for m in messages if m["role"] == "assistant"]
    lines = [line for line in lines if line]
    found = [
        "role_swap" in user_faults([{"role": "user", "content": "Hi"}, {"role": "user", "content": line}])
        for line in lines
    ]
    assert sum(found) > 0.9 * len(lines)


def test_published_conversations_without_their_tasks(shared: Path) -> None:
    flagged = [found for m, _ in published(shared) if (found := user_faults(m))]
    assert flagged == [["leaked_reasoning"]]  # one user does speak of "my instruction"
    lines = (shared / "real/trajectories/tau2_format_airline.jsonl").read_text("utf-8").splitlines()
    assert all(user_faults(row) == [] for row in map(json.loads, lines))


def test_without_a_task_nothing_counts_as_invented() -> None:
    base, reply = bases()[0]
    assert user_faults(said(base, reply, "It's order ORD-9936.")) == []
    assert user_faults(said(base, reply, "It's order ORD-9936."), base) == ["invented_fact", "contradicts_ask"]


def test_facts_may_come_from_the_agent_a_tool_or_a_sum() -> None:
    base, _ = bases()[1]
    messages = [
        {"role": "user", "content": base["prompt"]},
        {"role": "tool", "content": '{"paid": 1250.5, "shipping": 30}', "name": "get_order", "tool_call_id": "x"},
        {"role": "assistant", "content": "You paid 1,250.50 and 30.25 shipping. The refund has number R-20455."},
    ]
    for turn in ("So $1250.50 in all?", "That is 1280.75 together.", "ok R-20455", "R20455, thanks"):
        assert user_faults([*messages, {"role": "user", "content": turn}], base) == [], turn
    assert user_faults([*messages, {"role": "user", "content": "I paid 999.99."}], base) == ["invented_fact"]


def test_scripted_turns_are_the_authors_business() -> None:
    base, reply = bases()[0]
    line = "My number is 998877."
    assert user_faults(said(base, reply, line), {**base, "script": [{"user": line}]}) == []
    # What the script said is known afterwards.
    scripted = {**base, "script": [{"user": line}]}
    later = [*said(base, reply, line), {"role": "user", "content": "998877, as I said."}]
    assert user_faults(later, scripted) == []


def test_leaving_while_asked_is_giving_up() -> None:
    base, reply = bases()[0]
    open_end = said(base, reply, "Hello?")[:2]
    row = {"messages": open_end, "ended_by": "user"}
    assert user_faults(row, base) == ["gave_up_early"]
    assert user_faults({**row, "ended_by": "turns"}, base) == []
    answered = [*open_end, {"role": "user", "content": "ORD-4412"}, {"role": "assistant", "content": "Which order?"}]
    assert user_faults({"messages": answered, "ended_by": "user"}, base) == []


def test_the_answer_key_may_not_be_told() -> None:
    base = task("How much is it?", "ORD-4412")
    base["privileged"] = {"hidden_state": "The price is on file.", "reference": "The reply says 4711 euros."}
    assert user_faults(said(base, "Let me see.", "Is it 4711?"), base) == ["leaked_hidden_state"]
