"""One run: its tasks, the rows that come, what is kept of them, and the report."""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
import time
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from datasets import Dataset
from tqdm.auto import tqdm

from whileai_hf.actors import agent_id
from whileai_hf.engine.account import Account
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.drawn import Drawn
from whileai_hf.engine.grading import hidden_of
from whileai_hf.engine.identity import run_id
from whileai_hf.engine.pinned import PinnedTasks
from whileai_hf.engine.player import PlayedRow, Player, Task
from whileai_hf.engine.playing import rows_of, start_playing
from whileai_hf.engine.queue import Batch, GroupQueue
from whileai_hf.engine.recorder import Recorder, check_output, journal_path
from whileai_hf.engine.report import Tally, task_set
from whileai_hf.engine.resuming import Recalled, take_over
from whileai_hf.engine.roles import Roles
from whileai_hf.engine.source import Listed, Planned, TaskSource, with_twin
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps, view
from whileai_hf.scenarios.search import Search
from whileai_hf.scenarios.writing import ModelWriter
from whileai_hf.score.grading import with_verdicts
from whileai_hf.score.scorer import Score
from whileai_hf.score.verdicts import Verdict
from whileai_hf.spec import AgentSpec
from whileai_hf.store import PrivilegedWriter, write_report


_logger = logging.getLogger("whileai_hf")

# An agent that loses this many rollouts, or twice the budget if that is more, is called off.
_MIN_LOSSES = 16


def _shows_progress() -> bool:
    # A notebook is no terminal and shows a bar all the same.
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _judged_by(score: Score | None) -> dict[str, Any]:
    """What a judged row's lineage says, as [`grade`] writes it; it is known before the row is."""
    return {} if score is None else {"source": "grade", "judge": score.name, "judge_version": score.version}


