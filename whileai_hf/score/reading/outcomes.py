"""What came of a tool call, read off the tool's answer in whatever form it came.

Our own world says `{"status": ...}`; other tools raise, return text, MCP results, HTTP codes or exit codes. A result
that merely mentions a failure (a log that was read, an order whose parcel was "not found") is no failure: of long
texts only the beginning and the end decide, of records only the fields that speak about the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from whileai_hf.score.reading.answers import is_cut_off, is_noise, message_kind, plain_outcome
from whileai_hf.score.reading.statuses import told_by_code


# Status words, of our world and of others, and what they come to.
_STATUS = {
    **dict.fromkeys(
        ("ok", "success", "succeeded", "created", "updated", "deleted", "done", "completed", "accepted", "queued"),
        "ok",
    ),
    **dict.fromkeys(("not_found", "notfound", "missing", "does_not_exist", "unknown_tool"), "not_found"),
    **dict.fromkeys(("already_done", "already_exists", "already_processed", "duplicate_request"), "already_done"),
    **dict.fromkeys(
        ("permission_denied", "denied", "forbidden", "unauthorized", "access_denied", "refused", "blocked", "rejected",
         "declined", "not_allowed", "not_permitted", "insufficient_permissions"), "denied"
    ),
    **dict.fromkeys(("timeout", "timed_out", "time_out", "deadline_exceeded"), "timeout"),
    **dict.fromkeys(("rate_limited", "too_many_requests", "throttled", "rate_limit", "quota_exceeded"),
        "rate_limited"),
    **dict.fromkeys(("invalid_arguments", "invalid", "bad_request", "validation_error", "invalid_request",
                     "unprocessable"), "invalid"),
    **dict.fromkeys(
        ("error", "failed", "failure", "fail", "unavailable", "service_unavailable", "internal_error", "exception",
         "conflict", "aborted", "crashed"),
        "error",
    ),
    "pending": "pending",
    **dict.fromkeys(("stale", "stale_result"), "stale"),
    **dict.fromkeys(("malformed", "malformed_result", "garbled", "corrupted"), "malformed"),
}  # fmt: skip
# Status words that are also states of a record: they tell about the call only when no record stands beside them.
_AMBIGUOUS = frozenset(
    {"failed", "pending", "denied", "refused", "rejected", "declined", "blocked", "missing", "invalid",
        "aborted", "unavailable", "stale",
     "conflict"}
)  # fmt: skip
# Fields beside the status from which an answer is a record.
_RECORD_FIELDS = 2
_HTTP = {400: "invalid", 401: "denied", 403: "denied", 404: "not_found", 408: "timeout", 410: "not_found",
         422: "invalid", 423: "denied", 429: "rate_limited", 504: "timeout"}  # fmt: skip
FAILED = frozenset({"denied", "timeout", "rate_limited", "invalid", "error", "not_found", "malformed"})
_ENVELOPE = (
    "data",
    "result",
    "results",
    "record",
    "records",
    "items",
    "matches",
    "hits",
    "entries",
    "rows",
    "content",
)
# Keys that tell about the call rather than its subject.
_AROUND = frozenset({"status", "as_of", "count", "total", "success", "ok", "message", "isError", "is_error", "query",
                     "reason", "detail", "code", "msg", "why", "hint", "body", "stderr", "reason_code"})  # fmt: skip
# Under these a tool's whole answer is one text.
_SPOKEN = frozenset({"message", "detail", "output", "stderr", "text", "raw"})
# Ages that make an answer an old one; a mere date says when it was taken, which may be now.
_AGED = re.compile(r"\bago\b|\bold\b|yesterday|last (?:week|month|year)|stale|outdated", re.IGNORECASE)
# Texts longer than this are not remembered.
_REMEMBERED = 2_000


def failed(outcome: str) -> bool:
    """Whether an outcome means that the call did not do what it was asked, or that its answer is unusable."""
    return outcome in FAILED


def _of_text(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "empty"
    if stripped[0] in "{[" and len(stripped) <= 200_000:
        try:
            return outcome_of(orjson.loads(stripped))
        except orjson.JSONDecodeError:
            if is_cut_off(stripped):
                return "malformed"
    return plain_outcome(stripped)


_of_known_text = lru_cache(maxsize=8192)(_of_text)


_BAD_STATUS = re.compile(
    r"(?:^|_)(?:failed|failure|error|denied|rejected|refused|declined|invalid|unavailable|exceeded|insufficient"
    r"|timeout|timed_out|unreachable|overloaded|offline|unsupported|ineligible|unauthori[sz]ed)(?:_|$)|^(?:not|cannot)_"
)
# States that tell of a failure where words say why; "locked" alone may be what was asked for.
HELD = frozenset(
    {"locked", "closed", "full", "busy", "expired", "held", "protected", "frozen", "suspended", "inactive"}
)
# What a field of an answer says about the call.
_MESSAGE, _RAISED, _FLAG, _SOFT_FLAG, _EXIT_CODE, _HTTP_CODE, _STATE = range(7)
_ROLES = {
    **dict.fromkeys(("error", "errors", "error_message", "errorMessage", "exception", "err", "error_code", "errorCode",
                     "fault"), _MESSAGE),
    **dict.fromkeys(("isError", "is_error", "failed"), _RAISED),
    **dict.fromkeys(("success", "ok", "succeeded", "successful"), _FLAG),
    **dict.fromkeys(("accepted", "approved", "done", "completed", "allowed", "permitted", "delivered"), _SOFT_FLAG),
    **dict.fromkeys(("exit_code", "exitCode", "returncode", "return_code", "exit", "rc", "exit_status"), _EXIT_CODE),
    **dict.fromkeys(("status_code", "statusCode", "http_status", "httpStatus", "http_code", "http", "code", "status"),
                    _HTTP_CODE),
    **dict.fromkeys(("outcome", "result", "state"), _STATE),
}  # fmt: skip
_FINE_CODES = frozenset({0, "0", "ok", "OK", "none", "None", ""})
_FALSE = ("false", "no")
_TELLING = ("message", "detail", "reason", "stderr", "msg", "why")


def _words(answer: Mapping[str, Any]) -> str:
    """What an answer says of a failure in words."""
    for name, role in _ROLES.items():
        if role != _MESSAGE:
            break
        message = answer.get(name)
        if message:
            more = answer.get("code", answer.get("reason", ""))
            written = message if isinstance(message, str) else str(message)[:400]
            return f"{written} {more}" if isinstance(more, str) else written
    told = " ".join([value for name in _TELLING if isinstance(value := answer.get(name), str)])
    return f"{code} {told}" if isinstance(code := answer.get("code"), str) else told


def _is_record(answer: Mapping[str, Any]) -> bool:
    """Whether an answer has fields that tell of a thing rather than of the call."""
    return sum(key not in _AROUND and key not in _ROLES for key in answer) >= _RECORD_FIELDS


def _of_field(role: int, value: Any, answer: Mapping[str, Any]) -> str | None:
    """What one telling field says; `None` when it tells of no failure."""
    if role == _MESSAGE:
        return message_kind(_words(answer)) if value and str(value) not in _FINE_CODES else None
    if role == _RAISED:
        return message_kind(_words(answer) or str(answer.get("content"))[:400]) if value is True else None
    if role in (_FLAG, _SOFT_FLAG):
        no = value is False or (isinstance(value, str) and value.lower() in _FALSE)
        no = no or (role == _FLAG and type(value) is int and value == 0)
        return message_kind(_words(answer)) if no and (role == _FLAG or not _is_record(answer)) else None
    if role == _STATE:
        known = _STATUS.get(value.lower().replace(" ", "_")) if isinstance(value, str) else None
        return known if known in FAILED and not _is_record(answer) else None
    if type(value) is int:
        if role == _HTTP_CODE:
            return _HTTP.get(value, "error") if 400 <= value < 600 else None
        return ("timeout" if value == 124 else "error") if value else None
    return None


def _of_flag(answer: Mapping[str, Any]) -> str | None:
    """What an answer's own flags say: `isError`, `success`, `error`, exit and HTTP codes."""
    for name, value in answer.items():
        role = _ROLES.get(name)
        if role is not None and (found := _of_field(role, value, answer)) is not None:
            return found
    if isinstance(answer.get("type"), str) and answer["type"].endswith("error"):
        return message_kind(_words(answer))
    return None


