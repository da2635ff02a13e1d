"""Counts an export keeps while it goes through rows, batch after batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.export.reasons import Reason
from whileai_hf.export.report import ExportReport


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

    def sentence(self, each: int = 1) -> str:
        """All reasons in one line, where `each` row that went through stands for as many rows given."""
        found = [(each * self.counts[reason.value], reason, self.first[reason.value]) for reason in Reason]
        return "; ".join(f"{count}: {reason.words} (first: row {first})" for count, reason, first in found if count)


@dataclass
class Tally:
    """Everything a report counts. `None` stays `None` for what a kind does not have."""

    left_out: LeftOut = field(default_factory=LeftOut)
    n_input: int = 0
    n_rows: int = 0
    n_used: int = 0
    collapsed: int = 0
    columns_dropped: list[str] = field(default_factory=list)
    trained_messages: int | None = None
    masked_messages: int | None = None
    trained_tokens: int | None = None
    masked_tokens: int | None = None
    longest_row: int | None = None
    truncated_tool_messages: int = 0
    truncated_tool_chars: int = 0
    split_rows: int = 0
    calls: int = 0
    invalid_calls: int = 0
    encoding: str = "dict"
    unannounced: int = 0
    """Rows that call tools they carry no schemas of."""
    results_in_loss: int = 0
    """Rows whose trainer has no mask for the tool results inside a completion."""
    skipped_samples: int = 0
    """Turns of unrolled rows that are left out; the rest of their row is kept."""
    unit: str = "rollouts"
    """What the rows are that go through."""
    unpaired: dict[str, int] | None = None
    """Rollouts in no pair by reason, where rollouts were given and pairs of two go through."""
    labels: set[bool] = field(default_factory=set)
    """Labels of KTO rows."""
    notes: list[str] = field(default_factory=list)

    @property
    def each(self) -> int:
        """Rows given for each that goes through: pairs that were made here count as two rollouts."""
        return 1 if self.unpaired is None else 2

    def count_messages(self, trained: int, masked: int) -> None:
        """Counts messages of one row."""
        self.trained_messages = (self.trained_messages or 0) + trained
        self.masked_messages = (self.masked_messages or 0) + masked

    def count_tokens(self, trained: int, total: int) -> None:
        """Counts tokens of one row."""
        self.trained_tokens = (self.trained_tokens or 0) + trained
        self.masked_tokens = (self.masked_tokens or 0) + total - trained
        self.longest_row = max(self.longest_row or 0, total)

    @property
    def mark(self) -> str:
        """What JSON text shows once per call whose arguments are encoded as is meant; in a string it is escaped."""
        return '"arguments":{' if self.encoding == "dict" else '"arguments":"'

    def check_calls(self, n_calls: int, written: int) -> None:
        """Counts calls, and those of them that are not in the text, which shows the mark `written` times."""
        self.calls += n_calls
        self.invalid_calls += max(0, n_calls - written)

    def drop_columns(self, names: Iterable[str]) -> None:
        """Names columns that are left behind, each once."""
        self.columns_dropped = list(dict.fromkeys([*self.columns_dropped, *names]))

    def skip_sample(self, reason: Reason) -> None:
        """Counts one turn of an unrolled row that is left out."""
        self.skipped_samples += 1
        self.note(f"turns of unrolled rows are left out: {reason.words}")

    def note(self, sentence: str) -> None:
        """Adds a note once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def _all_notes(self) -> list[str]:
        found = list(self.notes)
        if len(self.labels) == 1:
            (label,) = self.labels
            found.append(f"every label is {label}; KTO learns from the difference between wanted and unwanted rows")
        if self.skipped_samples:
            found.append(f"{self.skipped_samples} turns of unrolled rows are left out")
        if self.unannounced:
            found.append(
                f"{self.unannounced} rows call tools but carry no schemas, so the template shows none; pass tools="
            )
        if self.results_in_loss:
            found.append(
                f"{self.results_in_loss} rows have tool results inside a completion, and this trainer has no mask for "
                'them; cut pairs at the first diverging turn, or use mask_mode="final"'
            )
        if self.longest_row is not None and self.trained_messages is not None:
            found.append(f"pass max_length={self.longest_row} or more to the trainer's config: it cuts longer rows")
        return found

    def report(self, kind: str) -> ExportReport:
        """The report of what was counted."""
        each, unpaired = self.each, self.unpaired or {}
        gate: dict[str, Any] = {"encoding": self.encoding, "calls": self.calls, "invalid": self.invalid_calls}
        return ExportReport(
            kind=kind,
            n_input=each * self.n_input + sum(unpaired.values()),
            n_rows=self.n_rows,
            n_used=each * self.n_used,
            collapsed=self.collapsed,
            left_out={name: each * count for name, count in self.left_out.counts.items()},
            first_left_out=self.left_out.first,
            columns_dropped=self.columns_dropped,
            trained_messages=self.trained_messages,
            masked_messages=self.masked_messages,
            trained_tokens=self.trained_tokens,
            masked_tokens=self.masked_tokens,
            longest_row=self.longest_row,
            truncated_tool_messages=self.truncated_tool_messages,
            truncated_tool_chars=self.truncated_tool_chars,
            split_rows=self.split_rows,
            tool_call_roundtrip=gate,
            notes=self._all_notes(),
            unit=self.unit if self.unpaired is None else "rollouts",
            unpaired=unpaired,
        )
