"""One rollout's world: answers every tool call of that rollout, remembers what it did, breaks on schedule."""

from __future__ import annotations

import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError, WorldError
from whileai_hf.rows import canonical, loads
from whileai_hf.sandbox import answers, writes
from whileai_hf.sandbox.broken import absent_reply, error_reply, half_of, silent_reply, stale_reply, wrong_reply
from whileai_hf.sandbox.faults import FAULT_KINDS, Breaker, validate_faults
from whileai_hf.sandbox.knowledge import UNSPECIFIED, WORLD_STATES, Premise
from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.outcomes import Outcome, refused
from whileai_hf.sandbox.placeholders import placeholder_in
from whileai_hf.sandbox.state import Key, Snapshot, clone, key_of
from whileai_hf.sandbox.toolset import Profile, Toolset, toolset_of


Execute = Callable[[str, dict[str, Any]], Any]

# Writes a stale answer may look back over.
_LOOK_BACK = 16
_NO_IDS: frozenset[str] = frozenset()
_SIMPLE: dict[str, Callable[[Profile, dict[str, Any]], Outcome]] = {
    "note": answers.note,
    "done": answers.done,
    "calculator": answers.calculator,
    "arithmetic": answers.arithmetic,
    "clock": answers.clock,
    "convert_time": answers.convert_time,
}
_STATEFUL: dict[str, Callable[[Records, Profile, dict[str, Any]], Outcome]] = {
    "fact": answers.fact,
    "record": answers.record,
    "contents": answers.contents,
    "create": writes.create,
    "change": writes.change,
}


def ids_of(values: Iterable[Any]) -> frozenset[str]:
    """Ids in the form records are found by."""
    return frozenset(key_of("", value)[1] for value in values)