class Run:
    """
    One run of a simulation, from resolved inputs to the Dataset.

    Args:
        roles ([`Roles`]):
            The agent, the writer and the user.
        spec ([`AgentSpec`]):
            Its tools and prompt.
        config ([`SimulationConfig`]):
            The knobs; for pinned tasks, those of [`pinned.config_for`].
        pinned ([`PinnedTasks`], *optional*):
            The tasks; drawn without them.
        score ([`Score`], *optional*):
            A judge beside the run.
    """

    def __init__(
        self,
        roles: Roles,
        spec: AgentSpec,
        config: SimulationConfig,
        pinned: PinnedTasks | None = None,
        score: Score | None = None,
    ) -> None:
        self.pinned = pinned
        # A run that is taken up again goes on in its own file, unless another is named.
        self.config = config = dataclasses.replace(config, output=config.output or config.resume)
        self.topology = config.topology()
        self.spec = spec
        self.score = score
        self.roles = roles
        self.agent_id = agent_id(roles.agent)
        self.run_id = run_id(roles, spec, config, drawn=pinned is None)
        self.player = Player(roles, spec, config, self.run_id, pinned.foreign if pinned else None, _judged_by(score))
        if pinned is not None and pinned.scripted and not self.player.agent.is_chat:
            raise ConfigurationError(
                "the script of a task has more user turns, and the agent takes a single message; pass a chat callable "
                "(messages, tools) or a model"
            )
        self.tally = Tally(self.topology.repeats)
        self._opened: deque[bytes] = deque()
        self.verdicts: list[Verdict | None] = []
        self.writer: ModelWriter | None = None
        self.drawn: Drawn | None = None
        self._listed: list[Task] | None = None
        # Whole groups only: a group short of its repeats is of no use to a group-relative update.
        equal = self.topology.policy == "fixed" and self.topology.mode != "adaptive"
        repeats = self.topology.repeats
        rows = self.topology.rows // repeats * repeats if equal else self.topology.rows
        self.wanted = rows * config.runs
        self.losses_allowed = max(_MIN_LOSSES, 2 * self.wanted)

    def play(self, recalled: Recalled | None = None) -> Dataset:
        """
        Plays, records and reports.

        Args:
            recalled ([`Recalled`], *optional*):
                Rollouts that have been played elsewhere.
        """
        started = time.perf_counter()
        check_output(self.config.output, self.config.resume)
        recalled = recalled or self._recall()
        source = self._source()
        recorder = Recorder(
            self.run_id, self.player.encoder, self.config.output, append=self.config.resume is not None
        )
        privileged = PrivilegedWriter(self.run_id, self._task_set)
        bar = tqdm(total=self.wanted, unit="row", desc="simulate", disable=not _shows_progress())
        queue, grader = start_playing(
            self.player,
            source,
            budget=self.wanted,
            losses_allowed=self.losses_allowed,
            score=self.score,
            recalled=recalled,
        )
        try:
            for batch in queue.batches(self.config.time_budget, self.config.stop_grace):
                self._take(batch, recorder)
                privileged.add(*self._take_privileged())
                self._show(bar, batch)
        except BaseException:
            recorder.discard()
            raise
        finally:
            source.close()
            if self.writer is not None:
                # What it is writing now nobody will play.
                self.writer.deadline = time.monotonic() + self.config.stop_grace
            if grader is not None:
                grader.close()
            bar.close()
            privileged.close()
        if queue.stop is not None and not self.tally.rows:
            recorder.discard()
            raise queue.stop
        return self._finish(recorder, queue, time.perf_counter() - started)

    def _recall(self) -> Recalled | None:
        if self.config.resume is None:
            return None
        judge = None if self.score is None else self.score.name
        recalled = Recalled.of_file(self.config.resume, self.run_id, judge)
        if self.pinned is not None:
            recalled.check(self.config.resume, self.pinned.groups)
        take_over(self.config.resume, journal_path(self.run_id, self.config.output))
        return recalled

    def _take(self, batch: Batch, recorder: Recorder) -> None:
        recorder.land([row.line for row in batch.landed if not row.kept])
        kept = []
        for group in batch.groups:
            if self.tally.errors >= self.losses_allowed:
                break  # how much was under way when the agent was called off is chance
            rows = [row for row in rows_of(group, self.player) if self._accept(row)]
            self.tally.close(group)
            self.verdicts += [row.verdict for row in rows]
            kept += [(row.cells, row.line) for row in rows]
        recorder.add(kept)

    def _accept(self, row: PlayedRow) -> bool:
        """Counts a rollout, in task order, and lets it through if it is good, until the agent is called off."""
        if self.tally.errors >= self.losses_allowed:
            return False
        if row.status != "ok":
            self.tally.lose(row.error)
            return False
        self.tally.add(row)
        return True

    def _show(self, bar: Any, batch: Batch) -> None:
        bar.update(len(batch.landed))
        if not bar.disable and batch.groups:
            notes = {"mixed": self.tally.mixed} if self.topology.repeats > 1 else {}
            bar.set_postfix(notes | ({"errors": self.tally.errors} if self.tally.errors else {}), refresh=False)

    def _take_privileged(self) -> list[bytes]:
        # Workers draw while this empties: one by one, since a deque is safe to share only operation by operation.
        return [self._opened.popleft() for _ in range(len(self._opened))]

    @cached_property
    def _task_set(self) -> str:
        return "drawn" if self.pinned is None else task_set(self.pinned.groups)

    def _source(self) -> TaskSource:
        k, probe, runs = self.topology.repeats, self.topology.probe, self.config.runs
        if self.pinned is None and runs == 1 and self._listed is None:
            self.drawn = self._draw()
            return self.drawn
        if runs == 1:
            tasks = self._pinned_tasks() if self._listed is None else self._listed
            return Listed((Planned(task, k, probe) for task in tasks), k, note=self._note)
        tasks = self.task_list()
        return Listed((Planned(task, k, probe, run) for run in range(runs) for task in tasks), k, note=self._note)

    def task_list(self) -> list[Task]:
        """All the tasks, for a run that has to know them beforehand; as many as its rows are enough for."""
        if self._listed is None and self.pinned is not None:
            self._listed = list(self._pinned_tasks())
        if self._listed is None:
            self.drawn = self._draw()
            self._listed = self.drawn.first(self.topology.tasks)
        return self._listed

    def _pinned_tasks(self) -> Iterator[Task]:
        if self.pinned is None:
            return
        for task in self.pinned.tasks:
            lacks = self.config.twins and task.get("scenario_id") not in self.pinned.twinned
            yield from with_twin(task) if lacks else (task,)

    def _draw(self) -> Drawn:
        config = self.config
        if self.roles.writer is not None:
            self.writer = ModelWriter(self.spec, self.roles.writer, seed=config.seed)
            if config.time_budget:
                self.writer.deadline = time.monotonic() + config.time_budget
        search = Search(
            self.spec,
            seed=config.seed,
            fault_rate=config.fault_rate,
            seeds=config.seeds,
            phrasings=self.topology.phrasings,
            mode=config.mode,
            writer=self.writer,
            embedder=config.embedder,
        )
        return Drawn(
            search,
            self.topology,
            twins=config.twins,
            until_saturation=config.until == "saturation",
            slow=self.writer is not None and config.runs == 1 and config.engine == "local",
            note=self._note,
        )

    def _note(self, task: Task) -> None:
        hidden = hidden_of(task, self.spec.rubric)
        known = [task.get("scenario_id"), task["prompt"], hidden.get("privileged"), hidden.get("expected_calls")]
        self._opened.append(dumps(known))

    def _finish(self, recorder: Recorder, queue: GroupQueue, seconds: float) -> Dataset:
        report = Account(self, queue).report(seconds)
        for warning in report.warnings:
            if warning not in self.spec.warnings:  # those were logged when the spec was read
                _logger.warning(warning)
        content = report.to_dict()
        write_report(self.run_id, self._task_set, content)
        data = recorder.dataset(json.dumps(content))
        if self.score is None or not len(data):
            return data
        return with_verdicts(view(data), self.score, [verdict for verdict in self.verdicts if verdict is not None])
