"""Whether a task can be solved: what a good agent did, done again in a fresh world and graded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.actors.chat import Conversation
from whileai_hf.actors.played import messages_from_steps
from whileai_hf.export.package.tasks import task_of_line
from whileai_hf.export.verifiers.judging import judged, row_of
from whileai_hf.export.verifiers.tasks import Data, agent_of, open_world
from whileai_hf.sandbox import activate
from whileai_hf.score.checking.runs import right_run


Message = dict[str, Any]


def played_again(data: Data, said: list[Message]) -> list[Message]:
    """
    What happens when an agent says this in a fresh world of the task.

    Args:
        data (`Mapping`):
            The task's data.
        said (`list[dict]`):
            The agent's messages, in order.

    Returns:
        `list[dict]`: Everything behind the ask.
    """
    rollout = open_world(data)
    with activate(rollout):
        talk = Conversation(rollout.prompt, agent_of(data), rollout.session, len(said) + 1)
        for message in said:
            talk.take(message)
    return talk.messages[1:]


async def gold_passes(data: Data, reward: Any) -> bool | None:
    """
    Whether a known good run earns the reward.

    Args:
        data (`Mapping`):
            The task's data; a rollout that passed rides on it where there was one.
        reward (`Callable`):
            The reward.

    Returns:
        `bool` or `None`: `False` only for a rollout that passed once and does not any more. Where all that is known
        are the calls a right agent makes, a report of ours stands in for the agent's, which a strict judge may well
        refuse: that says nothing about the task.
    """
    known = data["info"].get("gold")
    if isinstance(known, list) and known:
        return await _earns(data, [dict(message) for message in known if isinstance(message, Mapping)], reward)
    if data.get("world") is not None:
        return None
    task = task_of_line(data)
    run = right_run({**task, "reward": None}, list(data["tools"]), int(task.get("seed") or 0))
    if run is None:
        return None
    made = messages_from_steps(task["prompt"], [dict(step) for step in run.steps], run.text or "")
    said = [message for message in made if message["role"] == "assistant"]
    return True if await _earns(data, said, reward) else None


async def _earns(data: Data, said: list[Message], reward: Any) -> bool:
    verdict = await judged(reward, row_of(data, played_again(data, said), {}))
    return verdict.reward is not None and verdict.reward >= 1.0
