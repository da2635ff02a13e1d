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
                     "reason", "detail", "code"})  # fmt: skip
# Under these a tool's whole answer is one text.
_SPOKEN = frozenset({"message", "detail", "output", "stderr", "text", "raw"})
# What a message about a failure speaks of, the first that fits.
_KINDS = (
    ("timeout", re.compile(r"time[sd]?[ -]?out|deadline exceeded|did not (?:respond|answer)|no response", re.I)),
    ("rate_limited", re.compile(r"rate.?limit|too many requests|throttl|quota|\b429\b", re.I)),
    ("denied", re.compile(
        r"permission|not permitted|denied|forbidden|unauthori[sz]ed|not allowed|\b40[13]\b|credentials", re.I)),
    ("not_found", re.compile(
        r"not found|no such|does ?n[o']t exist|doesn't exist|\bno [\w -]{0,40}(?:found|matching|exists"
        r"|with (?:id|the id))"
        r"|unknown \w+|could not find|couldn't find|cannot find|\b404\b", re.I)),
    ("already_done", re.compile(r"\balready (?:been )?\w+", re.I)),
    ("invalid", re.compile(
        r"invalid|malformed|missing (?:required )?|required|must be|expected|validation|unsupported|\b4(?:00|22)\b"
        r"|bad request|wrong type|not a valid", re.I)),
)  # fmt: skip
_OPENS_BAD = re.compile(
    r"\s*(?:got permission denied|npm err!|! \[(?:remote )?rejected\]|\[(?:remote )?rejected\]|conflict \(|e: "
    r"|curl: \(\d+\)"
    r"|<(?:!doctype |html)[^\n]{0,160}\b[45]\d\d\b|error response from daemon|err\b|killed\W*$"
    r"|operation not permitted|not (?:authori[sz]ed|permitted|allowed)\b"
    r"|you (?:do not|don't) have (?:permission|access|the right)|quota exceeded|user lacks\b|request rejected"
    r"|(?:rejected|refused|declined)\b ?:"
    r"|(?:sorry,? )?(?:the )?(?:\w+ )?(?:server|service|system|site|database|api) is (?:currently "
    r"|temporarily )?(?:unavailable|down|offline|unreachable|busy)"
    r"|(?:http[ /\d.]*)?(?:[45]\d\d:? )?(?:bad gateway|service (?:temporarily )?unavailable|internal server error"
    r"|gateway time-?out|forbidden"
    r"|too many requests|unauthori[sz]ed|bad request|not found|payload too large|method not allowed)\b"
    r"|[\w./-]{1,20}: [^\n]{0,80}(?:connection refused|not known|no such file or directory|permission denied"
    r"|not permitted|timed out|no route to host"
    r"|unreachable|not resolve host[^\n]*)\W*(?:\n|$)"
    r"|panic: |segmentation fault|make: \*\*\*|[\w./-]{1,30}: (?:error|fatal|cannot|can't"
    r"|permission denied|command not found|no such file|unable to|could not)\b|[\w.]{0,60}(?:Error|Exception): "
    r"|\[?(?:tool |api |http |server |internal |fatal |validation |runtime |execution )*"
    r"(?:error|exception|failure|failed|fatal|denied|forbidden|unauthori[sz]ed|timeout|timed out|traceback)\b"
    r"|\w{0,40}(?:Error|Exception)\b[:(]|(?:permission|access) denied|(?:request|connection|call|command"
    r"|operation|tool"
    r"(?: call)?|execution|lookup|query) (?:has )?(?:timed out|timeout|failed|was (?:denied|refused|rejected)"
    r"|refused|reset)"
    r"|command not found|unable to\b|(?:could|can|did) ?not\b|cannot\b|couldn't\b|can't\b|no such (?:file|\w+)"
    r"|not found\b|no \w+(?: \w+)? (?:was |were )?found\b|[\w'\" #-]{1,60}(?:was |were )?not found\W*(?:$|\n|:|\.)"
    r"|[\w'\" #-]{1,60} (?:does not|doesn't|did not|didn't) exist|(?:rate limit|too many requests)|invalid \w+"
    r"|\w[\w ]{0,20}: command not found|bash: |sh: \d*:? ?|<error>|<tool_use_error>"
    r"|http(?:/\d(?:\.\d)?)? (?:error )?[45]\d\d)",
    re.IGNORECASE,
)  # fmt: skip
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|return ?code|exit_code"
    r"|returned non-zero exit status)\W{0,4}(-?\d+)",
    re.IGNORECASE,
)
_ENDS_BAD = re.compile(r"command failed\W*$|(?:command )?timed out(?: after [\w .]{1,20})?\W*$", re.IGNORECASE)
_TRACEBACK = "Traceback (most recent call last)"
# Ages that make an answer an old one; a mere date says when it was taken, which may be now.
_AGED = re.compile(r"\bago\b|\bold\b|yesterday|last (?:week|month|year)|stale|outdated", re.IGNORECASE)
# Signs that no tool writes, and signs of which a text does not consist.
_CONTROL = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_SIGNS = re.compile(r"[@#$%^&~`<>?!|\\]")
# Characters at each end of a text that decide.
_END = 240
# Texts longer than this are not remembered.
_REMEMBERED = 2_000
_NO_RESULTS = re.compile(
    r"\s*(?:no (?:results?|match(?:es)?|hits|records?|items?|entries|data|rows?)\b|0 (?:results|matches|rows|hits)\b"
    r"|nothing (?:found|matched)|\(?empty\)?\W*$|none\W*$)",
    re.IGNORECASE,
)


