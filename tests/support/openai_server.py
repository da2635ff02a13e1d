"""A scripted OpenAI-compatible chat server on loopback, for tests of everything that talks to a model.

Start it as a context manager; it runs on a thread of its own and stops with the block:

```python
from openai_server import Reply, Server, call      # this folder is on the path of the tests

def behave(request: dict, n: int) -> Reply:        # n counts chat requests from 0; request is the JSON body
    if any(m["role"] == "tool" for m in request["messages"]):
        return Reply("It shipped.")
    return Reply(calls=[call("get_order", {"order_id": "A1"})])

with Server(behave) as server:
    server.url          # "http://127.0.0.1:PORT/v1"
    server.calls        # chat requests so far, faults among them
    server.most         # most chat requests in flight at one time
    server.requests     # the last bodies (deque, bounded); server.headers: their headers
```

`behave` is a function `(request, n) -> Reply | str`, a list (the n-th reply answers the n-th request, the last one
every further request), or a string. Ready-made faults are `Reply.error(500)`, `Reply.busy(retry_after=0)` (429),
`Reply.quota()` (429, allowance spent), `Reply.drop()` (the connection is cut), `Reply.unauthorized()` (401),
`Reply.unknown_model()` (404), `Reply.garbage()` (200, no JSON). [`flaky`] wraps a behaviour with seeded faults and
[`latency`] gives seeded waits. What a reply says is chosen by content wherever a test compares rows: the order in
which parallel requests arrive is not repeatable, `n` with it.

A server that answered `most_requests` or lives longer than `seconds` answers 410 and says so: a test that loops
forever ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from random import Random
from typing import Any

from aiohttp import web


KEPT_REQUESTS = 2_000  # bodies kept for tests to look at
MODEL = "scripted"


def call(name: str, arguments: dict[str, Any] | str, call_id: str | None = "auto") -> dict[str, Any]:
    """
    A tool call as servers write it.

    `arguments` as text is sent as it stands, so malformed JSON is one call away. `call_id=None` leaves the id out, a
    fixed one may be given twice, and `"auto"` makes one.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": text}}
    return made if call_id is None else {"id": call_id, **made}


@dataclass(frozen=True)
class Reply:
    """
    One answer of the server.

    `logprobs` are the log probabilities of the generated tokens, sent when the request asked for them (or made up,
    -0.1 each, for as many tokens as `usage` says). `usage` is `(prompt_tokens, completion_tokens)`; `None` counts
    words, and `()` sends no usage at all. `wait` is in seconds, before anything is sent.
    """

    text: str | None = None
    calls: Sequence[dict[str, Any]] = ()
    reasoning: str | None = None
    reasoning_key: str = "reasoning_content"
    finish_reason: str | None = None
    usage: tuple[int, ...] | None = None
    logprobs: Sequence[float] | None = None
    wait: float = 0.0
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    dropped: bool = False

    def after(self, seconds: float) -> Reply:
        """The same reply, `seconds` later."""
        return replace(self, wait=seconds)

    @classmethod
    def error(cls, status: int = 500, message: str = "internal error", **headers: str) -> Reply:
        """An HTTP error in the OpenAI shape."""
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return cls(status=status, body={"error": {"message": message, "type": kind}}, headers=headers)

    @classmethod
    def busy(cls, retry_after: float | str | None = 0, message: str = "Rate limit reached") -> Reply:
        """429 that passes; `retry_after` in seconds, as a header text, or none. See [`http_date`]."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        error = {"message": message, "type": "requests", "code": "rate_limit_exceeded"}
        return cls(status=429, body={"error": error}, headers=headers)

    @classmethod
    def quota(cls) -> Reply:
        """429 that does not pass: the allowance is spent."""
        message = "You exceeded your current quota, please check your plan and billing details."
        error = {"message": message, "type": "insufficient_quota", "code": "insufficient_quota"}
        return cls(status=429, body={"error": error})

    @classmethod
    def unauthorized(cls) -> Reply:
        """401: a wrong key."""
        return cls(status=401, body={"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})

    @classmethod
    def unknown_model(cls, model: str = "?") -> Reply:
        """404: no such model."""
        error = {"message": f"The model `{model}` does not exist.", "type": "NotFoundError", "code": "model_not_found"}
        return cls(status=404, body={"error": error})

    @classmethod
    def drop(cls) -> Reply:
        """The connection is cut without an answer."""
        return cls(dropped=True)

    @classmethod
    def garbage(cls) -> Reply:
        """200 with a body that is no JSON."""
        return cls(body="<html>not a completion</html>")


Behaviour = Callable[[dict[str, Any], int], "Reply | str"] | Sequence["Reply | str"] | str


def http_date(seconds_from_now: float) -> str:
    """A `Retry-After` as an HTTP date."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def latency(seed: int, low: float = 0.005, high: float = 0.5) -> Callable[[dict[str, Any]], float]:
    """Seconds by the content of the request: equal requests wait equally long, whatever order they come in."""

    def seconds(request: dict[str, Any]) -> float:
        return Random(f"{seed}:{json.dumps(request['messages'])}:{request.get('seed')}").uniform(low, high)

    return seconds


