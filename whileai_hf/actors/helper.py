"""An agent that does its job: right tool, arguments from the ask, a look before a write, and the truth about results.

It needs no model. When the task says which calls are right it makes those; otherwise it reads the ask. What it says
is drawn from `data/replies.json`, so that two replies are alike only where two results are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from whileai_hf.actors.asks import is_pressure, pick_tool, read_arguments
from whileai_hf.actors.outcomes import Outcome, read_outcome
from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox import id_parameters, tool_effect
from whileai_hf.sandbox.effects import names_new_record
from whileai_hf.spec import Tool, parameter_schemas


CallTool = Callable[[str, dict[str, Any]], Any]

# Effects that change something.
_WRITES = ("create", "update", "delete")
# Outcomes worth a second try: the tool itself says that trying again is what to do.
_RETRIED = ("timeout", "rate_limited")
# Abilities named when the agent says what it can do.
_MOST_OFFERS = 3


@cache
def replies(kind: str) -> tuple[str, ...]:
    """The wordings for one kind of outcome."""
    texts = json.loads((Path(__file__).parent / "data" / "replies.json").read_text("utf-8"))
    return tuple(texts[kind])


def label(name: str) -> str:
    """A name of a tool or parameter as a person says it."""
    return name.replace("_", " ").replace("-", " ").replace(".", " ").strip()


def _action(tool: Tool) -> str:
    return f"the {label(tool.name)} request"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _halfway(before: Any) -> str:
    """The status of a record that an earlier run left half done."""
    record = before.get("data") if isinstance(before, dict) else None
    status = record.get("status") if isinstance(record, dict) else None
    return label(status) if isinstance(status, str) and status.startswith(("partially", "in_progress")) else ""


def _unchanged(before: Any, claimed: Any, after: Any) -> bool:
    """Whether a record reads as it did before a write that claims to have changed it."""
    old, told, new = (answer.get("data") if isinstance(answer, dict) else None for answer in (before, claimed, after))
    if not isinstance(old, dict) or not isinstance(told, dict) or not isinstance(new, dict):
        return False
    if claimed.get("status") == "deleted":
        return old == new
    changed = [key for key, value in told.items() if value != old.get(key)]
    return bool(changed) and all(new.get(key) == old.get(key) for key in changed)


@dataclass(slots=True)
class Answer:
    """
    What the agent did and how it came out.

    Args:
        kind (`str`):
            Kind of the last outcome, or `ask_back`, `unclear`, `unrelated`, `refusal`.
        slots (`dict[str, str]`):
            What the wording of that kind is filled with.
        steps (`list[dict]`):
            The calls made.
        before (`list[str]`):
            Sentences about earlier calls of the same ask, ready to say.
    """

    kind: str
    slots: dict[str, str]
    steps: list[dict[str, Any]] = field(default_factory=list)
    before: list[str] = field(default_factory=list)

    def wording(self) -> str:
        """The list of wordings that tells this outcome truthfully."""
        if self.kind == "done":
            return "written" if self.slots["effect"] in _WRITES else "found"
        if self.kind == "timeout":
            return "timeout_write" if self.slots["effect"] in _WRITES else "timeout_read"
        return self.kind

    def text(self, draws: Draws, wording: str | None = None) -> str:
        """The reply in words."""
        slots = {**self.slots, **{_upper(key): _upper(value) for key, value in self.slots.items()}}
        said = draws.pick(replies(wording or self.wording())).format_map(slots)
        return " ".join([*self.before, said])


class Helper:
    """
    The honest agent over one set of tools.

    Args:
        tools (`tuple[Tool, ...]`):
            The tools it may call.
    """

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._effects = {tool.name: tool_effect(tool) for tool in tools}
        self._ids = {tool.name: id_parameters(tool) for tool in tools}
        self._readers = {tool.name: self._reader_of(tool) for tool in tools}

    def _reader_of(self, tool: Tool) -> tuple[Tool, str] | None:
        """A tool that shows the record `tool` would change, and the parameter both name it by."""
        # The record a call is about to make is not there to be looked at.
        if self._effects[tool.name] not in _WRITES or names_new_record(tool):
            return None
        for name in self._ids[tool.name]:
            readers = [
                reader
                for reader in self.tools.values()
                if self._effects[reader.name] == "read"
                and self._ids[reader.name][:1] == [name]
                and set(reader.parameters.get("required") or []) <= {name}
            ]
            if readers:
                # "get_user_details" shows the user; "read_inbox(user)" shows something of theirs.
                noun = label(name).split()[0]
                return min(readers, key=lambda reader: noun not in label(reader.name)), name
        return None

    def _offers(self, draws: Draws) -> str:
        offers = [label(name) for name in draws.sample_k(list(self.tools), _MOST_OFFERS)]
        return " or ".join(filter(None, [", ".join(offers[:-1]), offers[-1]])) if offers else "answer questions"

    def _subject(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        for name in self._ids[tool.name]:
            value = arguments.get(name)
            if isinstance(value, (str, int)):
                return f"{label(name.removesuffix('_id').removesuffix('Id'))} {value}"
            if isinstance(value, list) and value and all(isinstance(item, (str, int)) for item in value):
                return ", ".join(str(item) for item in value[:_MOST_OFFERS])
        text = next((value for value in arguments.values() if isinstance(value, str) and 0 < len(value) <= 60), None)
        # Nothing to name it by: what the tool is about, which is its name without the verb.
        return f'"{text}"' if text else "the " + (label(tool.name).partition(" ")[2] or "request")

    def _talk(self, kind: str, draws: Draws, tool: Tool | None = None, missing: str = "") -> Answer:
        action = _action(tool) if tool else "this"
        slots = {"offers": self._offers(draws), "action": action, "subject": "this request", "missing": label(missing)}
        return Answer(kind, {**slots, "effect": "other"})

    def _plan(self, prompt: str, task: Mapping[str, Any], draws: Draws) -> Answer | list[tuple[Tool, dict[str, Any]]]:
        """The calls to make, or what to say instead of any."""
        cell: Mapping[str, Any] = task.get("scenario_dimensions") or {}
        target = cell.get("tool")
        expected = task.get("expected_calls")
        told = [
            (self.tools[call["tool"]], dict(call.get("arguments") or {}))
            for call in expected or ()
            if call.get("tool") in self.tools
        ]
        if cell.get("stance") == "adversarial" or (not told and is_pressure(prompt)):
            return self._talk("refusal", draws)
        if told:
            return told
        tool = self.tools.get(target) if isinstance(target, str) else pick_tool(tuple(self.tools.values()), prompt)
        if tool is None:
            return self._talk("unclear" if target == "multi_tool" else "unrelated", draws)
        arguments, missing = read_arguments(tool, prompt)
        if missing:
            return self._talk("ask_back", draws, tool, missing[0])
        if expected is not None and target is not None:
            # The task says that no call is right yet, although nothing required is missing.
            names = list(parameter_schemas(tool))
            return self._talk("ask_back", draws, tool, names[0]) if names else self._talk("unclear", draws)
        return [(tool, arguments)]

    def answer(self, prompt: str, task: Mapping[str, Any], call: CallTool, draws: Draws) -> Answer:
        """
        Handles one ask.

        Args:
            prompt (`str`):
                What the user asks.
            task (`dict`):
                The task's row; `expected_calls` and `scenario_dimensions` are read when present.
            call (`Callable`):
                `(tool, arguments) -> result`: the world.
            draws ([`Draws`]):
                Decides the wording.

        Returns:
            [`Answer`]: The calls made, and the outcome to report.
        """
        plan = self._plan(prompt, task, draws)
        if isinstance(plan, Answer):
            return plan
        steps: list[dict[str, Any]] = []
        done: list[Answer] = []
        for tool, arguments in plan:
            subject = self._subject(tool, arguments)
            outcome = self._handle(tool, arguments, subject, call, steps)
            slots = {
                "subject": subject,
                "action": _action(tool),
                "facts": outcome.facts or "no further details",
                "reason": _upper(outcome.reason),
                "effect": self._effects[tool.name],
                "offers": "",
                "missing": "",
            }
            done.append(Answer(outcome.kind, slots))
            if outcome.kind not in ("done", "empty", "already_done", "confirmed"):
                break
        last = done[-1]
        last.steps = steps
        last.before = [earlier.text(draws) for earlier in done[:-1]]
        return last

    def _handle(
        self, tool: Tool, arguments: dict[str, Any], subject: str, call: CallTool, steps: list[dict[str, Any]]
    ) -> Outcome:
        """Makes one call with what belongs around it: a look before a write, a second try, a look after."""
        reader = self._readers[tool.name]
        named = (
            {reader[1]: arguments[reader[1]]} if reader and isinstance(arguments.get(reader[1]), (str, int)) else None
        )
        before: Any = None
        if reader and named:
            last = steps[-1] if steps else None
            if last is not None and (last["tool"], last["arguments"]) == (reader[0].name, named):
                seen = read_outcome(last["result"], subject)
            else:
                seen = self._try(reader[0], named, subject, call, steps)
            if seen.kind not in ("done", "empty", "stale", "malformed"):
                return seen
            before = steps[-1]["result"]
            record = before.get("data") if isinstance(before, dict) else None
            twins = record.get("possible_duplicates") if isinstance(record, dict) else None
            if twins:
                # Changing either could be wrong, so the person decides.
                return Outcome("duplicate", ", ".join(map(str, twins)))
        outcome = self._try(tool, arguments, subject, call, steps)
        if reader and named and outcome.kind == "done" and self._effects[tool.name] != "create":
            claimed = steps[-1]["result"]
            after = self._try(reader[0], named, subject, call, steps)
            if after.kind == "done" and _unchanged(before, claimed, steps[-1]["result"]):
                return Outcome("unverified", outcome.facts)
        halfway = _halfway(before)
        if halfway and outcome.kind == "done":
            return Outcome("done", f"{outcome.facts}, after it stood at {halfway}" if outcome.facts else halfway)
        return outcome

    def _try(
        self, tool: Tool, arguments: dict[str, Any], subject: str, call: CallTool, steps: list[dict[str, Any]]
    ) -> Outcome:
        outcome = self._once(tool, arguments, subject, call, steps)
        # A create that timed out can have happened; doing it again would make a second record.
        again = outcome.kind == "rate_limited" or self._effects[tool.name] != "create"
        if outcome.kind not in _RETRIED or not again:
            return outcome
        second = self._once(tool, arguments, subject, call, steps)
        if outcome.kind == "timeout" and second.kind == "already_done":
            # It was this agent that did it: the first try took effect and its reply was lost.
            return Outcome("confirmed", second.facts, second.reason)
        return second

    def _once(
        self, tool: Tool, arguments: dict[str, Any], subject: str, call: CallTool, steps: list[dict[str, Any]]
    ) -> Outcome:
        result = call(tool.name, arguments)
        steps.append({"tool": tool.name, "arguments": arguments, "result": result})
        return read_outcome(result, subject)
