"""Exported environments for verifiers 0.4: task, task set, environment and harness of a package.

The data classes are at module level because tool servers import them by name; the others are made per package.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf

from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.export.package.references import load_reference
from whileai_hf.export.verifiers.gold import gold_passes
from whileai_hf.export.verifiers.harness import WorldHarness, WorldState
from whileai_hf.export.verifiers.judging import (
    OURS,
    judged,
    judgment,
    measurements,
    no_reward,
    rollout_row,
)
from whileai_hf.export.verifiers.servers import WorldToolset, WorldToolsetConfig
from whileai_hf.export.verifiers.taskdata import WorldData
from whileai_hf.export.verifiers.tasks import data_of, ledger
from whileai_hf.rows.view import Row
from whileai_hf.score.judging import judge_name


# What of a recorded rollout the reward goes by.
_READ = {"nodes": {"__all__": {"message", "parent"}}, "calls": {"__all__": {"node", "finish_reason"}}, "info": True}
Split = Literal["train", "holdout"]


class WorldTaskConfig(vf.TaskConfig):  # type: ignore[misc]  # verifiers comes without types
    """Knobs of a task: `--env.taskset.task.<knob>`."""

    reward: str | None = None
    """Another reward, `module:attr`."""
    tool_mode: Literal["inline", "mcp"] = "inline"
    """Whether calls are answered in this process, or by a tool server, for a harness of somebody else's."""
    server: WorldToolsetConfig = WorldToolsetConfig()


class WorldTask(vf.Task[WorldData, WorldState, WorldTaskConfig]):  # type: ignore[misc]
    """One task: it opens its world, keeps what became of it, and grades."""

    @property
    def key(self) -> str:
        """The task's own id."""
        return str(self.data.id)

    @classmethod
    def toolsets(cls, config: WorldTaskConfig) -> list[Any]:
        """The tool server, where one was asked for."""
        return [WorldToolset(config.server)] if config.tool_mode == "mcp" else []

    async def setup(self, trace: Any) -> None:
        """Opens the world of this rollout."""
        trace.state.play(self.data.model_dump())

    async def finalize(self, trace: Any) -> None:
        """Writes down what became of the world: the state itself is not kept with the rollout."""
        play = trace.state.played  # not here where a tool server handed in a state of its own
        world = trace.state.world or (ledger(play.rollout) if play is not None else None)
        ours: Row = {} if world is None else {"world": world}
        if play is not None:
            ours |= {"rollout": play.about(), "tail": play.tail()}
        trace.info[OURS] = ours

    async def validate(self, runtime: Any) -> bool | None:
        """Whether what a good agent did earns the reward; `None` where that is not known."""
        return await gold_passes(self.data.model_dump(), self._reward())

    def _reward(self) -> Any:
        return load_reference(self.config.reward or self.data.reward, "reward")

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator, unused-ignore]
    async def reward(self, trace: Any) -> float:
        """The reward of the environment; 0 for what was cut off, an error where nobody could grade."""
        recorded = trace.model_dump(mode="json", include=_READ)
        row = rollout_row(self.data.model_dump(), recorded)
        cut = bool(trace.is_truncated)
        trace.record_metrics(measurements(row, cut))
        judge = self._reward()
        verdict = await judged(judge, row)
        trace.info[OURS] = {**trace.info.get(OURS, {}), "judgment": judgment(verdict, cut, judge_name(judge))}
        trace.record_metric("judge_ok", float(verdict.reward is not None))
        trace.record_metrics(verdict.markers)
        if verdict.reward is None and trace.nodes:
            raise no_reward(verdict, self.config.reward or self.data.reward)
        return 0.0 if cut or verdict.reward is None else verdict.reward


class WorldTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Knobs of the task set: `--env.taskset.<knob>`."""

    split: Split = "train"
    task: WorldTaskConfig = WorldTaskConfig()


class WorldTaskset(vf.Taskset[WorldTask, WorldTasksetConfig]):  # type: ignore[misc]
    """The tasks of a package."""

    PACKAGE: EnvironmentPackage

    def load(self) -> Iterator[WorldTask]:
        """The tasks of the split, in their order."""
        for line in self.PACKAGE.lines(self.config.split):
            named = {"id": line["task_id"], "name": line["task_id"]}
            yield WorldTask(WorldData(**named, **data_of(self.PACKAGE, line)), self.config.task)


def build(source: Path | EnvironmentPackage) -> dict[str, type]:
    """
    The plugins of a package.

    Args:
        source (`Path` or [`EnvironmentPackage`]):
            The package, or the folder of its module.

    Returns:
        `dict[str, type]`: `Taskset`, `Env` and `Harness`.
    """
    package = source if isinstance(source, EnvironmentPackage) else load_package(source)

    class EnvConfig(vf.SingleAgentEnvConfig):  # type: ignore[misc]
        # The runtime is pinned, since the default is a remote sandbox. The harness is not: it is the package's own
        # where none is named, and naming it here would import the package while it is being imported.
        agent: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"}, max_turns=package.max_turns)

    class Env(vf.SingleAgentEnv, vf.Env[EnvConfig]):  # type: ignore[misc]
        pass

    title = "".join(part.capitalize() for part in package.module.split("_"))
    taskset = type(f"{title}Taskset", (WorldTaskset,), {"PACKAGE": package})
    harness = type(f"{title}Harness", (WorldHarness,), {})
    Env.__name__ = f"{title}Env"
    return {"Taskset": taskset, "Env": Env, "Harness": harness}
