"""The person played by a model.

A persona is given as circumstances ("you have an appointment in a quarter of an hour"), never as an order ("be
impatient"): published comparisons with real users find that orders are amplified into caricature. The model is told
what the person knows and, of the hidden state, only what is on file about the case; the planned faults and the answer
key never enter its prompt. Every draft is read before it is sent; see [`user_faults`] for what is looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai_hf.actors.replies import read_reply
from whileai_hf.actors.users.checks import turn_faults
from whileai_hf.actors.users.facts import Told
from whileai_hf.actors.users.knowledge import Knowledge, knowledge_of
from whileai_hf.actors.users.phrases import phrase
from whileai_hf.actors.users.requests import requests_in
from whileai_hf.actors.users.user import Message, UserContext, last_reply, spoken
from whileai_hf.actors.users.voice import label_at, without_label
from whileai_hf.rows.rng import rng


if TYPE_CHECKING:
    from whileai_hf.actors.models.model import Model

# What the model writes when the person has nothing more to say.
STOP = "[[END]]"
_STOPS = re.compile(r"\[\[\s*end\s*\]\]|#{2,}\s*(?:STOP|END|DONE)\s*#{2,}", re.IGNORECASE)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
# Chat templates want the conversation to begin with the other side.
_OPENER = "Hello, what can I do for you?"
# Faults that must not reach the agent even in a draft written twice.
_WITHHELD = ("leaked_hidden_state", "leaked_reasoning", "role_swap", "answered_for_agent")
_SEEDS = 2**31 - 1


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


@cache
def _table(name: str) -> Mapping[str, Any]:
    return json.loads(_text(name))  # type: ignore[no-any-return]


def _situation(task: Mapping[str, Any]) -> str:
    """The person's circumstances; a persona in the task's own words is passed on as a description."""
    sentences = []
    for column, known in _table("circumstances.json").items():
        value = task.get(column)
        if isinstance(value, str) and value in known:
            sentences.append(known[value])
        elif column == "persona" and isinstance(value, str) and value.strip() and value != "plain":
            sentences.append(f"Something about you: {value.strip().rstrip('.')}.")
    return "\n".join(sentences) or "Nothing out of the ordinary."


def _background(task: Mapping[str, Any]) -> str:
    privileged = task.get("privileged")
    hidden = privileged.get("hidden_state") if isinstance(privileged, Mapping) else None
    if not isinstance(hidden, str):
        return ""
    tools = [str(call.get("tool")) for call in task.get("expected_calls") or () if isinstance(call, Mapping)]
    cell = task.get("scenario_dimensions")
    tools += [str(cell["tool"])] if isinstance(cell, Mapping) and cell.get("tool") else []
    clauses = [clause.strip() for clause in re.split(r"[;\n]|(?<=[.!?])\s+", hidden)]
    kept = [c for c in clauses if c and not phrase("machinery").search(c) and not any(tool in c for tool in tools)]
    return _text("background.txt").format(background="\n".join(kept)) if kept else ""


def _facts(knowledge: Knowledge, task: Mapping[str, Any]) -> str:
    lines = [f"- {known.label}: {known.value}" for known in knowledge.values]
    privileged = task.get("privileged")
    known = privileged.get("known") if isinstance(privileged, Mapping) else None
    if isinstance(known, str):
        lines.append(f"- {known}")
    elif isinstance(known, list | tuple):
        lines += [f"- {item}" for item in known]
    return "\n".join(lines) or "Only what your message says."


def system_prompt(task: Mapping[str, Any]) -> str:
    """The instructions a model gets to play the person of a task."""
    knowledge = knowledge_of(task)
    slots = {
        "situation": _situation(task),
        "ask": knowledge.ask,
        "facts": _facts(knowledge, task),
        "background": _background(task),
        "stop": STOP,
    }
    return _text("prompt.txt").format_map(slots)


def _mirrored(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation from the person's side: the agent is the model's `user`."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": _OPENER}]
    for role, text in spoken(messages):
        side = "assistant" if role == "user" else "user"
        if turns[-1]["role"] == side:
            turns[-1]["content"] += "\n" + text
        else:
            turns.append({"role": side, "content": text})
    return turns


class ModelUser:
    """
    A simulated user played by a model. It holds no conversation, so one instance serves every rollout.

    Args:
        model ([`Model`]):
            Who plays. Its calls are seeded per turn.

    Examples:
    ```python
    >>> from whileai_hf.actors.users.model import system_prompt
    >>> text = system_prompt({"prompt": "Refund A-77.", "persona": "busy", "privileged": {"reference": "No refund."}})
    >>> "appointment" in text, "No refund" in text
    (True, False)

    ```
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def next(self, messages: Sequence[Message], context: UserContext) -> str | None:
        """What the person says next; see [`SimulatedUser`]."""
        if context.done:
            return None
        knowledge = context.knowledge
        heard = [text for _, text in spoken(messages)]
        told = Told([*knowledge.told, *heard])
        reply = last_reply(messages)
        asked = [{"role": "system", "content": system_prompt(context.task)}, *_mirrored(messages)]
        text, stopped = await self._draft(asked, context, attempt=0)
        faults = self._faults(text, stopped, reply, knowledge, told, heard, strict=True)
        if faults:
            table = _table("reasons.json")
            note = _text("again.txt").format(reasons="; ".join(table[name] for name in faults), draft=text)
            last = {"role": "user", "content": f"{asked[-1]['content']}\n\n({note.strip()})"}
            text, stopped = await self._draft([*asked[:-1], last], context, attempt=1)
            faults = self._faults(text, stopped, reply, knowledge, told, heard, strict=False)
        if any(name in _WITHHELD for name in faults):
            cut = text[: label_at(text)].strip() if faults == ["answered_for_agent"] else ""
            context.marks += [name for name in faults if name not in context.marks]
            context.done = not cut
            return cut or None
        if stopped:
            context.done = True
            # A goodbye needs no answer; a reply somebody waits for does, also with the marker behind it.
            return text if text and requests_in(reply) else None
        return text or None

    async def _draft(self, messages: list[dict[str, Any]], context: UserContext, attempt: int) -> tuple[str, bool]:
        seed = rng(context.seed, "user model", context.scenario, context.rollout_index, context.turn, attempt).integer(
            0, _SEEDS
        )
        completion = await self.model.complete(messages, seed=seed)
        visible = read_reply({"role": "assistant", **completion.message, "tool_calls": None}).text
        visible = _THOUGHT.sub("", visible)
        text = without_label(_STOPS.sub("", visible)).strip().strip('"“”').strip()
        return text, bool(_STOPS.search(visible))

    @staticmethod
    def _faults(
        text: str, stopped: bool, reply: str, knowledge: Knowledge, told: Told, heard: list[str], *, strict: bool
    ) -> list[str]:
        if not text:
            return [] if stopped else ["empty"]
        return turn_faults(text, reply, knowledge, told, heard, strict=strict)
