"""What a run was and how it went."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from datasets import Dataset

from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import PlayedRow
from whileai_hf.errors import DataError
from whileai_hf.rows import Report, group_keys, task_key, view
from whileai_hf.rows.identity import TaskKey
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import RowView, Source
from whileai_hf.store import read_reports


# `info.description` may hold several documents after a concatenation; datasets joins them like this.
_JOINT = "\n\n"


@dataclasses.dataclass(frozen=True)
class RunReport(Report):
    """Report of a simulation, found again with [`run_report`]."""

    run_id: str
    mode: str
    agent: str
    roles: dict[str, str | None]
    """Who did which job: `agent`, `writer` (`template` without a model) and `user` (`None` where nobody spoke)."""
    spec: dict[str, Any]
    """`name`, `tools` (OpenAI shape), `system_prompt` and `sha`."""
    seed: int
    knobs: dict[str, Any]
    n_rows: int
    """Rows in the Dataset."""
    budget: int
    """Rows asked for."""
    shortfall: int
    """Rows asked for and not delivered."""
    n_situations: int
    n_prompts: int
    k: int
    """Rollouts planned for each prompt."""
    repeat_policy: str
    """`fixed`, `two_stage` or `successive`."""
    stopped_because: str
    """`budget`, `time_budget`, `saturation`, `tasks_done`, `situations_exhausted`, `agent_failed`, or why a model
    answered no more: `quota_spent`, `unauthorized`, `unknown_model`, `model_unreachable`."""
    search: dict[str, Any]
    """`arms`, `signatures` and the rest of [`Search.report`] (for drawn tasks), `writer` (where a model wrote the
    situations), `agent_errors`, `first_agent_error`, `groups` (see [`Tally.groups`]), `flaws` (rows that are
    `truncated`, have `malformed_calls`, or whose simulated user is at fault, `sim_faulty`), `rollouts_abandoned` and
    `writer_waves_abandoned` (still running when the run ended)."""
    coverage: dict[str, Any] | None
    """Pairs of axis values covered by the rows; `None` for pinned tasks."""
    faults: dict[str, Any]
    """`scheduled` and `fired`: rows with a planned fault and faults that fired, by kind."""
    tools_called: dict[str, int]
    """Calls by tool; a tool nobody called stands with 0."""
    seconds: float
    warnings: list[str]
    degraded: list[str]
    """What ran below its usual quality: `same_model`, `generator_fallback`; a warning says why and what to do."""

    def __str__(self) -> str:
        rate = self.n_rows / self.seconds if self.seconds else 0.0
        names = ", ".join(f"{job} {name}" for job, name in self.roles.items() if name)
        lines = [
            f"{self.n_rows} rows of {self.budget} ({self.mode}, k={self.k}): {self.n_situations} situations, "
            f"{self.n_prompts} prompts, {self.seconds:.1f} s ({rate:.0f} rows/s), "
            f"stopped because: {self.stopped_because}"
        ]
        lines.append(f"played by: {names}")
        if self.coverage:
            covered, total = self.coverage["pairs_covered"], self.coverage["pairs_total"]
            lines.append(f"axis pairs covered: {covered} of {total} ({covered / total:.0%})" if total else "")
        scheduled, fired = sum(self.faults["scheduled"].values()), sum(self.faults["fired"].values())
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults["fired"].items()))
        lines.append(f"faults: scheduled on {scheduled} rows, fired {fired} times" + (f" ({kinds})" if kinds else ""))
        groups = self.search["groups"]
        if self.k > 1:
            lines.append(
                f"groups ({self.repeat_policy}): {groups['complete']} complete, {groups['stopped']} stopped "
                f"({groups['rollouts_saved']} rollouts saved), {groups['partial']} partial, {groups['cut']} cut; "
                f"{groups['mixed']} of them mixed"
            )
        flaws = [f"{count} {name.replace('_', ' ')}" for name, count in self.search["flaws"].items() if count]
        if flaws:
            lines.append(f"rows with: {', '.join(flaws)}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(line for line in lines if line)


class Tally:
    """
    Counts rollouts and groups as they are accepted, in task order.

    Args:
        k (`int`):
            Rollouts planned for each prompt.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.mixed = self.stopped = self.complete = self.partial = self.cut = self.saved = 0
        self.rows = 0
        self.errors = 0
        self.first_error: str | None = None
        self.dimensions: dict[TaskKey, dict[str, str] | None] = {}
        self.prompts: Counter[tuple[TaskKey, str]] = Counter()
        self.fired: Counter[str] = Counter()
        self.scheduled: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.flaws: Counter[str] = Counter({"truncated": 0, "malformed_calls": 0, "sim_faulty": 0})

    def add(self, row: PlayedRow) -> None:
        """Counts a row."""
        key = task_key(row.task)
        self.rows += 1
        self.dimensions.setdefault(key, row.task.get("scenario_dimensions"))
        self.prompts[key, row.task["prompt"]] += 1
        self.tools.update(row.tools_called)
        self.fired.update(row.faults_fired)
        self.flaws.update(row.flaws)
        self.scheduled.update(plan["kind"] for plan in (row.task.get("faults") or {}).values())

    def lose(self, error: str | None) -> None:
        """Counts a lost rollout; the first error, in task order, is kept."""
        self.errors += 1
        self.first_error = self.first_error or error

    def close(self, group: Group) -> None:
        """Counts a group."""
        status = group.status
        self.mixed += group.mixed()
        self.complete += status == "complete"
        self.stopped += status == "stopped"
        self.partial += status == "partial"
        self.cut += status == "cut"
        self.saved += group.k - group.due if status == "stopped" else 0

    def groups(self) -> dict[str, int]:
        """
        Groups of repeats: `mixed` (their rollouts disagree), `complete` (all `k` are there), `stopped` (on purpose,
        with `rollouts_saved`), `partial` (rollouts were lost), `cut` (the run ended first).
        """
        return {
            "mixed": self.mixed,
            "complete": self.complete,
            "stopped": self.stopped,
            "partial": self.partial,
            "cut": self.cut,
            "rollouts_saved": self.saved,
        }


