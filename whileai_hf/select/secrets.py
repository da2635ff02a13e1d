"""Cells without what only a judge may see, and with everything the agent was shown and did.

`rows.scrub` takes a key away wherever it stands. A tool may have a parameter of that name, though (a container that
is `privileged`, a search that takes a `vector`): its schema and its calls stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_hf.rows import scrub
from whileai_hf.rows.privileged import PRIVILEGED_KEYS


# What `rows.scrub` takes away; `vector` is a raw embedding.
HIDDEN = PRIVILEGED_KEYS | {"vector"}


def _each(read: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    """Reads the dicts of a list with one function, and anything else as any value is read."""

    def listed(cell: Any) -> Any:
        if not isinstance(cell, list | tuple):
            return scrub(cell)
        return [read(item) if isinstance(item, dict) else scrub(item) for item in cell]

    return listed


def _arguments(value: Any) -> Any:
    """Arguments of a call. A switch or a number gives nothing away; a sentence or a block of that name would."""
    if not isinstance(value, dict):
        return scrub(value)
    return {
        key: item if key == "vector" else scrub(item)
        for key, item in value.items()
        if key not in PRIVILEGED_KEYS or item is None or isinstance(item, bool | int | float)
    }


def _call(call: dict[str, Any]) -> dict[str, Any]:
    made = {key: scrub(value) for key, value in call.items() if key not in HIDDEN}
    if "arguments" in call:
        made["arguments"] = _arguments(call["arguments"])
    if isinstance(call.get("function"), dict):
        made["function"] = _call(call["function"])
    return made


def _message(message: dict[str, Any]) -> dict[str, Any]:
    made = {key: scrub(value) for key, value in message.items() if key not in HIDDEN}
    if "tool_calls" in message:
        made["tool_calls"] = _each(_call)(message["tool_calls"])
    if isinstance(message.get("function_call"), dict):
        made["function_call"] = _call(message["function_call"])
    return made


def _schema(schema: Any, names: bool = False) -> Any:
    """A tool, of which keys are names of parameters below `properties`."""
    if isinstance(schema, dict):
        return {
            key: _schema(value, key == "properties" and not names)
            for key, value in schema.items()
            if names or key not in HIDDEN
        }
    return [_schema(item) for item in schema] if isinstance(schema, list | tuple) else scrub(schema)


_MESSAGES = _each(_message)
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("messages", "prompt", "completion", "chosen", "rejected"), _MESSAGES),
    "steps": _each(_call),
    "tools": _each(_schema),
}


def without_secrets(name: str, cell: Any) -> Any:
    """
    A cell of a column without what only a judge may see.

    Args:
        name (`str`):
            The column: in `messages`, `steps` and `tools` (and where TRL keeps messages) calls and schemas are kept.
        cell (`Any`):
            What it holds.

    Examples:
    ```python
    >>> step = {"tool": "start", "arguments": {"image": "db", "privileged": True}, "result": {"privileged": {"a": 1}}}
    >>> without_secrets("steps", [step])
    [{'tool': 'start', 'arguments': {'image': 'db', 'privileged': True}, 'result': {}}]

    ```
    """
    return _READERS.get(name, scrub)(cell)
