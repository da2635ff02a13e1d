"""What a failed try means: ask again, ask differently, give this call up, or stop the whole run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from whileai_hf.actors.models.endpoint import Endpoint
from whileai_hf.actors.models.patience import retry_after
from whileai_hf.errors import ModelError, ModelStopError


# silent: no answer at all (or a gateway saying that nothing is behind it); busy: come back later; broken: this try
# went wrong; refused: the request itself is at fault, or calling on is pointless.
Kind = Literal["silent", "busy", "broken", "refused"]

_GATEWAY = (502, 503, 504)
_TRY_AGAIN = (408, 409, 425)
_SPENT_CODES = re.compile(r"insufficient_quota|billing_hard_limit|billing_not_active|credit_balance", re.IGNORECASE)
_SPENT_WORDS = re.compile(
    r"quota|allowance|credits?\b|per[ -]day|daily|tokens[_ ]per[_ ]day|\b[rt]pd\b|monthly", re.IGNORECASE
)
# A quota by the minute fills up again by itself.
_SHORT_WORDS = re.compile(r"per[ -](minute|second|min|sec)\b|\b[rt]p[ms]\b", re.IGNORECASE)
_NO_MODEL = re.compile(r"model_not_(found|supported)|model\b.{0,80}\b(does not exist|not found)", re.IGNORECASE | re.S)
# How endpoints say that a request is longer than the model can read.
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|max_model_len|maximum (?:context|sequence|input|prompt)"
    r"|(?:prompt|input|request|message)s? (?:is |are )?too (?:long|large)|too many (?:input )?tokens"
    r"|exceed\w{0,3}\b.{0,60}\btokens?\b|reduce the length|token limit",
    re.IGNORECASE,
)
# Words of a server's message shown to the user.
_SAID_CHARS = 200


def is_too_long(error: ModelError) -> bool:
    """
    Whether a call failed because the request does not fit the model's context.

    Examples:
    ```python
    >>> is_too_long(ModelError("This model's maximum context length is 8192 tokens")), is_too_long(ModelError("502"))
    (True, False)

    ```
    """
    return _TOO_LONG.search(str(error)) is not None


@dataclass(frozen=True)
class Failure:
    """
    One failed try.

    Args:
        kind (`str`):
            What to do about it.
        said (`str`):
            What happened, in a few words: `"HTTP 503: overloaded"`.
        status (`int`, *optional*):
            HTTP status, `None` without an answer.
        wait (`float`, *optional*):
            Seconds the server asked to wait.
        stop (`str`, *optional*):
            The `reason` of a [`ModelStopError`], when no further call has a chance.
    """

    kind: Kind
    said: str
    status: int | None = None
    wait: float | None = None
    stop: str | None = None


def _message(body: bytes) -> tuple[str, str]:
    """The words of an error body, and everything in it that may be a code."""
    text = body.decode("utf-8", "replace")
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return text, text
    error = parsed.get("error", parsed) if isinstance(parsed, Mapping) else parsed
    if isinstance(error, Mapping):
        words = next((error[key] for key in ("message", "detail", "msg") if isinstance(error.get(key), str)), None)
        return (words if words is not None else text), text
    return (error if isinstance(error, str) else text), text


def _spent(text: str, wait: float | None, longest: float) -> bool:
    if _SPENT_CODES.search(text) or (wait is not None and wait > longest):
        return True
    # A server that names a short wait means it.
    return wait is None and bool(_SPENT_WORDS.search(text)) and not _SHORT_WORDS.search(text)


def from_answer(status: int, headers: Mapping[str, str], body: bytes, longest: float) -> Failure:
    """
    The failure an HTTP status stands for.

    Args:
        status (`int`):
            400 or above.
        headers (`Mapping`):
            Of the answer.
        body (`bytes`):
            Of the answer.
        longest (`float`):
            Seconds a call may wait in all; to be told to wait longer is to be told no.
    """
    words, text = _message(body)
    words = " ".join(words.split())[:_SAID_CHARS]
    said = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    wait = retry_after(headers)
    if status == 402:
        return Failure("refused", said, status, stop="quota_spent")
    if status == 429:
        spent = _spent(text, wait, longest)
        return Failure("refused" if spent else "busy", said, status, wait, "quota_spent" if spent else None)
    if status in (401, 403):
        return Failure("refused", said, status, stop="unauthorized")
    if status == 404 or (status < 500 and _NO_MODEL.search(text)):
        return Failure("refused", said, status, stop="unknown_model")
    if status in _GATEWAY:
        return Failure("silent", said, status, wait)
    if status >= 500 or status in _TRY_AGAIN:
        return Failure("broken", said, status, wait)
    return Failure("refused", said, status)


def without_key(endpoint: Endpoint, said: str) -> str:
    """What a server said, without the key it may repeat."""
    return said.replace(endpoint.key, "<key>") if endpoint.key else said


def stop_error(endpoint: Endpoint, reason: str, said: str) -> ModelStopError:
    """The one sentence a run stops with."""
    said = without_key(endpoint, said)
    where = f"the model {endpoint.model} at {endpoint.shown}"
    advice = {
        "quota_spent": f"{where} has no allowance left ({said}); wait for it to renew, or use another key or model.",
        "unauthorized": f"{where} wants another key ({said}); {endpoint.key_hint}.",
        "unknown_model": f"{where} is not there ({said}); check the name against {endpoint.shown}/models, and that "
        "the address is the one before /chat/completions.",
        "model_unreachable": f"{where} does not answer ({said}); check that it runs and that the address is right.",
    }
    return ModelStopError(advice[reason], reason)


def call_error(endpoint: Endpoint, said: str, tries: int) -> ModelError:
    """The one sentence a call ends with."""
    times = "" if tries == 1 else f" after {tries} tries"
    return ModelError(
        f"the model {endpoint.model} at {endpoint.shown} gave no answer{times}: "
        f"{without_key(endpoint, said)}; see its log, or ask less of it at a time."
    )