def failed(outcome: str) -> bool:
    """Whether an outcome means that the call did not do what it was asked, or that its answer is unusable."""
    return outcome in FAILED


def message_kind(text: str) -> str:
    """What kind of failure a message speaks of; `error` when it does not say."""
    head = text[:400]
    return next((kind for kind, pattern in _KINDS if pattern.search(head)), "error")


def _is_cut_off(text: str) -> bool:
    """Whether a string is the beginning of a JSON text rather than words."""
    start = text.lstrip()
    if not start.startswith(('{"', "[{", '["', "[[", '{ "', '"')) and start not in ("{", "["):
        return start != "" and any(word.startswith(start) for word in ("null", "true", "false")) and start not in (
            "null", "true", "false",
        )  # fmt: skip
    if start[0] == '"':
        return len(start) > 1 and start.count('"') == 1
    return not start.rstrip().endswith(("}", "]"))


def _is_noise(text: str) -> bool:
    """Whether a short text is no language and no data: control characters, or signs with hardly a word among them."""
    head = text[:_END]
    words = sum(map(len, _LETTERS.findall(head)))
    if _CONTROL.search(head) is not None:
        return words * 2 < len(head)
    signs = _SIGNS.findall(head)
    return len(signs) * 3 > len(head) and len(set(signs)) > 2 and words * 3 < len(head)


def _of_text(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "empty"
    if stripped[0] in "{[" and len(stripped) <= 200_000:
        try:
            return outcome_of(orjson.loads(stripped))
        except orjson.JSONDecodeError:
            if _is_cut_off(stripped):
                return "malformed"
    if stripped in ("null", "None", "undefined"):
        return "empty"
    if _NO_RESULTS.match(stripped):
        return "empty"
    if _OPENS_BAD.match(stripped[:_END]):
        return message_kind(stripped)
    head, tail = stripped[:_END], stripped[-_END:]
    code = _EXIT.search(tail) or (_EXIT.search(head) if len(stripped) > _END else None)
    if code is not None:
        return "ok" if int(code.group(1)[:9]) == 0 else "error"
    if head.startswith(_TRACEBACK) or f"\n{_TRACEBACK}" in head or _ENDS_BAD.search(tail):
        return "timeout" if "timed out" in tail else "error"
    return "malformed" if _is_cut_off(stripped) or "\ufffd\ufffd" in head or _is_noise(stripped) else "ok"


_of_known_text = lru_cache(maxsize=8192)(_of_text)


def _of_flag(answer: Mapping[str, Any]) -> str | None:
    """What an answer's own flags say: `isError`, `success`, `error`, exit and HTTP codes."""
    message = answer.get("error") or answer.get("errors") or answer.get("error_message") or answer.get("exception")
    words = message if isinstance(message, str) else str(message)[:400] if message else ""
    if not words:
        told = answer.get("message") or answer.get("detail") or answer.get("reason") or answer.get("stderr")
        words = told if isinstance(told, str) else ""
    if answer.get("isError") is True or answer.get("is_error") is True:
        return message_kind(words or str(answer.get("content"))[:400])
    for flag in ("success", "ok", "succeeded"):
        if answer.get(flag) is False:
            return message_kind(words)
    if message:
        return message_kind(words)
    for name in ("exit_code", "exitCode", "returncode", "return_code", "status_code", "statusCode", "code", "status"):
        code = answer.get(name)
        if type(code) is int:
            if name in ("status_code", "statusCode", "code", "status"):
                if 400 <= code < 600:
                    return _HTTP.get(code, "error")
            elif code:
                return "timeout" if code == 124 else "error"
    if isinstance(answer.get("type"), str) and answer["type"].endswith("error"):
        return message_kind(words)
    return None


def _of_status(answer: Mapping[str, Any], status: str) -> str | None:
    known = _STATUS.get(status)
    if known is None:
        known = _STATUS.get(status.lower().strip().replace(" ", "_").replace("-", "_"))
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
    return "malformed" if _is_cut_off(data) or data.startswith("<<") or _is_noise(data) else "ok"


def _of_dict(answer: Mapping[str, Any]) -> str:
    status = answer.get("status")
    if status == "ok" and len(answer) == 2 and type(data := answer.get("data")) is dict:  # nearly always
        if type(next(iter(data.values()), None)) is str:
            return "ok"
        return "empty" if _is_empty(data) else "ok"
    known = _of_status(answer, status) if isinstance(status, str) else None
    if known is None or (known == "ok" and status not in ("ok", "created", "updated", "deleted")):
        flag = _of_flag(answer)
        if flag is not None:
            return flag
        known = known or "ok"
    elif known == "error":
        message = answer.get("error") or answer.get("message")
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
