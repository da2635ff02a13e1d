"""Rows to be profiled, with where they come from."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import RowView, view
from whileai_hf.rows.snapshots import pick_split, read_repo
from whileai_hf.rows.view import Source
from whileai_hf.store.repos import NoRepoError, UnreachableError


_REPO_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclasses.dataclass(frozen=True)
class Opened:
    """
    Rows that were opened.

    Args:
        rows ([`~whileai_hf.rows.RowView`]):
            The rows.
        name (`str`):
            What a report calls them.
        commit (`str`, *optional*):
            Commit of the repo they are from.
        notes (`list[str]`):
            What a reader has to know, such as that they are a copy.
    """

    rows: RowView
    name: str
    commit: str | None = None
    notes: list[str] = dataclasses.field(default_factory=list)


def is_repo(source: Any) -> bool:
    """Whether a source names a repo: text that may be the id of one, and is no path that exists."""
    named = isinstance(source, str) and _REPO_ID.fullmatch(source) is not None
    return named and not Path(source).expanduser().exists()


@contextmanager
def both_tried(source: str) -> Iterator[None]:
    """Has errors say that a name was looked for as a path first: it may be a path with a mistake in it."""
    tried = f"{source!r} is no existing path (looked for {Path(source).expanduser().absolute()}), and"
    try:
        yield
    except NoRepoError as error:
        raise NoRepoError(f"{tried} {error}") from error
    except UnreachableError as error:
        raise UnreachableError(f"{tried} {error}") from error


def name_of(repo: str, config: str | None, split: str) -> str:
    """What a report calls a split of a repo."""
    return f"{repo} ({split if config is None else f'{config}, {split}'})"


def open_split(
    source: Source | DatasetDict,
    *,
    split: str | None,
    config: str | None,
    revision: str | None,
    token: str | bool | None,
) -> Opened:
    """
    Rows of any source.

    Raises:
        [`ConfigurationError`]: A split, config or revision of something that has none.
        [`DataError`]: There are no rows.
        [`SourceNotFoundError`]: Neither a path nor a repo, or no such split.
        [`HubError`]: The Hub does not answer, and there is no copy on this machine.
    """
    if isinstance(source, str) and is_repo(source):
        with both_tried(source):
            found = read_repo(source, revision=revision, split=split, config_name=config, token=token)
        if not len(found.dataset):
            raise DataError(f"{found.located}, split {found.split!r}, holds no rows; name another split")
        notes = [] if found.located.note is None else [found.located.note]
        return Opened(view(found.dataset), name_of(source, config, found.split), found.located.sha, notes)
    refuse("config", config)
    refuse("revision", revision)
    if isinstance(source, DatasetDict):
        name = pick_split(list(map(str, source)), split, "the DatasetDict")
        return Opened(view(source[name]), f"split {name}")
    refuse("split", split)
    return Opened(view(source), str(source) if isinstance(source, str | PathLike) else "rows")


def refuse(name: str, value: Any) -> None:
    """Refuses an argument that only a repo has a use for."""
    if value is not None:
        raise ConfigurationError(f"{name}={value!r} was given for rows that are no repo on the Hub; leave it out")
