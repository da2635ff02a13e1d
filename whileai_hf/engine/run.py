"""`simulate`: tasks in order, rollouts at any concurrency, rows in task order, one Dataset at the end."""

from __future__ import annotations

import dataclasses
import gc
import json
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Unpack

from datasets import Dataset
from tqdm.auto import tqdm

from whileai_hf.actors import agent_id
from whileai_hf.engine.config import SimulationConfig, SimulationKnobs, Topology, make_config
from whileai_hf.engine.identity import run_id
from whileai_hf.engine.pinned import PinnedTasks, pin
from whileai_hf.engine.player import PlayedRow, Player
from whileai_hf.engine.recorder import Recorder
from whileai_hf.engine.report import RunReport, Tally, task_set
from whileai_hf.engine.rollout import play_all
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps, task_key
from whileai_hf.rows.view import Row
from whileai_hf.scenarios import coverage, draw_tasks
from whileai_hf.score import grade
from whileai_hf.spec import AgentSpec, as_spec
from whileai_hf.store import PrivilegedWriter, write_report


_logger = logging.getLogger("whileai_hf")

# An agent that loses this many rollouts, or twice the budget if that is more, is called off.
_MIN_LOSSES = 16
# New objects between two runs of the cycle collector: a few megabytes.
_COLLECT_AFTER = 50_000