def _of_status(answer: Mapping[str, Any], status: str) -> str | None:
    known = _STATUS.get(status)
    if known is None:
        known = _STATUS.get(status.lower().strip().replace(" ", "_").replace("-", "_"))
        if known is None and status[:1] in ("4", "5") and status[:3].isdigit() and not status[3:4].isalnum():
            return _HTTP.get(int(status[:3]), "error")
        if known is None and not _is_record(answer):
            written = status.lower().replace(" ", "_").replace("-", "_")
            telling = _BAD_STATUS.search(written) or (written in HELD and _words(answer))
            return message_kind(f"{status} {_words(answer)}") if telling else None
    if status in _AMBIGUOUS and "error" not in answer and not any(key in answer for key in _ENVELOPE):
        fields = sum(key not in _AROUND for key in answer)
        if fields >= (1 if status == "pending" else _RECORD_FIELDS):
            return None  # the state of a record
    return known


def _is_empty(data: list[Any] | dict[str, Any]) -> bool:
    """Nothing, or only empty lists: `{"notes": []}`."""
    if isinstance(data, list):
        return not data
    return not any(value or not isinstance(value, list | dict) for value in data.values())


def _of_data(data: str) -> str:
    if not data.strip():
        return "empty"
    return "malformed" if is_cut_off(data) or data.startswith("<<") or is_noise(data) else "ok"


