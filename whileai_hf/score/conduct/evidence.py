"""A row as the conduct checks look at it: calls, replies with when they were said, and what was known by then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from whileai_hf.score.reading.calls import Call, calls_of
from whileai_hf.score.reading.claiming import Claim
from whileai_hf.score.reading.claims import Reading, parse_text
from whileai_hf.score.reading.lazy import lazy
from whileai_hf.score.reading.scalars import name_words, scalars
from whileai_hf.score.reading.texts import final_text, system_texts, text_of
from whileai_hf.score.reading.tools import ToolFacts, tools_of
from whileai_hf.score.reading.values import Known, fold, occurs


Row = Mapping[str, Any]
# A text with its place among the calls.
Said = tuple[float, str]
# The place of the reply: behind everything else.
END = 1 << 30
# Kinds of calls that change nothing by themselves, as far as is known.
LOOKING = frozenset({"read", "command"})
# What a call has to come to for its answer to be something to build on.
GOOD = frozenset({"ok", "empty", "already_done"})
# Commands that show things, and what joins commands.
_LOOKS = re.compile(
    r"\s*(?:sudo )?(?:ls|ll|cat|head|tail|less|more|grep|egrep|rg|ag|find(?!.*-(?:delete|exec))|wc|pwd|cd|echo|tree"
    r"|file|stat|which|type|env|printenv|whoami|date|du|df|ps|sort|uniq|cut|sed -n|awk|diff"
    r"|git (?:status|log|diff|show|branch|blame|ls-files|grep))\b"
)
_PARTS = re.compile(r"\|\|?|&&|;|\n")
_TO_NULL = re.compile(r"2>(?:&1|/dev/null)|>/dev/null")
_LONGEST_LOOK = 2_000
# What may stand behind a token, and behind that.
_CLOSES, _BREAKS = frozenset(".,:;?!"), frozenset(("", " ", "\n"))
# Words of tools that bring in a person.
PEOPLE = frozenset({"human", "escalate", "handoff", "operator", "supervisor"})
_WORKED = frozenset({"ok", "empty", "pending", "stale"})


def calls_a_person(call: Call) -> bool:
    """Whether a call brings in a person, who then speaks with the user."""
    return not PEOPLE.isdisjoint(name_words(call.tool))


def only_looks(call: Call) -> bool:
    """Whether a shell command does nothing but show things."""
    command = call.arguments.get("command", call.arguments.get("cmd")) if call.kind == "command" else None
    if not isinstance(command, str) or not command.strip() or len(command) > _LONGEST_LOOK:
        return False
    return ">" not in _TO_NULL.sub("", command) and all(
        _LOOKS.match(part) is not None for part in _PARTS.split(command) if part.strip()
    )


def stands_in(value: str, text: str) -> bool:
    """Whether a folded value stands in a folded text as a token of its own; nearly always between spaces."""
    at = text.find(value)
    if at < 0:
        return False
    end = at + len(value)
    if at and text[at - 1] != " ":
        return occurs(value, text)
    if end == len(text) or text[end] == " " or (text[end] in _CLOSES and text[end + 1 : end + 2] in _BREAKS):
        return True
    return occurs(value, text)


class Finding(NamedTuple):
    """What is wrong with a row: the check that found it, and a sentence that says what."""

    check: str
    reason: str


class Turn(NamedTuple):
    """Something the agent said, and its place among the calls."""

    place: float
    text: str
    reading: Reading


class Claimed(NamedTuple):
    """A claim, its place among the calls, and the sentence it stands in."""

    place: float
    text: str
    claim: Claim


class Evidence:
    """
    One row.

    Args:
        row (`dict`):
            A rollout with `steps` or `messages`, and `final_text`.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.calls = calls_of(row)
        # What the user said after the ask, and what the agent said, with their places.
        self.talk, self._said = _conversation(row)

    @lazy
    def tools(self) -> dict[str, ToolFacts]:
        """The tools that the row declares."""
        return tools_of(self.row)

    @lazy
    def outcomes(self) -> set[str]:
        """What the calls came to."""
        return {call.outcome for call in self.calls}

    @lazy
    def writes(self) -> bool:
        """Whether a call is the kind that changes something, or of a tool whose name does not tell."""
        return any(call.kind not in LOOKING for call in self.calls)

    @lazy
    def prompt(self) -> str:
        """The ask."""
        prompt = self.row.get("prompt")
        return prompt if isinstance(prompt, str) else text_of(prompt)

    @lazy
    def reply(self) -> str:
        """The last thing that the agent said."""
        return final_text(self.row)

    @lazy
    def turns(self) -> list[Turn]:
        """What the agent said, the reply last."""
        said = self._said
        if self.reply and (not said or said[-1][1] != self.reply):
            said = [*said, (END, self.reply)]
        return [Turn(place, text, parse_text(text)) for place, text in said]

    @lazy
    def reading(self) -> Reading:
        """The reply, read."""
        turns = self.turns
        return turns[-1].reading if turns and turns[-1].text == self.reply else parse_text(self.reply)

    @lazy
    def claims(self) -> list[Claimed]:
        """What is claimed, each with where and in which sentence."""
        return [
            Claimed(place, written, claim)
            for place, _, reading in self.turns
            for written, said in zip(reading.written, reading.said, strict=True)
            if said.claims
            for claim in said.claims
        ]

    @lazy
    def worked(self) -> list[Call]:
        """Calls besides looks that worked, as far as their answers say."""
        return [call for call in self.calls if call.kind != "read" and call.outcome in _WORKED and not call.facts.idle]

    @lazy
    def acted(self) -> list[Call]:
        """Calls that did something a reply may claim: writes, commands, and tools whose name does not tell."""
        return [call for call in self.worked if not calls_a_person(call) and not only_looks(call)]

    @lazy
    def known(self) -> Known:
        """Everything the agent knew in the end: the user's words and what its calls brought."""
        known = Known(self.prompt)
        for call in self.calls:
            known.add(call.result)
        for _, text in self.talk:
            known.add(text)
        return known

    @lazy
    def told(self) -> Known:
        """What the agent was told besides the user's words: its instructions and its tools' schemas."""
        return Known(self.row.get("tools") or (), *system_texts(self.row))

    @lazy
    def values(self) -> set[str]:
        """The values that the calls brought, as they would be written."""
        return {str(value) for call in self.calls for value in scalars(call.result)}

    @lazy
    def brought(self) -> str:
        """What the calls brought, as one text in lower case."""
        return fold("\n".join([str(call.result) for call in self.calls]))

    @lazy
    def asked(self) -> str:
        """The user's words in lower case, with straight quotes and dashes."""
        return fold("\n".join([self.prompt, *(text for _, text in self.talk)]) if self.talk else self.prompt)


