"""A verifier of the trajectory: did the agent make the tool calls it should have made?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.reading.calls import arguments_of, message_calls
from whileai_hf.score.verify.arguments import ArgumentMode, ArgumentRules, Rule
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.gold import find_gold


Mode = Literal["strict", "unordered", "subset", "superset"]
# Calls told in a reason; more help nobody.
_MOST_NAMED = 5


class ToolCall(NamedTuple):
    """A tool and its arguments; arguments `None` are not compared."""

    tool: str
    arguments: dict[str, Any] | None


class ToolCalls(Verifier):
    """
    1 when the rollout's tool calls match the expected ones.

    The expected calls come from `expected=`, else `field=`, else the row's `expected_calls` (joined by `grade` from
    the tasks), else `privileged.expected_calls`. The calls made are read from `steps`, else from `messages`. What the
    agent says does not matter here; combine with another verifier by [`All`]. A rollout without any call never
    matches expectations that have one, in any mode.

    Args:
        mode (`str`, *optional*, defaults to `"strict"`):
            `"strict"`: the same calls in the same order. `"unordered"`: the same calls in any order. `"subset"`: only
            expected calls, not necessarily all of them. `"superset"`: all expected calls, and perhaps others. Each
            expected call is used once, so a call made twice has to be expected twice.
        expected (`Sequence`, *optional*):
            Calls: `{"tool", "arguments"}`, as OpenAI writes them, or a tool's name when the arguments do not matter.
        arguments (`str`, *optional*, defaults to `"exact"`):
            `"exact"`: the same names with equal values; `"subset"`: only expected arguments; `"superset"`: all
            expected arguments, and perhaps others; `"ignore"`.
        rules (`Mapping[str, Any]`, *optional*):
            Argument name, or `"tool.argument"`, to how its values are compared: `"exact"`, `"ignore"` (also whether it
            is there), `"caseless"`, a number (the difference that is still right), a compiled pattern the whole value
            has to match, or a function `(made, expected) -> bool`. A tool's name to one of the words of `arguments`
            sets that for the tool.
        field (`str`, *optional*):
            Where the expected calls are, as a dotted path into the row.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> steps = [{"tool": "get_order", "arguments": {"id": "A1"}}, {"tool": "refund", "arguments": {"amount": 5.001}}]
    >>> wanted = [{"tool": "refund", "arguments": {"amount": 5}}]
    >>> ToolCalls(mode="superset", expected=wanted, rules={"amount": 0.01})({"steps": steps})["reward"]
    1.0
    >>> ToolCalls(expected=wanted)({"steps": steps})["reason"]
    'call 1 is get_order, expected refund'

    ```
    """

    name = "tool_calls"

    def __init__(
        self,
        mode: Mode = "strict",
        *,
        expected: Sequence[Any] | None = None,
        arguments: ArgumentMode = "exact",
        rules: Mapping[str, Rule] | None = None,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        if mode not in get_args(Mode):
            raise ConfigurationError(f"ToolCalls(mode={mode!r}) is unknown; use one of {', '.join(get_args(Mode))}")
        self.mode = mode
        self.rules = ArgumentRules(arguments, rules or {})
        self.expected: tuple[ToolCall, ...] | None = None
        if expected is not None:
            read = read_expected(expected)
            if isinstance(read, str):
                raise ConfigurationError(f"ToolCalls(expected=...): {read}")
            self.expected = tuple(read)

    def columns(self) -> Sequence[str] | None:
        """The row columns read."""
        if type(self).__call__ is not ToolCalls.__call__:
            return None
        read = ["steps", "messages"]
        if self.expected is not None:
            return read
        return [
            *read,
            *([self.field, self.field.partition(".")[0]] if self.field else ["expected_calls", "privileged"]),
        ]

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict on a row."""
        expected: Sequence[ToolCall] | str
        expected = self.expected if self.expected is not None else self._of_row(row)
        if isinstance(expected, str):
            return {"reward": None, "reason": expected}
        made = made_calls(row)
        if made is None:
            return {"reward": None, "reason": "the row has neither steps nor messages to read calls from"}
        wrong = self._difference(made, expected)
        return {"reward": 0.0, "reason": wrong} if wrong else {"reward": 1.0}

    def judge(self, candidate: str, gold: Any = None) -> dict[str, Any]:
        """No verdict: a reply without its row has no calls."""
        return {"reward": None, "reason": "tool calls are read from a row; call the verifier with one"}

    def check(self, candidate: str, gold: Any) -> Any:
        """The same as `judge`."""
        return self.judge(candidate, gold)

    def _of_row(self, row: Mapping[str, Any]) -> list[ToolCall] | str:
        found: Any = None
        if self.field is not None:
            found = [] if row.get(self.field) == [] else find_gold(row, self.field).value
        else:
            found = row.get("expected_calls")
            privileged = row.get("privileged")
            if found is None and isinstance(privileged, Mapping):
                found = privileged.get("expected_calls")
        if found is None:
            where = repr(self.field) if self.field else "expected_calls"
            return f"no expected calls: the row has nothing at {where}; pass expected=, field= or tasks="
        return read_expected(found)

    def _difference(self, made: Sequence[ToolCall], expected: Sequence[ToolCall]) -> str | None:
        """What is wrong, `None` when the calls match."""
        if expected and not made:
            return f"no tool was called, expected {_names(expected)}"
        if self.mode == "strict":
            return self._in_order(made, expected)
        used = self._paired(made, expected)
        extra = [call for index, call in enumerate(made) if index not in used]
        missing = [call for index, call in enumerate(expected) if index not in used.values()]
        said = []
        if missing and self.mode != "subset":
            said.append(f"not called as expected: {_names(missing)}")
        if extra and self.mode != "superset":
            said.append(f"called without being expected: {_names(extra)}")
        return "; ".join(said) or None

    def _in_order(self, made: Sequence[ToolCall], expected: Sequence[ToolCall]) -> str | None:
        for place, (call, wanted) in enumerate(zip(made, expected, strict=False), 1):
            if call.tool != wanted.tool:
                return f"call {place} is {call.tool}, expected {wanted.tool}"
            wrong = self.rules.difference(call.tool, call.arguments, wanted.arguments)
            if wrong is not None:
                return f"call {place} ({call.tool}): {wrong}"
        if len(made) > len(expected):
            return f"called without being expected: {_names(made[len(expected) :])}"
        return f"not called: {_names(expected[len(made) :])}" if len(made) < len(expected) else None

    def _paired(self, made: Sequence[ToolCall], expected: Sequence[ToolCall]) -> dict[int, int]:
        """
        Calls made to expected calls, each used once, as many pairs as possible. With rules a call may fit several
        expectations, so a first fit is given up when that lets another call in.
        """
        pairs: dict[int, int] = {}
        owner: dict[int, int] = {}
        fits = [[place for place, wanted in enumerate(expected) if self._fits(call, wanted)] for call in made]

        def place_for(start: int) -> None:
            # Breadth first over alternating pairs; no recursion, trajectories may be long.
            came: dict[int, int] = {}
            queue = [start]
            for call in queue:
                for place in fits[call]:
                    if place in came:
                        continue
                    came[place] = call
                    if place not in owner:
                        while True:
                            taker = came[place]
                            place, before = pairs.get(taker, -1), place
                            pairs[taker], owner[before] = before, taker
                            if taker == start:
                                return
                    queue.append(owner[place])

        for index in range(len(made)):
            if fits[index]:
                place_for(index)
        return pairs

    def _fits(self, call: ToolCall, wanted: ToolCall) -> bool:
        return call.tool == wanted.tool and self.rules.difference(call.tool, call.arguments, wanted.arguments) is None


def made_calls(row: Mapping[str, Any]) -> list[ToolCall] | None:
    """The calls of a row, from `steps`, else from `messages`; `None` when it has neither."""
    steps, messages = row.get("steps"), row.get("messages")
    if isinstance(steps, list | tuple):
        made = [
            ToolCall(step["tool"], arguments_of(step.get("arguments")))
            for step in steps
            if isinstance(step, Mapping) and isinstance(step.get("tool"), str)
        ]
        if made or not messages:
            return made
    if isinstance(messages, list | tuple):
        return [ToolCall(name, arguments_of(written)) for name, written, _, _ in message_calls(messages)]
    return None


def read_expected(given: Any) -> list[ToolCall] | str:
    """Expected calls in any of their forms, or what is wrong with them."""
    if isinstance(given, str | Mapping):
        given = [given]
    if not isinstance(given, Sequence):
        return f"the expected calls are {given!r:.60}; expected a list of calls"
    calls = []
    for index, item in enumerate(given):
        call = _expected_call(item)
        if call is None:
            return f"expected call {index} is {item!r:.80}; expected {{'tool', 'arguments'}} or a tool's name"
        calls.append(call)
    return calls


def _expected_call(item: Any) -> ToolCall | None:
    if isinstance(item, str):
        return ToolCall(item, None) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    inner = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = inner.get("tool", inner.get("name"))
    if not isinstance(name, str) or not name:
        return None
    written = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    arguments = arguments_of(written)
    return None if isinstance(written, str) and "malformed" in arguments else ToolCall(name, arguments)


def _names(calls: Sequence[ToolCall]) -> str:
    shown = ", ".join(call.tool for call in calls[:_MOST_NAMED])
    return shown if len(calls) <= _MOST_NAMED else f"{shown} and {len(calls) - _MOST_NAMED} more"
