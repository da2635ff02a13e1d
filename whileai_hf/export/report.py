"""What an export took in, gave out and left out. It travels in the Dataset's `info.description`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from datasets import Dataset

from whileai_hf.errors import DataError
from whileai_hf.export.reasons import Reason
from whileai_hf.rows import Report, dumps, loads


# datasets joins descriptions like this when it concatenates.
_JOINT = "\n\n"
_PREFIX = '{"export":'


@dataclasses.dataclass(frozen=True)
class ExportReport(Report):
    """Report of an export, found again with [`export_report`]; `n_input` = `n_rows` + `collapsed` + all `left_out`."""

    kind: str
    n_input: int
    """Rollouts given."""
    n_rows: int
    """Training rows made of them."""
    collapsed: int
    """Rollouts that share a prompt with an earlier one; 0 where every rollout is a row."""
    left_out: dict[str, int]
    """Rollouts by the reason why they are not trained on."""
    first_left_out: dict[str, int | None]
    """Position of the first of them."""
    columns_dropped: list[str]
    """Columns of the rows that are neither part of the row schema nor of the export."""
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.n_rows} rows from {self.n_input} rollouts"]
        if self.collapsed:
            lines[0] += f", {self.collapsed} of which repeat a prompt"
        for reason in Reason:
            if self.left_out[reason.value]:
                first = self.first_left_out[reason.value]
                lines.append(f"left out {self.left_out[reason.value]}: {reason.words} (first: row {first})")
        if self.columns_dropped:
            lines.append(f"columns dropped: {', '.join(self.columns_dropped)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @property
    def n_left_out(self) -> int:
        """Rollouts left out, for any reason."""
        return sum(self.left_out.values())


class LeftOut:
    """Counts rows that are left out."""

    def __init__(self) -> None:
        self.counts = {reason.value: 0 for reason in Reason}
        self.first: dict[str, int | None] = {reason.value: None for reason in Reason}

    def add(self, reason: Reason, index: int, count: int = 1) -> None:
        """Counts `count` rows, the first of them at `index`."""
        self.counts[reason.value] += count
        if self.first[reason.value] is None:
            self.first[reason.value] = index

    def sentence(self) -> str:
        """All reasons in one line."""
        found = [(self.counts[reason.value], reason, self.first[reason.value]) for reason in Reason]
        return "; ".join(f"{count}: {reason.words} (first: row {first})" for count, reason, first in found if count)


@dataclasses.dataclass(frozen=True)
class Export:
    """What one kind of export hands to [`to_trl`]: the rows, and the parts of their report."""

    rows: Dataset
    collapsed: int
    left_out: LeftOut
    columns_dropped: list[str]
    notes: list[str]

    def report(self, kind: str, n_input: int) -> ExportReport:
        """The report."""
        return ExportReport(
            kind=kind,
            n_input=n_input,
            n_rows=len(self.rows),
            collapsed=self.collapsed,
            left_out=self.left_out.counts,
            first_left_out=self.left_out.first,
            columns_dropped=self.columns_dropped,
            notes=self.notes,
        )


def describe(report: ExportReport, source: object) -> str:
    """The description of an exported Dataset: what the source's said (its run report), then the export's report."""
    before = source.info.description if isinstance(source, Dataset) else ""
    kept = [text for text in (before or "").split(_JOINT) if text and not text.startswith(_PREFIX)]
    return _JOINT.join([*kept, dumps({"export": report.to_dict()}).decode()])


def _reports(documents: Iterable[str]) -> list[ExportReport]:
    return [ExportReport(**loads(text)["export"]) for text in documents if text.startswith(_PREFIX)]


def export_report(data: Dataset) -> ExportReport:
    """
    The report of the export that made a Dataset.

    Args:
        data (`datasets.Dataset`):
            What [`to_trl`] returned, also after `select`, `filter` or `save_to_disk`.

    Returns:
        [`ExportReport`]: Counts of rows made and left out.

    Raises:
        [`DataError`]: The Dataset carries no report (Parquet and JSONL files do not), or several.

    Examples:
    ```python
    >>> from whileai_hf.export import export_report, to_trl
    >>> rows = [{"prompt": "hi", "final_text": "hello"}, {"prompt": "hi", "final_text": None}]
    >>> print(export_report(to_trl(rows, "sft")))
    sft: 1 rows from 2 rollouts
    left out 1: no final answer (first: row 1)

    ```
    """
    found = _reports((data.info.description or "").split(_JOINT))
    if len(found) != 1:
        what = "several export reports" if found else "no export report"
        raise DataError(
            f"the Dataset carries {what}; pass what to_trl returned (files other than saved Datasets lose it)"
        )
    return found[0]
