"""What the words of an answer's fields say of the call: `SLOT_TAKEN`, `alreadyScheduled`, `"retry later"`.

Services spell their statuses and codes as they like, so a word is brought to one spelling and asked for its family.
What a word means depends on the call: `locked` is what locking comes to and why a change is refused, and of a look it
is the record's own state. So families that are states as well count only for calls that change something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any


# Fields that hold a word about the call, and those that hold a sentence about it.
_CODES = ("status", "code", "error_code", "errorCode", "error_type", "state", "result", "outcome", "type")
_SENTENCES = (
    "info",
    "notice",
    "details",
    "remark",
    "reason",
    "message",
    "detail",
    "msg",
    "why",
    "note",
    "result",
    "status",
    "outcome",
    "error_message",
)
# Flags for whether anything came of a call.
_EFFECTS = frozenset({"changed", "modified", "updated", "applied", "effective", "executed"})
# Fields that say how to go on after a failure.
_RETRIES = ("retry", "retryable", "retry_after", "retry_after_s", "retry_in", "should_retry", "retry_after_seconds")
# Fields of an answer that tell of no thing: with only these beside it a sentence is about the call.
AROUND = frozenset({*_CODES, *_SENTENCES, *_RETRIES, "by", "since", "after_s", "trace", "trace_id", "request_id",
                    "hint", "ok", "success", "holder", "held_by", "locked_by", "until",
                    "attempt", "http_status"})  # fmt: skip
_FIELDS = 2
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[^a-z0-9]+")
# Longer ones, in words, are sentences.
_MOST_WORDS = 5
_MOST = 300

_ALREADY = re.compile(
    r"(?:^|_)already_(?!taken|occupied|in_use|full|expired|sold|held|\w*other|\w*different|\w*someone)"
    r"|^already$|(?:^|_)(?<!no_)(?<!not_)duplicated?(?:_|$)(?!charge|payment)"
    r"|(?:^|_)(?<!not_)(?<!non_)(?<!t_)(?<!no_)exists$|^(?:no_?op|no_changes?|nothing_to_do|not_modified)$"
)
# Families that are a failure whatever was called.
_SURE = (
    ("not_found", r"not_?found|no_such|(?:does_not|doesn_t|not)_exist|unknown_[a-z_]+|nonexistent"),
    ("timeout", r"time_?out|timed_out|deadline_exceeded|no_response|not_responding"),
    ("rate_limited", r"rate_limit(?:ed)?|too_many(?:_requests)?|throttl(?:ed|ing)"
                     r"|quota(?:_exceeded|_reached)?|slow_down"),
    ("denied", r"denied|forbidden|unauth\w*|not_(?:allowed|permitted|authori[sz]ed)|permissions?|access_denied"
               r"|(?:missing|insufficient)_(?:role|rights?|permissions?|scopes?"
               r"|privileges?)|expired_(?:token|session)"
               r"|(?:token|session|credentials?)_expired"),
    ("invalid", r"invalid|bad_request|validation(?:_\w+)?|unprocessable|schema_\w+|(?:missing"
                r"|required)_(?:field|parameter|argument)"
                r"|(?:field|parameter|argument)_(?:missing|required)"),
    ("error", r"err(?:or)?|fail(?:s|ed|ure)?|unavailable|unreachable|overloaded"
          r"|exception|crashed|maintenance|outage"
              r"|gateway_error|service_down|try_again(?:_later)?|retry(?:_later"
              r"|_after|able)?|cannot|could_not|nack"),
)  # fmt: skip
# Families that are as well a record's own state.
_HELD = (
    r"locked|lock(?:_held)?|busy|in_use|contention|closed|full|fully_booked"
    r"|sold_out|no_[a-z_]+|not_[a-z_]+|expired|held"
    r"|frozen|suspended|inactive|disabled|protected|read_?only|conflict|mismatch|taken|occupied|exceeded|exceeds"
    r"|(?:over_)?limit(?:_reached)?|insufficient|declined|refused|rejected|blocked"
    r"|aborted|interrupted|undeliverable|bounced"
    r"|undelivered|unsupported|ineligible|unchanged|nothing_[a-z]+|incomplete"
    r"|partial(?:ly)?|stuck|violation|prohibited"
    r"|disallowed|required|too_[a-z_]+|out_of_[a-z_]+|unprocessed|offline|down"
    r"|missing|unknown|broken|dropped|skipped"
    r"|by_(?:server|system|issuer)|rolled_back|reverted|ignored|waiting_for_lock|on_hold|unpaid|damaged|terminated"
)
_FAMILIES = tuple((kind, re.compile(rf"(?:^|_)(?:{words})(?:_|$)")) for kind, words in _SURE)
_STATES = re.compile(rf"(?:^|_)(?:{_HELD})(?:_|$)")
_FINE = re.compile(
    r"(?:^|_)(?:no_(?:errors?|failures?|issues?|problems?|warnings?|conflicts?)"
    r"|0_errors|not_required|without_errors?)"
    r"|^(?:un)?locked_(?:in|until)"
)
# Sentences about a call that did nothing.
_SAYS_ALREADY = re.compile(
    r"(?:^|[\w'#\-] )(?:(?:is|are|was|were|has|have|had|been|it) )?already (?:been )?"
    r"(?!taken|occupied|in use|full|expired|sold|held|have|has|had)(?:\w+(?:ed|en"
    r"|ne|nt|ut|ld|id|de|off|ff)|on|off|active"
    r"|set|open|gone|in (?:place|effect|force)|up to date|there|exists?|closed)\b"
    r"|\balready (?:has|have) (?:a|an|one|this|that|the)\b|\b(?:same"
    r"|duplicate) (?:request|entry|booking|order|record)"
    r"|\b\w+ed (?:on|at) [\w :-]{1,20} already\b|\bexists already\b",
    re.IGNORECASE,
)
_DONE_ALREADY = re.compile(r"\balready (?:been )?(\w+)", re.IGNORECASE)
_SAYS_NO = re.compile(
    r"\b(?:no longer (?:available|valid|open|possible|active)|(?:was|were|has been|have been|is|are) (?:not|n't)"
    r"|(?:could|can|did|does|do|may|will|was|were|is|has)(?: not|n't)\b|cannot"
    r"|not (?:enough|allowed|permitted|possible"
    r"|available|found|accepted|changed|saved|sent|booked|done|applied|processed)"
    r"|nothing (?:was |has been )?\w+(?:ed|nt|de)"
    r"|not \w{3,}(?:ed|lled)|(?:is|are) (?:full|closed|locked|busy|taken)|fully booked|sold out|out of (?:stock"
    r"|service|range)|in use|locked by|held by|taken by|try (?:again|later)"
    r"|unavailable|unable|failed|refused|rejected|declined|denied|expired|exceed(?:s|ed)?|insufficient|required"
    r"|timed out|too (?:many|late|large|long|early|soon)|conflict|must (?:be|first"
    r"|have)|another (?:user|session|process"
    r"|person|agent) |somebody|someone else)\b",
    re.IGNORECASE,
)
_NO_NO = re.compile(
    r"\bno (?:longer|further) (?:needed|necessary|action)"
    r"|\bnot (?:be )?(?:charged|billed)\b|\bif \b"
)
_IRREGULAR = {"held": "hold", "on_hold": "hold", "sent": "send", "paid": "pay", "frozen": "freeze", "taken": "take"}
# What ends a thing, and the states that it comes to.
_ENDS = re.compile(
    r"(?:clos|shut|lock|secur|block|freez|suspend|paus|disabl|deactivat|stop|off|revok"
    r"|expir|invalidat|end|terminat|archiv|reject"
    r"|declin|den|protect|restrict|retir|hold|ban|mute|quarantin)"
)
_ENDED = re.compile(
    r"locked|closed|held|hold|freeze|suspended|inactive|disabled|protected|read_?only"
    r"|blocked|declined|rejected|refused|expired"
    r"|offline|down|terminated"
)
_SHOUTED = re.compile(r"[A-Z]{3,}(?:_[A-Z0-9]+)*")
_GOOD_CODE = re.compile(
    r"(?:^|_)(?:ok|okay|succ\w*|done|complete|accept\w*|ack|queued|confirm\w*|ready"
    r"|active|live|open|new|info|warn\w*|partial"
    r"|pending|received|processing|enabled|approved|valid|\w{3,}ed|sent|set|made|paid)(?:_|$)"
)
_TEXT_BAD = re.compile(
    r"^(?:retry|locked|busy|conflict|nack|no|declined|closed|full|taken|duplicate)\b\W*(?:$|[:\n])"
    r"|^[45]\d\d[ -](?:[\d.]+ )?(?:\w+ ){0,4}(?:unavailable|full|unknown|blocked"
    r"|rejected|denied|busy|exceeded|gone|locked"
    r"|conflict)\b|^E-?\d{3,}\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def spelled(word: str) -> str:
    """
    A status or code in one spelling.

    Examples:
    ```python
    >>> spelled("alreadyScheduled"), spelled("SLOT-TAKEN"), spelled("Try again")
    ('already_scheduled', 'slot_taken', 'try_again')

    ```
    """
    return _GAP.sub("_", _HUMP.sub("_", word[:_MOST]).lower()).strip("_")


@lru_cache(maxsize=4096)
def kind_of_code(word: str, state: bool = False) -> str:
    """
    What a status or code says: a kind of failure, `already_done`, or nothing.

    Args:
        word (`str`):
            As the answer has it.
        state (`bool`, *optional*, defaults to `False`):
            Whether words that are states of a record as well count.

    Examples:
    ```python
    >>> kind_of_code("PERMISSION_DENIED"), kind_of_code("ALREADY_SCHEDULED"), kind_of_code("shipped")
    ('denied', 'already_done', '')
    >>> kind_of_code("locked"), kind_of_code("locked", state=True)
    ('', 'error')

    ```
    """
    code = spelled(word)
    if code.isdigit():
        return "error" if len(code) == 3 and code[0] in "45" else ""
    if not code or code.count("_") >= _MOST_WORDS or _FINE.search(code):
        return ""
    if _ALREADY.search(code):
        return "already_done"
    found = next((kind for kind, pattern in _FAMILIES if pattern.search(code)), "")
    return found or ("error" if state and _STATES.search(code) else "")


def _is_thing(answer: Mapping[str, Any], most: int) -> bool:
    """Whether an answer has more than so many fields that tell of a thing rather than of the call."""
    return sum(key not in AROUND for key in answer) > most


def told_by_code(answer: Mapping[str, Any], state: bool = False) -> str:
    """What the fields for statuses and codes say; nothing for a record, whose status is its own."""
    if _is_thing(answer, _FIELDS - 1):
        return ""
    for key in _CODES:
        value = answer.get(key)
        if type(value) is str and (found := kind_of_code(value, state)):
            return found
    return "error" if any(answer.get(key) not in (None, False, 0, "no", "false") for key in _RETRIES) else ""


def is_own(word: Any, tool: str) -> bool:
    """Whether a status is what a tool's name says it makes: `locked` of `lock_door`, `inactive` of `disable_user`."""
    if not isinstance(word, str):
        return False
    code, parts = spelled(word), spelled(tool).split("_")
    code = _IRREGULAR.get(code, code)
    stem = code.removesuffix("ed").removesuffix("d")[:5]
    if len(stem) > 2 and any(part.startswith(stem) or (len(part) > 2 and code.startswith(part)) for part in parts):
        return True  # `acknowledged` of `alarm_ack`
    return _ENDED.fullmatch(code) is not None and any(_ENDS.match(part) for part in parts)


