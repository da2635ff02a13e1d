"""One rollout of an environment in this process: its world, its conversation, and the person in it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from whileai_hf.actors import background_loop
from whileai_hf.actors.chat import Conversation
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.export.verifiers.tasks import Data, agent_of, open_world, user_of
from whileai_hf.sandbox import ActiveRollout, activate


class Play:
    """One rollout in this process: its world, and its conversation once somebody has spoken."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.rollout: ActiveRollout = open_world(data)
        self.talk: Conversation | None = None

    @property
    def foreign(self) -> bool:
        """Whether calls are answered by code that is not ours, and may take its time."""
        return self.data.get("world") is not None

    def start(self, ask: str, max_turns: int | None) -> Conversation:
        """Opens the conversation."""
        world = _Activated(self.rollout) if self.foreign else self.rollout.session
        user = user_of(self.data, self.rollout)
        self.talk = Conversation(ask, agent_of(self.data), world, max_turns or sys.maxsize, user)
        return self.talk

    async def take(self, talk: Conversation, answer: Any) -> None:
        """Takes an answer of the policy and makes the calls in it."""
        if self.foreign:
            await asyncio.to_thread(talk.take, answer)
        else:
            talk.take(answer)

    def tail(self) -> list[dict[str, Any]]:
        """What was done or said behind the last answer, and which no further request carried."""
        made: list[dict[str, Any]] = []
        for message in reversed(self.talk.messages[1:] if self.talk is not None else ()):
            if message.get("role") == "assistant":
                break
            made.append(dict(message))
        return made[::-1]

    def about(self) -> dict[str, Any]:
        """What the conversation knows of itself beyond its messages."""
        return {} if self.talk is None else dict(self.talk.played().extra)


class _Activated:
    """The world of a rollout, for code that asks which one it answers."""

    def __init__(self, rollout: ActiveRollout) -> None:
        self._rollout = rollout

    def call(self, tool: str, arguments: dict[str, Any], /) -> dict[str, Any]:
        with activate(self._rollout):
            return self._rollout.session.call(tool, arguments)


async def said_by(user: UserTurns, messages: list[dict[str, Any]]) -> str | None:
    """What the person says; on the loop that their model's client belongs to, where they have one."""
    asked = asyncio.run_coroutine_threadsafe(user.next(list(messages)), background_loop())
    return await asyncio.wrap_future(asked)
