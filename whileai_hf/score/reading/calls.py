"""The tool calls of a row: what was called with what, what kind of act it was, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from whileai_hf.sandbox.naming import words_of
from whileai_hf.score.reading.commands import command_failed
from whileai_hf.score.reading.lazy import lazy
from whileai_hf.score.reading.outcomes import failed, outcome_of
from whileai_hf.score.reading.scalars import name_words, scalars
from whileai_hf.score.reading.statuses import of_change
from whileai_hf.score.reading.texts import text_of
from whileai_hf.score.reading.tools import ToolFacts, facts_by_name, tools_of


_LETTERS = re.compile(r"[a-z]{2,}")
# Characters of a text argument that are looked into.
_MOST = 200
_NOTHING: dict[str, Any] = {}
# Texts of arguments up to which a status may repeat one: `set_status(status="closed")`.
_SHORT = 20
# Outcomes that the kind of a call may shade.
_SHADED = frozenset({"ok", "denied", "error"})
WRITING = frozenset({"write", "delete"})


@dataclass
class Call:
    """
    One tool call.

    `kind` is `read`, `write`, `delete`, `command` or `other`; `outcome` is what [`outcome_of`] says of the result;
    `index` is the place of the step or message it stands in.
    """

    tool: str
    arguments: dict[str, Any]
    result: Any
    kind: str
    outcome: str
    index: int
    facts: ToolFacts

    @property
    def failed(self) -> bool:
        """Whether it did not do what it was asked, or its answer is unusable."""
        return failed(self.outcome)

    @property
    def writes(self) -> bool:
        """Whether it is the kind of call that changes something."""
        return self.kind in WRITING

    @lazy
    def values(self) -> list[Any]:
        """The texts and numbers among its arguments."""
        return scalars(self.arguments)

    @lazy
    def words(self) -> set[str]:
        """Words of its name, its short text arguments, and its parameters' names but those of ids."""
        words = set(name_words(self.tool))
        for name in self.arguments:
            parts = words_of(str(name))
            if parts and parts[-1] not in ("id", "ids"):
                words.update(parts)
        for value in self.values:
            if isinstance(value, str):
                words.update(_LETTERS.findall(value[:_MOST].casefold()))
        return words