def of_change(outcome: str, result: Any, tool: str) -> str:
    """
    What came of a call that changes something, by what its answer says besides what any answer may say.

    Args:
        outcome (`str`):
            What the answer says whatever was called.
        result (`Any`):
            The answer.
        tool (`str`):
            Name of the tool.

    Examples:
    ```python
    >>> of_change("ok", {"status": "locked"}, "cancel_order"), of_change("ok", {"status": "locked"}, "lock_door")
    ('error', 'ok')
    >>> of_change("denied", {"status": "blocked"}, "block_card"), of_change("ok", "already paid", "pay_bill")
    ('ok', 'already_done')

    ```
    """
    if type(result) is str:
        if outcome == "ok" and len(result) < _MOST:
            if _SAYS_ALREADY.search(result.partition(". ")[0]):
                return "already_done"
            return "error" if _TEXT_BAD.match(result.strip()) else outcome
        return outcome
    if not isinstance(result, Mapping):
        return outcome
    state = result.get("status", result.get("state"))
    if state in ("ok", "created", "updated", "deleted"):
        return outcome
    if is_own(state, tool):
        plain = "error" not in result and not any(result.get(key) for key in ("reason", "message", "detail", "retry"))
        return "ok" if plain and outcome in ("denied", "error", "ok") else outcome
    if outcome != "ok":
        words = " ".join([value[:_MOST] for key in _SENTENCES if type(value := result.get(key)) is str])
        done = _DONE_ALREADY.search(words)
        return "already_done" if done and is_own(done[1], tool) else outcome
    told = told_by_code(result, state=True) or _unset(result, tool) or _shouted(result, tool)
    return told or _told_by_sentence(result) or outcome


