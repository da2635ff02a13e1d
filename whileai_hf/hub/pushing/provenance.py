"""Where the rows of a push came from, as far as they and their run say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from datasets import Dataset

from whileai_hf.engine import run_report
from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.hub.pushing.batches import batches
from whileai_hf.hub.pushing.hiding import Hiding, without_paths
from whileai_hf.hub.pushing.result import PushResult
from whileai_hf.hub.record import RUN_FILE, ParentRecord, RunRecord
from whileai_hf.rows import dumps
from whileai_hf.rows.columns import arrow_column, decode_column
from whileai_hf.store.repos import fetch_file, locate


# Judges listed in a record: a judge that stamps every row differently is cut off there.
_MOST_JUDGES = 50
# Entries kept of a list in the report of the gate.
_MOST_ENTRIES = 50
# What a spec is called that nobody named.
_NAMELESS = "agent"
# What a judge says about one verdict rather than about itself.
_PER_ROW = frozenset({"error", "raw", "usage", "reply", "votes", "quote", "seconds", "value", "text"})
_PARENT = re.compile(r"([\w.-]+/[\w.-]+)(?:@(\S+))?")


def _distinct(splits: Mapping[str, Dataset], name: str) -> list[str]:
    found: dict[str, None] = {}
    for rows in splits.values():
        if name in rows.column_names:
            values = arrow_column(rows, name).unique().to_pylist()
            found.update(dict.fromkeys(str(value) for value in values if value is not None))
    return list(found)


def policy_versions(splits: Mapping[str, Dataset]) -> list[str]:
    """The policies that played, as the rows name them."""
    return sorted(_distinct(splits, "policy_version") or _distinct(splits, "model_version"))


def run_ids(splits: Mapping[str, Dataset]) -> list[str]:
    """The runs the rows are from."""
    return sorted(_distinct(splits, "run_id"))


def judges(splits: Mapping[str, Dataset], hiding: Hiding) -> list[dict[str, Any]]:
    """What the rows say about their judges, each once."""
    found: dict[bytes, dict[str, Any]] = {}
    last: Any = None
    for rows in splits.values():
        if "judge_meta" not in rows.column_names:
            continue
        for table in batches(rows.select_columns(["judge_meta"])):
            for meta in decode_column(table.column("judge_meta")):
                if meta is last:  # equal neighbours are one object
                    continue
                last = meta
                if isinstance(meta, dict) and len(found) < _MOST_JUDGES:
                    shared = without_paths(hiding.value({k: v for k, v in meta.items() if k not in _PER_ROW}))
                    found.setdefault(dumps(shared), shared)
    return list(found.values())


def report_of(data: Dataset, hiding: Hiding) -> dict[str, Any] | None:
    """The report of the run the rows are from; `None` when it cannot be found."""
    try:
        found = run_report(data).to_dict()
    except DataError:
        return None
    spec = found.pop("spec", None)
    return {**without_paths(hiding.value(found)), "spec": hiding.value(spec)}


def read_parent(parent: str | PushResult | None, token: str | bool | None) -> ParentRecord | None:
    """
    The push rows were made from.

    Args:
        parent (`str` or [`PushResult`], *optional*):
            "namespace/name@tag", or what a push returned.
        token (`str` or `bool`, *optional*):
            Token.

    Raises:
        [`ConfigurationError`]: It is not written like that.
        [`SourceNotFoundError`]: There is no such push.
    """
    if parent is None:
        return None
    if isinstance(parent, PushResult):
        return ParentRecord(parent.repo, parent.tag, parent.commit, parent.digest)
    found = _PARENT.fullmatch(parent) if isinstance(parent, str) else None
    if found is None:
        raise ConfigurationError(f"parent={parent!r} names no push; write 'namespace/name@v1', or pass its result")
    repo, tag = found[1], found[2]
    try:
        located = locate(repo, tag, token)
        path = fetch_file(located, RUN_FILE, token)
    except SourceNotFoundError as error:
        raise SourceNotFoundError(f"parent={parent!r} cannot be found: {error}") from error
    if path is None:
        return ParentRecord(repo, tag, located.sha)
    record = RunRecord.loads(path.read_bytes())
    return ParentRecord(repo, tag or record.tag, located.sha, record.digest)


def parent_name(parent: ParentRecord | None) -> str | None:
    """A parent in one word, for the history."""
    return None if parent is None else f"{parent.repo}@{parent.tag or parent.commit or 'main'}"


def spec_of(report: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The agent's tools and system prompt, as its run had them."""
    spec = None if report is None else report.get("spec")
    return dict(spec) if isinstance(spec, Mapping) else None


def shortened(value: Any) -> Any:
    """A JSON value with long lists and tables (the rates of a hundred thousand tasks) cut to their first entries."""
    if isinstance(value, Mapping):
        return {key: shortened(item) for key, item in islice(value.items(), _MOST_ENTRIES)}
    return [shortened(item) for item in value[:_MOST_ENTRIES]] if isinstance(value, list) else value


def name_of(spec: Mapping[str, Any] | None) -> str | None:
    """The agent's name, when somebody gave it one."""
    name = None if spec is None else spec.get("name")
    return str(name) if name and name != _NAMELESS else None
