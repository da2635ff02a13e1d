"""The other end of the server: one session a rollout, in the shape TRL's OpenEnv loop plays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment.rows import ask_in


# Seconds a step may take: the last one waits for the judge.
_PATIENCE = 300.0


class OpenEnvSessions:
    """
    Sessions of an environment that [`serve_openenv`] serves.

    It is what TRL's OpenEnv loop takes as `harness_session_factory=`: the rows of the trainer's dataset name the task
    by their ask, all rollouts of a group meet the same world, each its own, and the server's reward is the rollout's.

    Args:
        url (`str`):
            Where the server is.
        split (`str`, *optional*, defaults to `"train"`):
            The tasks.
        patience (`float`, *optional*, defaults to `300.0`):
            Seconds a step may take.

    Examples:
    ```python
    >>> OpenEnvSessions("http://127.0.0.1:8000")
    OpenEnvSessions('http://127.0.0.1:8000', split='train')

    ```
    """

    def __init__(self, url: str, *, split: str = "train", patience: float = _PATIENCE) -> None:
        if not isinstance(url, str) or "://" not in url:
            raise ConfigurationError(f"url={url!r:.80} is no address; pass one such as 'http://127.0.0.1:8000'")
        self.url, self.split, self.patience = url, split, patience

    def __repr__(self) -> str:
        return f"OpenEnvSessions({self.url!r}, split={self.split!r})"

    def __call__(self, **sampling: Any) -> OpenEnvSessions:
        """TRL asks for a factory by calling this; what the model samples with does not matter to a world."""
        return self

    def _client(self) -> Any:
        try:
            from openenv.core.generic_client import (  # type: ignore[import-not-found, unused-ignore]
                GenericEnvClient,
            )
        except ImportError as error:
            raise ConfigurationError("OpenEnv is not installed; pip install 'whileai-hf[openenv]'") from error
        return GenericEnvClient(base_url=self.url, message_timeout_s=self.patience).sync()

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of the environment, as chat APIs take them."""
        client = self._client()
        try:
            return list(client.reset(split=self.split, seed=0).observation["tools"])
        finally:
            client.close()

    def create(self, task: Any = None, seed: int | None = None, episode_id: str | None = None) -> Any:
        """
        Opens a session.

        Args:
            task (`list[dict]` or `str` or `dict`, *optional*):
                What the rollout starts from: messages or the ask of a task, or `{"task_id": ...}`.
            seed (`int`, *optional*):
                Place of the task, where none is named.
            episode_id (`str`, *optional*):
                Name of the rollout.

        Returns:
            `openenv.core.harness.ResourceSession`: Its `verify(transcript)` ends the rollout and has the reward.
        """
        client = self._client()
        from openenv.core.env_server.mcp_types import Tool  # type: ignore[import-not-found, unused-ignore]
        from openenv.core.harness import (  # type: ignore[import-not-found, unused-ignore]
            StepEnvSessionAdapter,
            ToolResult,
            VerifyResult,
        )

        functions = [tool["function"] for tool in self.tools]
        specs = [
            Tool(
                name=function["name"],
                description=function.get("description") or "",
                input_schema=function.get("parameters") or {"type": "object", "properties": {}},
            )
            for function in functions
        ]

        def opening(result: Any, task: Any) -> list[dict[str, Any]]:
            return list(result.observation["messages"])

        def act(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            return {"tool": tool, "arguments": arguments}

        def answer(tool: str, arguments: dict[str, Any], result: Any, state: Any) -> Any:
            return ToolResult(data=result.observation["result"])

        def verify(transcript: list[dict[str, Any]], final: Any, last: Any, state: Any) -> Any:
            said = [dict(message) for message in transcript if message.get("role") == "assistant"]
            ended = client.step({"messages": said})
            return VerifyResult(env_reward=ended.reward, done=True, metrics=dict(ended.metadata or {}))

        return StepEnvSessionAdapter(
            client,
            task=task,
            seed=seed,
            episode_id=episode_id,
            tool_specs=specs,
            action_builder=act,
            initial_messages_builder=opening,
            tool_result_builder=answer,
            verify_builder=verify,
            reset_kwargs={"split": self.split, **_named(task)},
        )


def _named(task: Any) -> dict[str, Any]:
    """What of a task the server finds it by."""
    if isinstance(task, Mapping):
        return {"task_id": task["task_id"]}
    return {"prompt": ask_in(task)} if task else {}
