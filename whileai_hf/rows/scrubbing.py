"""Rows without what only a judge may see, and with everything the agent was shown and did.

The guard for rows that come from elsewhere: it takes the privileged block, and the raw embeddings some tools leave
behind, away at any depth. A tool may have a parameter of such a name, though (a container that is `privileged`, a
search that takes a `vector`): its schema and its calls stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_hf.rows.privileged import HIDDEN_KEYS, PRIVILEGED_KEYS, scrub_text


def scrub(value: Any) -> Any:
    """
    A copy of a row (or of any nested value) without what only a judge may see.

    Args:
        value (`Any`):
            Usually a row dict.

    Returns:
        `Any`: The same value without `privileged`, `expected_calls` and `vector` at any depth, but for parameters of
        tools: switches and numbers of that name in the arguments of a call, and their schemas, stay. Strings as
        [`~whileai_hf.rows.privileged.scrub_text`] gives them.

    Examples:
    ```python
    >>> scrub({"prompt": "hi", "privileged": {"reference": "42"}, "metadata": [{"vector": [0.1], "kind": "f"}]})
    {'prompt': 'hi', 'metadata': [{'kind': 'f'}]}
    >>> step = {"tool": "start", "arguments": {"image": "db", "privileged": True}, "result": {"privileged": {"a": 1}}}
    >>> scrub({"steps": [step]})
    {'steps': [{'tool': 'start', 'arguments': {'image': 'db', 'privileged': True}, 'result': {}}]}

    ```
    """
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, dict):
        return {key: _READERS.get(key, scrub)(item) for key, item in value.items() if key not in HIDDEN_KEYS}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in value]
    return value


def scrub_cell(name: str, cell: Any) -> Any:
    """
    [`scrub`] for the cell of a column, whose name says whether it holds calls or schemas.

    Examples:
    ```python
    >>> scrub_cell("tools", [{"name": "start", "parameters": {"properties": {"privileged": {"type": "boolean"}}}}])
    [{'name': 'start', 'parameters': {'properties': {'privileged': {'type': 'boolean'}}}}]

    ```
    """
    return _READERS.get(name, scrub)(cell)


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
    made = {key: scrub(value) for key, value in call.items() if key not in HIDDEN_KEYS}
    if "arguments" in call:
        made["arguments"] = _arguments(call["arguments"])
    if isinstance(call.get("function"), dict):
        made["function"] = _call(call["function"])
    return made


def _message(message: dict[str, Any]) -> dict[str, Any]:
    made = {key: scrub(value) for key, value in message.items() if key not in HIDDEN_KEYS}
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
            if names or key not in HIDDEN_KEYS
        }
    return [_schema(item) for item in schema] if isinstance(schema, list | tuple) else scrub(schema)


_MESSAGES = _each(_message)
# By the name of a column.
_READERS: dict[Any, Callable[[Any], Any]] = {
    **dict.fromkeys(("messages", "prompt", "completion", "chosen", "rejected"), _MESSAGES),
    "steps": _each(_call),
    "tools": _each(_schema),
}
