"""What an agent is called in a run: the same name in every process, and a new one when its source changes."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Protocol, runtime_checkable

from whileai_hf.rows.hashing import source_of
from whileai_hf.rows.rng import digest


# Hexadecimal digits of the source's hash; tells apart the versions one person edits in a day.
_DIGITS = 8


@runtime_checkable
class Named(Protocol):
    """An agent that names itself, because its source alone does not say what it does."""

    @property
    def agent_id(self) -> str:
        """A name without memory addresses or closure state."""


def agent_id(agent: Any) -> str:
    """
    A stable name of an agent: `module:qualname`, then `#` and a short hash of its source when there is one.

    Args:
        agent (`Any`):
            A function, a method, a `functools.partial`, an instance with `__call__`, or anything with an `agent_id`.

    Returns:
        `str`: Free of memory addresses. Closures and attributes do not enter: a run is named by what the agent is,
        not by what it holds.

    Examples:
    ```python
    >>> import json
    >>> agent_id(json.dumps).split("#")[0]
    'json:dumps'

    ```
    """
    if isinstance(agent, Named) and not inspect.isclass(agent) and isinstance(agent.agent_id, str):
        return agent.agent_id
    while isinstance(agent, functools.partial):
        agent = agent.func
    target = inspect.unwrap(agent) if inspect.isroutine(agent) else agent if inspect.isclass(agent) else type(agent)
    name = f"{target.__module__}:{target.__qualname__}"
    source = source_of(target)
    return name if source is None else f"{name}#{digest(source, length=_DIGITS)}"
