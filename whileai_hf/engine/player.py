"""One rollout: a task goes in, a row comes out, whatever the agent does.

A bad rollout is data, not a crash: an agent that raises or answers in the wrong shape gives a row whose
`rollout_status` says so and whose `error` keeps the first words of it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from datasets import Features

from whileai_hf.actors import Agent, Played, adapt, agent_id
from whileai_hf.actors.models import ModelAgent
from whileai_hf.actors.signature import behavior_signature
from whileai_hf.actors.users import make_user
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.roles import Roles
from whileai_hf.errors import AgentError, ModelStopError
from whileai_hf.rows import scrub
from whileai_hf.rows.encoder import Cells, RowEncoder
from whileai_hf.rows.features import SCHEMA_VERSION, rollout_features, task_features
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox import ActiveRollout, Session, activate
from whileai_hf.score.verdicts import Verdict
from whileai_hf.spec import AgentSpec


if TYPE_CHECKING:
    from whileai_hf.engine.groups import Group
    from whileai_hf.engine.queue import Work

Task = Mapping[str, Any]

# Characters of an error message kept on a row: enough for the first line of a traceback, not a page of HTML.
_ERROR_CHARS = 500
# What an agent may raise without ending the run; beyond ordinary errors, a task it cancelled and a library that exits.
_AGENT_FAILURES = (Exception, asyncio.CancelledError, SystemExit)
# Columns of a task that a rollout carries on as they are.
_CARRIED = tuple(name for name in task_features() if name in rollout_features() and name != "schema_version")
# What an agent, a model or a user may say about a rollout under the name of a column.
_COLUMNS = ("usage", "logprob", "n_tokens", "token_logprobs", "sim_ok", "sim_reasons", "ended_by", "user_model")
# Keys that no row carries at any depth, as they stand in its line.
_SECRET = re.compile(rb'(?:privileged|expected_calls|vector)\\?":')
# What is decided about a group when its rollouts have been written down.
LATE_COLUMNS = ("group_status", "group_inclusion_p")


@dataclasses.dataclass(slots=True)
class PlayedRow:
    """An encoded row, without its late columns, and what the run counts of it."""

    task: Task
    index: int
    cells: Cells
    line: bytes
    status: str
    error: str | None
    tools_called: tuple[str, ...]
    faults_fired: tuple[str, ...]
    seconds: float
    signature: str | None
    """How the agent behaved."""
    label: Hashable
    """What the allocation compares: the reward, or how the agent behaved. `None` says nothing."""
    flaws: tuple[str, ...] = ()
    """`truncated`, `malformed_calls`, `sim_faulty`: what the report counts."""
    verdict: Verdict | None = None
    """What the judge beside the run said."""
    kept: bool = False
    """Whether the row is in the journal already."""


class Player:
    """
    Plays tasks with one agent.

    Args:
        roles ([`Roles`]):
            The agent, and who speaks for the user.
        spec ([`AgentSpec`]):
            Its tools and system prompt.
        config ([`SimulationConfig`]):
            `max_turns`, `sampling`, `execute` and `repeats` are read.
        run_id (`str`):
            Stamped on every row.
        foreign (`datasets.Features`, *optional*):
            Columns of the tasks that are not part of the schema; carried onto the rows.
        lineage (`Mapping`, *optional*):
            What else the rows' lineage says.
    """

    def __init__(
        self,
        roles: Roles,
        spec: AgentSpec,
        config: SimulationConfig,
        run_id: str,
        foreign: Features | None = None,
        lineage: Mapping[str, Any] | None = None,
    ) -> None:
        self.agent: Agent = adapt(roles.agent)
        self.user = roles.user
        self.spec = spec
        self.config = config
        foreign = foreign or Features({})
        self.features = Features({**rollout_features(), **foreign})
        self._carried = (*_CARRIED, *foreign)
        model = roles.agent if isinstance(roles.agent, ModelAgent) else None
        identity = agent_id(roles.agent)
        self.name = identity.split("#")[0] if model is None else model.name
        policy = f"{self.name}@{digest(spec.system_prompt, length=16)}"
        self._system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
        constant = {
            "schema_version": SCHEMA_VERSION,
            "run_id": run_id,
            "tools": spec.openai_tools(),
            "model_version": model.name if model is not None else (config.sampling or {}).get("model") or identity,
            "policy_version": policy,
            "sampling": config.sampling if model is None else model.sampling,
        }
        self._lineage: dict[str, Any] = {"system_prompt_sha": digest(spec.system_prompt, length=16)}
        annotations = {tool.name: dict(tool.annotations) for tool in spec.tools if tool.annotations}
        if annotations:
            # What a tool may do to the world decides its answers, and the tools on the row do not say it.
            self._lineage["tool_annotations"] = annotations
        self._lineage |= lineage or {}
        if config.runs == 1:
            constant["lineage"] = self._lineage
        self.encoder = RowEncoder(self.features, constant, LATE_COLUMNS)

    def _start(self, group: Group, index: int) -> ActiveRollout:
        session = Session.of_task(self.spec.tools, group.task, seed=self.config.seed, execute=self.config.execute)
        return ActiveRollout(group.task, index, session.seed, session, group.eval_run or 0)

    def _stage(self, rollout: ActiveRollout) -> dict[str, Any]:
        """What a conversation needs besides its first message."""
        user = None
        if self.agent.is_chat or rollout.task.get("script"):
            user = make_user(
                self.user,
                rollout.task,
                seed=rollout.sampling_seed,
                rollout_index=rollout.rollout_index,
                avg_turns=self.config.avg_turns,
            )
        turns = self.config.max_turns
        return {"spec": self.spec, "session": rollout.session, "max_turns": turns, "user": user}

    def play(self, work: Work) -> PlayedRow:
        """Plays a rollout with a sync agent on the calling thread."""
        group, index = work
        started = time.perf_counter()
        rollout = self._start(group, index)
        with activate(rollout):
            try:
                played = self.agent.run(group.task["prompt"], **self._stage(rollout))
            except ModelStopError:
                raise
            except AgentError as error:
                return self._failed(work, rollout, started, "invalid", str(error))
            except _AGENT_FAILURES as error:
                return self._failed(work, rollout, started, "error", f"{type(error).__name__}: {error}")
        return self._row(work, rollout, started, played)

    async def play_async(self, work: Work) -> PlayedRow:
        """Plays a rollout with an async agent."""
        group, index = work
        started = time.perf_counter()
        rollout = self._start(group, index)
        with activate(rollout):
            try:
                played = await self.agent.arun(group.task["prompt"], **self._stage(rollout))
            except ModelStopError:
                raise
            except AgentError as error:
                return self._failed(work, rollout, started, "invalid", str(error))
            except _AGENT_FAILURES as error:
                return self._failed(work, rollout, started, "error", f"{type(error).__name__}: {error}")
        return self._row(work, rollout, started, played)

    def _failed(self, work: Work, rollout: ActiveRollout, started: float, status: str, error: str) -> PlayedRow:
        user = [{"role": "user", "content": rollout.task["prompt"]}]
        empty = Played(steps=[], final_text="", finish_reason="error", messages=user, extra={})
        return self._row(work, rollout, started, empty, (status, error[:_ERROR_CHARS]))

    def _row(
        self,
        work: Work,
        rollout: ActiveRollout,
        started: float,
        played: Played,
        failure: tuple[str, str] | None = None,
    ) -> PlayedRow:
        group, index = work
        task = group.task
        row = {name: task.get(name) for name in self._carried}
        row["writer_model"] = row["writer_model"] or "pinned"
        extra = dict(played.extra)
        seeded = extra.pop("seeded", None)
        if seeded is not None and not (isinstance(seeded, list) and all(isinstance(name, str) for name in seeded)):
            wrong = f"the agent returned seeded={seeded!r:.80}; expected a list of names"
            return self._failed(work, rollout, started, "invalid", wrong)
        status, error = failure or ("ok", None)
        fired = rollout.session.fired
        signature = behavior_signature(played.steps, played.final_text, task["prompt"]) if error is None else None
        # What happened in another world is not known here: absent, which is not the same as nothing.
        own = error is None and rollout.session.answered(played.steps)
        row.update({name: extra.pop(name) for name in _COLUMNS if name in extra})
        row.update(
            messages=[*self._system, *played.messages],
            steps=played.steps,
            final_text=played.final_text,
            finish_reason=played.finish_reason,
            rollout_index=index,
            rollout_status=status,
            error=error,
            faults_fired=fired,
            seed=rollout.seed,
            state_digest=rollout.session.state_digest() if own else None,
            state_changes=rollout.session.state_changes() if own else None,
            seeded=seeded,
            behavior_signature=signature,
            group_planned_k=group.k,
            group_probe=group.probe,
            lineage=self._lineage if group.eval_run is None else {**self._lineage, "eval_run": group.eval_run},
            metadata=extra or None,
        )
        cells, line = self.encoder.encode(row)
        if _SECRET.search(line) and "privileged" not in self.features:
            # Something the agent or a tool brought along; on the row it would be one step from a training file.
            cells, line = self.encoder.encode(scrub(row))
        called = tuple(step["tool"] for step in played.steps if "tool" in step)
        kinds = tuple(fault["kind"] for fault in fired)
        flaws = flaws_of(row)
        seconds = time.perf_counter() - started
        return PlayedRow(task, index, cells, line, status, error, called, kinds, seconds, signature, signature, flaws)


def flaws_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What went wrong in a rollout without ending it."""
    found = []
    if row["finish_reason"] == "length":
        found.append("truncated")
    if any("malformed" in step for step in row["steps"]):
        found.append("malformed_calls")
    if row.get("sim_ok") is False:
        found.append("sim_faulty")
    return tuple(found)
