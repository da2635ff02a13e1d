"""The protocol of a simulated user, and what one is told about the conversation it takes part in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from whileai_hf.actors.users.knowledge import Knowledge, knowledge_of


Message = Mapping[str, Any]


@dataclass(slots=True)
class UserContext:
    """
    One conversation as its simulated user sees it. A user keeps nothing itself, so that one serves every rollout.

    Args:
        task (`Mapping`):
            The task row; see [`knowledge_of`] for what of it a person knows.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the run.
        rollout_index (`int`, *optional*, defaults to `0`):
            Which rollout of the task.
        turn (`int`, *optional*, defaults to `1`):
            Messages of the person so far, the ask included.
        marks (`list[str]`, *optional*):
            Faults of this user that do not stand in the conversation because they were held back.
        done (`bool`, *optional*, defaults to `False`):
            Set by a user whose last message was its last.
    """

    task: Mapping[str, Any]
    seed: int = 0
    rollout_index: int = 0
    turn: int = 1
    marks: list[str] = field(default_factory=list)
    done: bool = False
    _knowledge: Knowledge | None = field(default=None, repr=False, compare=False)

    @property
    def knowledge(self) -> Knowledge:
        """What the person knows, read off the task once."""
        if self._knowledge is None:
            self._knowledge = knowledge_of(self.task)
        return self._knowledge

    @property
    def scenario(self) -> str:
        """What the choices of this conversation are named by."""
        return str(self.task.get("scenario_id") or self.task.get("task_id") or self.task.get("prompt") or "")


@runtime_checkable
class SimulatedUser(Protocol):
    """Somebody who speaks for the person after the first message."""

    @property
    def name(self) -> str:
        """What the `user_model` column says."""

    async def next(self, messages: Sequence[Message], context: UserContext) -> str | None:
        """
        What the person says next.

        Args:
            messages (`Sequence[dict]`):
                The conversation so far, ending with the agent's reply.
            context ([`UserContext`]):
                The task and where the conversation stands.

        Returns:
            `str` or `None`: `None` when there is nothing more to say.
        """


def spoken(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The conversation as the person hears it: `(role, text)` without system messages, tool calls and results."""
    heard = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role in ("user", "assistant") and isinstance(content, str) and content.strip():
            heard.append((str(role), content))
    return heard


def last_reply(messages: Sequence[Message]) -> str:
    """What the agent said since the person last spoke."""
    said: list[str] = []
    for role, text in reversed(spoken(messages)):
        if role == "user":
            break
        said.append(text)
    return "\n".join(reversed(said))