def _of_dict(answer: Mapping[str, Any]) -> str:
    status = answer.get("status")
    if status == "ok" and len(answer) == 2 and type(data := answer.get("data")) is dict:  # nearly always
        if type(next(iter(data.values()), None)) is str:
            return "ok"
        return "empty" if _is_empty(data) else "ok"
    known = _of_status(answer, status) if isinstance(status, str) else None
    if known is None or (known == "ok" and status not in ("ok", "created", "updated", "deleted")):
        flag = _of_flag(answer) or (None if known else told_by_code(answer))
        if flag:
            return flag
        known = known or "ok"
    elif known == "error":
        message = answer.get("error") or answer.get("message") or answer.get("code")
        return message_kind(message) if isinstance(message, str) else "error"
    elif known == "ok" and answer.get("error"):
        return _of_flag(answer) or "error"
    if known != "ok":
        return known
    if answer.get("stale") is True or ("as_of" in answer and _AGED.search(str(answer["as_of"]))):
        return "stale"
    for key in _ENVELOPE:
        if key in answer:
            data = answer[key]
            if len(answer) == 1 and type(data) is dict and "status" in data and key in ("result", "data"):
                return _of_dict(data)
            if isinstance(data, str):
                return _of_data(data)
            if data is None or (isinstance(data, list | dict) and _is_empty(data)):
                return "empty"
            if key == "content" and isinstance(data, list) and isinstance(data[0], dict) and "text" in data[0]:
                return _of_text("".join(str(block.get("text", "")) for block in data if isinstance(block, dict)))
            return "ok"
    if len(answer) == 1 and type(data := next(iter(answer.values()))) is str:
        return _of_text(data) if next(iter(answer)) in _SPOKEN else _of_data(data)
    return "empty" if _is_empty(answer) else "ok"  # type: ignore[arg-type]


def outcome_of(result: Any) -> str:
    """
    What came of a call.

    Args:
        result (`Any`):
            The tool's answer: a dict, text, a list, nothing.

    Returns:
        `str`: `ok`, `empty`, `not_found`, `already_done`, `denied`, `timeout`, `rate_limited`, `invalid`, `error`,
        `stale`, `malformed` or `pending`.

    Examples:
    ```python
    >>> outcome_of({"status": "updated", "data": {"id": 7}}), outcome_of("Error: user not found")
    ('ok', 'not_found')
    >>> outcome_of({"order": 7, "status": "pending", "total": 3}), outcome_of("done\\n[exit code 1]")
    ('ok', 'error')
    >>> outcome_of({"status": "ok", "data": '{"total": 12.'}), outcome_of([])
    ('malformed', 'empty')

    ```
    """
    if type(result) is dict or isinstance(result, Mapping):
        return _of_dict(result)
    if isinstance(result, str):
        return _of_known_text(result) if len(result) <= _REMEMBERED else _of_text(result)
    if result is None:
        return "empty"
    if isinstance(result, list):
        if not result:
            return "empty"
        if isinstance(result[0], Mapping) and result[0].get("type") == "text":
            return _of_text("".join(str(block.get("text", "")) for block in result if isinstance(block, Mapping)))
    return "ok"
