"""The numbers of a card: pass rates with their intervals, what there is to learn, and markers."""

from __future__ import annotations

from collections.abc import Sequence

from whileai_hf.hub.cards.figures import Figure
from whileai_hf.hub.cards.markdown import bullets, code, prose, table
from whileai_hf.hub.cards.numbers import SplitNumbers, count_tasks
from whileai_hf.measure.passes import PassAt
from whileai_hf.measure.passes.report import number
from whileai_hf.stats import Interval


# Markers in the table.
_MOST_MARKERS = 40


def with_interval(value: float | None, interval: Interval | None) -> str:
    """A rate as `pass_at` prints it."""
    return number(value) + ("" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]")


def split_table(splits: Sequence[SplitNumbers]) -> str:
    """How many rows and tasks each split holds, and whether they share tasks."""
    rows = []
    for split in splits:
        graded = split.passes.n_scored if split.passes is not None else 0
        tasks = "n/a" if split.n_tasks is None else f"{split.n_tasks:,}"
        kind = "rollouts" if split.played else "tasks"
        rows.append([code(split.name), kind, f"{split.n_rows:,}", tasks, f"{graded:,}"])
    counted = table(["Split", "Rows are", "Rows", "Tasks", "Graded"], rows)
    together = count_tasks(splits)
    if len(splits) < 2 or together is None:
        return counted
    shared = sum(split.n_tasks or 0 for split in splits) - together
    if not shared:
        return f"{counted}\n\nEvery task is wholly in one split."
    return (
        f"{counted}\n\n**{shared:,} of {together:,} tasks are in more than one split**: one cannot measure the other."
    )


def pass_section(splits: Sequence[SplitNumbers], figures: Sequence[Figure]) -> str:
    """Pass rates of every graded split; empty where none is graded."""
    graded = [(split, split.passes) for split in splits if split.passes is not None]
    if not graded:
        return ""
    head = ["Split", "pass@1", "k", "pass^k", "pass@k", "Headroom"]
    parts = [table(head, [[code(split.name), *_cells(passes)] for split, passes in graded])]
    parts.append(bullets(line for split, passes in graded for line in _remarks(split, passes)))
    parts += [figure.markdown() for figure in figures]
    return "\n\n".join(parts)


def _cells(passes: PassAt) -> list[str]:
    return [
        with_interval(passes.pass_at_1, passes.ci95),
        "n/a" if passes.k is None else str(passes.k),
        with_interval(passes.pass_pow_k, passes.pass_pow_k_ci95),
        with_interval(passes.pass_at_k, passes.pass_at_k_ci95),
        number(passes.headroom),
    ]


def _remarks(split: SplitNumbers, passes: PassAt) -> list[str]:
    name = code(split.name)
    rates = list(passes.per_task.values())
    solved = sum(rate > 0 for rate in rates)
    always = sum(rate == 1 for rate in rates)
    lines = []
    if rates:
        lines.append(
            f"{name}: support on {solved} of {len(rates)} tasks ({solved / len(rates):.0%}): at least one rollout "
            f"passes; {always} always pass, {solved - always} sometimes, {len(rates) - solved} never"
        )
    if split.signal is not None:
        signal = split.signal
        lines.append(
            f"{name}: {signal.mixed} of {signal.n_groups} groups of repeats have rewards that differ, which is what a "
            f"grouped update learns from ({signal.all_pass} all pass, {signal.all_fail} all fail, {signal.single} "
            f"with one rollout, {signal.ungraded} ungraded)"
        )
    if passes.n_unjudged:
        lines.append(f"{name}: {passes.n_unjudged:,} rows have no verdict and are left out of every number")
    return [*lines, *(f"{name}: {prose(note, 600)}" for note in passes.notes)]


def marker_section(splits: Sequence[SplitNumbers], figures: Sequence[Figure]) -> str:
    """Markers of every split that has some."""
    parts = []
    for split in splits:
        if split.markers is None:
            continue
        levels = list(split.markers.metrics.values())
        rows = [
            [code(level.metric), with_interval(level.mean, level.ci95), f"{level.n_tasks:,}", f"{level.n_rows:,}"]
            for level in levels[:_MOST_MARKERS]
        ]
        parts.append(table([f"Marker ({code(split.name)})", "Mean", "Tasks", "Rows"], rows))
        if len(levels) > _MOST_MARKERS:
            parts.append(f"{len(levels) - _MOST_MARKERS} more are on the rows.")
        if split.markers.notes:
            parts.append(bullets(prose(note, 600) for note in split.markers.notes))
    return "\n\n".join([*parts, *(figure.markdown() for figure in figures)])
