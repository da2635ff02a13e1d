"""Where an agent fails: failing rollouts by what they have in common and passing ones have not.

They are counted by the first step that went wrong (the first call whose result is a failure, or that is made twice in
a row), by the tools called, the faults that fired, the values of the scenario's axes, and the failure class a judge
gave. Each is compared with the passing rows: what goes wrong in both alike explains nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.failures.features import COLUMNS, KINDS, labels_of
from whileai_hf.measure.knobs import check_count, check_threshold
from whileai_hf.measure.passes.codes import TASK_COLUMNS, FetchedView
from whileai_hf.measure.passes.rewards import GRADE_FIRST, read_rewards
from whileai_hf.measure.passes.stops import BoolArray, faulty
from whileai_hf.rows import Report, RowView, task_keys, view
from whileai_hf.rows.view import Source
from whileai_hf.score.passing import PASS_REWARD
from whileai_hf.stats import Interval, wilson


# Clusters of each kind that the printed report shows.
_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class Cluster(Report):
    """
    Rollouts with one thing in common.

    Args:
        kind (`str`):
            What it is: `first_wrong_step`, `tool`, `fault`, `axis` or `failure_class`.
        value (`str`):
            Which one, such as `"get_order: timeout"` or `"stance=angry"`.
        n_failing (`int`):
            Failing rows that have it.
        n_passing (`int`):
            Passing rows that have it.
        n_tasks (`int`):
            Tasks of the failing ones; few tasks are weak evidence however many rows there are.
        share (`float`):
            Share of all failing rows.
        share_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval over rows.
        passing_share (`float`, *optional*):
            Share of all passing rows that have it; `None` when no row passed.
        lift (`float`, *optional*):
            `share / passing_share`: how many times as frequent among failures; `None` where no passing row has it.
        failure_rate (`float`):
            Failures among the rows that have it.
        failure_rate_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval over rows.
        excess (`float`):
            Failures beyond those expected at the overall failure rate; clusters are ordered by it.
        examples (`list[dict]`):
            `{"row", "task"}` of failing rows, one per task first.
    """

    kind: str
    value: str
    n_failing: int
    n_passing: int
    n_tasks: int
    share: float
    share_ci95: Interval | None
    passing_share: float | None
    lift: float | None
    failure_rate: float
    failure_rate_ci95: Interval | None
    excess: float
    examples: list[dict[str, Any]]

    def __str__(self) -> str:
        low, high = self.share_ci95 or (0.0, 1.0)
        lift = "no passing row has it" if self.lift is None else f"lift {self.lift:.1f}"
        rows = ", ".join(str(one["row"]) for one in self.examples[:3])
        return (
            f"{self.value}: {self.n_failing} failures ({100 * self.share:.0f} % [{100 * low:.0f}, {100 * high:.0f}]), "
            f"{lift}, {self.n_tasks} tasks; rows {rows}"
        )


@dataclasses.dataclass(frozen=True)
class Diagnosis(Report):
    """
    What [`diagnose`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_failing (`int`):
            Rows with a reward below the threshold.
        n_passing (`int`):
            Rows with a reward at or above it.
        n_unjudged (`int`):
            Rows without a verdict; they are left out.
        n_user_faults (`int`):
            Rows whose simulated user was at fault; they are left out.
        failure_rate (`float`, *optional*):
            Failing among judged rows; `None` when none is judged.
        clusters (`list[Cluster]`):
            What failing rows have in common, of all kinds, those with most failures beyond the overall rate first. A
            row is in one cluster of `first_wrong_step` and in as many of the others as apply.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against them.
    """

    n_rows: int
    n_failing: int
    n_passing: int
    n_unjudged: int
    n_user_faults: int
    failure_rate: float | None
    clusters: list[Cluster]
    notes: list[str]
    warnings: list[str]

    def of(self, kind: str) -> list[Cluster]:
        """The clusters of one kind."""
        return [cluster for cluster in self.clusters if cluster.kind == kind]

    def __str__(self) -> str:
        lines = [f"failures: {self.n_failing} of {self.n_failing + self.n_passing} judged rows"]
        for kind in KINDS:
            found = self.of(kind)[:_SHOWN]
            if found:
                lines += [f"  {kind.replace('_', ' ')}", *(f"    {cluster}" for cluster in found)]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


class _Tally:
    """Rows that have a label; `by_task` holds some of the failing ones of every task."""

    __slots__ = ("by_task", "failing", "passing")

    def __init__(self) -> None:
        self.failing: int = 0
        self.passing: int = 0
        self.by_task: dict[Any, list[int]] = {}

    def examples(self, most: int) -> list[dict[str, Any]]:
        """The first failing row of every task, then the second, up to `most`."""
        deep = max(map(len, self.by_task.values()), default=0)
        picked = [
            {"row": rows[depth], "task": task}
            for depth in range(min(deep, most))
            for task, rows in self.by_task.items()
            if depth < len(rows)
        ]
        return picked[:most]


def diagnose(
    data: Source,
    *,
    threshold: float = PASS_REWARD,
    kinds: Sequence[str] = KINDS,
    examples: int = 5,
    min_failing: int = 1,
) -> Diagnosis:
    """
    What failing rollouts have in common and passing ones have not.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rollouts.
        threshold (`float`, *optional*, defaults to `1.0`):
            A reward below it is a failure.
        kinds (`Sequence[str]`, *optional*):
            Which of `first_wrong_step`, `tool`, `fault`, `axis`, `failure_class` to count.
        examples (`int`, *optional*, defaults to `5`):
            Most example rows of a cluster, from as many tasks as there are.
        min_failing (`int`, *optional*, defaults to `1`):
            Smaller clusters are left out.

    Returns:
        [`Diagnosis`]: The clusters; intervals are Wilson's over rows, and rollouts of one task are alike, so read them
        beside the number of tasks.

    Raises:
        [`ConfigurationError`]: Another kind, a negative count, or a threshold that is no number.
        [`MissingColumnError`]: No row has a reward.

    Examples:
    ```python
    >>> from whileai_hf.measure.failures import diagnose
    >>> def went(status, reward):
    ...     step = {"tool": "get_order", "arguments": {}, "result": {"status": status}}
    ...     return {"prompt": "Where is it?", "steps": [step], "reward": reward}
    >>> found = diagnose([went("timeout", 0), went("timeout", 0), went("timeout", 1), went("ok", 1)])
    >>> worst = found.clusters[0]
    >>> worst.value, worst.n_failing, worst.lift
    ('get_order: timeout', 2, 2.0)

    ```
    """
    limit = check_threshold(threshold)
    _check(kinds, examples, min_failing)
    rows = view(data)
    fetched = FetchedView(rows, ("reward", "sim_ok", *TASK_COLUMNS))
    rewards, spoilt = read_rewards(fetched), faulty(fetched)
    judged = rewards.scored & ~spoilt
    failing = judged & (rewards.values < limit)
    n_failing, n_passing = int(np.count_nonzero(failing)), int(np.count_nonzero(judged & ~failing))
    tallies = _tallies(rows, fetched, judged, failing, set(kinds), examples) if n_failing else {}
    clusters = [
        _cluster(label, tally, n_failing, n_passing, examples)
        for label, tally in tallies.items()
        if tally.failing >= max(min_failing, 1)
    ]
    unjudged = int(np.count_nonzero(~rewards.scored & ~spoilt))
    return Diagnosis(
        n_rows=len(rows),
        n_failing=n_failing,
        n_passing=n_passing,
        n_unjudged=unjudged,
        n_user_faults=int(np.count_nonzero(spoilt)),
        failure_rate=n_failing / (n_failing + n_passing) if n_failing + n_passing else None,
        clusters=sorted(clusters, key=lambda one: (-one.excess, -one.n_failing, KINDS.index(one.kind), one.value)),
        notes=_notes(len(rows), unjudged, int(np.count_nonzero(spoilt)), n_failing, n_passing) + _unread(rows, kinds),
        warnings=[],
    )


def _check(kinds: Any, examples: Any, min_failing: Any) -> None:
    listed = isinstance(kinds, Collection) and not isinstance(kinds, str)
    if not listed or not kinds or any(kind not in KINDS for kind in kinds):
        raise ConfigurationError(f"kinds={kinds!r} is not a list of what to count; pick from {', '.join(KINDS)}")
    check_count("examples", examples)
    check_count("min_failing", min_failing)


def _tallies(
    rows: RowView, fetched: RowView, judged: BoolArray, failing: BoolArray, kinds: set[str], examples: int
) -> dict[tuple[str, str], _Tally]:
    found: dict[tuple[str, str], _Tally] = {}
    tasks = task_keys(fetched)
    for index, labels in _labels(rows, judged.tolist()):
        failed = bool(failing[index])
        for label in labels:
            if label[0] not in kinds:
                continue
            tally = found.setdefault(label, _Tally())
            if failed:
                tally.failing += 1
                shown = tally.by_task.setdefault(tasks[index], [])
                if len(shown) < examples:
                    shown.append(index)
            else:
                tally.passing += 1
    return found


def _labels(rows: RowView, judged: list[bool]) -> Iterator[tuple[int, set[tuple[str, str]]]]:
    names = [name for name in (*COLUMNS, *(() if rows.has("steps") else ("messages",))) if rows.has(name)]
    calls = _tells_calls(rows)
    for index, row in enumerate(rows.rows(names) if names else [{} for _ in judged]):
        if judged[index]:
            yield index, {label for label in labels_of(row) if calls or label[0] != "first_wrong_step"}


def _tells_calls(rows: RowView) -> bool:
    """Whether rows say what was called; where none does, that no call was made is not known."""
    return rows.has("steps") or rows.has("messages")


def _unread(rows: RowView, kinds: Sequence[str]) -> list[str]:
    if _tells_calls(rows) or not {"first_wrong_step", "tool"} & set(kinds):
        return []
    return ["the rows have neither steps nor messages, so the calls they made are not known"]


def _cluster(label: tuple[str, str], tally: _Tally, n_failing: int, n_passing: int, examples: int) -> Cluster:
    kind, value = label
    total = tally.failing + tally.passing
    share = tally.failing / n_failing
    passing_share = tally.passing / n_passing if n_passing else None
    return Cluster(
        kind=kind,
        value=value,
        n_failing=tally.failing,
        n_passing=tally.passing,
        n_tasks=len(tally.by_task),
        share=share,
        share_ci95=wilson(tally.failing, n_failing),
        passing_share=passing_share,
        lift=share / passing_share if passing_share else None,
        failure_rate=tally.failing / total,
        failure_rate_ci95=wilson(tally.failing, total),
        excess=tally.failing - total * n_failing / (n_failing + n_passing),
        examples=tally.examples(examples),
    )


def _notes(total: int, unjudged: int, spoilt: int, failing: int, passing: int) -> list[str]:
    notes = []
    if unjudged == total:
        notes.append(f"not graded: none of the {total} rows has a reward; {GRADE_FIRST}")
    elif unjudged:
        notes.append(f"{unjudged} of {total} rows have no verdict; they are left out")
    if spoilt:
        notes.append(f"{spoilt} of {total} rows failed by the simulated user (sim_ok is false); they are left out")
    if failing and not passing:
        notes.append("no row passed, so nothing tells what is common to failures only: lifts are not defined")
    if failing and passing:
        notes.append(
            "many clusters are compared at once; take the top ones as where to look, and confirm them on new rollouts"
        )
    return notes
