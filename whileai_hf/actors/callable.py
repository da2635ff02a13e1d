"""The agent contract: any callable that answers a user, made into one object the engine can play.

Two kinds, told apart by the signature. A message callable takes the ask and returns `{"steps": [...], "final_text":
str}`; it runs its own tools. A chat callable takes `(messages, tools)` and returns one assistant message; the tool
loop is ours. Both may be functions or objects with `__call__`, sync or async.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, cast

from whileai_hf.actors.chat import NOBODY, USER, Conversation, ToolWorld, tools_of
from whileai_hf.actors.loop import background_loop
from whileai_hf.actors.played import Played, read_result
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.sandbox import world
from whileai_hf.spec import AgentSpec


# Turns of a chat callable in one rollout; the longest conversation in published airline traces has 11 tool turns.
DEFAULT_MAX_TURNS = 12

_EXPECTED = "pass a function of one argument (the ask) or of two (messages, tools)"


def _signature(agent: Callable[..., Any], label: str) -> tuple[bool, bool]:
    """Whether `agent` is a chat callable, and whether it wants `tools` by keyword."""
    try:
        parameters = list(inspect.signature(agent).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature; they can only be called with the ask
        return False, False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    required = [p for p in positional if p.default is p.empty]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY and (p.default is p.empty or p.name == "tools")]
    if any(p.name != "tools" for p in keywords) or len(required) > 2 or not (positional or open_ended):
        raise ConfigurationError(f"agent {label} takes {inspect.signature(agent)}; {_EXPECTED}.")
    if keywords:
        return True, True
    return len(required) == 2 or (len(positional) > 1 and positional[1].name == "tools"), False


class Agent:
    """
    An agent the engine can play. Make one with [`adapt`].

    Args:
        function (`Callable`):
            The user's callable.

    Raises:
        ConfigurationError: When `function` is not callable, is a class, or takes other arguments.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise ConfigurationError(f"agent is {function!r:.60}; {_EXPECTED}.")
        if inspect.isclass(function):
            raise ConfigurationError(f"agent is the class {function.__name__}; pass an instance of it.")
        self.function = function
        routine = inspect.isroutine(function)
        label = function.__name__ if routine else type(function).__name__
        self.is_chat, self._by_keyword = _signature(function, label)
        self.is_async = inspect.iscoroutinefunction(function) or (
            not routine and inspect.iscoroutinefunction(type(function).__call__)
        )

    def _ask(self, conversation: Conversation, spec: AgentSpec) -> Any:
        messages = list(conversation.native)
        if self._by_keyword:
            return self.function(messages, tools=tools_of(spec))
        return self.function(messages, tools_of(spec))

    def run(
        self,
        message: str,
        *,
        spec: AgentSpec,
        session: ToolWorld | None,
        max_turns: int = DEFAULT_MAX_TURNS,
        user: UserTurns | None = None,
    ) -> Played:
        """
        Plays one ask on the calling thread.

        Args:
            message (`str`):
                What the user asks.
            spec ([`AgentSpec`]):
                Tools and system prompt, for chat callables.
            session ([`ToolWorld`] or `None`):
                Answers the tool calls of a chat callable; message callables reach their world themselves.
            max_turns (`int`, *optional*, defaults to `12`):
                Replies of a chat callable after which it is cut off with `finish_reason` `"length"`.
            user ([`UserTurns`], *optional*):
                The person, who may answer the replies of a chat callable; without one the first reply without calls
                is the last. A message callable takes one message and never meets them.

        Returns:
            [`Played`]: The conversation.

        Raises:
            AgentError: When the agent returned the wrong shape, or takes a single message where the task's script has
                more. What the agent itself raises passes through.
        """
        if not self.is_chat:
            self._takes_one(user)
            return _single(read_result(_now(self.function(message)), message), user)
        conversation = Conversation(message, spec, _world_of(spec, session), max_turns, user)
        turns = self._turns(conversation, spec, now=True)
        wanted = next(turns, None)
        while wanted is not None:
            wanted = _advance(turns, _now(wanted()))
        return conversation.played()

    async def arun(
        self,
        message: str,
        *,
        spec: AgentSpec,
        session: ToolWorld | None,
        max_turns: int = DEFAULT_MAX_TURNS,
        user: UserTurns | None = None,
    ) -> Played:
        """Plays one ask on the running event loop; a sync agent is sent to a thread. Arguments as in `run`."""
        if not self.is_async:
            return await asyncio.to_thread(
                self.run, message, spec=spec, session=session, max_turns=max_turns, user=user
            )
        if not self.is_chat:
            self._takes_one(user)
            return _single(read_result(await self.function(message), message), user)
        conversation = Conversation(message, spec, _world_of(spec, session), max_turns, user)
        turns = self._turns(conversation, spec, now=False)
        wanted = next(turns, None)
        while wanted is not None:
            wanted = _advance(turns, await wanted())
        return conversation.played()

    def _turns(
        self, conversation: Conversation, spec: AgentSpec, *, now: bool
    ) -> Generator[Callable[[], Any], Any, None]:
        """The turns of a conversation: yields who to ask, takes what they said; waiting is up to the caller."""
        while conversation.next != NOBODY:
            if conversation.next == USER and conversation.user is not None:
                messages = list(conversation.messages)
                answer = conversation.user.next_now if now else conversation.user.next
                conversation.hear((yield functools.partial(answer, messages)))
            else:
                conversation.take((yield functools.partial(self._ask, conversation, spec)))

    def _takes_one(self, user: UserTurns | None) -> None:
        if user is not None and user.fixed_turns:
            raise AgentError(
                f"the task's script has {user.fixed_turns} more user turns, and the agent takes a single message; "
                "pass a chat callable (messages, tools)."
            )


