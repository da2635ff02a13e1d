"""One rollout's world: answers every tool call of that rollout, remembers what it did, breaks on schedule."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError, WorldError
from whileai_hf.rows import canonical, loads, task_key
from whileai_hf.sandbox.counts import count_writes
from whileai_hf.sandbox.disturbed import Call, Disturbed
from whileai_hf.sandbox.faults import validate_faults
from whileai_hf.sandbox.knowledge import UNSPECIFIED, WORLD_STATES, Premise
from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.remains import changes_left
from whileai_hf.sandbox.responder import Responder
from whileai_hf.sandbox.state import clone, key_of
from whileai_hf.sandbox.toolset import Toolset, toolset_of


Execute = Callable[[str, dict[str, Any]], Any]

_NO_IDS: frozenset[str] = frozenset()


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

    __slots__ = (
        "_answered", "_counts", "_disturbed", "_execute", "_lock", "_overall", "_records", "_responder", "_toolset",
    )  # fmt: skip

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
        self._responder = Responder(self._records)
        self._disturbed = Disturbed(self._responder, validate_faults(faults)) if faults else None
        self._execute = execute
        self._counts: dict[str, int] = {}
        self._overall = 0
        # Which tool was answered what, in order. Outside rollouts there is no end to it, and nobody who asks.
        self._answered: list[tuple[str, dict[str, Any]]] | None = None if premise.ask is None else []
        self._lock = threading.Lock()

    @classmethod
    def of_task(cls, tools: Any, task: Mapping[str, Any], *, seed: int = 0, execute: Execute | None = None) -> Session:
        """
        The world of a task: the same for every rollout of it, for its clean twin, and when it is played again.

        Args:
            tools (tuple of [`~whileai_hf.spec.Tool`], [`~whileai_hf.spec.AgentSpec`] or any shape of tools):
                The agent's tools.
            task (`Mapping`):
                A task, or a rollout of it: `prompt`, `scenario_id`, `world_state`, `faults`, `seed` and
                `scenario_dimensions` are read.
            seed (`int`, *optional*, defaults to `0`):
                Seed of the run, for tasks that bring none.
            execute (`Callable`, *optional*):
                Answers in place of this world, see [`Session`].

        Returns:
            [`Session`]: Fresh.
        """
        own, dimensions = task.get("seed"), task.get("scenario_dimensions")
        # Rows of other stacks describe their worlds in other words; those worlds are taken as they come.
        state = task.get("world_state")
        return cls(
            tools,
            seed=seed if own is None else own,
            # A twin lives in the world of the task it is the twin of.
            scenario_id=str(task.get("twin_of") or task_key(task)),
            prompt=task["prompt"],
            world_state=state if state in WORLD_STATES else UNSPECIFIED,
            faults=task.get("faults"),
            execute=execute,
            target=dimensions.get("tool") if isinstance(dimensions, Mapping) else None,
        )

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
        """
        Faults that fired, `{"tool", "kind", "call"}`: the tool that was called, and its calls counted from 1.

        An `injection` also has its `canary` and the tool it `wanted` called, see [`injection_followed`].
        """
        return [dict(fault) for fault in self._disturbed.breaker.fired] if self._disturbed is not None else []

    @property
    def writes(self) -> list[dict[str, Any]]:
        """Calls that took effect, `{"tool", "arguments", "call"}`, in the order they did; a copy."""
        with self._lock:
            return [clone(write) for write in self._records.writes]

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """Calls that were accepted and have not taken effect yet (`pending`), `{"tool", "arguments", "call"}`."""
        with self._lock:
            return self._disturbed.accepted if self._disturbed is not None else []

    def write_counts(self) -> list[dict[str, Any]]:
        """
        How often each write took effect: what was to happen once and was done again, after a lost reply, has 2.

        Returns:
            `list[dict]`: `{"tool", "arguments", "count", "calls"}`, equal writes together (see [`count_writes`]).

        Examples:
        ```python
        >>> from whileai_hf.sandbox import Session, fault_plan
        >>> tools = [{"name": "create_order", "parameters": {"type": "object", "properties": {
        ...     "product": {"type": "string"}}}}]
        >>> session = Session(tools, prompt="Order a kettle.", faults=fault_plan("reply_lost", "create_order"))
        >>> [session.call("create_order", {"product": "kettle"})["status"] for _ in range(2)]
        ['timeout', 'created']
        >>> [(write["tool"], write["count"]) for write in session.write_counts()]
        [('create_order', 2)]

        ```
        """
        with self._lock:
            return count_writes(self._records.writes, self._toolset.profiles)

    def state_digest(self) -> str:
        """A fingerprint of what the writes left behind; equal for equal ends, whatever was read on the way."""
        with self._lock:
            return self._records.state.digest()

    def answered(self, steps: Sequence[Mapping[str, Any]]) -> bool:
        """
        Whether a rollout's tool steps are this world's calls and answers, all of them, in this order.

        Not so when the agent's tools were answered elsewhere, or reported in another shape.
        """
        with self._lock:
            mine = list(self._answered or ())
        made = [step for step in steps if step.get("tool") is not None and "malformed" not in step]
        return len(made) == len(mine) and all(
            step["tool"] == tool and step.get("result") == reply
            for step, (tool, reply) in zip(made, mine, strict=True)
        )

    def state_changes(self) -> list[dict[str, Any]]:
        """
        The records this rollout left other than it found them.

        Returns:
            `list[dict]`: `{"entity", "id", "change", "before", "after", "tool"}`, see [`changes_left`].

        Examples:
        ```python
        >>> from whileai_hf.sandbox import Session
        >>> tools = [{"name": "cancel_order", "parameters": {"type": "object", "properties": {
        ...     "order_id": {"type": "string"}}, "required": ["order_id"]}}]
        >>> session = Session(tools, prompt="Please cancel ORD-7.")
        >>> _ = session.call("cancel_order", {"order_id": "ORD-7"})
        >>> [(change["id"], change["change"], change["after"]) for change in session.state_changes()]
        [('ORD-7', 'updated', {'status': 'cancelled'})]

        ```
        """
        with self._lock:
            return changes_left(self._records)

    def hear(self, text: str) -> None:
        """
        Take note of a further message of the user: the records it names exist as those of the ask do.

        Args:
            text (`str`):
                The message.
        """
        with self._lock:
            self._records.hear(text)

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
            reply = self._reply(tool, given)
            if self._answered is not None:
                self._answered.append((tool, reply))
            return reply

    def _reply(self, tool: str, given: Any) -> dict[str, Any]:
        profile = self._toolset.profiles.get(tool)
        if profile is None:
            names = ", ".join(self._toolset.profiles)
            return {"status": "unknown_tool", "error": f"no tool is called {tool!r}; the tools are: {names}"}
        self._overall += 1
        count = self._counts[tool] = self._counts.get(tool, 0) + 1
        if self._disturbed is not None:
            return self._disturbed.reply(Call(profile, given, count, self._overall))
        outcome = self._responder.answer(profile, given)
        if outcome.changes:
            self._responder.write(profile, given, count, outcome.changes)
            self._responder.keep_reply(profile, given, outcome.reply)
        return outcome.reply

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
