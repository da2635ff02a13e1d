"""The report of a reward check: a table of what was paid, and what follows from it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import Report
from whileai_hf.stats import Interval


ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)
# Characters of a printed line, and columns up to which the table shows intervals.
_WIDTH, _WIDE = 118, 4
_EXAMPLE = 70
# What several probes of one kind show together.
_TOGETHER = {
    "exploitable": "replies that deserve nothing are paid",
    "lenient": "replies that deny the right answer are paid",
}


@dataclass(frozen=True)
class Finding(Report):
    """One thing that is wrong with a reward, or worth knowing."""

    function: str
    """Name of the reward; `total` for the sum a trainer optimises."""
    kind: str
    """What is wrong: `exploitable`, `lenient`, `strict`, `blind`, `constant`, `length`, `crash`, `order`, ..."""
    probe: str | None
    """The reply that showed it."""
    severity: str
    """`error`: do not train on it; `warning`: look at it; `info`: know it."""
    says: str
    """What was seen, in words."""
    what_to_do: str
    rate: float | None = None
    """Share of the tasks on which it showed."""
    n: int | None = None
    """Tasks it was tried on."""
    ci95: Interval | None = None
    """Wilson interval of the rate."""
    example: str | None = None
    """A reply that showed it."""


@dataclass(frozen=True)
class Cell(Report):
    """How one reward paid for one way of replying."""

    probe: str
    right: bool
    """Whether the replies are right and must be paid."""
    function: str
    paid: int
    n: int
    """Replies with a verdict."""
    unjudged: int
    rate: float | None
    ci95: Interval | None
    mean_reward: float | None


@dataclass(frozen=True)
class RewardCheck(Report):
    """
    What [`check_reward`] returns.

    Args:
        ok (`bool`):
            No finding is an error.
        findings (`list[Finding]`):
            What is wrong, errors first.
        table (`list[Cell]`):
            One cell per way of replying and reward, in the order of the probes.
        functions (`list[dict]`):
            For each reward `name`, `style` (how it is called), `awaits`, `paid_from` (the reward that counts as
            paid) and `right_reply` (what a right reply earns; `None` when unknown).
        n_tasks (`int`):
            Tasks probed.
        n_calls (`int`):
            Calls of reward functions.
        n_replies (`int`):
            Replies scored in them.
        notes (`list[str]`):
            What could not be checked, and why.
    """

    ok: bool
    findings: list[Finding]
    table: list[Cell]
    functions: list[dict[str, Any]]
    n_tasks: int
    n_calls: int
    n_replies: int
    notes: list[str]

    def __str__(self) -> str:
        counts = {level: sum(item.severity == level for item in self.findings) for level in SEVERITIES}
        told = ", ".join(
            f"{count} {level}{'s' * (count != 1 and level != INFO)}" for level, count in counts.items() if count
        )
        head = (
            f"reward check: {'ok' if self.ok else 'NOT OK'} ({told or 'no findings'}); {_many(self.n_tasks, 'task')}, "
            f"{_many(self.n_replies, 'reply', 'replies')} scored in {_many(self.n_calls, 'call')}"
        )
        return "\n".join([head, *_table(self), *_findings(self.findings), *(f"note: {note}" for note in self.notes)])


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"


def _table(report: RewardCheck) -> Iterator[str]:
    names = list(dict.fromkeys(cell.function for cell in report.table))
    if not names:
        return
    flagged = {(item.function, item.probe): item.severity for item in reversed(report.findings)}
    cells = {(cell.probe, cell.function): cell for cell in report.table}
    wide = len(names) <= _WIDE
    label = max(len(cell.probe) for cell in report.table)
    width = max(19 if wide else 8, *(len(name) for name in names)) + 2
    for right, title in ((False, "must not pay"), (True, "must pay")):
        probes = list(dict.fromkeys(cell.probe for cell in report.table if cell.right == right))
        if not probes:
            continue
        yield ""
        yield f"{title:<{label}}  " + "".join(f"{name:<{width}}" for name in names).rstrip()
        for probe in probes:
            shown = (_cell(cells.get((probe, name)), flagged.get((name, probe)), wide) for name in names)
            yield f"{probe:<{label}}  " + "".join(f"{text:<{width}}" for text in shown).rstrip()


def _cell(cell: Cell | None, severity: str | None, wide: bool) -> str:
    if cell is None or cell.ci95 is None:
        return "-" if cell is None else "no verdict"
    mark = {ERROR: " !", WARNING: " ?"}.get(severity or "", "")
    interval = f" {cell.ci95[0]:.2f}..{cell.ci95[1]:.2f}" if wide else ""
    return f"{cell.paid}/{cell.n}{interval}{mark}"


def _findings(findings: list[Finding]) -> Iterator[str]:
    """One line per reward, kind and severity; what several probes showed is told once."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for item in findings:
        groups.setdefault((item.severity, item.function, item.kind), []).append(item)
    if groups:
        yield ""
    for (severity, function, kind), items in groups.items():
        first = items[0]
        probes = ", ".join(f"{item.probe}{_share(item)}" for item in items if item.probe)
        example = ""
        if first.example and severity != INFO:
            text = first.example if len(first.example) <= _EXAMPLE else first.example[: _EXAMPLE - 3] + "..."
            example = f"; e.g. {text}"
        says = _TOGETHER.get(kind, first.says) if len(items) > 1 else first.says
        line = f"{severity:<7} {function}: {kind}: {says}" + (f" ({probes}{example})" if probes else "")
        yield from textwrap.wrap(f"{line}. {first.what_to_do}", _WIDTH, subsequent_indent=" " * 8)


def _share(item: Finding) -> str:
    return "" if item.rate is None or item.n is None else f" {round(item.rate * item.n)}/{item.n}"