def flaky(behave: Behaviour, share: float = 0.1, seed: int = 0, faults: Sequence[Reply] | None = None) -> Behaviour:
    """`behave`, but a seeded `share` of the requests meets a fault: 500, dropped, or 429 with Retry-After 0."""
    kinds = list(faults) if faults is not None else [Reply.error(500), Reply.drop(), Reply.busy(0)]
    inner = _function(behave)

    def answer(request: dict[str, Any], n: int) -> Reply | str:
        draws = Random(f"{seed}:{n}")
        return draws.choice(kinds) if draws.random() < share else inner(request, n)

    return answer


def _function(behave: Behaviour) -> Callable[[dict[str, Any], int], Reply | str]:
    if callable(behave):
        return behave
    replies = [behave] if isinstance(behave, str) else list(behave)
    return lambda request, n: replies[min(n, len(replies) - 1)]


class Server:
    """
    The server; see the head of this module.

    Args:
        behave: What it answers.
        models: Names that `/v1/models` lists. Requests for others are answered all the same: say 404 in `behave`.
        key: When given, requests without `Authorization: Bearer <key>` get a 401.
        most_requests: Chat requests after which it answers 410.
        seconds: Life time after which it answers 410.
    """

    def __init__(
        self,
        behave: Behaviour = "Done.",
        *,
        models: Sequence[str] = (MODEL,),
        key: str | None = None,
        most_requests: int = 200_000,
        seconds: float = 600.0,
    ) -> None:
        self._behave = _function(behave)
        self._models, self._key = list(models), key
        self._most_requests, self._seconds = most_requests, seconds
        self._reset()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="openai-server", daemon=True)
        self.port = 0

    def _reset(self) -> None:
        self.calls = 0
        self.answered = 0
        self.in_flight = 0
        self.most = 0
        self.statuses: Counter[int] = Counter()  # 0 counts dropped connections
        self.requests: deque[dict[str, Any]] = deque(maxlen=KEPT_REQUESTS)
        self.headers: deque[dict[str, str]] = deque(maxlen=KEPT_REQUESTS)

    @property
    def url(self) -> str:
        """The base URL, `/v1` included."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def spec(self) -> str:
        """A spec string for it: `vllm:<first model>@<url>`."""
        return f"vllm:{self._models[0]}@{self.url}"

    def reset(self, behave: Behaviour | None = None) -> None:
        """Counts from zero again, and from now on answers as `behave` says, when given."""
        if behave is not None:
            self._behave = _function(behave)
        self._reset()

    def __enter__(self) -> Server:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the scripted server did not start within 10 s")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._born = time.monotonic()
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]

    def _refused(self, http: web.Request) -> Reply | None:
        if self._key is not None and http.headers.get("Authorization") != f"Bearer {self._key}":
            return Reply.unauthorized()
        return None

    async def _list(self, http: web.Request) -> web.StreamResponse:
        refused = self._refused(http)
        if refused:
            return web.json_response(refused.body, status=refused.status)
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
        )

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        n = self.calls
        self.calls += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            request = json.loads(await http.read())
            self.requests.append(request)
            self.headers.append(dict(http.headers))
            if n >= self._most_requests or time.monotonic() - self._born > self._seconds:
                reply: Reply | str = Reply.error(410, "the scripted server has served its time")
            else:
                reply = self._refused(http) or self._behave(request, n)
            reply = Reply(reply) if isinstance(reply, str) else reply
            if reply.wait:
                await asyncio.sleep(reply.wait)
            return self._send(http, request, reply, n)
        finally:
            self.in_flight -= 1

    def _send(self, http: web.Request, request: dict[str, Any], reply: Reply, n: int) -> web.StreamResponse:
        self.statuses[0 if reply.dropped else reply.status] += 1
        if reply.dropped:
            if http.transport is not None:
                http.transport.abort()
            return web.Response(status=500)
        if reply.body is not None:
            text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            return web.Response(text=text, status=reply.status, headers=reply.headers, content_type="application/json")
        self.answered += 1
        body = json.dumps(completion(request, reply, n)).encode()
        return web.Response(body=body, status=reply.status, headers=reply.headers, content_type="application/json")


def completion(request: dict[str, Any], reply: Reply, n: int) -> dict[str, Any]:
    """The chat completion a [`Reply`] stands for."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {**made, "id": f"call_{n}_{index}"} if made.get("id") == "auto" else made
            for index, made in enumerate(reply.calls)
        ]
    if reply.reasoning is not None:
        message[reply.reasoning_key] = reply.reasoning
    finish = reply.finish_reason or ("tool_calls" if reply.calls else "stop")
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    prompt = sum(len(str(m.get("content") or "").split()) for m in request["messages"])
    counts = reply.usage if reply.usage is not None else (prompt, len((reply.text or "call").split()))
    if request.get("logprobs"):
        values = reply.logprobs if reply.logprobs is not None else [-0.1] * (counts[1] if counts else 1)
        choice["logprobs"] = {"content": [{"token": f"t{i}", "logprob": v} for i, v in enumerate(values)]}
    made: dict[str, Any] = {
        "id": f"chatcmpl-{n}",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", MODEL),
        "choices": [choice],
    }
    if counts:
        made["usage"] = {
            "prompt_tokens": counts[0],
            "completion_tokens": counts[1],
            "total_tokens": counts[0] + counts[1],
        }
    return made
