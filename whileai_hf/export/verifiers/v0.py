"""Exported environments for verifiers before 0.4, and for whatever calls `load_environment` of a package.

The conversation is that of the harness for 0.4; only who drives it differs: here the environment is asked what happens
next, there it asks the policy itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import verifiers as vf
from datasets import Dataset

from whileai_hf.actors.chat import NOBODY, USER
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.export.package.references import load_reference
from whileai_hf.export.verifiers.judging import OURS, judged, measurements, row_of, wire
from whileai_hf.export.verifiers.playing import Play, said_by
from whileai_hf.export.verifiers.tasks import data_of, ledger
from whileai_hf.rows import dumps, to_dataset
from whileai_hf.rows.view import Row


Message = dict[str, Any]


def load_environment(
    source: Path | EnvironmentPackage, split: str = "train", reward: str | None = None, **knobs: Any
) -> Any:
    """
    A package as the environment of verifiers 0.1.11 to 0.3.

    Args:
        source (`Path` or [`EnvironmentPackage`]):
            The package, or its folder.
        split (`str`, *optional*, defaults to `"train"`):
            `"train"` or `"holdout"`.
        reward (`str`, *optional*):
            Another reward, `module:attr`.
        **knobs:
            Of the environment class, such as `max_turns`.

    Returns:
        `verifiers.Environment`: Its metrics are those of 0.4, each with weight 0.
    """
    package = source if isinstance(source, EnvironmentPackage) else load_package(source)
    package.imported()
    if not hasattr(vf, "StatefulToolEnv"):
        raise ConfigurationError(
            "load_environment of an exported environment is for verifiers before 0.4; with this one run "
            f"vf-eval {package.module}, or whileai_hf's evaluate"
        )
    return _environment(package, split, reward, knobs)


def _rows(package: EnvironmentPackage, split: str, reward: str | None) -> Dataset:
    lines = package.lines(split)
    # As text: a table of dicts would fill every task with the keys of all.
    rows: list[Row] = [
        {
            "prompt": [{"role": "user", "content": line["prompt"]}],
            "answer": "",
            "task_id": line["task_id"],
            "info": dumps(data_of(package, line, reward)).decode(),
        }
        for line in lines
    ]
    made = to_dataset(rows)
    return made


def _plain(message: Any) -> Message:
    return wire(message if isinstance(message, Mapping) else message.model_dump(exclude_none=True))


def _environment(package: EnvironmentPackage, split: str, reward: str | None, knobs: dict[str, Any]) -> Any:
    class WorldEnv(vf.StatefulToolEnv):  # type: ignore[misc]  # verifiers comes without types
        """The world of every rollout, and the user where there is one."""

        def __init__(self, **given: Any) -> None:
            super().__init__(tools=[], **given)
            functions = [tool["function"] for tool in package.spec["tools"]]
            self.tool_defs = [
                vf.Tool(
                    name=function["name"],
                    description=function.get("description") or "",
                    parameters=function.get("parameters") or {"type": "object", "properties": {}},
                )
                for function in functions
            ]
            self._plays: dict[str, Play] = {}

        async def setup_state(self, state: Any, **also: Any) -> Any:
            """Opens the world of a rollout."""
            play = self._plays[state["trajectory_id"]] = Play(state["info"])
            play.start(state["info"]["prompt"], self.max_turns if self.max_turns > 0 else None)
            state[OURS] = {"said": [], "taken": 0}
            return state

        def update_tool_args(
            self, tool_name: str, tool_args: Any, messages: Any, state: Any, **also: Any
        ) -> dict[str, Any]:
            """Calls are not made one by one here."""
            return dict(tool_args)

        async def _catch_up(self, state: Any) -> None:
            """Takes the last answer of the policy, once, and lets the user speak where it is their turn."""
            play, kept = self._plays[state["trajectory_id"]], state[OURS]
            talk = play.talk
            if talk is None or kept["taken"] == len(state["trajectory"]):
                return
            kept["taken"] = len(state["trajectory"])
            step = state["trajectory"][-1]
            answer = _plain(step["completion"][-1])
            if step.get("is_truncated"):
                answer["finish_reason"] = "length"
            try:
                await play.take(talk, answer)
            except AgentError as error:
                state["error"] = vf.Error(str(error))
                return
            if talk.next == USER and isinstance(talk.user, UserTurns):
                talk.hear(await said_by(talk.user, talk.messages))
            kept["said"] = talk.messages[1:]
            kept |= {"world": ledger(play.rollout), "rollout": play.about(), "cut": talk.played().finish_reason}

        @vf.stop  # type: ignore[untyped-decorator, unused-ignore]
        async def no_tools_called(self, state: Any) -> bool:
            """Whether the conversation is over because there is nothing more to say."""
            if not state["trajectory"]:
                return False
            await self._catch_up(state)
            talk = self._plays[state["trajectory_id"]].talk
            return talk is not None and talk.next == NOBODY and talk.messages[-1]["role"] != "tool"

        async def env_response(self, messages: Any, state: Any, **also: Any) -> Any:
            """Results of the calls, or what the user says."""
            await self._catch_up(state)
            made: list[Message] = []
            for message in reversed(state[OURS]["said"]):
                if message["role"] == "assistant":
                    break
                made.append({"role": message["role"], "content": message["content"]})
                if message["role"] == "tool":
                    made[-1]["tool_call_id"] = message["tool_call_id"]
            return made[::-1]

        @vf.cleanup  # type: ignore[untyped-decorator, unused-ignore]
        async def close_world(self, state: Any) -> None:
            """Makes the calls of a last answer that nobody will go on from, and lets the world go."""
            if state["trajectory"] and state.get("error") is None:
                await self._catch_up(state)
            self._plays.pop(state["trajectory_id"], None)

    rows = _rows(package, split, reward)
    settings = {"max_turns": package.max_turns, "system_prompt": package.spec["system_prompt"] or None, **knobs}
    return WorldEnv(dataset=rows, eval_dataset=rows, rubric=_rubric(), **settings)


def _rubric() -> Any:
    class WorldRubric(vf.Rubric):  # type: ignore[misc]
        """The reward, and what is logged beside it."""

        async def score_rollout(self, state: Any, **also: Any) -> Any:
            """The markers of the reward are not known before it is asked, so they join the metrics here."""
            made = await super().score_rollout(state, **also)
            _add_markers(state)
            return made

        async def score_group(self, states: Any, **also: Any) -> Any:
            """As for one."""
            made = await super().score_group(states, **also)
            for state in states:
                _add_markers(state)
            return made

    async def reward(state: Any) -> float:
        return await _grade(state)

    def logged(name: str) -> Any:
        async def metric(state: Any) -> float:
            return float(state[OURS]["metrics"].get(name, 0.0))

        metric.__name__ = name
        return metric

    names = ("n_calls", "judge_ok", "truncated", "trace_clean")
    return WorldRubric(funcs=[reward, *map(logged, names)], weights=[1.0, *([0.0] * len(names))])


def _add_markers(state: Any) -> None:
    kept = state.get(OURS) or {}
    state["metrics"] = {**(state.get("metrics") or {}), **kept.get("markers", {})}


async def _grade(state: Any) -> float:
    data, kept = state["info"], state[OURS]
    row = row_of(data, kept["said"], kept.get("rollout") or {}, kept.get("world"))
    cut = row["finish_reason"] == "length" or kept.get("cut") == "length"
    verdict = await judged(load_reference(data["reward"], "reward"), row)
    kept["markers"] = verdict.markers
    kept["metrics"] = {**measurements(row, cut), "judge_ok": float(verdict.reward is not None)}
    if verdict.reward is None:
        # This framework takes an exception for a reward of 0; an error keeps the rollout from being counted as one.
        said = verdict.meta.get("error") or verdict.reason or verdict.status.value
        state["error"] = vf.Error(f"the reward {data['reward']} gave no grade: {said}")
        return 0.0
    return 0.0 if cut else verdict.reward
