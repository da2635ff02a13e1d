"""What an export took in, gave out and left out. It travels in the Dataset's `info.description`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from datasets import Dataset

from whileai_hf.errors import DataError
from whileai_hf.export.reasons import Reason
from whileai_hf.rows import Report, dumps, loads


# datasets joins descriptions like this when it concatenates.
_JOINT = "\n\n"
_PREFIX = '{"export":'


@dataclasses.dataclass(frozen=True)
class ExportReport(Report):
    """
    Report of an export, found again with [`export_report`].

    `n_input` = `n_used` + all `left_out` + all `unpaired`: rows given, in the `unit` they were given in. Rollouts and
    pairs that are rows of their own have `n_rows` = `n_used`; `n_used` = `n_rows` + `collapsed` where rollouts share a
    prompt, two rollouts make a row where pairs were made of them, a pair makes two rows of `"kto"`, and with
    `unroll=True` a rollout gives several.
    """

    kind: str
    n_input: int
    """Rows given."""
    n_rows: int
    """Training rows made of them."""
    n_used: int
    """Rows given of which at least one training row was made."""
    collapsed: int
    """Rollouts that share a prompt with an earlier one; 0 where every rollout is a row."""
    left_out: dict[str, int]
    """Rows given by the reason why they are not trained on."""
    first_left_out: dict[str, int | None]
    """Position of the first of them; among the pairs, where these were made of rollouts."""
    columns_dropped: list[str]
    """Columns of the rows that are neither part of the row schema nor of the export."""
    trained_messages: int | None = None
    """Messages with loss; `None` for kinds whose completions are sampled while training."""
    masked_messages: int | None = None
    """Messages without."""
    trained_tokens: int | None = None
    """Tokens with loss; `None` without a tokenizer, as the other counts of tokens."""
    masked_tokens: int | None = None
    longest_row: int | None = None
    """Tokens of the longest row."""
    truncated_tool_messages: int = 0
    truncated_tool_chars: int = 0
    split_rows: int = 0
    """Rows in which turns with several calls, or text beside a call, became consecutive turns."""
    tool_call_roundtrip: dict[str, Any] = dataclasses.field(default_factory=dict)
    """`encoding` of arguments (`"dict"` or `"json_string"`), `calls` read back, `invalid` of them."""
    notes: list[str] = dataclasses.field(default_factory=list)
    unit: str = "rollouts"
    """What was given, and what `n_input`, `n_used`, `left_out` and `unpaired` count: `"rollouts"` or `"pairs"`."""
    unpaired: dict[str, int] = dataclasses.field(default_factory=dict)
    """Of rollouts that pairs were made of, those in no pair, by the reason of [`build_preference_pairs`]."""

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.n_rows} rows from {self.n_input} {self.unit}"]
        if any(self.unpaired.values()):
            lines[0] += f", {sum(self.unpaired.values())} of which are in no pair"
        if self.collapsed:
            lines[0] += f", {self.collapsed} of which repeat a prompt"
        for reason in Reason:
            if self.left_out.get(reason.value):  # a report of an older version knows fewer reasons
                first = self.first_left_out[reason.value]
                lines.append(f"left out {self.left_out[reason.value]}: {reason.words} (first: row {first})")
        if self.trained_messages is not None:
            lines.append(f"messages: {self.trained_messages} trained, {self.masked_messages} masked")
        if self.trained_tokens is not None:
            lines.append(
                f"tokens: {self.trained_tokens} trained, {self.masked_tokens} masked, longest row {self.longest_row}"
            )
        if self.truncated_tool_messages:
            lines.append(f"cut {self.truncated_tool_chars} chars of {self.truncated_tool_messages} tool messages")
        if self.split_rows:
            lines.append(f"split turns in {self.split_rows} rows")
        if self.columns_dropped:
            lines.append(f"columns dropped: {', '.join(self.columns_dropped)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @property
    def n_left_out(self) -> int:
        """Rows given that are left out, for any reason; not those that are in no pair."""
        return sum(self.left_out.values())


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
    messages: 1 trained, 1 masked

    ```
    """
    found = _reports((data.info.description or "").split(_JOINT))
    if len(found) != 1:
        what = "several export reports" if found else "no export report"
        raise DataError(
            f"the Dataset carries {what}; pass what to_trl returned (files other than saved Datasets lose it)"
        )
    return found[0]
