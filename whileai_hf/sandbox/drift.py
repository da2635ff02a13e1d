"""Answers whose schema has moved: a field under another name, or its value in another type."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows.rng import rng
from whileai_hf.sandbox.outcomes import Reply


# What a field turns into when an API is revised.
_RENAMED = {
    "status": "state", "amount": "value", "total": "grand_total", "price": "unit_price", "name": "display_name",
    "date": "timestamp", "created_at": "creation_time", "email": "email_address", "address": "address_line",
    "title": "heading", "description": "summary", "count": "quantity", "quantity": "count",
}  # fmt: skip
# Fields callers act on most; one of them drifts if the answer has any.
_TELLING = ("status", "total", "amount", "price", "balance", "date")


def drifted(reply: Reply, entry: dict[str, Any], fixed: frozenset[str], seed: int) -> Reply | None:
    """
    A reply after its schema has changed.

    Args:
        reply (`dict`):
            The reply; it is not changed.
        entry (`dict`):
            The plan: `drift` says how, `field` which one.
        fixed (`frozenset[str]`):
            Fields that stay, such as ids.
        seed (`int`):
            Chooses the field when the plan does not.

    Returns:
        `dict`, *optional*: `None` when the reply has no such field.

    Examples:
    ```python
    >>> entry = {"drift": "renamed", "field": None}
    >>> drifted({"status": "ok", "data": {"id": 7, "status": "open"}}, entry, frozenset({"id"}), 0)
    {'status': 'ok', 'data': {'id': 7, 'state': 'open'}}
    >>> drifted({"status": "ok", "data": {"total": 9.5}}, {"drift": "retyped", "field": "total"}, frozenset(), 0)
    {'status': 'ok', 'data': {'total': '9.5'}}

    ```
    """
    data = reply.get("data")
    rows = data if isinstance(data, list) else [data]
    if not rows or not isinstance(rows[0], dict):
        return None
    name = entry["field"] or _choose(rows[0], fixed, seed)
    if name is None or name not in rows[0]:
        return None
    changed = [_changed(row, name, entry["drift"]) if isinstance(row, dict) else row for row in rows]
    return {**reply, "data": changed if isinstance(data, list) else changed[0]}


def _choose(row: dict[str, Any], fixed: frozenset[str], seed: int) -> str | None:
    names = [name for name, value in row.items() if name not in fixed and value is not None]
    telling = [name for name in _TELLING if name in names]
    if telling:
        return telling[0]
    # Sorted, so that the order in which a tool shows its fields does not matter.
    return rng(seed, "drift").pick(sorted(names)) if names else None


def _changed(row: dict[str, Any], name: str, drift: str) -> dict[str, Any]:
    if drift == "retyped":
        return {key: _retyped(value) if key == name else value for key, value in row.items()}
    return {_new_name(name, row) if key == name else key: value for key, value in row.items()}


def _new_name(name: str, row: dict[str, Any]) -> str:
    new = _RENAMED.get(name)
    if new is None:
        first, *rest = name.split("_")
        new = first + "".join(word.capitalize() for word in rest) if rest else f"{name}_value"
    return new if new not in row else f"{name}_v2"


def _retyped(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return {"value": value}
    return [value] if isinstance(value, dict) else {"items": value} if isinstance(value, list) else value
