"""Files of a dataset repo at one commit, through the cache every Hugging Face library shares."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import RemoteEntryNotFoundError

from whileai_hf.store.repos.locating import Located
from whileai_hf.store.repos.refusals import UnreachableError, hub_errors


# Files downloaded at a time: enough to fill a line, few enough not to be told to slow down.
_AT_A_TIME = 8


def fetch_file(located: Located, path: str, token: str | bool | None = None, *, again: bool = False) -> Path | None:
    """
    One file of a repo at a commit.

    Args:
        located ([`Located`]):
            The repo and the commit.
        path (`str`):
            Path in the repo.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out.
        again (`bool`, *optional*, defaults to `False`):
            Fetch it even when it is on this machine, as for a copy that turned out to be damaged.

    Returns:
        `Path`: Where it is on this machine; `None` when the commit has no such file.

    Raises:
        [`HubError`]: It is not on this machine, and the Hub gave no answer or said no.
        [`NoRepoError`]: It is not on this machine, and the repo is gone.
    """
    # A commit never changes, so what is here needs no question; nor does what it was seen not to have.
    known = try_to_load_from_cache(located.repo, path, revision=located.sha, repo_type="dataset")
    if known is not None and not again:
        return Path(known) if isinstance(known, str) else None
    if located.note is not None:  # the Hub was asked a moment ago; the client would ask on for half a minute
        raise UnreachableError(f"{located.note}, but {path} is not{' whole' if known is not None else ''}")
    with hub_errors(f"reading {path} of {located}"):
        try:
            return Path(
                hf_hub_download(
                    located.repo,
                    path,
                    repo_type="dataset",
                    revision=located.sha,
                    token=token,
                    force_download=again,
                )
            )
        except RemoteEntryNotFoundError:
            return None


def fetch(
    located: Located, paths: Sequence[str], token: str | bool | None = None, *, again: bool = False
) -> dict[str, Path]:
    """
    Some files of a repo at a commit, as [`fetch_file`].

    Args:
        located ([`Located`]):
            The repo and the commit.
        paths (`Sequence[str]`):
            Paths in the repo.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out.
        again (`bool`, *optional*, defaults to `False`):
            As for [`fetch_file`].

    Returns:
        `dict[str, Path]`: Where each is on this machine; those the commit does not have are left out.
    """
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        found = list(pool.map(lambda path: fetch_file(located, path, token, again=again), paths))
    return {path: place for path, place in zip(paths, found, strict=True) if place is not None}
