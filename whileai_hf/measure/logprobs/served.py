"""A model behind a vLLM server as the reference: the server tokenises the conversation and scores its tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.models.endpoint import Endpoint, parse
from whileai_hf.actors.models.failures import Failure, call_error, from_answer, stop_error
from whileai_hf.actors.models.history import api_messages
from whileai_hf.actors.models.patience import Patience
from whileai_hf.actors.models.reading import parse_body
from whileai_hf.actors.models.transport import Answer, Sessions
from whileai_hf.errors import ConfigurationError, ModelError, ModelStopError
from whileai_hf.measure.logprobs.columns import FloatArray
from whileai_hf.measure.logprobs.local import Passage, Passages, Scores
from whileai_hf.measure.logprobs.turns import Turn
from whileai_hf.rows import dumps


# Seconds one request may take: scoring a long conversation is one forward pass behind a queue.
_TIMEOUT = 300.0


class ServedReference:
    """
    Log probabilities under a served model.

    Args:
        source (`str`):
            `vllm:<model>@<url>`, or the address of a vLLM server with `#<model>`.
        concurrency (`int`):
            Requests in flight at a time.
        api_key (`str`, *optional*):
            The server's key.
        patience ([`Patience`], *optional*):
            When to ask again.

    Raises:
        [`ConfigurationError`]: Another kind of endpoint, which scores no given text.
    """

    def __init__(
        self, source: str, concurrency: int, api_key: str | None = None, patience: Patience | None = None
    ) -> None:
        if not source.startswith(("vllm:", "http://", "https://")):
            raise ConfigurationError(
                f"model {source!r:.80} cannot score given text; pass transformers:<repo or path>, a folder, or a vLLM "
                "server as vllm:<model>@<url>"
            )
        endpoint = parse(source)
        self._endpoint: Endpoint = replace(endpoint, key=api_key) if api_key else endpoint
        if not endpoint.model:
            raise ConfigurationError(f"model {source!r:.80} names no model; write {endpoint.shown}#<model>")
        self.name = f"vllm:{endpoint.model}"
        self._concurrency, self._patience = concurrency, patience or Patience(tries=4)

    def passages(self, turns: Sequence[tuple[Turn, list[dict[str, Any]]]]) -> Passages:
        """Turns, each with the tools the policy had, as the server's tokens."""
        # Tokenising is no part of the OpenAI API and stands beside it.
        beside = replace(self._endpoint, url=self._endpoint.url.removesuffix("/v1"))
        found: Passages = wait_for(self._each(beside, self._tokenize, turns))
        return found

    def score(self, passages: Sequence[Passage]) -> Scores:
        """The log probability of every generated token of every passage, at temperature 1."""
        found: Scores = wait_for(self._each(self._endpoint, self._logprobs, passages))
        return found

    async def _each(
        self, endpoint: Endpoint, work: Callable[[Sessions, Any], Awaitable[Any]], items: Sequence[Any]
    ) -> list[Any]:
        """The result for every item, or the words of the error that one item met."""
        sessions, gate = Sessions(endpoint, _TIMEOUT), asyncio.Semaphore(self._concurrency)

        async def one(item: Any) -> Any:
            async with gate:
                try:
                    return await work(sessions, item)
                except ModelStopError:
                    raise
                except ModelError as error:
                    return str(error)

        try:
            return list(await asyncio.gather(*map(one, items)))
        finally:
            await sessions.close()

    async def _tokenize(self, sessions: Sessions, item: tuple[Turn, list[dict[str, Any]]]) -> Passage:
        turn, tools = item
        tokens = []
        for messages, ask in ((turn.before, True), ([*turn.before, turn.message], False)):
            body = {"messages": api_messages(messages), "add_generation_prompt": ask}
            answer = await self._post(sessions, "/tokenize", {**body, "tools": tools} if tools else body)
            found = answer.get("tokens") if isinstance(answer, dict) else None
            if not isinstance(found, list):
                raise ConfigurationError(
                    f"{self._endpoint.shown} returns no tokens from /tokenize; a reference needs a vLLM server, or a "
                    "model in this process as transformers:<repo or path>"
                )
            tokens.append(found)
        before, whole = tokens
        if whole[: len(before)] != before:
            raise ModelError(f"the chat template of {self.name} does not continue the prompt with the message")
        return Passage(before, whole[len(before) :], turn.cut)

    async def _logprobs(self, sessions: Sessions, passage: Passage) -> FloatArray:
        tokens = [*passage.prompt, *passage.generated]
        body = {"prompt": tokens, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
        answer = await self._post(sessions, "/completions", body)
        choices = answer.get("choices") if isinstance(answer, dict) else None
        entries = choices[0].get("prompt_logprobs") if choices else None
        if not isinstance(entries, list) or len(entries) != len(tokens):
            raise ConfigurationError(
                f"{self._endpoint.shown} returns no prompt_logprobs; a reference needs a vLLM server, or a model in "
                "this process as transformers:<repo or path>"
            )
        generated = zip(entries[len(passage.prompt) :], passage.generated, strict=True)
        picked = [entry.get(str(token)) if isinstance(entry, dict) else None for entry, token in generated]
        # What a template puts behind the end of a message (a line break) was not generated.
        while picked and isinstance(picked[-1], dict) and str(picked[-1].get("decoded_token")).isspace():
            picked.pop()
        if passage.cut:  # nor was the end of a message that was cut
            picked = picked[:-1]
        if not all(isinstance(one, dict) and isinstance(one.get("logprob"), int | float) for one in picked):
            raise ModelError(f"{self.name} gave no log probability for a token of the conversation")
        return np.array([one["logprob"] for one in picked if one is not None], dtype=np.float64)

    async def _post(self, sessions: Sessions, path: str, body: dict[str, Any]) -> Any:
        sent = dumps({"model": self._endpoint.sent_model, **body})
        for attempt in range(1, self._patience.tries + 1):
            answer = await sessions.request("POST", path, sent)
            if isinstance(answer, Answer) and answer.status < 400:
                return parse_body(answer.body)
            failure = (
                answer
                if isinstance(answer, Failure)
                else from_answer(answer.status, answer.headers, answer.body, self._patience.total)
            )
            if failure.stop:
                raise stop_error(self._endpoint, failure.stop, failure.said)
            if failure.kind == "refused" or attempt == self._patience.tries:
                break
            await self._patience.sleep((failure.wait or 0.0) + self._patience.delay(attempt, 0))
        raise call_error(self._endpoint, f"{failure.said} for {path}", attempt)
