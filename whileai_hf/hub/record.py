"""`run.json`: what a push says about itself, for programs.

It holds what can be checked (digests, tags, commits, counts) and where the rows came from. No wall clock, no path of
the machine, no token.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from whileai_hf.errors import DataError


RUN_FILE = "run.json"
SCHEMA = "whileai-hf/run-1"
PURPOSES = ("train", "holdout", "eval")

_Part = TypeVar("_Part", "SplitRecord", "ParentRecord", "ConfigRecord", "HistoryEntry")


@dataclasses.dataclass(frozen=True)
class SplitRecord:
    """
    One split of a push.

    Args:
        rows (`int`):
            Rows.
        tasks (`int`):
            Distinct tasks; 0 when nothing names them.
        digest (`str`):
            Hash of the rows in their order, whatever the shards and the encoding.
        files (`list[str]`):
            Paths of its Parquet shards in the repo, in order.
    """

    rows: int
    tasks: int
    digest: str
    files: list[str]


@dataclasses.dataclass(frozen=True)
class ParentRecord:
    """
    The push these rows were made from.

    Args:
        repo (`str`):
            Dataset repo.
        tag (`str`, *optional*):
            Its tag, when it has one.
        commit (`str`, *optional*):
            Its commit, when it could be looked up.
        digest (`str`, *optional*):
            Its digest, when it could be looked up.
    """

    repo: str
    tag: str | None = None
    commit: str | None = None
    digest: str | None = None


@dataclasses.dataclass(frozen=True)
class ConfigRecord:
    """
    Another configuration of the repo, as its own push left it.

    Args:
        tag (`str`):
            That push.
        purpose (`str`):
            What it was for.
        digest (`str`):
            Its digest.
        splits (`dict[str, SplitRecord]`):
            Its splits by name.
    """

    tag: str
    purpose: str
    digest: str
    splits: dict[str, SplitRecord]


@dataclasses.dataclass(frozen=True)
class HistoryEntry:
    """
    One push of a repo, as the later ones remember it.

    Args:
        tag (`str`):
            Its tag.
        digest (`str`):
            Its digest.
        purpose (`str`):
            What it was for.
        rows (`int`):
            Rows of all its splits.
        parent (`str`, *optional*):
            `repo@tag` it was made from.
        config_name (`str`):
            The configuration it wrote.
    """

    tag: str
    digest: str
    purpose: str
    rows: int
    parent: str | None = None
    config_name: str = "default"


def _known(kind: type[_Part], found: Mapping[str, Any]) -> _Part:
    """A part of a record from JSON values, without what only a newer version knows."""
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in found.items() if name in names})


def _splits(found: Mapping[str, Any]) -> dict[str, SplitRecord]:
    return {name: _known(SplitRecord, split) for name, split in found.items()}


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """
    What `run.json` holds.

    Args:
        tag (`str`):
            The push, `v1`, `v2` and so on.
        purpose (`str`):
            "train", "holdout" or "eval".
        splits (`dict[str, SplitRecord]`):
            The splits of this push by name.
        digest (`str`):
            Hash over the digests of the splits.
        version (`str`):
            Version of the library that pushed.
        mode (`str`, *optional*):
            What the gate checked the rows as, "rl" or "sft".
        agent (`str`, *optional*):
            The agent the rows are of.
        config_name (`str`, *optional*, defaults to `"default"`):
            The configuration of the dataset.
        parent ([`ParentRecord`], *optional*):
            The push the rows were made from.
        spec (`dict`, *optional*):
            `name`, `sha`, `system_prompt` and `tools` of the agent, when the rows or their run know them.
        policy_versions (`list[str]`):
            Policies that played.
        judges (`list[dict]`):
            Judges that graded, each once.
        run_ids (`list[str]`):
            Runs the rows are from.
        report (`dict`, *optional*):
            The report of the run, see [`~whileai_hf.engine.run_report`].
        gate (`dict`, *optional*):
            The report of the publish gate, its lists cut after 50 entries; `None` when it was skipped.
        scrubbed (`list[str]`):
            Columns that were taken out, or had something taken out of them, before the push.
        dropped (`dict[str, int]`):
            Rows left out of the push, by reason.
        description (`str`):
            What the pusher says about it.
        license (`str`, *optional*):
            Licence of the rows, as the Hub names it.
        language (`list[str]`):
            Languages of the rows.
        others (`dict[str, ConfigRecord]`):
            The other configurations of the repo, which this push left as they were.
        history (`list[HistoryEntry]`):
            Every push of the repo, oldest first, this one last.
        schema (`str`):
            Name and version of this form.
        extra (`dict`):
            Keys of a file that this version does not know; they are written again.

    Examples:
    ```python
    >>> splits = {"train": SplitRecord(4, 2, "ab", ["data/x"])}
    >>> record = RunRecord(tag="v1", purpose="train", splits=splits, digest="cd")
    >>> RunRecord.from_dict(record.to_dict()) == record
    True
    >>> record.rows, record.tasks
    (4, 2)

    ```
    """

    tag: str
    purpose: str
    splits: dict[str, SplitRecord]
    digest: str
    version: str = ""
    mode: str | None = None
    agent: str | None = None
    config_name: str = "default"
    parent: ParentRecord | None = None
    spec: dict[str, Any] | None = None
    policy_versions: list[str] = dataclasses.field(default_factory=list)
    judges: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    run_ids: list[str] = dataclasses.field(default_factory=list)
    report: dict[str, Any] | None = None
    gate: dict[str, Any] | None = None
    scrubbed: list[str] = dataclasses.field(default_factory=list)
    dropped: dict[str, int] = dataclasses.field(default_factory=dict)
    description: str = ""
    license: str | None = None
    language: list[str] = dataclasses.field(default_factory=list)
    others: dict[str, ConfigRecord] = dataclasses.field(default_factory=dict)
    history: list[HistoryEntry] = dataclasses.field(default_factory=list)
    schema: str = SCHEMA
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of all splits."""
        return sum(split.rows for split in self.splits.values())

    @property
    def tasks(self) -> int:
        """Tasks of all splits."""
        return sum(split.tasks for split in self.splits.values())

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values."""
        found = dataclasses.asdict(self)
        extra = found.pop("extra")
        return {"schema": found.pop("schema"), **found, **extra}

    def dumps(self) -> bytes:
        """The bytes of `run.json`."""
        return orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> RunRecord:
        """
        A record from JSON values; keys this version does not know go to `extra`.

        Args:
            found (`Mapping[str, Any]`):
                What `run.json` holds.

        Raises:
            [`DataError`]: It is not such a record.
        """
        names = {field.name for field in dataclasses.fields(cls)} - {"extra"}
        known = {name: value for name, value in found.items() if name in names}
        try:
            known["splits"] = _splits(found["splits"])
            known["others"] = {
                name: _known(ConfigRecord, {**other, "splits": _splits(other["splits"])})
                for name, other in (found.get("others") or {}).items()
            }
            known["history"] = [_known(HistoryEntry, entry) for entry in found.get("history") or []]
            known["parent"] = _known(ParentRecord, found["parent"]) if found.get("parent") else None
            return cls(**known, extra={name: value for name, value in found.items() if name not in names})
        except (AttributeError, KeyError, TypeError) as error:
            raise DataError(
                f"{RUN_FILE} is not a record of a push ({error}); expected the schema {SCHEMA!r}"
            ) from error

    @classmethod
    def loads(cls, content: bytes) -> RunRecord:
        """
        A record from the bytes of `run.json`.

        Args:
            content (`bytes`):
                The file.

        Raises:
            [`DataError`]: It is not JSON, or not such a record.
        """
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{RUN_FILE} is not JSON ({error}); expected the schema {SCHEMA!r}") from error
        if not isinstance(found, dict):
            raise DataError(f"{RUN_FILE} holds a {type(found).__name__}; expected the schema {SCHEMA!r}")
        return cls.from_dict(found)
