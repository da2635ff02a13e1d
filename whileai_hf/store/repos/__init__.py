"""Dataset repos on the Hub as a place for bytes: which commit a name means, its files, and atomic commits.

Nothing here knows what the files hold. Errors are one sentence each (`refusals`); every call goes through [`hub_api`].
"""

from whileai_hf.store.repos.asking import ask
from whileai_hf.store.repos.committing import Change, Head, commit_change, read_head, tag_commit
from whileai_hf.store.repos.fetching import fetch, fetch_file
from whileai_hf.store.repos.locating import Located, locate, remember
from whileai_hf.store.repos.refusals import (
    NoRepoError,
    NoRevisionError,
    UnreachableError,
    hub_api,
    hub_errors,
    without_password,
)


__all__ = [
    "Change",
    "Head",
    "Located",
    "NoRepoError",
    "NoRevisionError",
    "UnreachableError",
    "ask",
    "commit_change",
    "fetch",
    "fetch_file",
    "hub_api",
    "hub_errors",
    "locate",
    "read_head",
    "remember",
    "tag_commit",
    "without_password",
]
