"""What an agent is called in a run: the same name in every process, and a new one when its source changes."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Sequence
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


# Values of a closure or of attributes that say how an agent is set up. Containers and objects are left out: they
# hold clients, locks and counters, which differ between two runs of one agent.
_SETTINGS = (str, bytes, bool, int, float)
_DEPTH = 3
_EMPTY_CELL = types.CellType()  # a name of the closure that has no value yet


def _settings(agent: Any, depth: int = _DEPTH) -> list[object]:
    """The plain values an agent was set up with: arguments bound to it, its closure, its attributes."""
    if isinstance(agent, functools.partial):
        bound = [*agent.args, *(value for _, value in sorted(agent.keywords.items()))]
        return [*_plain(bound, depth), *_settings(agent.func, depth)]
    if inspect.ismethod(agent):
        return _settings(agent.__self__, depth)
    if inspect.isfunction(agent):
        cells = [cell.cell_contents for cell in agent.__closure__ or () if cell != _EMPTY_CELL]
        return _plain([*cells, *(agent.__defaults__ or ()), *(agent.__kwdefaults__ or {}).values()], depth)
    attributes = vars(agent) if hasattr(agent, "__dict__") and not inspect.isclass(agent) else {}
    return _plain([value for _, value in sorted(attributes.items())], depth)


def _plain(values: Sequence[Any], depth: int) -> list[object]:
    found: list[object] = []
    for value in values:
        if value is None or isinstance(value, _SETTINGS):
            found.append(value)
        elif depth and (inspect.isfunction(value) or isinstance(value, functools.partial)):
            found += [f"{value!r}".split(" at ")[0], *_settings(value, depth - 1)]
    return found


def agent_id(agent: Any) -> str:
    """
    A stable name of an agent: `module:qualname`, then `#` and a short hash of its source and settings.

    Args:
        agent (`Any`):
            A function, a method, a `functools.partial`, an instance with `__call__`, or anything with an `agent_id`.

    Returns:
        `str`: Free of memory addresses. The strings, numbers and functions it was set up with count (two models
        behind one class are two agents); lists, dicts and other objects it holds do not.

    Examples:
    ```python
    >>> import json
    >>> agent_id(json.dumps).split("#")[0]
    'json:dumps'

    ```
    """
    if isinstance(agent, Named) and not inspect.isclass(agent) and isinstance(agent.agent_id, str):
        return agent.agent_id
    settings = _settings(agent)
    while isinstance(agent, functools.partial):
        agent = agent.func
    target = inspect.unwrap(agent) if inspect.isroutine(agent) else agent if inspect.isclass(agent) else type(agent)
    name = f"{target.__module__}:{target.__qualname__}"
    source = source_of(target)
    if source is None and not settings:
        return name
    return f"{name}#{digest(source, *settings, length=_DIGITS)}"
