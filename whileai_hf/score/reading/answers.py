"""What came of a call that was answered with plain text: what the text opens with, ends with, or consists of.

A text that merely mentions a failure (a log that was read) is none; of long ones only the two ends decide.
"""

from __future__ import annotations

import re


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
    ("already_done", re.compile(
        r"\balready (?:been )?(?!taken|occupied|in use|full|expired|sold|\w+ (?:to|by|in|for"
        r"|with) (?:an)?other)\w+|^already\b|\bduplicate(?! (?:key|name))"
        r"|\bexists\b", re.I)),
    ("invalid", re.compile(
        r"invalid|malformed|missing (?:required )?|required|must be|expected|validation|unsupported|\b4(?:00|22)\b"
        r"|bad request|wrong type|not a valid", re.I)),
)  # fmt: skip
# `DuplicateRequest` in two words.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OPENS_BAD = re.compile(
    r"\s*(?:(?-i:[A-Z][A-Za-z]*[a-z](?:Error|Exception|Disconnected|Denied"
    r"|Refused|Failed|Timeout|NotFound|Exceeded"
    r"|Conflict|Invalid|Aborted|Closed|Missing|Reset)\w*:)"
    r"|[\w' :./-]{1,60} (?:is|are|was|were) not (?:mergeable|allowed"
    r"|permitted|available|possible|supported|valid|authori[sz]ed|eligible|reachable|enabled|ready)\b"
    r"|got permission denied|npm err!|upstream (?:connect|request|timed|server)|err[-_]\w+|e\d{3,}\b"
    r"|\w{0,30}(?:denied|exceeded|unavailable|notfound|not_found)(?:exception)?:"
    r"|[45]\d\d (?:conflict|gone|locked)\b"
    r"|[a-z][\w' ./#-]{0,40}(?<!no)(?<!none)(?<!not)(?<!\d) (?:failed|rejected|declined|denied|refused|aborted"
    r"|timed out)(?: ?[:(;\u2014]| -|[.!]?$)|(?:not enough|insufficient|no space left|out of memory)\b"
    r"|! \[(?:remote )?rejected\]|\[(?:remote )?rejected\]|conflict \(|e: "
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
    r"|not found\b|no \w+(?: \w+)? (?:is |are |was |were )?(?:found|available|left|free|remaining)\b"
    r"|[\w'\" #-]{1,60}(?:was |were )?not found\W*(?:$|\n|:|\.)"
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
# Signs that no tool writes, and signs of which a text does not consist.
_CONTROL = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_SIGNS = re.compile(r"[@#$%^&~`<>?!|\\]")
# Characters at each end of a text that decide.
_END = 240
_NO_RESULTS = re.compile(
    r"\s*(?:no (?:results?|match(?:es)?|hits|records?|items?|entries|data"
    r"|rows?)\b|0 (?:results|matches|rows|hits)\b"
    r"|nothing (?:found|matched)|\(?empty\)?\W*$|none\W*$)",
    re.IGNORECASE,
)


def message_kind(text: str) -> str:
    """What kind of failure a message speaks of; `error` when it does not say."""
    head = _HUMP.sub(" ", text[:400].replace("_", " "))
    return next((kind for kind, pattern in _KINDS if pattern.search(head)), "error")


def is_cut_off(text: str) -> bool:
    """Whether a string is the beginning of a JSON text rather than words."""
    start = text.lstrip()
    if not start.startswith(('{"', "[{", '["', "[[", '{ "', '"')) and start not in ("{", "["):
        return start != "" and any(word.startswith(start) for word in ("null", "true", "false")) and start not in (
            "null", "true", "false",
        )  # fmt: skip
    if start[0] == '"':
        return len(start) > 1 and start.count('"') == 1
    return not start.rstrip().endswith(("}", "]"))


def is_noise(text: str) -> bool:
    """Whether a short text is no language and no data: control characters, or signs with hardly a word among them."""
    head = text[:_END]
    words = sum(map(len, _LETTERS.findall(head)))
    if _CONTROL.search(head) is not None:
        return words * 2 < len(head)
    signs = _SIGNS.findall(head)
    return len(signs) * 3 > len(head) and len(set(signs)) > 2 and words * 3 < len(head)


def plain_outcome(text: str) -> str:
    """
    What came of a call, by an answer that is text and no JSON.

    Examples:
    ```python
    >>> plain_outcome("deployment failed: 3 of 12 pods are ready"), plain_outcome("3 pods are ready")
    ('error', 'ok')

    ```
    """
    if text in ("null", "None", "undefined") or _NO_RESULTS.match(text):
        return "empty"
    if _OPENS_BAD.match(text[:_END]):
        return message_kind(text)
    head, tail = text[:_END], text[-_END:]
    code = _EXIT.search(tail) or (_EXIT.search(head) if len(text) > _END else None)
    if code is not None:
        return "ok" if int(code.group(1)[:9]) == 0 else "error"
    if head.startswith(_TRACEBACK) or f"\n{_TRACEBACK}" in head or _ENDS_BAD.search(tail):
        return "timeout" if "timed out" in tail else "error"
    return "malformed" if is_cut_off(text) or "\ufffd\ufffd" in head or is_noise(text) else "ok"
