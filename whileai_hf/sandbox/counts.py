"""How often each write took effect: the ledger of a rollout, seen by what was meant to happen once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.rows import dumps
from whileai_hf.sandbox.state import clone, key_of
from whileai_hf.sandbox.toolset import Profile


def _meant(profile: Profile | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call without what may differ between two tries of it."""
    ids = profile.id_names if profile is not None else frozenset()
    retry_key = profile.retry_key if profile is not None else ""
    return {
        name: _plain(arguments[name], name in ids)
        for name in sorted(arguments)
        if name != retry_key and arguments[name] is not None
    }


def _plain(value: Any, is_id: bool) -> Any:
    if isinstance(value, list):
        return [_plain(item, is_id) for item in value]
    if is_id:
        return key_of("", value)[1]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def count_writes(writes: Sequence[Mapping[str, Any]], profiles: Mapping[str, Profile]) -> list[dict[str, Any]]:
    """
    The writes of a ledger, equal ones together.

    Two calls are one write made twice when tool and arguments are the same: `#ORD-7` and `ord-7` are, `5` and `5.0`,
    and an argument left out and one that is `None`. An idempotency key does not count.

    Args:
        writes (`Sequence[dict]`):
            The ledger, `{"tool", "arguments", "call"}`.
        profiles (`dict`):
            The tools by name.

    Returns:
        `list[dict]`: `{"tool", "arguments", "count", "calls"}` in the order of the first time; `arguments` are those
        of that time.

    Examples:
    ```python
    >>> twice = [{"tool": "pay", "arguments": {"amount": 5}, "call": 1}, {"tool": "pay", "arguments": {"amount": 5.0},
    ...     "call": 2}]
    >>> count_writes(twice, {})
    [{'tool': 'pay', 'arguments': {'amount': 5}, 'count': 2, 'calls': [1, 2]}]

    ```
    """
    counted: dict[tuple[str, bytes], dict[str, Any]] = {}
    for write in writes:
        name = write["tool"]
        key = (name, dumps(_meant(profiles.get(name), write["arguments"])))
        entry = counted.get(key)
        if entry is None:
            arguments = clone(dict(write["arguments"]))
            entry = counted[key] = {"tool": name, "arguments": arguments, "count": 0, "calls": []}
        entry["count"] += 1
        entry["calls"].append(write["call"])
    return list(counted.values())