def arguments_of(written: Any) -> dict[str, Any]:
    """
    The arguments of a call, given as a dict or as JSON text; `{"malformed": text}` when they cannot be read.

    Examples:
    ```python
    >>> arguments_of('{"id": 7}'), arguments_of("id=7"), arguments_of(None)
    ({'id': 7}, {'malformed': 'id=7'}, {})

    ```
    """
    if isinstance(written, dict):
        return written
    if written is None or written == "":
        return _NOTHING
    if isinstance(written, str):
        try:
            read = orjson.loads(written.encode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            return {"malformed": written}
        if isinstance(read, dict):
            return read
    return dict(written) if isinstance(written, Mapping) else {"malformed": written}


def _kind(facts: ToolFacts, arguments: dict[str, Any]) -> str:
    if facts.kind == "other" and not facts.idle:
        if isinstance(arguments.get("command", arguments.get("cmd")), str):
            return "command"
        if ("path" in arguments or "file_path" in arguments) and (
            "content" in arguments or "file_text" in arguments or "new_str" in arguments
        ):
            return "write"
    elif facts.kind != "command" and not facts.declared and isinstance(arguments.get("command"), str):
        return "command"
    return facts.kind


def _is_plain(result: Any) -> bool:
    """Whether an answer is of the kind that says `ok` itself, as nearly all do."""
    return type(result) is dict and result.get("status") == "ok"


def _call(
    name: str, written: Any, result: Any, index: int, known: dict[str, ToolFacts], kinds: Mapping[str, str] | None
) -> Call:
    arguments = written if type(written) is dict else arguments_of(written)
    facts = known.get(name) if known else None
    if facts is None:
        facts = facts_by_name(name, arguments)
    kind = facts.kind
    if kind == "other" or (kind != "command" and not facts.declared and "command" in arguments):
        kind = _kind(facts, arguments)
    if kinds is not None:
        kind = kinds.get(name, kind)
    outcome = outcome_of(result)
    if (
        kind == "command"
        and outcome == "ok"
        and type(result) is str
        and command_failed(arguments.get("command", arguments.get("cmd")), result)
    ):
        outcome = "error"
    elif kind not in ("read", "command") and outcome in _SHADED and not _is_plain(result):
        short = [value for value in arguments.values() if type(value) is str and len(value) < _SHORT]
        outcome = of_change(outcome, result, "_".join([name, *short]))
    return Call(name, arguments, result, kind, outcome, index, facts)


def _named(entry: Any) -> tuple[str, Any, Any] | None:
    """Name, arguments and id of an entry of `tool_calls`, nested as OpenAI has it or flat."""
    if not isinstance(entry, Mapping):
        return None
    inner = entry.get("function")
    if not isinstance(inner, Mapping):
        inner = entry
    name = inner.get("name")
    if not isinstance(name, str):
        return None
    return name, inner.get("arguments", inner.get("input", inner.get("kwargs"))), entry.get("id")


def message_calls(messages: Any) -> list[tuple[str, Any, Any, int]]:
    """
    The calls in a conversation with their results: `(tool, arguments, result, place)`.

    A result belongs to the call whose id it carries, else to the first call that has none yet.
    """
    found: list[list[Any]] = []
    waiting: list[tuple[Any, int]] = []
    for place, message in enumerate(messages if isinstance(messages, list | tuple) else ()):
        if not isinstance(message, Mapping):
            continue
        role = message.get("role")
        if role in ("tool", "function"):
            wanted, name = message.get("tool_call_id", message.get("id")), message.get("name")
            slot = next((at for key, at in waiting if key is not None and key == wanted), None)
            if slot is None:
                slot = next((at for _, at in waiting if name is None or found[at][0] == name), None)
            if slot is not None:
                content = message.get("content")
                found[slot][2] = text_of(content) if isinstance(content, list) else content
                waiting = [pair for pair in waiting if pair[1] != slot]
            continue
        entries = message.get("tool_calls")
        content = message.get("content")
        if isinstance(content, list | tuple):
            used = [block for block in content if isinstance(block, Mapping) and block.get("type") == "tool_use"]
            entries = [*(entries or ()), *used]
            _results(content, waiting, found)
        if role not in ("assistant", None) or not isinstance(entries, list | tuple):
            continue
        for entry in entries:
            named = _named(entry)
            if named is not None:
                waiting.append((named[2], len(found)))
                found.append([named[0], named[1], None, place])
    return [(name, written, result, place) for name, written, result, place in found]


def _results(content: Any, waiting: list[tuple[Any, int]], found: list[list[Any]]) -> None:
    """Results that stand as blocks in a user's message."""
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            slot = next((at for key, at in waiting if key == block.get("tool_use_id")), None)
            if slot is not None:
                text = text_of(block.get("content"))
                found[slot][2] = {"isError": True, "error": text} if block.get("is_error") else text


def calls_of(row: Mapping[str, Any], kinds: Mapping[str, str] | None = None) -> list[Call]:
    """
    The tool calls of a row, in order.

    Args:
        row (`dict`):
            A rollout: `steps`, or `messages` with tool calls (nested as OpenAI has them, flat, arguments as JSON text,
            or as blocks). With `tools`, their hints and schemas decide what kind of act a call is, else their names.
        kinds (`dict[str, str]`, *optional*):
            Tool to kind, for names that say nothing.

    Returns:
        `list[Call]`: Empty when nothing was called.

    Examples:
    ```python
    >>> steps = [{"tool": "refund_order", "arguments": {"order_id": "A1"}, "result": {"status": "timeout"}}]
    >>> [(call.tool, call.kind, call.outcome) for call in calls_of({"steps": steps})]
    [('refund_order', 'write', 'timeout')]

    ```
    """
    known = tools_of(row)
    steps = row.get("steps")
    calls = []
    if type(steps) is list or isinstance(steps, list | tuple):
        for index, step in enumerate(steps):
            if type(step) is dict or isinstance(step, Mapping):
                name = step.get("tool")
                if isinstance(name, str):
                    calls.append(_call(name, step.get("arguments"), step.get("result"), index, known, kinds))
    if calls:
        return calls
    messages = row.get("messages")
    if not messages:
        return calls
    return [
        _call(name, written, result, index, known, kinds) for name, written, result, index in message_calls(messages)
    ]
