"""What a repo holds before a push, and what the push makes of it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from huggingface_hub import HfApi

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.pushing.config import PushConfig
from whileai_hf.hub.pushing.provenance import parent_name
from whileai_hf.hub.record import RUN_FILE, ConfigRecord, HistoryEntry, RunRecord
from whileai_hf.store.repos import Head, Located, fetch_file, hub_errors, tag_commit


CARD, FIGURES = "README.md", "figures/"
_ATTRIBUTES = ".gitattributes"
_VERSION = re.compile(r"v(\d+)")


@dataclasses.dataclass(frozen=True)
class Before:
    """
    A repo before a push.

    Args:
        head ([`~whileai_hf.store.repos.Head`]):
            Its commit, files and tags.
        record ([`RunRecord`], *optional*):
            The push before this one.
        card (`str`, *optional*):
            The card it has, when it is one of ours.
    """

    head: Head
    record: RunRecord | None
    card: str | None


def read_before(repo: str, head: Head, config: PushConfig, purpose: str) -> Before:
    """
    Looks at what is there.

    Args:
        repo (`str`):
            The repo.
        head ([`~whileai_hf.store.repos.Head`]):
            Its head.
        config ([`PushConfig`]):
            Its `overwrite`, `config_name` and `token`.
        purpose (`str`):
            What the push is for.

    Raises:
        [`ConfigurationError`]: Something a push of this kind would destroy, without `overwrite`.
    """
    located = Located(repo, head.sha)
    content = None
    if RUN_FILE in head.files:
        path = fetch_file(located, RUN_FILE, config.token)
        content = None if path is None else path.read_bytes()
    try:
        record = None if content is None else RunRecord.loads(content)
    except DataError:
        record = None  # somebody else's file of that name
    foreign = [path for path in head.files if path != _ATTRIBUTES]
    if record is None and foreign and not config.overwrite:
        raise ConfigurationError(
            f"{repo} holds what this library did not push ({', '.join(foreign[:5])}); push to another repo, or pass "
            "overwrite=True to put these rows in its place (the commits before keep what is there)"
        )
    if record is not None and record.config_name == config.config_name:
        _check_purpose(repo, record.purpose, list(record.splits), config, purpose)
    elif record is not None and config.config_name in record.others:
        other = record.others[config.config_name]
        _check_purpose(repo, other.purpose, list(other.splits), config, purpose)
    card = fetch_file(located, CARD, config.token) if record is not None and CARD in head.files else None
    return Before(head, record, None if card is None else card.read_text(encoding="utf-8", errors="replace"))


def _check_purpose(repo: str, before: str, splits: list[str], config: PushConfig, purpose: str) -> None:
    if before != purpose and not config.overwrite:
        raise ConfigurationError(
            f"the configuration {config.config_name!r} of {repo} holds {', '.join(splits)}, pushed for {before!r}, "
            f"and a push for {purpose!r} would replace it; pass config_name={purpose!r} to put these rows beside it, "
            "or overwrite=True"
        )


def next_record(record: RunRecord, before: Before) -> RunRecord:
    """
    The record with what depends on the repo: the tag, the history, the other configurations.

    Args:
        record ([`RunRecord`]):
            The push.
        before ([`Before`]):
            The repo.
    """
    past = before.record
    history = [] if past is None else past.history
    numbers = [_VERSION.fullmatch(name) for name in [*before.head.tags, *(entry.tag for entry in history)]]
    tag = f"v{1 + max((int(found[1]) for found in numbers if found), default=0)}"
    entry = HistoryEntry(
        tag, record.digest, record.purpose, record.rows, parent_name(record.parent), record.config_name
    )
    others: dict[str, ConfigRecord] = {}
    if past is not None:
        others = {name: other for name, other in past.others.items() if name != record.config_name}
        if past.config_name != record.config_name:
            others[past.config_name] = ConfigRecord(past.tag, past.purpose, past.digest, past.splits)
    extra = {} if past is None else past.extra
    return dataclasses.replace(record, tag=tag, history=[*history, entry], others=others, extra=extra)


def stale_files(record: RunRecord, before: Before, files: Mapping[str, object]) -> list[str]:
    """
    What a push takes away: all of a foreign repo, else the older rows of its configuration and the older figures.

    Args:
        record ([`RunRecord`]):
            The push.
        before ([`Before`]):
            The repo.
        files (`Mapping[str, Any]`):
            What the push brings, by path.
    """
    if before.record is None:
        return [path for path in before.head.files if path != _ATTRIBUTES and path not in files]
    folder = "data/" if record.config_name == "default" else f"{record.config_name}/"
    kept = {path for other in record.others.values() for split in other.splits.values() for path in split.files}
    return [
        path
        for path in before.head.files
        if path not in files and path not in kept and path.startswith((folder, FIGURES))
    ]


def heal(api: HfApi, repo: str, before: Before) -> None:
    """Tags the push before this one when it died between its commit and its tag."""
    past = before.record
    if past is None or past.tag in before.head.tags:
        return
    with hub_errors(f"reading {repo}"):
        commits = api.list_repo_commits(repo, repo_type="dataset")
    for commit in commits:
        if commit.title == title_of(past):
            tag_commit(api, repo, past.tag, commit.commit_id)
            return


def title_of(record: RunRecord) -> str:
    """First line of the message of a push's commit."""
    rows = ", ".join(f"{name} {split.rows}" for name, split in record.splits.items())
    return f"{record.tag}: {rows} rows for {record.purpose}"
