"""The row a judge sees of a rollout that verifiers recorded, and the verdict on it.

A recorded rollout is read here as plain JSON values, so that a live one, one that is graded again, and one read from a
file years later all give the same row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors import background_loop
from whileai_hf.errors import AgentError, DataError
from whileai_hf.export.environment.transcripts import failed_row, judged_row, read_transcript
from whileai_hf.export.package.tasks import task_of_line
from whileai_hf.export.verifiers.tasks import Data, agent_of, simulated_world
from whileai_hf.markers.trajectory import trace_flags_of
from whileai_hf.rows.view import Row
from whileai_hf.score.judging import is_async, judge_row, judge_row_async
from whileai_hf.score.verdicts import Verdict


Message = dict[str, Any]
# Where a recorded rollout keeps what is ours: `world`, `tail`, `rollout`, `judgment`.
OURS = "whileai_hf"
_LEDGER = ("faults_fired", "state_digest", "state_changes")


def is_ours(data: Any) -> bool:
    """Whether the data of a recorded task is that of an exported environment."""
    needed = ("environment", "tools", "info", "reward")
    return isinstance(data, Mapping) and all(data.get(name) is not None for name in needed)


def path_of(nodes: Sequence[Any]) -> list[int]:
    """Places of the messages from the root to the last leaf of a recorded conversation."""
    parents = {node.get("parent") for node in nodes}
    at: Any = next((place for place in reversed(range(len(nodes))) if place not in parents), None)
    path: list[int] = []
    # A parent stands before its children; anything else must not become an endless walk.
    while isinstance(at, int) and 0 <= at < len(nodes) and len(path) < len(nodes):
        path.append(at)
        at = nodes[at].get("parent")
    return path[::-1]


def wire(message: Mapping[str, Any]) -> Message:
    """A message as chat APIs write it; a call's arguments stay the text they came as."""
    made = {name: value for name, value in message.items() if value is not None and name != "provider_state"}
    if made.get("role") == "assistant":
        made.setdefault("content", "")
    calls = made.get("tool_calls")
    if isinstance(calls, list):
        made["tool_calls"] = [
            call
            if "function" in call
            else {
                "id": call.get("id"),
                "type": "function",
                "function": {"name": call.get("name"), "arguments": call.get("arguments")},
            }
            for call in calls
        ]
    return made


def said_in(trace: Mapping[str, Any]) -> list[Message]:
    """
    Everything behind the ask, in order, with what was done and never sent.

    Args:
        trace (`Mapping`):
            A recorded rollout: `nodes`, `calls` and `info` are read.
    """
    nodes = trace.get("nodes") or []
    ended = {call.get("node"): call.get("finish_reason") for call in trace.get("calls") or ()}
    said: list[Message] = []
    asked = False
    for place in path_of(nodes):
        message = wire(nodes[place]["message"])
        if message.get("role") == "system":
            continue
        if message.get("role") == "user" and not asked:
            asked = True
            continue
        if ended.get(place) == "length":
            message["finish_reason"] = "length"
        said.append(message)
    tail = ours_in(trace).get("tail")
    return [*said, *(tail if isinstance(tail, list) else ())]


def ours_in(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """What this library wrote into a recorded rollout."""
    info = trace.get("info")
    found = info.get(OURS) if isinstance(info, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def rollout_row(data: Data, trace: Mapping[str, Any]) -> Row:
    """
    A recorded rollout as the row that `simulate` makes of the same one, with what only a judge may see.

    Args:
        data (`Mapping`):
            The task's data.
        trace (`Mapping`):
            The recorded rollout.
    """
    ours = ours_in(trace)
    about = dict(ours.get("rollout") or {})
    return row_of(data, said_in(trace), about, ours.get("world"), _asked(trace))


def _asked(trace: Mapping[str, Any]) -> str | None:
    """The ask, where the user of a run said it in place of the task."""
    nodes = trace.get("nodes") or []
    for place in path_of(nodes):
        message = nodes[place]["message"]
        if message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else None
    return None


def row_of(
    data: Data,
    said: Sequence[Message],
    about: Mapping[str, Any],
    world: Any = None,
    asked: str | None = None,
) -> Row:
    """
    The row of a rollout.

    Args:
        data (`Mapping`):
            The task's data.
        said (`Sequence[dict]`):
            Everything behind the ask.
        about (`Mapping`):
            Further columns.
        world (`Mapping`, *optional*):
            What the world's own process wrote down about it, for what a transcript does not show.
        asked (`str`, *optional*):
            The ask, where it was not the task's.
    """
    task, agent = task_of_line(data), agent_of(data)
    try:
        transcript = read_transcript({**task, "prompt": asked or task["prompt"]}, agent, said, simulated_world(data))
    except AgentError as error:
        return failed_row(task, agent, error)
    told = dict(about)
    told.setdefault("seed", task.get("seed"))
    if transcript.session is None and isinstance(world, Mapping):
        told |= {name: world[name] for name in _LEDGER if name in world}
    return judged_row(task, agent, transcript, told)


async def judged(reward: Any, row: Row) -> Verdict:
    """
    The verdict on a row, wherever the judge does its waiting.

    A judge that awaits runs on the loop its client belongs to, any other on a thread: neither holds up the rollouts
    that share the caller's loop.
    """
    if is_async(reward):
        asked = asyncio.run_coroutine_threadsafe(judge_row_async(reward, row), background_loop())
        return await asyncio.wrap_future(asked)
    return await asyncio.to_thread(judge_row, reward, row)


def measurements(row: Row, truncated: bool) -> dict[str, float]:
    """What is logged beside the reward and never trained on."""
    return {
        "n_calls": float(sum(step.get("tool") is not None for step in row["steps"])),
        "truncated": float(truncated),
        "trace_clean": float(not trace_flags_of(row)),
    }


def judgment(verdict: Verdict, truncated: bool, name: str) -> Row:
    """A verdict as the run keeps it, so that it can be read back without asking the judge again."""
    meta = {**verdict.meta, **({"truncated": True, "judged": verdict.reward} if truncated else {})}
    return {
        "judge_name": name,
        "reason": verdict.reason,
        "markers": verdict.markers,
        "failure_class": verdict.failure_class,
        "judge_status": verdict.status.value,
        "judge_meta": meta,
    }


def no_reward(verdict: Verdict, reference: str) -> DataError:
    """The error that fails a rollout nobody could grade: 0 would be a grade."""
    said = verdict.meta.get("error") or verdict.reason or "it gave no reward"
    return DataError(f"the reward {reference} gave no grade ({verdict.status.value}): {said}")
