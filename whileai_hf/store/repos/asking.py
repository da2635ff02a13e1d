"""Questions that may be put again: a Hub that fails, or does not answer, is given some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

from whileai_hf.store.repos.refusals import HTTP_ERROR, HUB_ERRORS, refusal, status_of


# Times a Hub that fails or does not answer is asked again, and the first and the longest wait (seconds).
RETRIES = 4
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0

_Answer = TypeVar("_Answer")


def ask(question: Callable[[], _Answer], doing: str) -> _Answer:
    """
    What the Hub answers to a call that may be made twice.

    Args:
        question (`Callable[[], Any]`):
            The call.
        doing (`str`):
            What is tried, as in "reading me/refunds".

    Raises:
        [`HubError`]: The Hub said no, or nothing for several times.
        [`SourceNotFoundError`]: It has no such repo or revision.
    """
    for failures in range(1, RETRIES + 2):
        try:
            return question()
        except HUB_ERRORS as error:
            if failures > RETRIES or not is_passing(error):
                raise refusal(error, doing) from error
            pause(wait_after(error, failures))
    raise AssertionError("the last attempt returns or raises")


def is_passing(error: BaseException) -> bool:
    """Whether the Hub may answer otherwise in a moment: it gave no answer, was too busy, or failed."""
    status = status_of(error)
    if status is not None:
        return status == 429 or status >= 500
    silent = isinstance(error, HTTP_ERROR | ConnectionError | TimeoutError)
    return silent and not isinstance(error, OfflineModeIsEnabled)


def wait_after(error: BaseException, failures: int) -> float:
    """Seconds until the next attempt: what the Hub asks for, else twice as many as before."""
    asked = error.response.headers.get("Retry-After", "") if isinstance(error, HfHubHTTPError) else ""
    if asked.isdigit():
        return min(float(asked), _LONGEST_WAIT)
    return float(min(_FIRST_WAIT * 2 ** (failures - 1), _LONGEST_WAIT))


def pause(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)
