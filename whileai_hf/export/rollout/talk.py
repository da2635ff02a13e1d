"""One conversation of a rollout: messages and tokens side by side, cut where the tokens end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.actors import Played
from whileai_hf.actors.chat import AGENT, USER, Conversation
from whileai_hf.errors import AgentError
from whileai_hf.export.rollout.tokens import Message, TurnTokens


@dataclass(frozen=True)
class Limits:
    """Tokens a completion and a whole conversation may have, and the tokens that end a turn."""

    completion: int
    context: int
    stops: frozenset[int]


class Talk:
    """
    A conversation in progress.

    Args:
        conversation ([`Conversation`]):
            Its messages, world and user.
        turns ([`TurnTokens`]):
            The chat template.
        opening (`Sequence[dict]`):
            The messages the rollout starts from.
        tools (`Sequence[dict]`):
            What the policy is shown.
        limits ([`Limits`]):
            How long it may get.
    """

    def __init__(
        self,
        conversation: Conversation,
        turns: TurnTokens,
        opening: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        limits: Limits,
    ) -> None:
        self.conversation = conversation
        self._turns, self._tools, self._limits = turns, tools, limits
        self.prompt_ids = turns.opening(opening, tools)
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []
        self._kept = len(conversation.messages)
        self._asked = self._kept
        self._cut = False
        self._failure: dict[str, str] | None = None

    @property
    def live(self) -> bool:
        """Whether the policy is to speak next."""
        return not self._over and self.conversation.next == AGENT

    @property
    def waits_for_user(self) -> bool:
        """Whether the user is to speak next."""
        return not self._over and self.conversation.next == USER

    @property
    def _over(self) -> bool:
        return self._cut or self._failure is not None

    @property
    def ids(self) -> list[int]:
        """Everything so far."""
        return self.prompt_ids + self.completion_ids

    def take(self, written: list[int], logprobs: Sequence[float] | None) -> None:
        """Takes a turn of the policy and runs the calls in it."""
        room = self._limits.completion - len(self.completion_ids)
        written = written[:room]
        before = self.ids
        self.completion_ids += written
        self.mask += [1] * len(written)
        if logprobs is not None:
            self.logprobs += list(logprobs[: len(written)])
        message = self._turns.read(written, before, self._tools)
        if not written or written[-1] not in self._limits.stops:
            message["finish_reason"] = "length"
        place = len(self.conversation.messages)
        try:
            self.conversation.take(message)
        except AgentError as error:
            self._failure = {"rollout_status": "invalid", "error": str(error)}
            return
        self._kept = place + 1
        results = self.conversation.messages[self._kept :]
        if results:
            self._tell(results)

    def hear(self, said: str | None) -> None:
        """Takes what the user said; `None` ends the conversation."""
        self.conversation.hear(said)
        if said is not None:
            self._tell([{"role": "user", "content": said}])

    def fail(self, error: str) -> None:
        """Ends a conversation that cannot go on for reasons that are not the policy's; no judge is asked about it."""
        self._failure = {"rollout_status": "error", "error": error}

    def _tell(self, messages: Sequence[Message]) -> None:
        """Puts what the policy is told behind its turn, if it fits and leaves room for a word."""
        if self.completion_ids[-1] not in self._limits.stops:  # a turn that was never ended
            self._cut = True
            return
        if self.conversation.next != AGENT:  # no turn is left: the calls were made, and nobody reads their results
            self._kept += len(messages)
            return
        tokens = self._turns.between(messages)
        length = len(self.completion_ids) + len(tokens)
        if length >= self._limits.completion or len(self.prompt_ids) + length >= self._limits.context:
            self._cut = True
            return
        self.completion_ids += tokens
        self.mask += [0] * len(tokens)
        self.logprobs += [0.0] * len(tokens)
        self._kept += len(messages)

    def trajectory(self) -> list[dict[str, Any]]:
        """The messages the tokens stand for, without the opening."""
        return self.conversation.messages[self._asked : self._kept]

    def about(self) -> dict[str, Any]:
        """What the row of this rollout says beyond its messages."""
        if self._failure is not None:
            return dict(self._failure)
        played: Played = self.conversation.played()
        reason = "length" if self._cut else played.finish_reason
        return {"finish_reason": reason, **played.extra}