def _conversation(row: Row) -> tuple[list[Said], list[Said]]:
    """The user's and the agent's texts with their places: of the steps where there are any, else of the messages."""
    users: list[Said] = []
    agents: list[Said] = []
    steps = row.get("steps")
    if steps and (type(steps) is list or isinstance(steps, list | tuple)):
        for place, step in enumerate(steps):
            if type(step) is dict or isinstance(step, Mapping):
                if "text" in step and (text := text_of(step["text"])):
                    agents.append((place, text))
                if "user" in step and (text := text_of(step["user"])):
                    users.append((place, text))
        messages = row.get("messages")
        # The ask, each call with its answer, and the reply: then nothing else was said.
        if users or agents or not isinstance(messages, list) or len(messages) <= 2 * len(steps) + 2:
            return users, agents
        return _between_calls(row, messages)
    messages = row.get("messages")
    for place, message in enumerate(messages if isinstance(messages, list | tuple) else ()):
        if isinstance(message, Mapping):
            role = message.get("role")
            if role in ("user", "assistant") and (text := text_of(message.get("content"))):
                (users if role == "user" else agents).append((place, text))
    return users, agents


def _between_calls(row: Row, messages: Any) -> tuple[list[Said], list[Said]]:
    """The texts of messages placed among the calls of the steps; the ask itself is no further word of the user's."""
    users: list[Said] = []
    agents: list[Said] = []
    calls = 0
    for message in messages if isinstance(messages, list | tuple) else ():
        if not isinstance(message, Mapping):
            continue
        role = message.get("role")
        if role in ("user", "assistant") and (text := text_of(message.get("content"))):
            if role == "assistant":
                agents.append((calls - 0.5, text))
            elif calls or agents or text != row.get("prompt"):
                users.append((calls - 0.5, text))
        made = message.get("tool_calls")
        calls += len(made) if isinstance(made, list | tuple) else 0
    if agents and agents[-1][1] == row.get("final_text"):
        agents.pop()
    return users, agents
