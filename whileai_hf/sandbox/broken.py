"""What a caller sees while a fault is on: the explicit errors, the plausible wrong answers, the silence."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox.outcomes import Outcome, Reply
from whileai_hf.sandbox.state import Change
from whileai_hf.sandbox.toolset import Profile


# Seconds a rate limit asks to wait; no clock runs, the number is what a caller sees.
_RETRY_AFTER_S = 30
# Part of a malformed answer that arrives.
_ARRIVED = 0.6

_ERRORS: dict[str, Reply] = {
    "timeout": {"status": "timeout", "error": "the request timed out"},
    "permission_denied": {"status": "permission_denied", "error": "this account may not do that"},
    "rate_limited": {"status": "rate_limited", "error": "too many requests", "retry_after": _RETRY_AFTER_S},
    "not_found": {"status": "not_found", "error": "no such record"},
    "malformed_result": {"status": "error", "error": "the response could not be read"},
    "stale_result": {"status": "error", "error": "the data is out of date"},
    # The caller cannot tell a lost reply from a call that never ran.
    "reply_lost": {"status": "timeout", "error": "the request timed out"},
    "false_success": {"status": "error", "error": "the change could not be saved"},
    "partial": {"status": "error", "error": "the request could not be completed"},
    "pending": {"status": "timeout", "error": "the request timed out"},
    "eventual": {"status": "error", "error": "the data is not available yet"},
    "changed_after_read": {
        "status": "conflict",
        "error": "the record was changed by another user since it was read; nothing was written",
    },
    "schema_drift": {"status": "error", "error": "the response has an unknown format"},
    "injection": {"status": "error", "error": "the response was blocked"},
}


def error_reply(kind: str) -> Reply:
    """The explicit error of a kind of fault."""
    return dict(_ERRORS[kind])


def absent_reply(profile: Profile, arguments: dict[str, Any]) -> Reply:
    """What the call would get if nothing were there: the words of a real refusal, or a list without records."""
    if profile.kind == "contents":
        return {"status": "ok", "data": [], "count": 0}
    item = profile.ids[0] if profile.ids else None
    value = arguments.get(item.name) if item is not None else None
    if item is None or value is None:
        return {"status": "not_found", "error": "nothing found"}
    if isinstance(value, list):
        return {"status": "not_found", "error": f"no {item.entity} found for {', '.join(map(str, value))}"}
    return {"status": "not_found", "error": f"no {item.entity} found for {item.name} {value!r}"}


def stale_reply(reply: Reply, seed: int) -> Reply:
    """An answer out of an earlier state, with its age."""
    return {**reply, "as_of": _age(seed)}


def _age(seed: int) -> str:
    return f"{rng(seed, 'stale').integer(2, 9)} days ago"


def wrong_reply(kind: str, outcome: Outcome, seed: int, before: dict[str, Any] | None) -> Reply:
    """The plausible answer that is wrong, for kinds that need no more than the right answer."""
    if kind == "malformed_result":
        text = dumps(outcome.reply.get("data")).decode()
        return {"status": "ok", "data": text[: max(1, int(len(text) * _ARRIVED))]}
    if kind == "stale_result":
        return _stale(outcome.reply, seed, before)
    return dict(outcome.reply)


def _stale(reply: Reply, seed: int, before: dict[str, Any] | None) -> Reply:
    """An older state: what the record was before the write, or numbers and states of some days ago."""
    as_of = _age(seed)
    data = reply.get("data")
    if before is not None:
        return {"status": "ok", "data": before, "as_of": as_of}
    if isinstance(data, dict):
        data = {name: _older(name, value) for name, value in data.items()}
    elif isinstance(data, list):
        # The newest are not in it yet.
        data = data[1:]
        return {"status": "ok", "data": data, "count": len(data), "as_of": as_of}
    return {"status": "ok", "data": data, "as_of": as_of}


def _older(name: str, value: Any) -> Any:
    if name == "status" or name.endswith("_status"):
        return "pending"
    if isinstance(value, float) and not isinstance(value, bool):
        return round(value * 0.9, 2)
    return value


def part_of(reply: Reply, changes: list[Change], made: list[Change], before: dict[str, Any]) -> Reply | None:
    """
    An answer that holds a part of what it should, and does not say so; `None` when there are no parts.

    A list stops half way while its `count` stays that of all; a record lacks fields, or shows those that were not
    written as they were (`before`, the record without this call's changes).
    """
    data = reply.get("data")
    if changes:
        if not made:
            return None
        if isinstance(data, list) and len(data) == len(changes):
            return {**reply, "data": data[: len(made)]}
        return {**reply, "data": {**before, **made[0].fields}} if len(changes) == 1 else dict(reply)
    if isinstance(data, list | dict) and len(data) > 1:
        kept = (len(data) + 1) // 2
        return {**reply, "data": data[:kept] if isinstance(data, list) else dict(list(data.items())[:kept])}
    return None


def accepted_reply(changes: list[Change], id_name: str) -> Reply:
    """A receipt: the call was taken on, which says nothing about what will come of it."""
    named = {id_name: changes[0].identifier} if changes and not changes[0].new else {}
    return {"status": "pending", "message": "the request was accepted and is being processed", "data": named}


def silent_reply() -> Reply:
    """Nothing: the call returns and says neither what it did nor that it failed."""
    return {"status": "ok", "data": None}


def half_of(changes: list[Change]) -> list[Change]:
    """The part of a write that is made when the call breaks off: the first half of its records, or of its fields."""
    if len(changes) > 1:
        return changes[: (len(changes) + 1) // 2]
    if not changes or changes[0].gone or len(changes[0].fields) < 2:
        return []
    whole = changes[0]
    kept = dict(list(whole.fields.items())[: len(whole.fields) // 2])
    # Not "done": the action as a whole can still be made.
    return [Change(whole.key, whole.identifier, kept, whole.gone, whole.new, "")]
