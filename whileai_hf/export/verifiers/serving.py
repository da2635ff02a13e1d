"""A model of this process as a chat endpoint on loopback, for programs that only know how to call one."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

from aiohttp import web

from whileai_hf.actors.models import Model
from whileai_hf.errors import ModelError


# Connections that may wait to be taken; a run opens as many as it has rollouts in flight.
_BACKLOG = 1024
# Bytes of a request: conversations with long tool results.
_MOST_BYTES = 1 << 30


class ModelServer:
    """
    Serves a model for the length of a block.

    Args:
        model ([`Model`]):
            Who answers.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel
    >>> from whileai_hf.actors.models import as_model
    >>> ModelServer(as_model(ScriptedModel(["Done."]))).url
    ''

    ```
    """

    def __init__(self, model: Model) -> None:
        self.url = ""
        self._model = model
        self._calls = 0

    async def __aenter__(self) -> ModelServer:
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=_BACKLOG)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _answer(self, http: web.Request) -> web.StreamResponse:
        request = json.loads(await http.read())
        self._calls += 1
        number = self._calls
        try:
            made = await self._model.complete(request["messages"], tools=request.get("tools"))
        except ModelError as error:
            refused = {"error": {"message": str(error), "type": "invalid_request_error"}}
            return web.json_response(refused, status=400)
        message = _wire(made.message, number)
        finish = made.finish_reason or ("tool_calls" if message.get("tool_calls") else "stop")
        read, written = made.usage.get("input_tokens", 0), made.usage.get("output_tokens", 0)
        body = {
            "id": f"completion-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": request.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }
        return web.json_response(body)


def _wire(message: dict[str, Any], number: int) -> dict[str, Any]:
    """The message with calls in the shape endpoints have: an id each, arguments as text."""
    made = dict(message)
    made.setdefault("content", None)
    calls = []
    for place, call in enumerate(made.get("tool_calls") or ()):
        inner = call.get("function", call)
        arguments = inner.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        function = {"name": inner.get("name"), "arguments": text}
        calls.append({"id": call.get("id") or f"call_{number}_{place}", "type": "function", "function": function})
    if calls:
        made["tool_calls"] = calls
    return made
