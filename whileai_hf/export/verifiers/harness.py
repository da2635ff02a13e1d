"""The tool loop of an environment, in this process: the policy is asked through verifiers, the world answers here.

There is no subprocess and no tool server: a rollout costs little more than its model calls, and the model reads the
tools word for word as they were exported.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import aiohttp
import verifiers.v1 as vf
from pydantic import Field, PrivateAttr
from verifiers.v1.types import content_text

from whileai_hf.actors.chat import AGENT, USER, Conversation
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.errors import AgentError
from whileai_hf.export.verifiers.playing import Play, said_by
from whileai_hf.export.verifiers.tasks import Data
from whileai_hf.rows.rng import unit


# Tries of one model call; a policy server that is full, or that dropped a connection, mostly takes the next.
_TRIES = 5
_FIRST_WAIT_S = 0.2
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})


class WorldState(vf.State):  # type: ignore[misc]  # verifiers comes without types
    """What goes on in a rollout: the live part, in this process alone, and in `world` what a tool server wrote."""

    world: dict[str, Any] = Field(default_factory=dict)
    _play: Any = PrivateAttr(default=None)

    def play(self, data: Data) -> Play:
        """The rollout of this state, opened when it is first asked for."""
        if self._play is None:
            self._play = Play(data)
        return self._play  # type: ignore[no-any-return]

    @property
    def played(self) -> Play | None:
        """The rollout, where one was opened in this process."""
        return self._play  # type: ignore[no-any-return]


class WorldHarnessConfig(vf.HarnessConfig):  # type: ignore[misc]
    """No knobs of its own."""


class WorldHarness(vf.Harness[WorldHarnessConfig]):  # type: ignore[misc]
    """
    Plays a task of an exported environment in this process.

    Every model call goes through the endpoint it is given, so limits, sampling and the record are those of verifiers.
    """

    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True
    SUPPORTS_MCP: ClassVar[bool] = True  # never used: the world answers here
    SUPPORTS_RESUME: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> Any:
        """Plays from the ask on, until the conversation ends."""
        play = trace.state.play(data.model_dump())
        talk = play.start(data.prompt_text, trace.agent.config.max_turns)
        return await self._go_on(play, talk, _Policy(ctx.model, data.tools, endpoint, secret))

    async def resume(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any, messages: Any
    ) -> Any:
        """Goes on after somebody else has spoken for the user; the world is as it was left."""
        play = trace.state.play(data.model_dump())
        said = "\n".join(content_text(message.content) for message in messages)
        talk = play.talk
        if talk is None:
            talk = play.start(said, trace.agent.config.max_turns)
        else:
            talk.hear(said)
        return await self._go_on(play, talk, _Policy(ctx.model, data.tools, endpoint, secret))

    async def _go_on(self, play: Play, talk: Conversation, policy: _Policy) -> Any:
        async with policy:
            while talk.next in (AGENT, USER) or _cut(talk):
                if talk.next == USER and isinstance(talk.user, UserTurns):
                    talk.hear(await said_by(talk.user, talk.messages))
                    continue
                answer = await policy.ask(talk.native)
                if isinstance(answer, str):
                    # A limit that was reached, or an error of the policy's server: verifiers knows which.
                    return vf.ProgramResult(exit_code=1, stdout="", stderr=answer)
                try:
                    await play.take(talk, answer)
                except AgentError as error:
                    return vf.ProgramResult(exit_code=1, stdout="", stderr=str(error))
        return vf.ProgramResult(exit_code=0, stdout=talk.played().final_text, stderr="")


def _cut(talk: Conversation) -> bool:
    """Whether the turns ran out behind calls; one more request lets verifiers see that and say so."""
    return bool(talk.messages[-1]["role"] == "tool")


class _Policy:
    """Asks the policy for the next message, again where that is worth while."""

    def __init__(self, model: str, tools: list[dict[str, Any]], endpoint: str, secret: str) -> None:
        self._url = f"{endpoint}/chat/completions"
        self._body: dict[str, Any] = {"model": model, **({"tools": tools} if tools else {})}
        self._secret = secret

    async def __aenter__(self) -> _Policy:
        # The endpoint is on this machine: it is not for the proxies of the environment, and waits are not ours to end.
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._secret}"}, timeout=aiohttp.ClientTimeout(total=None)
        )
        return self

    async def __aexit__(self, *details: Any) -> None:
        await self._session.close()

    async def ask(self, messages: list[dict[str, Any]]) -> Mapping[str, Any] | str:
        """The completion, or what the server said instead."""
        refusal = ""
        for attempt in range(_TRIES):
            if attempt:
                share = unit(attempt, "retry", self._secret)  # so that rollouts do not come back all at once
                await asyncio.sleep(_FIRST_WAIT_S * 2**attempt * share)
            # By the count a repeated request is known, so that an answer on its way twice is one turn.
            headers = {"x-stainless-retry-count": str(attempt)}
            try:
                async with self._session.post(
                    self._url, json={**self._body, "messages": messages}, headers=headers
                ) as reply:
                    status, text = reply.status, await reply.text()
            except aiohttp.ClientError as error:
                refusal = f"{type(error).__name__}: {error}"
                continue
            if status < 400:
                return json.loads(text)  # type: ignore[no-any-return]
            refusal = text[-500:]
            if status not in _RETRIED:
                break
        return refusal
