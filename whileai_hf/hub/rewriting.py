"""Saying something else about the newest push of a data set: its card and its record, never its rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from huggingface_hub import HfApi

from whileai_hf.errors import DataError
from whileai_hf.hub.cards import build_card
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.record import RUN_FILE, HistoryEntry, RunRecord
from whileai_hf.store.repos import Change, Head, Located, commit_change, fetch_file, read_head


_CARD = "README.md"
_FIGURES = "figures/"


def rewrite(api: HfApi, repo: str, given: Mapping[str, str]) -> tuple[list[str], str | None]:
    """
    Commits another card and record for the newest push, on whatever the repo holds by then.

    Args:
        api (`huggingface_hub.HfApi`):
            The client.
        repo (`str`):
            Id of the data set.
        given (`Mapping[str, str]`):
            `purpose`, `agent` or `description` to the new value.

    Returns:
        `tuple[list[str], str | None]`: What is different now, in words, and the commit; nothing where nothing was.

    Raises:
        [`DataError`]: The repo has no record of a push.
    """
    changed: list[str] = []

    def build(head: Head) -> Change:
        nonlocal changed
        before = _record(repo, head, api.token)
        changed = [f"{name} is {value!r} now" for name, value in given.items() if getattr(before, name) != value]
        return Change(
            "Change what the card says", _files(api, repo, head, _with(before, given)) if changed else {}, _old(head)
        )

    if not build(read_head(api, repo)).files:
        return [], None
    commit = commit_change(api, repo, build)
    return changed, commit


def _with(before: RunRecord, given: Mapping[str, str]) -> RunRecord:
    record = dataclasses.replace(before, **given)  # type: ignore[arg-type]
    # The history says what each push is for; the newest one's entry follows.
    last: list[HistoryEntry] = [dataclasses.replace(one, purpose=record.purpose) for one in before.history[-1:]]
    return dataclasses.replace(record, history=[*before.history[:-1], *last])


def _record(repo: str, head: Head, token: str | bool | None) -> RunRecord:
    path = fetch_file(Located(repo, head.sha), RUN_FILE, token)
    if path is None:
        raise DataError(
            f"{repo} has no {RUN_FILE}, so its card cannot be written anew; push its rows with this library"
        )
    return RunRecord.loads(path.read_bytes())


def _files(api: HfApi, repo: str, head: Head, record: RunRecord) -> dict[str, bytes]:
    config = record.config_name
    splits = {
        name: pull(repo, revision=head.sha, split=name, config_name=config, token=api.token)
        for name, split in record.splits.items()
        if split.rows
    }
    old = fetch_file(Located(repo, head.sha), _CARD, api.token)
    previous = None if old is None else old.read_text(encoding="utf-8")
    card = build_card(splits, record, repo=repo, previous=previous)
    return {_CARD: card.readme.encode(), RUN_FILE: record.dumps(), **card.files}


def _old(head: Head) -> list[str]:
    """Figures that are there; those the new card draws are written again."""
    return [path for path in head.files if path.startswith(_FIGURES)]
