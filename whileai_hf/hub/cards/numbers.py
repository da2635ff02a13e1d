"""What a card says about the rows of a split: the measuring functions' own reports, asked once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any

from whileai_hf.measure.passes import GroupSignal, PassAt, group_signal, pass_at
from whileai_hf.measure.passes.codes import TASK_COLUMNS, column_codes, task_codes
from whileai_hf.measure.summaries import MetricSummary, marker_summary
from whileai_hf.rows import RowView, scrub, view
from whileai_hf.rows.identity import TaskKey
from whileai_hf.rows.view import Source


# What makes a row a rollout and not a task.
_PLAYED = ("messages", "steps", "final_text")
# Rows whose tool calls are counted where no run report says it: reading steps is the slow part of reading rows.
_STEPS_READ = 2000
# Values of a column named on a card.
_NAMED = 12


@dataclasses.dataclass(frozen=True)
class SplitNumbers:
    """
    One split.

    Args:
        name (`str`):
            Its name.
        n_rows (`int`):
            Rows.
        tasks (`frozenset`, *optional*):
            Keys of its tasks; `None` where nothing names them.
        played (`bool`):
            Whether the rows are rollouts; else they are tasks.
        columns (`tuple[str, ...]`):
            Its columns.
        passes ([`~whileai_hf.measure.passes.PassAt`], *optional*):
            Pass rates; `None` where nothing is graded.
        signal ([`~whileai_hf.measure.passes.GroupSignal`], *optional*):
            Groups by what their rewards say.
        markers ([`~whileai_hf.measure.summaries.MetricSummary`], *optional*):
            Markers; `None` without one.
        tiers (`dict[str, int]`):
            Rows by the kind of situation.
        tools_called (`dict[str, int]`):
            Calls by tool in the first rows, `n_read` of them.
        n_read (`int`):
            Rows whose calls were counted.
        example (`dict`):
            The first row, what is shown of it.
    """

    name: str
    n_rows: int
    tasks: frozenset[TaskKey] | None
    played: bool
    columns: tuple[str, ...]
    passes: PassAt | None
    signal: GroupSignal | None
    markers: MetricSummary | None
    tiers: dict[str, int]
    tools_called: dict[str, int]
    n_read: int
    example: dict[str, Any]

    @property
    def n_tasks(self) -> int | None:
        """Distinct tasks; `None` where nothing names them."""
        return None if self.tasks is None else len(self.tasks)


def count_tasks(splits: Iterable[SplitNumbers]) -> int | None:
    """Distinct tasks of several splits together; `None` where nothing names those of one."""
    together: set[TaskKey] = set()
    for split in splits:
        if split.tasks is None:
            return None
        together |= split.tasks
    return len(together)


def read_split(name: str, data: Source | RowView) -> SplitNumbers:
    """
    The numbers of one split.

    Args:
        name (`str`):
            Its name.
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Its rows; none is fine.
    """
    if not isinstance(data, RowView) and not isinstance(data, str) and _is_empty(data):
        return SplitNumbers(name, 0, frozenset(), False, (), None, None, None, {}, {}, 0, {})
    rows = view(data)
    named = any(rows.has(column) for column in TASK_COLUMNS)
    graded = rows.has("reward") and named
    passes = pass_at(rows) if graded else None
    if passes is not None and not passes.n_scored:
        passes = None
    markers = marker_summary(rows) if rows.has("markers") and named else None
    calls, read = _calls(rows)
    return SplitNumbers(
        name=name,
        n_rows=len(rows),
        tasks=frozenset(task_codes(rows).keys) if named else None,
        played=any(rows.has(column) for column in _PLAYED),
        columns=rows.columns,
        passes=passes,
        signal=None if passes is None else group_signal(rows),
        markers=markers if markers is not None and markers.metrics else None,
        tiers=_counts(rows, "tier"),
        tools_called=calls,
        n_read=read,
        example=_example(rows),
    )


def _is_empty(data: Any) -> bool:
    return len(data) == 0


def _counts(rows: RowView, name: str) -> dict[str, int]:
    """Rows by the value of a column of a few words, the commonest first."""
    if not rows.has(name):
        return {}
    codes = column_codes(rows, name)
    counted = Counter(codes.index.tolist())
    found = {str(codes.keys[code]): count for code, count in counted.most_common() if codes.keys[code] is not None}
    return dict(islice(found.items(), _NAMED))


def _calls(rows: RowView) -> tuple[dict[str, int], int]:
    if not rows.has("steps"):
        return {}, 0
    counted: Counter[str] = Counter()
    read = 0
    for row in islice(rows.rows(["steps"]), _STEPS_READ):
        read += 1
        steps = row.get("steps")
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and isinstance(step.get("tool"), str):
                counted[step["tool"]] += 1
    return dict(counted.most_common()), read


def _example(rows: RowView) -> dict[str, Any]:
    shown = [name for name in ("prompt", "final_text", "tools", "reward") if rows.has(name)]
    return dict(scrub(next(rows.rows(shown)))) if shown else {}