class Session:
    """
    The world of one rollout. Thread-safe: an agent may call its tools in parallel.

    Args:
        tools (tuple of [`~whileai_hf.spec.Tool`], [`~whileai_hf.spec.AgentSpec`] or any shape of tools):
            Pass the same tuple (`spec.tools`) for every rollout: what follows from the tools is worked out once.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the run; with `scenario_id` it decides everything in this world.
        scenario_id (`str`, *optional*, defaults to `""`):
            The situation being played.
        prompt (`str`, *optional*, defaults to `""`):
            The user's ask, whose ids exist.
        world_state (`str`, *optional*, defaults to `"unspecified"`):
            One of `WORLD_STATES`.
        faults (`dict`, *optional*):
            A fault plan, see [`fault_plan`].
        execute (`Callable`, *optional*):
            `(tool, arguments) -> result`: answers every call instead of this world. Faults do not apply. A result
            that is no dict comes back as `{"status": "ok", "result": ...}`, an exception as `{"status": "error"}`,
            and so does an awaitable: a session answers synchronously.
        target (`str`, *optional*):
            The tool the situation is about, which says what "already acted on" means.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If the fault plan or the world state is none.

    Examples:
    ```python
    >>> from whileai_hf.sandbox import Session
    >>> tools = [{"name": "refund_order", "parameters": {"type": "object", "properties": {
    ...     "order_id": {"type": "string"}}, "required": ["order_id"]}}]
    >>> session = Session(tools, prompt="Please refund ORD-7.")
    >>> session.call("refund_order", {"order_id": "ORD-7"})["status"]
    'updated'
    >>> session.call("refund_order", {"order_id": "ORD-7"})["status"]
    'already_done'
    >>> session.call("refund_order", {"order_id": "ORD-8"})["status"]
    'not_found'

    ```
    """

    __slots__ = ("_breaker", "_counts", "_execute", "_lock", "_overall", "_past", "_records", "_toolset")

    def __init__(
        self,
        tools: Any,
        *,
        seed: int = 0,
        scenario_id: str = "",
        prompt: str = "",
        world_state: str = UNSPECIFIED,
        faults: Mapping[str, Any] | None = None,
        execute: Execute | None = None,
        target: str | None = None,
    ) -> None:
        state = world_state or UNSPECIFIED
        if state not in WORLD_STATES:
            raise ConfigurationError(f"world_state is {world_state!r}; use one of {', '.join(WORLD_STATES)}.")
        premise = Premise(seed, scenario_id, prompt, state, _NO_IDS, _NO_IDS)
        self._open(toolset_of(tools), premise, faults, execute, target)

    def _open(
        self,
        toolset: Toolset,
        premise: Premise,
        faults: Mapping[str, Any] | None,
        execute: Execute | None,
        target: str | None,
    ) -> None:
        self._toolset = toolset
        self._records = Records(toolset, premise, toolset.profiles.get(target) if target else None)
        self._breaker = Breaker(validate_faults(faults) if faults else {})
        self._execute = execute
        self._counts: dict[str, int] = {}
        self._overall = 0
        # States before writes, with the number of writes then; kept only when an answer may have to be stale.
        self._past: deque[tuple[Snapshot, int]] | None = None
        if faults and self._breaker.plans("stale_result"):
            self._past = deque(maxlen=_LOOK_BACK)
        self._lock = threading.Lock()

    @classmethod
    def standalone(
        cls,
        tools: Any,
        *,
        seed: int = 0,
        faults: Mapping[str, Any] | None = None,
        known: Iterable[Any] = (),
        missing: Iterable[Any] = (),
    ) -> Session:
        """A world outside any rollout: plausible ids exist unless in `missing`; those in `known` always do."""
        session = cls.__new__(cls)
        premise = Premise(seed, "", None, UNSPECIFIED, ids_of(known), ids_of(missing))
        session._open(toolset_of(tools), premise, faults, None, None)
        return session

    def sibling(self, toolset: Toolset) -> Session:
        """A world over other tools, for the same rollout and without its faults."""
        session = type(self).__new__(type(self))
        session._open(toolset, self._records.premise, None, None, None)
        return session

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self._records.seed

    @property
    def toolset(self) -> Toolset:
        """What follows from the tools."""
        return self._toolset

    @property
    def fired(self) -> list[dict[str, Any]]:
        """Faults that fired, `{"tool", "kind", "call"}`; `call` counts the calls of that tool from 1."""
        return [dict(fault) for fault in self._breaker.fired]

    @property
    def writes(self) -> list[dict[str, Any]]:
        """Calls that took effect, `{"tool", "arguments", "call"}`, in the order they did; a copy."""
        with self._lock:
            return [clone(write) for write in self._records.writes]

    def state_digest(self) -> str:
        """A fingerprint of what the writes left behind; equal for equal ends, whatever was read on the way."""
        with self._lock:
            return self._records.state.digest()

    def call(self, tool: str, arguments: Mapping[str, Any] | str | None = None) -> dict[str, Any]:
        """
        Answer one tool call.

        Args:
            tool (`str`):
                Name of the tool.
            arguments (`dict` or `str`, *optional*):
                The arguments, or their JSON text as chat APIs send them.

        Returns:
            `dict`: Always with a `"status"`; what was asked for is under `"data"`, what went wrong under `"error"`.

        Raises:
            [`~whileai_hf.errors.WorldError`]: If `tool` is not a string.
        """
        if not isinstance(tool, str):
            raise WorldError(f"a tool call needs the tool's name as a string, got {type(tool).__name__}.")
        given = _read_arguments(arguments)
        if self._execute is not None:
            return self._executed(self._execute, tool, given)
        with self._lock:
            profile = self._toolset.profiles.get(tool)
            if profile is None:
                names = ", ".join(self._toolset.profiles)
                return {"status": "unknown_tool", "error": f"no tool is called {tool!r}; the tools are: {names}"}
            self._overall += 1
            count = self._counts[tool] = self._counts.get(tool, 0) + 1
            fault = self._breaker.due(tool, count, self._overall)
            if fault is None:
                outcome = self._answer(profile, given)
                self._commit(profile, given, count, outcome)
                return outcome.reply
            return self._broken(profile, given, count, fault)

    def _executed(self, execute: Execute, tool: str, given: Any) -> dict[str, Any]:
        if not isinstance(given, dict):
            return {"status": "invalid_arguments", "error": "arguments must be an object of named values"}
        with self._lock:
            count = self._counts[tool] = self._counts.get(tool, 0) + 1
        profile = self._toolset.profiles.get(tool)
        writing = profile is not None and profile.effect in ("create", "update", "delete")
        # Before the call: the caller's world may change what it is given.
        asked = clone(given) if writing else given
        try:
            # Outside the lock: the caller's world may be slow and answer in parallel.
            result = execute(tool, given)
        except Exception as error:  # a tool that raises is an answer the agent has to deal with
            return {"status": "error", "error": f"{type(error).__name__}: {error}"}
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            return {"status": "error", "error": "execute returned a coroutine; pass a sync function"}
        reply = canonical(result)
        if not isinstance(reply, dict):
            reply = {"status": "ok", "result": reply}
        if writing and "error" not in reply:
            with self._lock:
                self._records.writes.append({"tool": tool, "arguments": asked, "call": count})
        return reply

    def _answer(self, profile: Profile, arguments: Any) -> Outcome:
        """Checks, then the answer: arguments, placeholders, existence, and what the tool does."""
        errors = profile.checker.errors(arguments)
        if errors:
            return refused("invalid_arguments", "; ".join(errors))
        echoed = placeholder_in(arguments, profile.id_names, profile.fixed)
        if echoed is not None:
            return refused(
                "invalid_arguments",
                f"argument {echoed[0]!r} is a placeholder ({echoed[1][:60]!r}), not a value",
                hint=f"Pass the real {echoed[0]}: take it from the conversation, look it up, or ask the user for it.",
            )
        absent = self._absent(profile, arguments)
        if absent is not None:
            return absent
        simple = _SIMPLE.get(profile.kind)
        if simple is not None:
            return simple(profile, arguments)
        return _STATEFUL[profile.kind](self._records, profile, arguments)

    def _absent(self, profile: Profile, arguments: dict[str, Any]) -> Outcome | None:
        """The refusal for a record that is not there, or `None` when all named records are."""
        for position, item in enumerate(profile.ids):
            value = arguments.get(item.name)
            if value is None or item.many or (position == 0 and profile.own_id):
                continue
            if not self._records.exists(item, value, main=position == 0):
                return Outcome(
                    {"status": "not_found", "error": f"no {item.entity} found for {item.name} {value!r}"},
                    records=(key_of(item.entity, value),),
                )
        return None

    def _commit(self, profile: Profile, arguments: Any, count: int, outcome: Outcome) -> None:
        """Make an outcome's writes and let reads end the faults that last until then."""
        if outcome.changes:
            if self._past is not None:
                self._past.append((self._records.state.snapshot(), len(self._records.writes)))
            for change in outcome.changes:
                self._records.state.apply(change)
            # The reply may share parts of the arguments, and the reply is the caller's to change.
            self._records.writes.append({"tool": profile.name, "arguments": clone(arguments), "call": count})
        elif profile.effect == "read" and outcome.reply.get("status") in ("ok", "not_found"):
            self._breaker.read(outcome.records)

    def _broken(self, profile: Profile, arguments: Any, count: int, fault: dict[str, Any]) -> dict[str, Any]:
        """The reply under a fault; a wrong reply needs a call that would have worked, so it waits for one."""
        kind, ran, seen = fault["kind"], fault["ran"], fault["seen"]
        before = self._before(profile, arguments) if kind == "stale_result" else None
        outcome = self._answer(profile, arguments)
        stale = self._stale(profile, arguments, outcome) if kind == "stale_result" and seen == "wrong" else None
        if not _applies(kind, profile, outcome) or (seen != "error" and not outcome.succeeded and stale is None):
            self._commit(profile, arguments, count, outcome)
            return outcome.reply
        record = outcome.records[0] if outcome.records else self._named(profile, arguments)
        self._breaker.fire(profile.name, count, record)
        if ran != "no" and outcome.changes:
            made = half_of(outcome.changes) if ran == "partly" else outcome.changes
            if made:
                self._commit(profile, arguments, count, Outcome(outcome.reply, made, outcome.records))
        if profile.effect == "read" and record is not None:
            self._breaker.read((record,))
        if seen == "error":
            return error_reply(kind)
        if seen == "silence":
            return silent_reply()
        if kind == "not_found":
            return absent_reply(profile, arguments)
        if stale is not None:
            return stale_reply(stale, self._records.seed)
        return wrong_reply(kind, outcome, self._records.seed, before if outcome.changes else None)

    def _stale(self, profile: Profile, arguments: Any, outcome: Outcome) -> dict[str, Any] | None:
        """
        What a read would have been answered before this rollout's last write that made a difference to it.

        A record created since is not there yet, a deleted one still is. `None` when no write matters to the answer.
        """
        if not self._past or profile.effect != "read":
            return None
        writes = self._records.writes
        for past, count in reversed(self._past):
            with self._records.state.looking_back(past):
                self._records.writes = writes[:count]
                try:
                    earlier = self._answer(profile, arguments).reply
                finally:
                    self._records.writes = writes
            if earlier != outcome.reply:
                return earlier
        return None

    def _named(self, profile: Profile, arguments: Any) -> Key | None:
        if not profile.ids or not isinstance(arguments, dict):
            return None
        value = arguments.get(profile.ids[0].name)
        return key_of(profile.ids[0].entity, value) if isinstance(value, str | int) else None

    def _before(self, profile: Profile, arguments: Any) -> dict[str, Any] | None:
        """The record as it is before the call, for an answer that shows just that."""
        key = self._named(profile, arguments)
        if key is None or profile.kind != "change":
            return None
        shape = self._toolset.shape(key[0])
        return self._records.row(key, arguments[profile.ids[0].name], shape.id_name)


def _applies(kind: str, profile: Profile, outcome: Outcome) -> bool:
    """Whether a kind of fault means something for this call: a lost write needs one, and a new record no search."""
    if FAULT_KINDS[kind].writes_only:
        return bool(outcome.changes)
    return kind != "not_found" or profile.effect != "create"


def _read_arguments(arguments: Any) -> Any:
    """A canonical copy of the arguments; whatever is not an object is left for the validator to refuse."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        try:
            return canonical(loads(arguments)) if arguments.strip() else {}
        except ValueError:
            return arguments
    return canonical(dict(arguments) if isinstance(arguments, Mapping) else arguments)
