"""What a push returns."""

from __future__ import annotations

import dataclasses

from whileai_hf.rows import Report
from whileai_hf.select.publishing import GateReport


@dataclasses.dataclass(frozen=True)
class PushResult(Report):
    """
    A push that is on the Hub.

    Args:
        repo (`str`):
            Dataset repo.
        tag (`str`):
            Tag of this push: `load_dataset(repo, split=..., revision=tag)` is these rows.
        commit (`str`):
            The commit.
        digest (`str`):
            Hash of the rows.
        url (`str`):
            Page of the repo at this push.
        splits (`dict[str, int]`):
            Rows by split.
        gate ([`~whileai_hf.select.GateReport`], *optional*):
            What the gate found; `None` when it was skipped.
        scrubbed (`list[str]`):
            What was taken out of the rows, by column.
        warnings (`list[str]`):
            What may be wrong with the rows.
    """

    repo: str
    tag: str
    commit: str
    digest: str
    url: str
    splits: dict[str, int]
    gate: GateReport | None
    scrubbed: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        rows = ", ".join(f"{name} {count}" for name, count in self.splits.items())
        lines = [f"pushed {self.repo}@{self.tag} ({rows} rows): {self.url}"]
        lines += [f"taken out: {text}" for text in self.scrubbed]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])