def _told_by_sentence(answer: Mapping[str, Any]) -> str:
    """What an answer says in a sentence, when it holds nothing else and no status that tells of a success."""
    status = answer.get("status", answer.get("state", answer.get("code")))
    if _is_thing(answer, 0) or (isinstance(status, str | int) and not isinstance(status, bool)
                                and spelled(str(status)) not in ("info", "warning", "warn", "notice")):  # fmt: skip
        return ""
    for key in _SENTENCES:
        value = answer.get(key)
        if type(value) is str:
            if " " not in value.strip() and (kind := kind_of_code(value, state=True)):
                return kind
            if _SAYS_ALREADY.search(value[:_MOST].partition(". ")[0]):
                return "already_done"
            if _SAYS_NO.search(value[:_MOST]) and not _NO_NO.search(value[:_MOST].casefold()):
                return "error"
    return ""


def _shouted(answer: Mapping[str, Any], tool: str) -> str:
    """Whether an answer is a code of no success with words that explain it: `INTERLOCK_ACTIVE`."""
    code = answer.get("code", answer.get("error_code"))
    if type(code) is not str or _is_thing(answer, 0) or _SHOUTED.fullmatch(code) is None:
        return ""
    spoken = any(type(answer.get(key)) is str for key in ("detail", "message", "reason", "msg", "why", "hint"))
    fine = is_own(code, tool) or _GOOD_CODE.search(spelled(code)) is not None
    return "error" if ("_" in code or spoken) and (not fine or code.endswith("_ACTIVE")) else ""


def _unset(answer: Mapping[str, Any], tool: str) -> str:
    """What a flag says that is off and for what the tool does, or for any change: `{"booked": false}`."""
    off = any(value is False and (key in _EFFECTS or is_own(key, tool)) for key, value in answer.items())
    if not off:
        return ""
    words = " ".join([value[:_MOST] for key in _SENTENCES if type(value := answer.get(key)) is str])
    return "already_done" if _SAYS_ALREADY.search(words) else "error"
