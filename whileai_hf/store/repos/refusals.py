"""What the Hub said no with, in one sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from whileai_hf.errors import ConfigurationError, HubError, SourceNotFoundError, WhileaiError


# Of whichever HTTP library the client has.
HTTP_ERROR: type[Exception] = huggingface_hub.errors.HTTPError  # type: ignore[attr-defined]

# Everything the clients raise when the Hub says no or says nothing.
HUB_ERRORS: tuple[type[Exception], ...] = (
    EntryNotFoundError,
    HfHubHTTPError,
    HFValidationError,
    LocalTokenNotFoundError,
    HTTP_ERROR,
    ConnectionError,
    TimeoutError,
)

_SIGN_IN = "sign in with `hf auth login`, or pass token="
# Characters of the Hub's own words that are quoted.
_QUOTED = 200
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")


class UnreachableError(HubError):
    """The Hub gave no answer: offline, down, or too busy. What is on this machine may still do."""


class NoAccessError(HubError):
    """The Hub answered, and the answer is no: nobody signed in, the wrong account, a token that may not."""


class NoRepoError(SourceNotFoundError):
    """There is no such repo, or the token may not see it; the Hub does not tell which."""


class NoRevisionError(SourceNotFoundError):
    """The repo has no such branch, tag or commit."""


def hub_api(token: str | bool | None = None) -> huggingface_hub.HfApi:
    """The client every call of this library goes through; the endpoint is that of `HF_ENDPOINT`."""
    return huggingface_hub.HfApi(token=token, library_name="whileai-hf")


def without_password(text: str) -> str:
    """
    A text without the name and the password that its URLs may hold.

    Examples:
    ```python
    >>> without_password("https://ann:secret@hub.example.com gave no answer")
    'https://hub.example.com gave no answer'

    ```
    """
    return _PASSWORD.sub("", text)


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error, `None` when there was no answer."""
    return int(error.response.status_code) if isinstance(error, HfHubHTTPError) else None


def refusal(error: Exception, doing: str) -> WhileaiError:
    """
    The error to raise in the place of a client's.

    Args:
        error (`Exception`):
            One of [`HUB_ERRORS`].
        doing (`str`):
            What was tried, as in "reading me/refunds".

    Returns:
        [`WhileaiError`]: A [`HubError`], [`SourceNotFoundError`] or [`ConfigurationError`] of one sentence.
    """
    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, HUB_ERRORS):
        return refusal(error.__cause__, doing)  # what it says about local files is beside the point
    start = f"{doing} failed"
    if isinstance(error, HFValidationError):
        return ConfigurationError(f"{start}: a repo is named 'namespace/name', of letters, digits, '-', '_' and '.'")
    if isinstance(error, OfflineModeIsEnabled):
        return UnreachableError(f"{start}: offline mode is on; unset HF_HUB_OFFLINE")
    if isinstance(error, LocalTokenNotFoundError):
        return NoAccessError(f"{start}: nobody is signed in; {_SIGN_IN}")
    if isinstance(error, GatedRepoError):
        return NoAccessError(f"{start}: the repo is gated; ask for access on its page, and {_SIGN_IN}")
    if isinstance(error, RevisionNotFoundError):
        return NoRevisionError(f"{start}: the repo has no such revision")
    status = status_of(error)
    if isinstance(error, RepositoryNotFoundError):
        who = "nobody is signed in" if status == 401 else "the account that is signed in may not see it"
        return NoRepoError(
            f"{start}: there is no such repo, or it is private and {who}; check the name, or {_SIGN_IN}"
        )
    if status is None:
        return UnreachableError(
            f"{start}: {without_password(constants.ENDPOINT)} gave no answer ({type(error).__name__}); check the "
            "network, or HF_ENDPOINT"
        )
    return _by_status(error, status, start)


def _by_status(error: Exception, status: int, start: str) -> WhileaiError:
    said = (error.server_message if isinstance(error, HfHubHTTPError) else None) or str(error)
    said = without_password(" ".join(said.split()))[:_QUOTED]
    if status == 401:
        return NoAccessError(f"{start}: the Hub knows no such token, or none was sent; {_SIGN_IN}")
    if status == 403 and "read" in said.lower():
        return NoAccessError(f"{start}: the token may only read; make one that may write, and {_SIGN_IN}")
    if status == 403:
        return NoAccessError(f"{start}: the account that is signed in may not do it ({said})")
    if status == 404:
        return NoRepoError(f"{start}: the Hub has no such thing ({said})")
    if status in (409, 412):
        return HubError(f"{start}: others changed the repo at the same time; try again")
    if status == 413:
        return HubError(f"{start}: the Hub finds it too large ({said})")
    if status == 429:
        return UnreachableError(f"{start}: too many requests for the Hub; wait some minutes and try again")
    if status >= 500:
        return UnreachableError(f"{start}: the Hub failed with status {status}; try again later")
    return HubError(f"{start}: the Hub refused with status {status} ({said})")


@contextmanager
def hub_errors(doing: str) -> Iterator[None]:
    """
    Turns what the clients raise inside the block into one sentence.

    Args:
        doing (`str`):
            What is tried, as in "reading me/refunds".

    Raises:
        [`HubError`]: The Hub said no, or nothing.
        [`SourceNotFoundError`]: It has no such repo or revision.
        [`ConfigurationError`]: The name cannot be one of a repo.

    Examples:
    ```python
    >>> from whileai_hf.errors import HubError
    >>> try:
    ...     with hub_errors("reading me/refunds"):
    ...         raise TimeoutError
    ... except HubError as error:
    ...     print(str(error)[:26])
    reading me/refunds failed:

    ```
    """
    try:
        yield
    except HubError:
        raise
    except HUB_ERRORS as error:
        raise refusal(error, doing) from error
