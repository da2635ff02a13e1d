"""Tasks out of any source, each with the agent it is asked of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datasets import Features

from whileai_hf.engine.pinned import pin
from whileai_hf.engine.report import RunReport, run_report
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import RowView, canonical, group_keys, view
from whileai_hf.rows.identity import TaskKey
from whileai_hf.sandbox.rowtools import RowToolsets
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.spec import AgentSpec, Tool, as_spec, read_tools


Group = tuple[TaskKey, str]
# What names a task, and the world it is in.
_IDENTITY = ("scenario_id", "task_id", "prompt", "twin_of")
# What a row says about the agent that was asked.
_AGENT_COLUMNS = ("tools", "lineage", "messages")


@dataclass
class TaskEntry:
    """One task: its row, with what only a judge may see, the agent that is asked, and the environment's name."""

    task: dict[str, Any]
    spec: AgentSpec
    environment: str | None = None


@dataclass(frozen=True)
class Source:
    """Tasks in their order, and the columns of the user's own that they have, with their types."""

    entries: list[TaskEntry]
    foreign: Features


@dataclass(frozen=True)
class GivenAgent:
    """
    The agent as the caller gives it, in place of what the rows say; what is `None` is left to them.

    Args:
        tools (`tuple[Tool, ...]`, *optional*):
            The tools.
        system_prompt (`str`, *optional*):
            The system prompt.
        rubric (`str`, *optional*):
            How answers are judged, for tasks that bring none.
    """

    tools: tuple[Tool, ...] | None = None
    system_prompt: str | None = None
    rubric: str | None = None

    @classmethod
    def read(cls, tools: Any, system_prompt: str | None, rubric: str | None) -> GivenAgent:
        """From the arguments of a public function; `tools` may be a whole [`AgentSpec`], or the path of one."""
        if system_prompt is not None and not isinstance(system_prompt, str):
            raise ConfigurationError(f"system_prompt is {system_prompt!r:.60}; pass text, or leave it out")
        if isinstance(tools, AgentSpec | str | os.PathLike):
            spec = as_spec(tools)
            own = spec.system_prompt if system_prompt is None else system_prompt
            return cls(_bare(spec.tools), own, rubric or spec.rubric)
        return cls(None if tools is None else _bare(read_tools(tools)[0]), system_prompt, rubric)


def _bare(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """Tools without the functions they were read from, which nothing calls here and which may not be picklable."""
    return tuple(replace(tool, function=None) for tool in tools)


class _AgentReader:
    """The agent of each row; equal ones are one object."""

    def __init__(self, rows: RowView, given: GivenAgent) -> None:
        self._rows, self._given = rows, given
        self._toolsets = RowToolsets()
        self._specs: dict[tuple[int, str], AgentSpec] = {}
        self._report: RunReport | None = None
        self._asked = False

    def _run(self) -> RunReport | None:
        """The report of the run the rows come from, for what they do not say."""
        if not self._asked:
            self._asked = True
            try:
                self._report = run_report(self._rows.source)
            except DataError:  # rows of no run, of several, or of one this machine has not seen
                self._report = None
        return self._report

    def _tools(self, row: Mapping[str, Any], place: int) -> tuple[Tool, ...]:
        if self._given.tools is not None:
            return self._given.tools
        written = row.get("tools")
        if written:
            return self._toolsets.find(row).tools
        report = self._run()
        if report is not None:
            return self._toolsets.find({"tools": report.spec["tools"]}).tools if report.spec["tools"] else ()
        if written is not None:
            return ()
        raise ConfigurationError(
            f"row {place} does not say which tools the agent has, and neither does a report of its run; pass "
            "tools=[...], an AgentSpec or the path of one (tools=[] for an agent without tools)"
        )

    def _system_prompt(self, row: Mapping[str, Any]) -> str:
        if self._given.system_prompt is not None:
            return self._given.system_prompt
        messages = row.get("messages")
        if isinstance(messages, list) and messages:
            first = messages[0]
            content = first.get("content") if isinstance(first, Mapping) and first.get("role") == "system" else ""
            return content if isinstance(content, str) else ""
        report = self._run()
        return "" if report is None else str(report.spec["system_prompt"] or "")

    def read(self, row: Mapping[str, Any], place: int) -> AgentSpec:
        tools, prompt = self._tools(row, place), self._system_prompt(row)
        key = (id(tools), prompt)
        if key not in self._specs:
            self._specs[key] = AgentSpec(tools, prompt, rubric=self._given.rubric)
        return self._specs[key]


def _agents(rows: RowView, given: GivenAgent) -> dict[Group, AgentSpec]:
    """The agent of every prompt of every task."""
    reader = _AgentReader(rows, given)
    names = [name for name in _AGENT_COLUMNS if rows.has(name)]
    cells = rows.rows(names) if names else iter([{}] * len(rows))
    found: dict[Group, AgentSpec] = {}
    for place, (key, row) in enumerate(zip(group_keys(rows), cells, strict=True)):
        spec = reader.read(row, place)
        if found.setdefault(key, spec) is not spec:
            raise DataError(
                f"row {place}: the prompt {key[1]!r:.60} was played with two sets of tools or two system prompts, and "
                "a task has one agent; pass tools= and system_prompt=, or the rows of one run"
            )
    return found


def _agreed(rows: RowView, foreign: Features) -> Features:
    """Columns on which all rollouts of a prompt agree: those are about the task, the others about the rollout."""
    keys = group_keys(rows)
    kept = {}
    for name, feature in foreign.items():
        first: dict[Group, Any] = {}
        values = rows.column(name)
        if all(_same(first.setdefault(key, value), value) for key, value in zip(keys, values, strict=True)):
            kept[name] = feature
    return Features(kept)


def _same(a: Any, b: Any) -> bool:
    return a is b or bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)


def read_tasks(source: Any, given: GivenAgent, hidden: Any = None) -> Source:
    """
    The tasks of a source, each once.

    Args:
        source (`datasets.Dataset` or `list[dict]` or `list[str]` or path or Hub repo id):
            Tasks, asks, or rollouts of an earlier run; of those each prompt is a task, with what only a judge may see
            read back from the run's local store.
        given ([`GivenAgent`]):
            The agent, where the rows do not say it or are not to be heeded.
        hidden (`datasets.Dataset` or `list[dict]` or path, *optional*):
            Tasks whose `privileged` and `expected_calls` belong to those of the source.

    Returns:
        [`Source`]: In the order of the source.

    Raises:
        [`ConfigurationError`]: Nothing says which tools the agent has.
        [`DataError`]: A row without an ask, or a prompt that was played with two agents.
    """
    if isinstance(source, list) and source and all(isinstance(ask, str) for ask in source):
        source = [{"prompt": ask} for ask in source]
    rows = view(source)
    pinned = pin(rows.source)
    agents = _agents(rows, given)
    tasks = [dict(task) for task in pinned.tasks]
    if hidden is not None:
        extras = find_secrets(view(tasks), hidden)
        tasks = [with_secrets(task, extra, override=True) for task, extra in zip(tasks, extras, strict=True)]
    foreign = _agreed(rows, pinned.foreign)
    dropped = [name for name in pinned.foreign if name not in foreign]
    entries = []
    for task, key in zip(tasks, pinned.groups, strict=True):
        for name in dropped:
            task.pop(name, None)
        for name in _IDENTITY:
            if isinstance(task.get(name), str):
                task[name] = canonical(task[name])  # as it will stand in a row, so that it is found again
        entries.append(TaskEntry(task, agents[key]))
    return Source(entries, foreign)