def parse_reports(description: str) -> list[dict[str, Any]]:
    """The run reports in a Dataset's description."""
    found = []
    for document in (description or "").split(_JOINT):
        if document.startswith('{"run_id"'):
            found.append(json.loads(document))
    return found


def task_set(tasks: Iterable[tuple[TaskKey, str]]) -> str:
    """Name of a set of tasks, each given by its key and its prompt: tells apart runs that differ in nothing else."""
    return digest(*dict.fromkeys(tasks))


def _stored(run_id: str, rows: RowView) -> dict[str, Any] | None:
    reports = read_reports(run_id)
    return reports.get(task_set(group_keys(rows))) or next(reversed(reports.values()), None)


def run_report(data: Source) -> RunReport:
    """
    The report of the run that rows came from.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path):
            Rows of a run, also after `select`, `filter`, `map` or grading.

    Returns:
        [`RunReport`]: From the Dataset itself, else from this machine's run store by the rows' `run_id`.

    Raises:
        [`DataError`]: The rows name no run, several runs, or a run this machine has not seen.

    Examples:
    ```python
    >>> import whileai_hf as wai
    >>> tools = [{"name": "get_order", "parameters": {"type": "object", "properties": {}}}]
    >>> data = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=4)
    >>> wai.run_report(data).stopped_because
    'budget'

    ```
    """
    found = parse_reports(data.info.description) if isinstance(data, Dataset) else []
    if isinstance(data, Dataset) and not len(data) and found:
        return RunReport(**found[0])  # a run of which no row survived
    rows = view(data)
    names = [name for name in dict.fromkeys(rows.column("run_id")) if name is not None]
    if len(names) > 1:
        raise DataError(f"the rows come from {len(names)} runs ({', '.join(names)}); filter one of them first")
    for report in found:
        if not names or report["run_id"] == names[0]:
            return RunReport(**report)
    stored = _stored(names[0], rows) if names else None
    if stored is None:
        which = f"run {names[0]}" if names else "these rows, which name no run"
        raise DataError(f"no report found for {which}: not in the Dataset and not in this machine's run store")
    return RunReport(**stored)
