"""The record of what rows hold, and how it prints."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.measure import GroupSignal, PassAt
from whileai_hf.rows import Report
from whileai_hf.stats import Interval


# What the printed report shows of each kind.
_TOOLS, _TASKS, _COLUMNS = 8, 10, 12
# Characters of a prompt that are printed.
_PROMPT = 56


@dataclasses.dataclass(frozen=True)
class ToolCount(Report):
    """
    One tool.

    Args:
        tool (`str`):
            Its name.
        rows (`int`):
            Rows that call it.
        calls (`int`):
            How often they do.
        failed (`int`):
            Calls that did not do what they were asked.
    """

    tool: str
    rows: int
    calls: int
    failed: int

    def __str__(self) -> str:
        return f"{self.tool}: {self.calls} calls in {self.rows} rows" + (f", {self.failed} failed" * bool(self.failed))


@dataclasses.dataclass(frozen=True)
class ToolUse(Report):
    """
    Tool calls of rows.

    Args:
        n_rows (`int`):
            Rows read.
        share (`float`):
            Share of rows with a call.
        calls_per_row (`dict[str, float]`):
            `mean`, `median` and `max`.
        failed_share (`float`, *optional*):
            Share of calls that failed; `None` without a call.
        tools (`list[ToolCount]`):
            Every tool that is called, the most used first.
        never_called (`list[str]`):
            Tools the rows offer and no row calls.
    """

    n_rows: int
    share: float
    calls_per_row: dict[str, float]
    failed_share: float | None
    tools: list[ToolCount]
    never_called: list[str]

    def __str__(self) -> str:
        failed = "" if self.failed_share is None else f", {100 * self.failed_share:.0f} % of calls failed"
        lines = [
            f"{100 * self.share:.0f} % of rows call a tool, {self.calls_per_row['mean']:.1f} calls a row "
            f"(at most {self.calls_per_row['max']:.0f}){failed}"
        ]
        lines += [f"  {one}" for one in self.tools[:_TOOLS]]
        if len(self.tools) > _TOOLS:
            lines.append(f"  ... and {len(self.tools) - _TOOLS} more tools")
        if self.never_called:
            lines.append(f"  never called: {', '.join(self.never_called[:_TOOLS])}")
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class TaskProfile(Report):
    """
    One task.

    Args:
        task (`str` or `int`):
            Its key, `rows.task_key`.
        prompt (`str`, *optional*):
            Its first ask.
        n_rows (`int`):
            Its rows.
        n_scored (`int`):
            Those with a verdict.
        n_passed (`int`, *optional*):
            Those that passed; `None` where nothing says from which reward a row passes.
        pass_rate (`float`, *optional*):
            `n_passed / n_scored`; `None` without a verdict.
        mean_reward (`float`, *optional*):
            Mean reward of those with a verdict.
    """

    task: Any
    prompt: str | None
    n_rows: int
    n_scored: int
    n_passed: int | None
    pass_rate: float | None
    mean_reward: float | None

    def __str__(self) -> str:
        said = " ".join((self.prompt or str(self.task)).split())
        said = said if len(said) <= _PROMPT else said[: _PROMPT - 3] + "..."
        if self.pass_rate is not None:
            return f"{self.n_passed}/{self.n_scored} passed: {said}"
        mean = "not graded" if self.mean_reward is None else f"mean reward {self.mean_reward:.2f}"
        return f"{mean} ({self.n_rows} rows): {said}"


@dataclasses.dataclass(frozen=True)
class Profile(Report):
    """
    What [`profile`] returns. What cannot be told is `None`, and `cannot` says why.

    Args:
        source (`str`):
            Where the rows come from: a repo with its split, a path, or "rows".
        commit (`str`, *optional*):
            Commit of the repo that was read; `None` for rows that are not from the Hub.
        n_rows (`int`):
            Rows.
        columns (`list[str]`):
            Their columns.
        roles (`dict[str, str]`):
            What was read as what: `prompt`, `reply`, `messages`, `reference`, `rejected`.
        support (`dict[str, Any]`, *optional*):
            How much stands behind the numbers: `n_tasks`, `n_scored`, `repeats` (`min`, `median`, `max` rows a task),
            `solved` and `never_solved` (graded tasks with and without a passing row), `thin` (graded tasks with one
            scored row). `None` where nothing names the tasks.
        threshold (`float`, *optional*):
            Reward from which a row passes.
        passes ([`~whileai_hf.measure.PassAt`], *optional*):
            Pass rates with their intervals.
        signal ([`~whileai_hf.measure.GroupSignal`], *optional*):
            Groups whose rewards differ.
        mixed (`dict[str, int]`, *optional*):
            Graded tasks by their verdicts: `mixed`, `all_pass`, `all_fail`, `single`.
        tool_use ([`ToolUse`], *optional*):
            Which tools are called.
        lengths (`dict[str, dict]`):
            Characters of prompts and replies: `{"prompt": {"p5", "median", "p95"}}`.
        per_task (`list[TaskProfile]`):
            Graded tasks, those furthest from always and never passing first; empty where nothing is graded.
        privileged (`list[str]`):
            Columns that hold what only a judge may see.
        cannot (`list[str]`):
            What cannot be said of these rows, and why.
        notes (`list[str]`):
            What a reader has to know about the numbers.
    """

    source: str
    commit: str | None
    n_rows: int
    columns: list[str]
    roles: dict[str, str]
    support: dict[str, Any] | None
    threshold: float | None
    passes: PassAt | None
    signal: GroupSignal | None
    mixed: dict[str, int] | None
    tool_use: ToolUse | None
    lengths: dict[str, dict[str, float]]
    per_task: list[TaskProfile]
    privileged: list[str]
    cannot: list[str]
    notes: list[str]

    @property
    def pass_rate(self) -> float | None:
        """pass@1."""
        return None if self.passes is None else self.passes.pass_at_1

    @property
    def ci95(self) -> Interval | None:
        """Interval of pass@1."""
        return None if self.passes is None else self.passes.ci95

    def __str__(self) -> str:
        at = "" if self.commit is None else f" at {self.commit[:7]}"
        named = ", ".join(self.columns[:_COLUMNS]) + (", ..." if len(self.columns) > _COLUMNS else "")
        lines = [f"{self.source}{at}: {self.n_rows} rows, {len(self.columns)} columns ({named})"]
        if self.roles:
            lines.append("read as " + ", ".join(f"{role}: {name}" for role, name in self.roles.items()))
        lines += self._numbers()
        for name, spread in self.lengths.items():
            lines.append(f"{name} length: median {spread['median']:.0f} characters, 5-95 % {_ends(spread)}")
        if self.tool_use is not None:
            lines.append(str(self.tool_use))
        if self.per_task:
            lines.append(f"per task ({len(self.per_task)}, mixed ones first):")
            lines += [f"  {one}" for one in self.per_task[:_TASKS]]
        if self.privileged:
            lines.append(f"warning: {', '.join(self.privileged)} hold what only a judge may see; do not publish them")
        lines += [f"cannot say: {one}" for one in self.cannot]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _numbers(self) -> list[str]:
        lines = []
        if self.support is not None:
            repeats = self.support["repeats"]
            lines.append(
                f"support: {self.support['n_tasks']} tasks, {repeats['min']}-{repeats['max']} rows a task (median "
                f"{repeats['median']:g}), {self.support['n_scored']} rows with a verdict"
            )
        if self.passes is not None:
            lines.append(str(self.passes).splitlines()[0])
        if self.mixed is not None:
            lines.append(
                f"tasks: {self.mixed['mixed']} mixed | {self.mixed['all_pass']} all pass | "
                f"{self.mixed['all_fail']} all fail | {self.mixed['single']} with one verdict"
            )
        return lines


def _ends(spread: dict[str, float]) -> str:
    return f"{spread['p5']:.0f}-{spread['p95']:.0f}"
