"""Which account, endpoint and caches are in use. A token is never shown, not even in part."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from huggingface_hub import constants, get_token

from whileai_hf.errors import HubError
from whileai_hf.hub.accounts import Account, read_account
from whileai_hf.hub.cached import cached_entries
from whileai_hf.hub.entries import check_answers
from whileai_hf.rows import Report
from whileai_hf.store.repos import UnreachableError, hub_api, hub_errors, without_password


SIGN_IN = "run `hf auth login`, or set HF_TOKEN"


@dataclasses.dataclass(frozen=True)
class HubStatus(Report):
    """
    What [`hf_status`] returns.

    Args:
        signed_in (`bool`):
            Whether the Hub knows the token.
        account (`str`, *optional*):
            Whose it is.
        organisations (`list[str]`):
            Organisations of the account.
        role (`str`, *optional*):
            What the token may do: `read`, `write` or `fineGrained`.
        writes_to (`list[str]`, *optional*):
            Namespaces the token may push to; `None` where the Hub does not say.
        token_from (`str`, *optional*):
            Where the token comes from: `HF_TOKEN`, `token file`, `argument`, ...; `None` without one.
        endpoint (`str`):
            The Hub that is asked.
        reachable (`bool`, *optional*):
            Whether it answered; `None` when it was not asked.
        offline (`bool`):
            Whether `HF_HUB_OFFLINE` is set.
        caches (`dict[str, str]`):
            Where the Hub's files, prepared Datasets and our runs are kept.
        cached (`list[str]`):
            Data sets of ours that can be read without the Hub.
        notes (`list[str]`):
            What is wrong and what to do.
    """

    signed_in: bool
    account: str | None
    organisations: list[str]
    role: str | None
    writes_to: list[str] | None
    token_from: str | None
    endpoint: str
    reachable: bool | None
    offline: bool
    caches: dict[str, str]
    cached: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [self._who(), f"endpoint: {self.endpoint}" + (" (offline)" if self.offline else "")]
        if self.organisations:
            lines.append(f"organisations: {', '.join(self.organisations)}")
        lines += [f"{name} cache: {place}" for name, place in self.caches.items()]
        lines.append(f"data sets in the cache: {', '.join(self.cached) or 'none of ours'}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _who(self) -> str:
        if not self.signed_in:
            return "not signed in"
        may = "" if self.role is None else f", token: {self.role}"
        if self.writes_to:
            may += f", may push to {', '.join(self.writes_to)}"
        elif self.writes_to is not None:
            may += ", may not push"
        return f"signed in as {self.account} (from {self.token_from}{may})"


def hf_status(*, token: str | None = None) -> HubStatus:
    """
    Who is signed in, and what is used.

    Asks the Hub one question. Neither a missing account nor a Hub that is down is an error here.

    Args:
        token (`str`, *optional*):
            A token to ask about; the one of `hf auth login` or `HF_TOKEN` when left out.

    Returns:
        [`HubStatus`]: `print` it.
    """
    offline = bool(constants.HF_HUB_OFFLINE)
    source = "argument" if token is not None else _source()
    account, reachable, notes = None, None, []
    if offline:
        notes.append("HF_HUB_OFFLINE is set: the Hub is not asked, and what is not in the cache cannot be read")
    elif source is None:
        reachable, notes = _answers(token)
        notes.insert(0, f"not signed in: {SIGN_IN}; public data sets can be read all the same")
    else:
        account, reachable, notes = _asked(token)
    if source is not None and account is not None and account.writes_to == []:
        notes.append("this token only reads: to push, sign in with one that may write")
    return HubStatus(
        signed_in=account is not None,
        account=None if account is None else account.name,
        organisations=[] if account is None else account.organisations,
        role=None if account is None else account.role,
        writes_to=None if account is None else account.writes_to,
        token_from=source,
        endpoint=without_password(constants.ENDPOINT),
        reachable=reachable,
        offline=offline,
        caches=_caches(),
        cached=[entry.repo for entry in cached_entries("dataset")],
        notes=notes,
    )


def _asked(token: str | None) -> tuple[Account | None, bool | None, list[str]]:
    try:
        with hub_errors("asking who is signed in"):
            return read_account(hub_api(token)), True, []
    except UnreachableError as error:
        return None, False, [str(error)]
    except HubError as error:  # it answered, and does not know the token
        return None, True, [str(error)]


def _answers(token: str | None) -> tuple[bool, list[str]]:
    try:
        with hub_errors("asking the Hub for a sign of life"):
            check_answers(hub_api(token))
            return True, []
    except UnreachableError as error:
        return False, [str(error)]
    except HubError:  # a no is an answer
        return True, []


def _source() -> str | None:
    """Where the token in use comes from, as `huggingface_hub` looks for it."""
    if os.environ.get("HF_OIDC_RESOURCE"):
        return "HF_OIDC_RESOURCE"
    if get_token() is None:
        return None
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if os.environ.get(name, "").strip():
            return name
    return "token file"


def _caches() -> dict[str, str]:
    import datasets

    found = {
        "hub": constants.HF_HUB_CACHE,
        "datasets": datasets.config.HF_DATASETS_CACHE,
        "runs": constants.HF_ASSETS_CACHE,
    }
    return {name: str(Path(place).expanduser()) for name, place in found.items()}
