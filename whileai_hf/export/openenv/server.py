"""The server: a package's tasks and worlds behind OpenEnv's `reset` and `step`.

`reset(task_id=..., prompt=..., seed=..., split=...)` opens the world of a task and returns the conversation and the
tools. A step either makes a call (`tool`, `arguments`) or ends the rollout: with the whole transcript (`messages`), or
with the answer alone (`reply`). The last one has the reward.
"""

from __future__ import annotations

import itertools
import os
from functools import cache
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.openenv.rollouts import Graded, ServedRollout, TaskShelf
from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.rows.view import Row


_EXTRA = "OpenEnv is not installed; pip install 'whileai-hf[openenv]'"
# Rollouts at the same time: a few groups of a trainer.
_MOST_AT_ONCE = 256


@cache
def wire_types() -> tuple[Any, Any]:
    """
    The action and the observation, as OpenEnv has them.

    Raises:
        [`ConfigurationError`]: OpenEnv is not installed.
    """
    try:
        from openenv.core.env_server.types import Action, Observation  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ConfigurationError(_EXTRA) from error

    class WorldAction(Action):  # type: ignore[misc]
        """A call, or the end: one of `tool`, `messages`, `reply`."""

        tool: str | None = None
        arguments: dict[str, Any] | None = None
        messages: list[dict[str, Any]] | None = None
        reply: str | None = None

    class WorldObservation(Observation):  # type: ignore[misc]
        """What a policy is shown: the task at first, then results."""

        result: str | None = None
        task_id: str | None = None
        messages: list[dict[str, Any]] | None = None
        tools: list[dict[str, Any]] | None = None
        max_turns: int | None = None

    return WorldAction, WorldObservation


def _environment_class() -> Any:
    from openenv.core.env_server.interfaces import Environment  # type: ignore[import-not-found, unused-ignore]
    from openenv.core.env_server.types import State

    _, observation = wire_types()

    class WorldEnvironment(Environment):  # type: ignore[misc]
        """The environment of one connection."""

        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self, shared: _Shared) -> None:
            super().__init__()
            self._shared = shared
            self._rollout: ServedRollout | None = None
            self._state = State()

        def reset(
            self,
            seed: int | None = None,
            episode_id: str | None = None,
            split: str | None = None,
            task_id: str | None = None,
            prompt: str | None = None,
            **others: Any,
        ) -> Any:
            self._rollout = self._shared.open(split, task_id, prompt, seed)
            self._state = State(episode_id=episode_id, step_count=0)
            return observation(**self._shared.shown(self._rollout))

        def step(self, action: Any, timeout_s: float | None = None, **others: Any) -> Any:
            if self._rollout is None:
                raise ConfigurationError("a step before reset(): there is no rollout yet, or it has ended")
            self._state.step_count += 1
            if sum(given is not None for given in (action.tool, action.messages, action.reply)) != 1:
                raise ConfigurationError("a step has one of tool, messages and reply")
            if action.tool is not None:
                return observation(result=self._rollout.call(action.tool, action.arguments or {}))
            graded = _finish(self._rollout, action)
            self._rollout = None
            about = {"truncated": graded.truncated, "judge_status": graded.status, **graded.markers}
            return observation(done=True, reward=graded.reward, metadata=about)

        @property
        def state(self) -> Any:
            return self._state

    return WorldEnvironment


def _finish(rollout: ServedRollout, action: Any) -> Graded:
    return rollout.reply(action.reply) if action.messages is None else rollout.transcript(action.messages)


class _Shared:
    """What all connections of a server have in common."""

    def __init__(self, package: EnvironmentPackage, split: str) -> None:
        self._package, self._split = package, split
        self._shelf = TaskShelf(package)
        self._tools = package.agent.openai_tools()
        # Both are imported here, so that a server that cannot grade does not start.
        self._reward = package.reward()
        package.world()
        self._numbers = itertools.count()

    def open(self, split: str | None, task_id: str | None, prompt: str | None, seed: int | None) -> ServedRollout:
        number = seed if seed is not None or task_id is not None or prompt is not None else next(self._numbers)
        line = self._shelf.take(split or self._split, task_id=task_id, prompt=prompt, number=number)
        return ServedRollout(self._package, line, self._reward)

    def shown(self, rollout: ServedRollout) -> Row:
        return {
            "task_id": rollout.line["task_id"],
            "messages": rollout.messages(),
            "tools": self._tools,
            "max_turns": self._package.max_turns,
        }


def openenv_app(
    source: str | os.PathLike[str] | EnvironmentPackage, *, split: str = "train", most_at_once: int = _MOST_AT_ONCE
) -> Any:
    """
    An exported environment as a web application that speaks OpenEnv.

    Args:
        source (`str` or `Path` or [`EnvironmentPackage`]):
            Its folder, the name of an installed one, or a Hub repo id.
        split (`str`, *optional*, defaults to `"train"`):
            The tasks of a `reset` that names no split.
        most_at_once (`int`, *optional*, defaults to `256`):
            Rollouts at the same time.

    Returns:
        `fastapi.FastAPI`: To be run by any ASGI server. Whoever can reach it can play and be graded; nothing only a
        judge may see is in what it answers.

    Raises:
        [`ConfigurationError`]: OpenEnv is not installed, the reward cannot be imported, or the environment has a user
            who speaks again.
    """
    action, observation = wire_types()
    from openenv.core.env_server.http_server import (  # type: ignore[import-not-found, unused-ignore]
        create_fastapi_app,
    )

    package = source if isinstance(source, EnvironmentPackage) else load_package(source)
    shared = _Shared(package, split)
    made = _environment_class()
    return create_fastapi_app(lambda: made(shared), action, observation, most_at_once, env_name=package.name)


def serve_openenv(
    source: str | os.PathLike[str] | EnvironmentPackage,
    *,
    split: str = "train",
    host: str = "127.0.0.1",
    port: int = 8000,
    most_at_once: int = _MOST_AT_ONCE,
) -> None:
    """
    Serves an exported environment until it is interrupted.

    Args:
        source (`str` or `Path` or [`EnvironmentPackage`]):
            As in [`openenv_app`].
        split (`str`, *optional*, defaults to `"train"`):
            The tasks of a `reset` that names no split.
        host (`str`, *optional*, defaults to `"127.0.0.1"`):
            Address to listen on; this machine alone by default.
        port (`int`, *optional*, defaults to `8000`):
            Port.
        most_at_once (`int`, *optional*, defaults to `256`):
            Rollouts at the same time.

    Raises:
        [`ConfigurationError`]: As in [`openenv_app`].
    """
    app = openenv_app(source, split=split, most_at_once=most_at_once)
    import uvicorn  # type: ignore[import-not-found, unused-ignore]  # comes with OpenEnv

    uvicorn.run(app, host=host, port=port, log_level="warning")
