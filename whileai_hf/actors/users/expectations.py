"""Whether an assertion of a script holds for what the agent did since the person last spoke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.users.script import pattern_of
from whileai_hf.actors.users.user import Message, last_reply


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _calls(messages: Sequence[Message]) -> list[tuple[str, Mapping[str, Any]]]:
    """The calls made since the person last spoke."""
    calls: list[tuple[str, Mapping[str, Any]]] = []
    for message in messages:
        if message.get("role") == "user":
            calls = []
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = function.get("arguments")
            calls.append((str(function.get("name")), arguments if isinstance(arguments, Mapping) else {}))
    return calls


def _says(text: str, wanted: str) -> bool:
    pattern = pattern_of(wanted)
    return bool(pattern.search(text)) if pattern else wanted.casefold() in text.casefold()


def is_met(expect: Mapping[str, Any], messages: Sequence[Message]) -> bool:
    """
    Whether every part of an assertion holds.

    Args:
        expect (`dict`):
            A checked assertion; see [`read_script`].
        messages (`Sequence[dict]`):
            The conversation up to the point of the assertion.

    Returns:
        `bool`: `True` when all parts hold. Several tools or texts must all be there.

    Examples:
    ```python
    >>> call = {"function": {"name": "refund", "arguments": {"order_id": "A-77", "reason": "late"}}}
    >>> messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Done.", "tool_calls": [call]}]
    >>> is_met({"tool": "refund", "arguments": {"order_id": "A-77"}, "says": "/^done/"}, messages)
    True
    >>> is_met({"no_calls": True}, messages), is_met({"not_says": ["sorry"]}, messages)
    (False, True)

    ```
    """
    calls, text = _calls(messages), last_reply(messages)
    if "no_calls" in expect and expect["no_calls"] == bool(calls):
        return False
    arguments = expect.get("arguments") or {}
    for tool in _listed(expect.get("tool", [])):
        if not any(
            name == tool and all(key in given and given[key] == value for key, value in arguments.items())
            for name, given in calls
        ):
            return False
    if not all(_says(text, wanted) for wanted in _listed(expect.get("says", []))):
        return False
    return not any(_says(text, unwanted) for unwanted in _listed(expect.get("not_says", [])))
