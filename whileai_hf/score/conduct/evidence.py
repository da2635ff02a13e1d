"""A row as the conduct checks look at it: calls, replies with when they were said, and what was known by then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from whileai_hf.score.conduct.fitting import name_words, scalars
from whileai_hf.score.reading.calls import Call, calls_of
from whileai_hf.score.reading.claims import Reading, parse_text
from whileai_hf.score.reading.clauses import Claim
from whileai_hf.score.reading.texts import final_text, system_texts, text_of
from whileai_hf.score.reading.tools import tools_of
from whileai_hf.score.reading.values import Known, fold, occurs


Row = Mapping[str, Any]
# The place of the reply: behind everything else.
END = 1 << 30
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

    place: int
    text: str
    reading: Reading


class Claimed(NamedTuple):
    """A claim, its place among the calls, and the sentence it stands in."""

    place: int
    text: str
    claim: Claim


class Evidence:
    """
    One row.

    Args:
        row (`dict`):
            A rollout with `steps` or `messages`, and `final_text`.
    """

    # Worked out when somebody asks; most rows need few of them.
    _worked: list[Call] | None = None
    _acted: list[Call] | None = None
    _known: Known | None = None
    _told: Known | None = None
    _brought: str | None = None
    _asked: str | None = None
    _values: set[str] | None = None

    def __init__(self, row: Row) -> None:
        self.row = row
        self.calls = calls_of(row)
        self.tools = tools_of(row)
        prompt = row.get("prompt")
        self.prompt = prompt if isinstance(prompt, str) else text_of(prompt)
        self.reply = final_text(row)
        # What the user said after the ask, and what the agent said, the reply last, with their places.
        self.talk, said = _conversation(row)
        self.turns = [Turn(place, text, parse_text(text)) for place, text in said]
        if self.reply and (not said or said[-1][1] != self.reply):
            self.turns.append(Turn(END, self.reply, parse_text(self.reply)))
        # What it claims, each with where and in which sentence.
        self.claims: list[Claimed] = []
        for place, _, reading in self.turns:
            for at, one in enumerate(reading.said):
                if one.claims:
                    self.claims += [Claimed(place, reading.written[at], claim) for claim in one.claims]

    @property
    def worked(self) -> list[Call]:
        """Calls besides looks that worked, as far as their answers say."""
        if self._worked is None:
            self._worked = [
                call for call in self.calls if call.kind != "read" and call.outcome in _WORKED and not call.facts.idle
            ]
        return self._worked

    @property
    def acted(self) -> list[Call]:
        """Calls that did something a reply may claim: writes, commands, and tools whose name does not tell."""
        if self._acted is None:
            self._acted = [call for call in self.worked if not calls_a_person(call) and not only_looks(call)]
        return self._acted

    @property
    def known(self) -> Known:
        """Everything the agent knew in the end: the user's words and what its calls brought."""
        if self._known is None:
            self._known = Known(self.prompt)
            for call in self.calls:
                self._known.add(call.result)
            for _, text in self.talk:
                self._known.add(text)
        return self._known

    @property
    def told(self) -> Known:
        """What the agent was told besides the user's words: its instructions and its tools' schemas."""
        if self._told is None:
            self._told = Known(self.row.get("tools") or (), *system_texts(self.row))
        return self._told

    @property
    def values(self) -> set[str]:
        """The values that the calls brought, as they would be written."""
        if self._values is None:
            self._values = {str(value) for call in self.calls for value in scalars(call.result)}
        return self._values

    @property
    def brought(self) -> str:
        """What the calls brought, as one text in lower case."""
        if self._brought is None:
            self._brought = fold("\n".join([str(call.result) for call in self.calls]))
        return self._brought

    @property
    def asked(self) -> str:
        """The user's words in lower case, with straight quotes and dashes."""
        if self._asked is None:
            self._asked = fold(
                "\n".join([self.prompt, *(text for _, text in self.talk)]) if self.talk else self.prompt
            )
        return self._asked


def _conversation(row: Row) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The user's and the agent's texts with their places: of the steps where there are any, else of the messages."""
    users: list[tuple[int, str]] = []
    agents: list[tuple[int, str]] = []
    steps = row.get("steps")
    if steps and (type(steps) is list or isinstance(steps, list | tuple)):
        for place, step in enumerate(steps):
            if type(step) is dict or isinstance(step, Mapping):
                if "text" in step and (text := text_of(step["text"])):
                    agents.append((place, text))
                if "user" in step and (text := text_of(step["user"])):
                    users.append((place, text))
        return users, agents
    messages = row.get("messages")
    for place, message in enumerate(messages if isinstance(messages, list | tuple) else ()):
        if isinstance(message, Mapping):
            role = message.get("role")
            if role in ("user", "assistant") and (text := text_of(message.get("content"))):
                (users if role == "user" else agents).append((place, text))
    return users, agents
