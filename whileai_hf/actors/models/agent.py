"""A model as an agent: a chat callable that the tool loop can play, and that says what each turn cost."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.models.history import api_messages
from whileai_hf.actors.models.model import Message, Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.canonical import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox.context import find_rollout
from whileai_hf.spec import AgentSpec


# Hexadecimal digits of an agent's settings in its name.
_DIGITS = 8
# Seeds of chat APIs are signed 32-bit numbers, some of them refuse negative ones.
_SEED_DIGITS, _SEED_MASK = 8, 0x7FFFFFFF


class ModelAgent:
    """
    A model as `agent=`.

    It answers `(messages, tools)` with an assistant message that also carries `usage`, `finish_reason` and, where they
    were asked for and returned, `logprob`, `n_tokens` and `token_logprobs`. Inside a rollout each turn samples with a
    seed of its own, made from the run's seed, the scenario, the rollout and the turn.

    Args:
        model ([`Model`]):
            The policy.
        tools (`list`, *optional*):
            Tools bound to it, used when the run names none.
        system (`str`, *optional*):
            System prompt bound to it, used when the run names none.
        logprobs (`bool` or `"tokens"`, *optional*, defaults to `False`):
            Ask for log probabilities; `"tokens"` keeps them one by one.
        keep_reasoning (`bool`, *optional*, defaults to `False`):
            Show the model its own earlier reasoning.

    Raises:
        ConfigurationError: When `logprobs` is something else.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel, play
    >>> from whileai_hf.actors.models import as_model
    >>> from whileai_hf.spec import AgentSpec
    >>> agent = ModelAgent(as_model(ScriptedModel(["Hello."])))
    >>> play(agent, "Hi", spec=AgentSpec.from_tools([{"name": "ping"}])).final_text
    'Hello.'

    ```
    """

    def __init__(
        self,
        model: Model,
        *,
        tools: Sequence[Any] | None = None,
        system: str | None = None,
        logprobs: bool | str = False,
        keep_reasoning: bool = False,
    ) -> None:
        if not isinstance(logprobs, bool) and logprobs != "tokens":
            raise ConfigurationError(f'logprobs is {logprobs!r}; pass False, True or "tokens".')
        self.model = model
        self.spec_tools = list(tools) if tools is not None else None
        self.system_prompt = system
        self.logprobs = logprobs
        self.keep_reasoning = keep_reasoning
        # Read once: what the model calls in OpenAI shape when it is called without a run around it.
        spec = AgentSpec.from_tools(self.spec_tools, system or "") if self.spec_tools else None
        self._own_tools = spec.openai_tools() if spec else []

    def __repr__(self) -> str:
        return f"ModelAgent({self.model!r})"

    @property
    def name(self) -> str:
        """The model's name, which rows keep as `model_version`."""
        return self.model.name

    @property
    def sampling(self) -> dict[str, Any]:
        """How the model samples."""
        return self.model.sampling

    @property
    def agent_id(self) -> str:
        """The model, and a hash of how it is set up."""
        settings = [self.sampling, self.system_prompt, self._own_tools, self.keep_reasoning]
        return f"{self.name}#{digest(dumps(settings).decode(), length=_DIGITS)}"

    def with_logprobs(self, logprobs: bool | str) -> ModelAgent:
        """This agent, asking for log probabilities or not."""
        made = ModelAgent(self.model, logprobs=logprobs)  # checks the value
        twin = copy.copy(self)
        twin.logprobs = made.logprobs
        return twin

    def _seed(self, messages: Sequence[Message]) -> int | None:
        rollout = find_rollout()
        if rollout is None:
            return None  # the model's own, if it has one
        turn = sum(message.get("role") == "assistant" for message in messages)
        scenario = rollout.scenario_id or rollout.prompt
        text = digest(
            self.sampling.get("seed"),
            rollout.sampling_seed,
            scenario,
            rollout.rollout_index,
            turn,
            length=_SEED_DIGITS,
        )
        return int(text, 16) & _SEED_MASK

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None = None) -> Message:
        """
        The next assistant message.

        Args:
            messages (`list[dict]`):
                The conversation so far; a system message is put before it when it has none and one is bound.
            tools (`list[dict]`, *optional*):
                OpenAI shape; those bound to the agent when left out or empty.

        Returns:
            `dict`: An assistant message with the numbers of this turn.
        """
        history = api_messages(messages, keep_reasoning=self.keep_reasoning)
        if self.system_prompt and not any(message.get("role") == "system" for message in history):
            history.insert(0, {"role": "system", "content": self.system_prompt})
        completion = await self.model.complete(
            history, tools=tools or self._own_tools or None, logprobs=bool(self.logprobs), seed=self._seed(messages)
        )
        message = dict(completion.message)
        if completion.usage:
            message["usage"] = completion.usage
        if completion.finish_reason:
            message["finish_reason"] = completion.finish_reason
        if self.logprobs and completion.logprob is not None:
            message["logprob"], message["n_tokens"] = completion.logprob, completion.n_tokens
            if self.logprobs == "tokens" and completion.token_logprobs is not None:
                message["token_logprobs"] = completion.token_logprobs
        return message
