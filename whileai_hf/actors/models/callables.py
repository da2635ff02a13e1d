"""A chat callable as a model: what answers `(messages, tools)` can write situations and play users, too."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.actors.models.model import Completion, Message
from whileai_hf.actors.models.reading import read_completion
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.actors.naming import agent_id
from whileai_hf.actors.scripted import ScriptedModel
from whileai_hf.errors import ConfigurationError, ModelError


class CallableModel:
    """
    A model out of a chat callable. Sync ones run on threads; schema, seed and log probabilities are its own business.

    Args:
        function (`Callable`):
            `(messages, tools) -> assistant message`, sync or async; tools may be keyword-only.
        sampling ([`Sampling`], *optional*):
            Recorded, not applied.

    Raises:
        ConfigurationError: When it cannot be called so.
    """

    def __init__(self, function: Callable[..., Any], sampling: Sampling | None = None) -> None:
        self.function = function
        self._knobs = sampling or Sampling()
        self._by_keyword = _by_keyword(function)
        self._is_async = inspect.iscoroutinefunction(function) or (
            not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)
        )

    def __repr__(self) -> str:
        return f"CallableModel({self.name!r})"

    @property
    def name(self) -> str:
        """The callable's name."""
        return agent_id(self.function)

    @property
    def sampling(self) -> dict[str, Any]:
        """What was said about its sampling."""
        return {"model": self.name, **self._knobs.shown()}

    def _call(self, messages: list[Message], tools: list[dict[str, Any]]) -> Any:
        return self.function(messages, tools=tools) if self._by_keyword else self.function(messages, tools)

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
        What the callable answers; arguments as in [`Model.complete`].

        Raises:
            [`ModelError`]: When it raises, or answers in another shape.
        """
        arguments = [dict(message) for message in messages], [dict(tool) for tool in tools or ()]
        try:
            if self._is_async or isinstance(self.function, ScriptedModel):
                answer = self._call(*arguments)
            else:
                answer = await asyncio.to_thread(self._call, *arguments)
            if inspect.isawaitable(answer):
                answer = await answer
        except ModelError:
            raise
        except Exception as error:  # whatever code of the user's raises is this call's failure
            raise ModelError(f"the model {self.name} raised {type(error).__name__}: {error}") from error
        return read_completion(answer, f"the model {self.name}")


def _by_keyword(function: Callable[..., Any]) -> bool:
    try:
        signature = inspect.signature(function)
    except ValueError:  # some builtins have none
        return False
    for keyword, arguments, named in ((False, ([], []), {}), (True, ([],), {"tools": []})):
        try:
            signature.bind(*arguments, **named)
        except TypeError:
            continue
        return keyword
    raise ConfigurationError(f"model {function!r:.60} takes {signature}; a chat callable takes (messages, tools).")