def simulate(
    agent: Any,
    spec: Any = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
    tasks: Any = None,
    grader: Callable[[Row], Any] | None = None,
    config: SimulationConfig | None = None,
    **knobs: Unpack[SimulationKnobs],
) -> Dataset:
    """
    Simulates situations for an agent and plays it through them.

    Args:
        agent (`Callable`):
            `message -> {"steps": [...], "final_text": str}` or `(messages, tools) -> assistant message`, sync or
            async.
        spec ([`AgentSpec`] or path, *optional*):
            The agent's tools and prompt; or pass `tools` and `system_prompt`.
        tools (`list`, *optional*):
            Typed functions, OpenAI, bare, MCP or Anthropic tool definitions.
        system_prompt (`str`, *optional*, defaults to `""`):
            The agent's system prompt; its rules become situations.
        tasks (`datasets.Dataset` or `list[dict]` or path, *optional*):
            Play these tasks (or those of an earlier run, with its repeats) instead of drawing new ones.
        grader (`Callable`, *optional*):
            A judge; the rows come back graded.
        config ([`SimulationConfig`], *optional*):
            All further knobs as one object.
        **knobs:
            Fields of [`SimulationConfig`], such as `mode`, `budget`, `repeats`, `seed` or `concurrency`.

    Returns:
        `datasets.Dataset`: One row per rollout, in task order, columns as in [`rows.features.rollout_features`].
        Rollouts that failed are left out and counted in [`run_report`]. Same inputs, same rows, at any concurrency.

    Raises:
        [`ConfigurationError`]: A knob, or a combination, that cannot be honoured.
        [`SpecError`]: Tools or prompt that cannot be read.

    Examples:
    ```python
    >>> import whileai_hf as wai
    >>> tools = [{"name": "get_order", "description": "Look up an order by id.",
    ...           "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]
    >>> data = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=8)
    >>> len(data), len(set(data["prompt"]))
    (8, 8)

    ```
    """
    if not callable(agent):
        raise ConfigurationError(f"agent={agent!r} is not callable; pass a function from a message to a rollout")
    if grader is not None and not callable(grader):
        raise ConfigurationError(f"grader={grader!r} is not callable; pass a judge (row -> reward)")
    settings = make_config(config, knobs)
    run = _Run(agent, as_spec(spec, tools=tools, system_prompt=system_prompt), settings, tasks)
    with _rare_collections():
        data = run.play()
    return data if grader is None or not len(data) else grade(data, judge=grader)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """
    A run makes some hundred small objects a row, almost none of them in cycles, and each of them brings the next walk
    of the cycle collector through everything loaded so far nearer. What was there before the run is left out of the
    walks while it lasts, and they come less often.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _COLLECT_AFTER), *before[1:])
    ours = gc.get_freeze_count() == 0  # what the user froze must stay frozen
    if ours:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if ours:
            gc.unfreeze()


class _Run:
    """One call of [`simulate`], from resolved inputs to the Dataset."""

    def __init__(self, agent: Any, spec: AgentSpec, config: SimulationConfig, tasks: Any) -> None:
        self.pinned: PinnedTasks | None = None if tasks is None else pin(tasks)
        self.config = config = config if self.pinned is None else _config_for(self.pinned, config)
        self.topology: Topology = config.topology()
        self.spec = spec
        self.agent_id = agent_id(agent)
        self.run_id = run_id(agent, spec, config, drawn=self.pinned is None)
        self.player = Player(agent, spec, config, self.run_id, self.pinned.foreign if self.pinned else None)
        self.tally = Tally()
        self._drawn: deque[bytes] = deque()
        # Whole groups only: a group short of its repeats is of no use to a group-relative update.
        self.wanted = self.topology.rows // self.topology.repeats * self.topology.repeats
        self.losses_allowed = max(_MIN_LOSSES, 2 * self.wanted)

    def play(self) -> Dataset:
        """Plays, records and reports."""
        started = time.perf_counter()
        privileged = PrivilegedWriter(self.run_id, self._task_set())
        recorder = Recorder(self.run_id, self.player.encoder, self.config.output)
        queue = play_all(self.player, self._items(), self.wanted, self.losses_allowed)
        bar = tqdm(total=self.wanted, unit="row", desc="simulate", disable=not sys.stderr.isatty())
        try:
            for batch in queue.batches():
                rows = list(self._accepted(batch))
                recorder.add([(row.cells, row.line) for row in rows])
                privileged.add(*self._take_privileged())
                bar.update(len(rows))
        except BaseException:
            recorder.discard()
            raise
        finally:
            queue.close()
            bar.close()
            privileged.close()
        report = self._report(time.perf_counter() - started)
        for warning in report.warnings:
            _logger.warning(warning)
        content = report.to_dict()
        write_report(self.run_id, self._task_set(), content)
        return recorder.dataset(json.dumps(content))

    def _accepted(self, batch: list[PlayedRow]) -> Iterator[PlayedRow]:
        """Counts a batch, in task order, and lets the good rows of it through, until the agent is called off."""
        for row in batch:
            if self.tally.errors >= self.losses_allowed:
                return
            if row.status == "ok":
                self.tally.add(row)
                yield row
            else:
                self.tally.lose(row.error)

    def _take_privileged(self) -> list[bytes]:
        # Workers draw while this empties: one by one, since a deque is safe to share only operation by operation.
        return [self._drawn.popleft() for _ in range(len(self._drawn))]

    def _task_set(self) -> str:
        if self.pinned is None:
            return "drawn"
        return task_set((task_key(task), task["prompt"]) for task in self.pinned.tasks)

    def _tasks(self) -> Iterator[Row]:
        if self.pinned is not None:
            return iter(self.pinned.tasks)
        stream = draw_tasks(
            self.spec,
            seed=self.config.seed,
            fault_rate=self.config.fault_rate,
            seeds=self.config.seeds,
            phrasings=self.topology.phrasings,
        )
        if self.topology.situations is None:
            return stream
        return islice(stream, self.topology.situations * self.topology.phrasings)

    def _items(self) -> Iterator[tuple[Row, int]]:
        for task in self._tasks():
            known = [task.get(name) for name in ("scenario_id", "prompt", "privileged", "expected_calls")]
            self._drawn.append(dumps(known))
            for index in range(self.topology.repeats):
                yield task, index

    def _stopped_because(self) -> str:
        if self.tally.rows == 0 or self.tally.errors >= self.losses_allowed:
            return "agent_failed"
        if self.tally.rows < self.wanted or self.pinned or self.topology.situations:
            limit = len(self.pinned.tasks) * self.topology.repeats if self.pinned else self.topology.asked
            if self.tally.rows + self.tally.errors >= (limit or 0):
                return "tasks_done" if self.pinned else "situations_exhausted"
        return "budget"

    def _warnings(self) -> list[str]:
        tally, asked, repeats = self.tally, self.topology.rows, self.topology.repeats
        found = list(self.spec.warnings)
        asks = len(dict.fromkeys((*self.spec.seeds, *self.config.seeds)))
        if self.pinned is None and asks * self.topology.repeats > self.wanted:
            found.append(
                f"budget {asked} is too small for your {asks} example asks: some of them were not played; raise budget"
            )
        if tally.errors:
            found.append(
                f"{tally.errors} rollouts were lost because the agent failed, the first with: {tally.first_error}"
            )
        if tally.rows < asked and self.wanted < asked and tally.rows == self.wanted:
            found.append(f"{tally.rows} rows instead of {asked}: only whole groups of {repeats} repeats are run")
        elif tally.rows < asked:
            found.append(
                f"{tally.rows} rows instead of {asked}: the run stopped because of {self._stopped_because()!r}"
            )
        return found

    def _report(self, seconds: float) -> RunReport:
        topology, tally, spec = self.topology, self.tally, self.spec
        dimensions = [found for found in tally.dimensions.values() if found]
        groups = tally.groups(topology.repeats)
        return RunReport(
            run_id=self.run_id,
            mode=self.config.mode,
            agent=self.agent_id,
            spec={
                "name": spec.name,
                "tools": spec.openai_tools(),
                "system_prompt": spec.system_prompt,
                "sha": spec.sha,
            },
            seed=self.config.seed,
            knobs=_plain_knobs(self.config),
            n_rows=tally.rows,
            budget=topology.rows,
            shortfall=topology.rows - tally.rows,
            n_situations=len(tally.dimensions),
            n_prompts=len(tally.prompts),
            k=topology.repeats,
            stopped_because=self._stopped_because(),
            search={"agent_errors": tally.errors, "first_agent_error": tally.first_error, "groups": groups},
            coverage=None if self.pinned else coverage(spec, dimensions).to_dict(),
            faults={"scheduled": dict(tally.scheduled), "fired": dict(tally.fired)},
            tools_called={name: tally.tools[name] for name in dict.fromkeys([*spec.names, *sorted(tally.tools)])},
            seconds=seconds,
            warnings=self._warnings(),
            degraded=[],
        )


def _config_for(pinned: PinnedTasks, config: SimulationConfig) -> SimulationConfig:
    """The knobs of a pinned run: repeats are inherited from the source unless given, the budget is all of it."""
    repeats = config.repeats or pinned.repeats or config.default_repeats
    budget = config.budget or len(pinned.tasks) * repeats
    return dataclasses.replace(config, repeats=repeats, phrasings=1, situations=None, budget=budget)


def _plain_knobs(config: SimulationConfig) -> dict[str, Any]:
    knobs = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    knobs["execute"] = None if config.execute is None else agent_id(config.execute)
    return knobs
