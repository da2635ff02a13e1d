"""The person's side of one conversation: the script where there is one, the simulated user, and the cap on turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.users.checks import FAULTS, faults_in
from whileai_hf.actors.users.expectations import is_met
from whileai_hf.actors.users.model import ModelUser
from whileai_hf.actors.users.requests import requests_in
from whileai_hf.actors.users.script import Turn, read_script
from whileai_hf.actors.users.template import TemplateUser
from whileai_hf.actors.users.user import Message, SimulatedUser, UserContext, last_reply
from whileai_hf.errors import ConfigurationError


# Target length of a conversation in turns: room to verify, look up, confirm and write.
DEFAULT_AVG_TURNS = 12
# What `user_model` says where every later turn was fixed by the task.
_SCRIPTED = "script"


class UserTurns:
    """
    The person of one rollout. Make one with [`make_user`].

    Args:
        user ([`SimulatedUser`]):
            Who speaks where the script does not.
        context ([`UserContext`]):
            The task and the seeds.
        avg_turns (`int`, *optional*, defaults to `12`):
            Target length of the conversation. The person speaks at most `avg_turns // 2` times, the ask included;
            turns a script fixes are always said.

    Raises:
        DataError: When the task's script cannot be read.
    """

    def __init__(self, user: SimulatedUser, context: UserContext, avg_turns: int = DEFAULT_AVG_TURNS) -> None:
        self.user = user
        self.context = context
        self.script = read_script(context.task.get("script"))
        self.ended_by = "agent"
        self.expectations: list[dict[str, Any]] = []
        self._most = max(1, avg_turns // 2)
        self._position = 0
        self._taken = 0  # turns the current `simulate` entry has had
        self._simulated = 0
        self._left = False  # the simulated user was asked and had nothing more to say

    @property
    def fixed_turns(self) -> int:
        """Turns of the script that need an agent who is spoken to more than once."""
        return sum(turn.user is not None for turn in self.script)

    async def next(self, messages: Sequence[Message]) -> str | None:
        """
        What the person says after a reply of the agent; `None` ends the conversation.

        Args:
            messages (`Sequence[dict]`):
                The conversation so far, as rows keep it.
        """
        said = await self._scripted(messages) if self.script else await self._simulate(messages)
        if said is not None:
            self.context.turn += 1
        return said

    def next_now(self, messages: Sequence[Message]) -> str | None:
        """[`next`][UserTurns.next] from a thread without an event loop."""
        turn = self.next(messages)
        if not isinstance(self.user, TemplateUser):
            return wait_for(turn)  # type: ignore[no-any-return]
        # Nothing in it waits, so it need not go to another thread and back.
        try:
            turn.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        raise RuntimeError("the template user waited for something")

    async def _scripted(self, messages: Sequence[Message]) -> str | None:
        while self._position < len(self.script):
            turn = self.script[self._position]
            if turn.simulate and self._taken != turn.simulate:
                said = await self._simulate(messages)
                if said is not None:
                    self._taken += 1
                    return said
            elif turn.simulate:
                self.ended_by = "script"  # the script grants no further turn
            self._position += 1
            self._taken = 0
            if turn.expect is not None:
                self._record(turn, is_met(turn.expect, messages))
            if turn.user is not None:
                self._left, self.ended_by = False, "script"
                return turn.user
        return None

    async def _simulate(self, messages: Sequence[Message]) -> str | None:
        self._left = False
        if self.context.turn >= self._most:
            # With room for the ask only, nobody was cut short.
            self.ended_by = "turns" if self.context.turn > 1 else self.ended_by
            return None
        said = await self.user.next(messages, self.context)
        if said is None or not said.strip():
            self._left = True
            self.ended_by = "user" if self.context.turn > 1 else "agent"
            return None
        self._simulated += 1
        return said

    def _record(self, turn: Turn, met: bool | None) -> None:
        at = self.context.turn if met is not None else None
        self.expectations.append({"expect": dict(turn.expect or {}), "met": met, "turn": at})

    def check(self, messages: Sequence[Message]) -> None:
        """Checks the assertions that come before any further turn, for an agent that takes one message."""
        while self._position < len(self.script) and self.script[self._position].expect is not None:
            turn = self.script[self._position]
            self._record(turn, is_met(turn.expect or {}, messages))
            self._position += 1

    def cut(self) -> None:
        """Says that the conversation ended before the person could speak again."""
        self._left = False
        self.ended_by = "turns"

    def report(self, messages: Sequence[Message]) -> dict[str, Any]:
        """
        What the row says about the person.

        Args:
            messages (`Sequence[dict]`):
                The whole conversation.

        Returns:
            `dict`: `ended_by`; `user_model`, `sim_ok` and `sim_reasons` where a person spoke after the ask or left too
            early; `expectations` where the task has some: those never reached have `met` `None`.
        """
        found: dict[str, Any] = {"ended_by": self.ended_by}
        faults = set(self.context.marks)
        if self._simulated or (self._left and requests_in(last_reply(messages))):
            knowledge = self.context.knowledge
            faults.update(faults_in(messages, self.context.task, knowledge, ended_by_user=self._left))
        if self._simulated or faults:
            reasons = [name for name in FAULTS if name in faults]
            found |= {"user_model": self.user.name, "sim_ok": not reasons, "sim_reasons": reasons}
        elif self.context.turn > 1:
            found["user_model"] = _SCRIPTED
        for turn in self.script[self._position :]:
            if turn.expect is not None:
                self._record(turn, None)
        self._position = len(self.script)
        if self.expectations:
            found["expectations"] = self.expectations
        return found


def as_user(source: Any = None) -> SimulatedUser:
    """
    The simulated user behind a `user_model=`.

    Args:
        source (`Any`, *optional*):
            `None` or `"template"` (no model), a [`SimulatedUser`], or whatever a model can be made of: a model, a spec
            string, a chat callable.

    Returns:
        [`SimulatedUser`]: Made once, it serves every rollout.

    Examples:
    ```python
    >>> as_user("template").name
    'template'

    ```
    """
    if source is None or source == "template":
        return TemplateUser()
    if isinstance(source, SimulatedUser) and not isinstance(source, type):
        return source
    if isinstance(source, type):
        raise ConfigurationError(f"user_model is the class {source.__name__}; pass an instance of it.")
    from whileai_hf.actors.models import as_model  # a client is only loaded where a model plays the user

    return ModelUser(as_model(source))


def make_user(
    user_model: Any,
    task: Mapping[str, Any],
    *,
    seed: int = 0,
    rollout_index: int = 0,
    avg_turns: int = DEFAULT_AVG_TURNS,
) -> UserTurns:
    """
    The person of one rollout.

    Args:
        user_model (`Any`):
            As for [`as_user`]; pass what that returned to make a client only once.
        task (`dict`):
            The task row. `script`, `expected_calls`, `privileged`, `persona`, `tone`, `typing` and `length` are read.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the run.
        rollout_index (`int`, *optional*, defaults to `0`):
            Which rollout of the task.
        avg_turns (`int`, *optional*, defaults to `12`):
            Target length of the conversation in turns; the person speaks at most `avg_turns // 2` times.

    Returns:
        [`UserTurns`]: For `Agent.run(..., user=)`.

    Examples:
    ```python
    >>> make_user("template", {"prompt": "Hello", "script": [{"user": "Bye"}]}).fixed_turns
    1

    ```
    """
    context = UserContext(task=task, seed=seed, rollout_index=rollout_index)
    return UserTurns(as_user(user_model), context, avg_turns)
