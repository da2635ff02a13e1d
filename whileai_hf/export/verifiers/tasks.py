"""A task of an exported environment where it is played: its agent, its world, and who answers the policy.

Everything is read off the task's own data, since a trainer's workers rebuild a task from that and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whileai_hf.actors.users import as_user, make_user
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.export.environment.worlds import EnvironmentFactory
from whileai_hf.export.package.reading import EnvironmentPackage
from whileai_hf.export.package.references import load_reference
from whileai_hf.export.package.tasks import task_of_line
from whileai_hf.rows import dumps, loads
from whileai_hf.rows.view import Row
from whileai_hf.sandbox import ActiveRollout, Session
from whileai_hf.spec import AgentSpec, read_tools


Data = Mapping[str, Any]
# Sets of tools, and agents, that are kept: a run has one, a test process a few.
_KEPT = 64


@lru_cache(_KEPT)
def _agent(tools: bytes, annotations: bytes, system_prompt: str) -> AgentSpec:
    noted = loads(annotations)
    read = read_tools(loads(tools))[0]
    return AgentSpec(
        tuple(dataclasses.replace(tool, annotations=noted.get(tool.name) or {}) for tool in read), system_prompt
    )


@lru_cache(_KEPT)
def _factory(tools: bytes, annotations: bytes, world: str | None) -> EnvironmentFactory:
    execute = None if world is None else load_reference(world, "world")
    return EnvironmentFactory(_agent(tools, annotations, "").tools, execute=execute)


@lru_cache(_KEPT)
def _user(model: str | None) -> Any:
    return as_user(model)


def _tools(data: Data) -> tuple[bytes, bytes]:
    return dumps(data["tools"]), dumps(data.get("annotations") or {})


def agent_of(data: Data) -> AgentSpec:
    """The agent that is asked."""
    return _agent(*_tools(data), data.get("system_prompt") or "")


def open_world(data: Data) -> ActiveRollout:
    """A fresh world of the task; all rollouts of it meet the same one, each its own."""
    return _factory(*_tools(data), data.get("world")).open(task_of_line(data))


def simulated_world(data: Data) -> Session | None:
    """A fresh world to make a transcript's calls in once more; `None` where the world is not ours."""
    return None if data.get("world") is not None else Session.of_task(agent_of(data).tools, task_of_line(data))


def user_of(data: Data, rollout: ActiveRollout) -> UserTurns | None:
    """
    Who answers the policy; `None` when the ask is all that is said.

    All rollouts of a task meet the same person, as they meet the same world: verifiers does not number them.
    """
    model = data.get("user_model")
    if model is None and not rollout.task.get("script"):
        return None
    return make_user(
        _user(model),
        rollout.task,
        seed=rollout.sampling_seed,
        avg_turns=1 if model is None else data["avg_turns"],  # the script alone speaks where nobody was asked to
    )


def ledger(rollout: ActiveRollout) -> Row:
    """What became of the world, in the columns of a row."""
    session = rollout.session
    return {
        "faults_fired": session.fired,
        "state_digest": session.state_digest(),
        "state_changes": session.state_changes(),
    }


def data_of(package: EnvironmentPackage, line: Row, reward: str | None = None) -> Row:
    """
    What a task needs to be played and graded, on its own.

    Args:
        package ([`EnvironmentPackage`]):
            Where it comes from.
        line (`dict`):
            A line of its data.
        reward (`str`, *optional*):
            Another reward than the package's.
    """
    spec = package.spec
    return {
        "environment": package.name,
        "prompt": line["prompt"],
        "system_prompt": spec["system_prompt"] or None,
        "scenario_id": line.get("scenario_id"),
        "info": line["info"],
        "tools": spec["tools"],
        "annotations": spec.get("annotations") or {},
        "reward": reward or spec["reward"],
        "world": spec.get("world"),
        "user_model": spec.get("user_model"),
        "avg_turns": spec.get("avg_turns") or 1,
    }