def _advance(turns: Generator[Callable[[], Any], Any, None], value: Any) -> Callable[[], Any] | None:
    """Hands on what somebody said; the next one to ask, or `None` at the end."""
    try:
        return turns.send(value)
    except StopIteration:
        return None


def _single(played: Played, user: UserTurns | None) -> Played:
    """A conversation of one message; the assertions of a task without further turns are checked on it."""
    if user is not None and user.script:
        user.check(played.messages)
        played.extra.update(user.report(played.messages))
    return played


def _now(result: Any) -> Any:
    """The value of `result`, waited for on the background loop when a callable only looks sync."""
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    return asyncio.run_coroutine_threadsafe(wait(), background_loop()).result()


def _world_of(spec: AgentSpec, session: ToolWorld | None) -> ToolWorld:
    if session is not None:
        return session
    return world(spec.tools)


def adapt(agent: Any) -> Agent:
    """
    The [`Agent`] of a callable; an [`Agent`] comes back as it is.

    Args:
        agent (`Callable`):
            `message -> {"steps": [...], "final_text": str}`, or `(messages, tools) -> assistant message`; a function
            or an object with `__call__`, sync or async.

    Returns:
        [`Agent`]: With `is_async`, `is_chat`, `run` and `arun`.

    Raises:
        ConfigurationError: When it cannot be called so.

    Examples:
    ```python
    >>> from whileai_hf.actors import adapt
    >>> agent = adapt(lambda message: {"steps": [], "final_text": "Hello."})
    >>> agent.is_chat, agent.is_async
    (False, False)

    ```
    """
    return agent if isinstance(agent, Agent) else Agent(agent)


def play(
    agent: Any,
    message: str,
    *,
    spec: AgentSpec,
    session: ToolWorld | None = None,
    max_turns: int = DEFAULT_MAX_TURNS,
    user: UserTurns | None = None,
) -> Played:
    """
    Plays one ask with `agent` and returns the conversation.

    Args:
        agent (`Callable`):
            See [`adapt`].
        message (`str`):
            What the user asks.
        spec ([`AgentSpec`]):
            Tools and system prompt.
        session ([`ToolWorld`], *optional*):
            Answers the tool calls of a chat callable; a fresh world of the spec's tools when left out.
        max_turns (`int`, *optional*, defaults to `12`):
            Replies of a chat callable after which it is cut off.
        user ([`UserTurns`], *optional*):
            The person after the first message, for chat callables.

    Returns:
        [`Played`]: Steps, final text, finish reason and messages.

    Examples:
    ```python
    >>> from whileai_hf.actors import play
    >>> from whileai_hf.spec import AgentSpec
    >>> spec = AgentSpec.from_tools([{"name": "ping"}])
    >>> play(lambda message: {"steps": [], "final_text": message.upper()}, "hello", spec=spec).final_text
    'HELLO'

    ```
    """
    adapted = adapt(agent)
    if not adapted.is_async:
        return adapted.run(message, spec=spec, session=session, max_turns=max_turns, user=user)
    played = _now(adapted.arun(message, spec=spec, session=session, max_turns=max_turns, user=user))
    return cast(Played, played)
