"""What a tool's answer amounts to, for an agent that reports it honestly.

An answer that says "ok" is not yet a result: its data may be cut off, days old or absent. Here that is told apart, so
that the reply can say which it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


# Statuses under which a tool did what it was asked.
_DONE = frozenset({"ok", "success", "created", "updated", "deleted", "done"})
# Kinds of outcome that a dishonest reply could claim as a success.
FAULTY = frozenset(
    {"timeout", "permission_denied", "rate_limited", "stale", "malformed", "unverified", "failed", "not_found"}
)
_ENVELOPE = ("data", "result", "results", "record", "items")
# Fields a person asks about first; the rest follow in the record's order.
_TELLING = ("status", "state", "total", "amount", "price", "name", "title", "date", "time", "count")
# Facts in one reply; more reads like a dump of the record.
_MOST_FACTS = 3
# Characters of one value in a reply.
_VALUE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    One tool answer, read.

    Args:
        kind (`str`):
            `done`, `empty`, `not_found`, `already_done`, `invalid`, `timeout`, `permission_denied`, `rate_limited`,
            `stale`, `malformed`, `unverified`, `confirmed` (after a lost reply), `duplicate` or `failed`.
        facts (`str`):
            A few values of the answer in words.
        reason (`str`):
            What the tool says went wrong, as a sentence.
    """

    kind: str
    facts: str = ""
    reason: str = ""


def _is_cut_off(text: str) -> bool:
    """Whether a string is the beginning of a JSON text rather than words."""
    start = text.lstrip()[:1]
    if start not in ("{", "[", '"') and not any(word.startswith(text) for word in ("null", "true", "false")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = " ".join(str(value).split())
    # Sentences are made around it, so it brings no full stop of its own.
    return text.rstrip(".") if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS].rsplit(" ", 1)[0].rstrip(" .,;")


def _of_record(record: dict[str, Any], subject: str) -> str:
    order = {name: rank for rank, name in enumerate(_TELLING)}
    twins = record.get("possible_duplicates")
    scalars = [
        (name, value)
        for name, value in record.items()
        if isinstance(value, (str, int, float, bool)) and value != "" and str(value) not in subject
    ]
    scalars.sort(key=lambda pair: order.get(str(pair[0]).rsplit("_", 1)[-1], len(order)))
    parts = [f"{str(name).replace('_', ' ')} {_value(value)}" for name, value in scalars[:_MOST_FACTS]]
    if isinstance(twins, list) and twins:
        parts.append(f"and there is a possible duplicate, {_value(twins[0])}")
    return ", ".join(parts)


def facts_of(data: Any, subject: str = "") -> str:
    """
    A few values of a tool's data in words.

    Examples:
    ```python
    >>> facts_of({"order_id": "A1", "carrier": "DHL", "status": "shipped"}, "order A1")
    'status shipped, carrier DHL'
    >>> facts_of([{"name": "kettle"}, {"name": "lamp"}])
    '2 entries, the first with name kettle'

    ```
    """
    if isinstance(data, dict):
        return _of_record(data, subject)
    if isinstance(data, list) and data:
        first = _of_record(data[0], subject) if isinstance(data[0], dict) else _value(data[0])
        many = "1 entry" if len(data) == 1 else f"{len(data)} entries, the first"
        return f"{many} with {first}" if first else many.removesuffix(", the first")
    return "" if data is None or data == [] else _value(data)


def _payload(answer: dict[str, Any]) -> tuple[bool, Any]:
    for key in _ENVELOPE:
        if key in answer:
            return True, answer[key]
    rest = {key: value for key, value in answer.items() if key not in ("status", "as_of", "count")}
    return False, rest or None


def read_outcome(answer: Any, subject: str = "") -> Outcome:
    """
    What a tool's answer amounts to.

    Args:
        answer (`Any`):
            As the tool gave it; usually a dict with a `status`.
        subject (`str`, *optional*, defaults to `""`):
            What the call was about; values in it are not repeated as facts.

    Returns:
        [`Outcome`]: Its kind, facts and reason.

    Examples:
    ```python
    >>> read_outcome({"status": "ok", "data": '{"total": 12.'}).kind
    'malformed'
    >>> read_outcome({"status": "ok", "data": {"total": 12.5}, "as_of": "3 days ago"})
    Outcome(kind='stale', facts='total 12.5, as of 3 days ago', reason='')

    ```
    """
    if not isinstance(answer, dict):
        cut = isinstance(answer, str) and _is_cut_off(answer)
        return Outcome("malformed" if cut or answer is None else "done", facts_of(answer, subject))
    status = str(answer.get("status", "ok"))
    reason = _sentence(answer.get("error") or answer.get("message") or status.replace("_", " "))
    if status in ("not_found", "already_done", "timeout", "permission_denied", "rate_limited"):
        return Outcome(status, facts_of(_payload(answer)[1], subject), reason)
    if status == "pending":
        return Outcome("unverified", facts_of(_payload(answer)[1], subject))
    if status in ("invalid_arguments", "invalid", "refused"):
        return Outcome("invalid", "", reason)
    if status not in _DONE and not (status and "error" not in answer and status not in ("error", "unknown_tool")):
        return Outcome("failed", "", reason)
    wrapped, data = _payload(answer)
    if isinstance(data, str) and _is_cut_off(data):
        return Outcome("malformed")
    if wrapped and data is None:
        return Outcome("failed", "", "the answer was empty.")
    if data == []:
        return Outcome("empty")
    facts = facts_of(data, subject)
    if "as_of" in answer or answer.get("stale"):
        age = f"as of {answer['as_of']}" if "as_of" in answer else "marked as stale"
        return Outcome("stale", f"{facts}, {age}" if facts else age)
    return Outcome("done", facts or f"status {status}")


def _sentence(text: Any) -> str:
    words = _value(text)
    return words if words.endswith((".", "?", "!")) else f"{words}."
