"""The handle users hold: one module-level object that is, inside each rollout, that rollout's own world."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox.context import find_rollout
from whileai_hf.sandbox.faults import plan_notes, validate_faults
from whileai_hf.sandbox.session import Session
from whileai_hf.sandbox.toolset import toolset_of


class World:
    """
    A world over an agent's tools; make one with [`world`].

    Called inside a rollout it answers from that rollout's session, whichever thread or task calls; outside any
    rollout from a session of its own, which [`~World.reset`] starts anew.
    """

    def __init__(
        self,
        tools: Any,
        *,
        seed: int = 0,
        faults: Mapping[str, Any] | None = None,
        known: Iterable[Any] = (),
        missing: Iterable[Any] = (),
    ) -> None:
        self._toolset = toolset_of(tools)
        if not self._toolset.profiles:
            raise ConfigurationError("world(tools) got no tools; pass the agent's tools.")
        self._seed = seed
        self._faults = validate_faults(faults)
        for note in plan_notes(self._faults, self._toolset):
            warnings.warn(note, stacklevel=3)
        self._known, self._missing = tuple(known), tuple(missing)
        self.reset()

    def __repr__(self) -> str:
        return f"World({', '.join(self._toolset.profiles)})"

    def reset(self) -> None:
        """Forget what happened outside rollouts."""
        self._own = Session.standalone(
            self._toolset, seed=self._seed, faults=self._faults, known=self._known, missing=self._missing
        )

    @property
    def session(self) -> Session:
        """The session that answers here: the current rollout's, else the handle's own."""
        rollout = find_rollout()
        return self._own if rollout is None else rollout.session_for(self._toolset)

    @property
    def fired(self) -> list[dict[str, Any]]:
        """Faults that fired here, see [`Session.fired`]."""
        return self.session.fired

    @property
    def writes(self) -> list[dict[str, Any]]:
        """Calls that took effect here, see [`Session.writes`]."""
        return self.session.writes

    def write_counts(self) -> list[dict[str, Any]]:
        """How often each write took effect here, see [`Session.write_counts`]."""
        return self.session.write_counts()

    def call(self, tool: str, arguments: Mapping[str, Any] | str | None = None, /, **named: Any) -> dict[str, Any]:
        """
        Call a tool.

        Args:
            tool (`str`):
                Its name.
            arguments (`dict` or `str`, *optional*):
                The arguments, or their JSON text.
            **named (`Any`):
                Arguments by name, instead of or on top of `arguments`.

        Returns:
            `dict`: The reply, always with a `"status"`.

        Examples:
        ```python
        >>> from whileai_hf.sandbox import world
        >>> shop = world([{"name": "get_order", "description": "Returns status and total.",
        ...     "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}])
        >>> sorted(shop.call("get_order", order_id="4412")["data"])
        ['order_id', 'status', 'total']

        ```
        """
        if named:
            if isinstance(arguments, str):
                raise ConfigurationError("World.call got JSON text and named arguments; pass one of the two.")
            arguments = {**(arguments or {}), **named}
        return self.session.call(tool, arguments)


def world(
    tools: Any,
    *,
    seed: int = 0,
    faults: Mapping[str, Any] | None = None,
    known: Iterable[Any] = (),
    missing: Iterable[Any] = (),
) -> World:
    """
    A world that answers an agent's tool calls with plausible records, remembers writes and breaks on schedule.

    Args:
        tools (`list`, `AgentSpec`):
            Tools in any shape [`~whileai_hf.spec.AgentSpec.from_tools`] takes.
        seed (`int`, *optional*, defaults to `0`):
            Decides every record. Inside a rollout the run's seed counts.
        faults (`dict`, *optional*):
            A fault plan for calls outside rollouts, see [`fault_plan`]; inside one, the task's plan counts. What in it
            can never fire is warned about.
        known (iterable, *optional*):
            Ids that exist outside rollouts, whatever they look like.
        missing (iterable, *optional*):
            Ids that do not exist outside rollouts.

    Returns:
        [`World`]: Share it at module level; each rollout gets its own state.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If there are no tools or the fault plan is none.

    Examples:
    ```python
    >>> from whileai_hf.sandbox import world
    >>> shop = world([{"name": "get_order", "parameters": {"type": "object",
    ...     "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}], missing=["ORD-9"])
    >>> [shop.call("get_order", order_id=name)["status"] for name in ("ORD-1", "ORD-9")]
    ['ok', 'not_found']

    ```
    """
    return World(tools, seed=seed, faults=faults, known=known, missing=missing)
