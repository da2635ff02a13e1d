"""Which commit a name means: asked of the Hub first, remembered for when it does not answer.

`load_dataset` with a tag serves the newest copy on the machine when anything goes wrong, whatever the tag. So a
revision is resolved to a commit here before anything is read, and what is read is read by that commit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from urllib.parse import quote

from huggingface_hub import constants

from whileai_hf.errors import ConfigurationError, HubError
from whileai_hf.store.repos.refusals import (
    NoAccessError,
    NoRepoError,
    NoRevisionError,
    UnreachableError,
    hub_api,
    hub_errors,
)
from whileai_hf.store.runs import replace_file


_COMMIT = re.compile(r"[0-9a-f]{40}")
_MAIN = "main"
# Seconds the Hub may take to say what a revision is, before what is on this machine is looked at.
_PATIENCE = 30.0
# Tags named in an error.
_SHOWN = 20


@dataclasses.dataclass(frozen=True)
class Located:
    """
    A dataset repo at one commit.

    Args:
        repo (`str`):
            The repo.
        sha (`str`):
            The commit.
        revision (`str`, *optional*):
            What was asked for; `None` for the newest.
        note (`str`, *optional*):
            Why the commit is from this machine's memory, when the Hub did not say it.
    """

    repo: str
    sha: str
    revision: str | None = None
    note: str | None = None

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision or _MAIN} ({self.sha[:8]})"


def locate(repo: str, revision: str | None = None, token: str | bool | None = None) -> Located:
    """
    The commit a revision of a dataset repo is.

    When the Hub does not answer, or answers that there is no such repo (any more) or that the account may not see it,
    a revision that was read before on this machine is still the commit it was then. The newest (`revision=None`) is
    taken from memory only when the Hub does not answer.

    Args:
        repo (`str`):
            Dataset repo, "namespace/name".
        revision (`str`, *optional*):
            Tag, branch or commit; the newest commit when left out.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out.

    Returns:
        [`Located`]: The commit, with a note when it is from memory.

    Raises:
        [`ConfigurationError`]: A revision that can be none.
        [`NoRevisionError`]: The repo has no such revision; the message lists its tags.
        [`NoRepoError`]: No such repo, and nothing in memory.
        [`HubError`]: No access or no answer, and nothing in memory.
    """
    if revision is not None and (not isinstance(revision, str) or not revision.strip()):
        raise ConfigurationError(f"revision={revision!r} of {repo} is none; pass a tag ('v1'), a branch or a commit")
    try:
        with hub_errors(f"reading {repo}"):
            info = hub_api(token).repo_info(repo, repo_type="dataset", revision=revision, timeout=_PATIENCE)
        return Located(repo, str(info.sha), revision)
    except NoRevisionError as error:
        raise NoRevisionError(f"{repo} has no revision {revision!r}; {_what_it_has(repo, token)}") from error
    except (HubError, NoRepoError) as error:
        return _remembered(repo, revision, error)


def _what_it_has(repo: str, token: str | bool | None) -> str:
    with hub_errors(f"listing the tags of {repo}"):
        refs = hub_api(token).list_repo_refs(repo, repo_type="dataset")
    tags = [ref.name for ref in refs.tags]
    if not tags:
        return "it has no tags, so leave revision out"
    more = f" and {len(tags) - _SHOWN} more" if len(tags) > _SHOWN else ""
    return f"its tags are {', '.join(tags[-_SHOWN:])}{more}"


def _remembered(repo: str, revision: str | None, error: HubError | NoRepoError) -> Located:
    known = revision if revision and _COMMIT.fullmatch(revision) else _recall(repo, revision or _MAIN)
    if known is None:
        raise error
    if revision is None and not isinstance(error, UnreachableError):
        raise type(error)(f"{error}; what was read of it last is on this machine: revision={known[:40]!r}") from error
    if isinstance(error, NoAccessError | NoRepoError | UnreachableError):
        return Located(repo, known, revision, note=f"{error}: this is the copy of {known[:8]} on this machine")
    raise error


def _place(repo: str, revision: str) -> Path:
    # A host of its own is a Hub of its own: the same name may mean another repo there.
    host = hashlib.sha256(constants.ENDPOINT.encode()).hexdigest()[:10]
    folder = Path(constants.HF_ASSETS_CACHE) / "whileai_hf" / "repos" / host / repo.replace("/", "--")
    return folder / quote(revision, safe="")


def _recall(repo: str, revision: str) -> str | None:
    try:
        found = _place(repo, revision).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return found if _COMMIT.fullmatch(found) else None


def remember(located: Located) -> None:
    """Keeps which commit a revision is, once all of it that was asked for is on this machine."""
    path = _place(located.repo, located.revision or _MAIN)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, located.sha.encode())
