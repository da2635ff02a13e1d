"""The protocol every model backend keeps, and what one call of it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable


Message: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Completion:
    """
    One assistant message and what is known about how it came about.

    Args:
        message (`dict`):
            OpenAI shape: `role`, `content` (text without reasoning), `tool_calls` (arguments as the model wrote them),
            `reasoning_content` where there was any.
        finish_reason (`str`, *optional*):
            `"stop"`, `"tool_calls"` or `"length"` (cut at the token cap).
        usage (`dict`, *optional*):
            `input_tokens` and `output_tokens` of this call, where the backend counts them.
        logprob (`float`, *optional*):
            Summed natural-log probability of the generated tokens; `None` when not asked for or not returned.
        n_tokens (`int`, *optional*):
            Number of tokens `logprob` sums over.
        token_logprobs (`list[float]`, *optional*):
            Their log probabilities one by one.
    """

    message: Message
    finish_reason: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    logprob: float | None = None
    n_tokens: int | None = None
    token_logprobs: list[float] | None = None


@runtime_checkable
class Model(Protocol):
    """A model that can be asked for the next message."""

    @property
    def name(self) -> str:
        """What rows say about who did a job: free of keys and memory addresses, the same in every process."""

    @property
    def sampling(self) -> dict[str, Any]:
        """How it samples, as resolved: `temperature`, `max_tokens`, `model` and what else was set."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        logprobs: bool = False,
        schema: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> Completion:
        """
        The next assistant message.

        Args:
            messages (`Sequence[dict]`):
                The conversation.
            tools (`Sequence[dict]`, *optional*):
                Tools it may call, OpenAI shape.
            logprobs (`bool`, *optional*, defaults to `False`):
                Ask for log probabilities of the generated tokens.
            schema (`Mapping`, *optional*):
                JSON schema the answer should follow; a backend that cannot constrain ignores it.
            seed (`int`, *optional*):
                Sampling seed of this call, for backends that take one.

        Raises:
            [`ModelError`]: No answer to this call.
            [`ModelStopError`]: No answer to any further call.
        """
