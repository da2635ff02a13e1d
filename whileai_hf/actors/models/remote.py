"""A model behind an OpenAI-compatible endpoint: one request, sent until it is answered or given up."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from whileai_hf.actors.models.dialect import Body, Dialect, refusal
from whileai_hf.actors.models.endpoint import Endpoint
from whileai_hf.actors.models.failures import Failure, call_error, from_answer, stop_error
from whileai_hf.actors.models.history import api_messages
from whileai_hf.actors.models.line import Line
from whileai_hf.actors.models.model import Completion, Message
from whileai_hf.actors.models.patience import Patience
from whileai_hf.actors.models.reading import parse_body, read_completion
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.actors.models.transport import Answer, Sessions


# Doubling stops here for a server that is merely busy: it answers, so the waits stay short.
_BUSY_DOUBLINGS = 5


@dataclass(frozen=True)
class _Lane:
    """What belongs to one event loop: connections, and the line in front of them."""

    sessions: Sessions
    line: Line


class RemoteModel:
    """
    A model at an endpoint; keeps the [`Model`] protocol.

    Args:
        endpoint ([`Endpoint`]):
            Where it is served.
        sampling ([`Sampling`], *optional*):
            How it samples.
        patience ([`Patience`], *optional*):
            When to ask again.
    """

    def __init__(self, endpoint: Endpoint, sampling: Sampling | None = None, patience: Patience | None = None) -> None:
        self.endpoint = endpoint
        self._knobs = sampling or Sampling()
        self._patience = patience or Patience()
        self._fresh()

    def _fresh(self) -> None:
        self._dialect = Dialect()
        self._numbers = itertools.count()
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lane] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # Connections and locks stay in the process that made them.
        return {"endpoint": self.endpoint, "_knobs": self._knobs, "_patience": self._patience}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._fresh()

    def __repr__(self) -> str:
        return f"RemoteModel({self.endpoint.sent_model!r}, at={self.endpoint.shown!r})"

    @property
    def name(self) -> str:
        """The model's name, without its address."""
        return self.endpoint.model

    @property
    def sampling(self) -> dict[str, Any]:
        """How it samples."""
        provider = {"provider": self.endpoint.provider} if self.endpoint.provider else {}
        return {"model": self.name, **provider, **self._knobs.shown()}

    def _lane(self) -> _Lane:
        loop = asyncio.get_running_loop()
        with self._lock:
            lane = self._lanes.get(loop)
            if lane is None:
                sessions = Sessions(self.endpoint, self._knobs.timeout)
                lane = self._lanes[loop] = _Lane(sessions, Line(self.endpoint, self._patience))
            return lane

    def _request(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None,
        logprobs: bool,
        schema: Mapping[str, Any] | None,
        seed: int | None,
    ) -> Body:
        body: Body = {
            "model": self.endpoint.sent_model,
            "messages": api_messages(messages),
            **self._knobs.request(),
        }
        if tools:
            body["tools"] = list(tools)
        if logprobs:
            body["logprobs"] = True
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            }
        own_seed = self._knobs.seed if seed is None else seed
        if own_seed is not None:
            body["seed"] = own_seed
        return body

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
        The next assistant message; arguments as in [`Model.complete`].

        Raises:
            [`ModelError`]: When this call is not answered, or refused.
            [`ModelStopError`]: When no call will be.
        """
        if self.endpoint.needs_key and not self.endpoint.key:
            raise stop_error(self.endpoint, "unauthorized", "none is set")
        asked = self._request(messages, tools, logprobs, schema, seed)
        conceded: frozenset[str] = frozenset()
        while True:
            body = self._dialect.apply(asked, conceded)
            got = await self._deliver(orjson.dumps(body, default=str))
            if not isinstance(got, Failure):
                self._dialect.keep(conceded)
                return read_completion(got, f"the model {self.name}")
            concession = self._dialect.concede(body, got)
            if concession is None:
                raise refusal(self.endpoint, body, got)
            conceded |= {concession}

    async def _deliver(self, body: bytes) -> Mapping[str, Any] | Failure:
        """The answer to one request, or the failure with which the server turned it down."""
        lane, patience, call = self._lane(), self._patience, next(self._numbers)
        deadline = patience.clock() + patience.total
        failed = busy = 0
        while True:
            await lane.line.enter()
            try:
                got = await self._try(lane, body)
                self._tell(lane.line, call, got)
            finally:
                lane.line.leave()
            if not isinstance(got, Failure) or got.kind == "refused":
                return got
            if got.kind == "busy":
                busy += 1
            else:
                failed += 1
            doublings = min(busy, _BUSY_DOUBLINGS) if got.kind == "busy" else failed
            wait = (got.wait or 0.0) + patience.delay(doublings, call)
            if failed >= patience.tries or patience.clock() + wait > deadline:
                lane.line.gave_up(got)
                raise call_error(self.endpoint, got.said, failed + busy)
            await patience.sleep(wait)

    async def _try(self, lane: _Lane, body: bytes) -> Mapping[str, Any] | Failure:
        answer = await lane.sessions.request("POST", "/chat/completions", body)
        if isinstance(answer, Failure):
            return answer
        return self._read(answer)

    def _read(self, answer: Answer) -> Mapping[str, Any] | Failure:
        longest = self._patience.total
        if answer.status >= 400:
            return from_answer(answer.status, answer.headers, answer.body, longest)
        parsed = parse_body(answer.body)
        if isinstance(parsed, Mapping) and isinstance(parsed.get("choices"), list) and parsed["choices"]:
            return parsed
        error = parsed.get("error") if isinstance(parsed, Mapping) else None
        code = error.get("code") if isinstance(error, Mapping) else None
        if isinstance(code, int) and code >= 400:  # routers put the error of the server behind them into a 200
            return from_answer(code, answer.headers, answer.body, longest)
        return Failure("broken", "an answer without a completion in it", answer.status)

    def _tell(self, line: Line, call: int, got: Mapping[str, Any] | Failure) -> None:
        if not isinstance(got, Failure):
            line.answered()
            line.succeeded()
            return
        if got.stop:
            raise line.stop(got.stop, got.said)
        if got.wait:
            line.hold(got.wait)
        if got.kind == "silent":
            line.silent(call, got)
        else:
            line.answered()

    async def close(self) -> None:
        """Closes the connections of the running event loop."""
        with self._lock:
            lane = self._lanes.pop(asyncio.get_running_loop(), None)
        if lane is not None:
            await lane.sessions.close()


async def served_models(endpoint: Endpoint, patience: Patience | None = None) -> list[str]:
    """
    The models an endpoint serves.

    Raises:
        [`ModelError`]: When it does not say, [`ModelStopError`] when it cannot be reached or refuses the key.
    """
    patience = patience or Patience(tries=3)
    sessions = Sessions(endpoint, timeout=30.0)
    try:
        for attempt in itertools.count(1):
            answer = await sessions.request("GET", "/models")
            if isinstance(answer, Answer) and answer.status < 400:
                listed = parse_body(answer.body)
                entries = listed.get("data") if isinstance(listed, Mapping) else None
                return [str(entry["id"]) for entry in entries or [] if isinstance(entry, Mapping) and "id" in entry]
            failure = (
                answer
                if isinstance(answer, Failure)
                else from_answer(answer.status, answer.headers, answer.body, patience.total)
            )
            if failure.kind == "refused" or attempt == patience.tries:
                break
            await patience.sleep((failure.wait or 0.0) + patience.delay(attempt, 0))
    finally:
        await sessions.close()
    if failure.kind == "refused" and failure.stop != "unknown_model":
        raise stop_error(endpoint, failure.stop or "model_unreachable", failure.said)
    if failure.kind == "refused":
        raise call_error(endpoint, f"{failure.said} for /models", 1)
    raise stop_error(endpoint, "model_unreachable", failure.said)
