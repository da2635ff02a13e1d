"""Bytes to a chat endpoint and back, over the HTTP client of `huggingface_hub`.

Its session is used as it is configured (proxies, certificates), and not its `AsyncInferenceClient`, which rewrites
`json_schema` for its own servers, sends the Hub's token to any address when no key is given, and copies each log
probability several times over. Nothing here tries twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import huggingface_hub.errors

from whileai_hf.actors.models.endpoint import NO_KEY, Endpoint
from whileai_hf.actors.models.failures import Failure


# Seconds to get a connection: a host that is there takes milliseconds.
_CONNECT_SECONDS = 10.0
# Requests one session carries at a time. It keeps 20 idle connections and looks through all of them for each request.
_PER_SESSION = 32
_HTTP_ERROR: type[Exception] = huggingface_hub.errors.HTTPError  # type: ignore[attr-defined] # of whichever httpx it has


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Sessions:
    """
    HTTP sessions of one event loop; connections belong to the loop they were opened on.

    Args:
        endpoint ([`Endpoint`]):
            Where to, and with which key.
        timeout (`float`):
            Seconds one request may take in all.
    """

    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._headers = {
            "Authorization": f"Bearer {endpoint.key or NO_KEY}",
            "Content-Type": "application/json",
        }
        self._sessions: list[Any] = []
        self._loads: list[int] = []

    def _pick(self) -> int:
        # The first with room, so that few connections are open when few calls are made.
        for index, load in enumerate(self._loads):
            if load < _PER_SESSION:
                return index
        session = huggingface_hub.get_async_session()
        if not self._endpoint.on_hub:
            # They carry out the Hub's offline mode and log requests; this server is not the Hub.
            session.event_hooks = {"request": [], "response": []}
        self._sessions.append(session)
        self._loads.append(0)
        return len(self._sessions) - 1

    async def request(self, method: str, path: str, body: bytes | None = None) -> Answer | Failure:
        """
        One request.

        Args:
            method (`str`):
                `"GET"` or `"POST"`.
            path (`str`):
                Appended to the endpoint's base URL.
            body (`bytes`, *optional*):
                JSON.

        Returns:
            [`Answer`] or [`Failure`]: A failure when there was no answer; HTTP errors are answers.
        """
        index = self._pick()
        self._loads[index] += 1
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._sessions[index].request(
                    method,
                    f"{self._endpoint.url}{path}",
                    content=body,
                    headers=self._headers,
                    timeout=(_CONNECT_SECONDS, None, None, None),
                )
            return Answer(response.status_code, response.headers, response.content)
        except TimeoutError:
            return Failure("silent", f"no answer within {self._timeout:g} s")
        except huggingface_hub.errors.OfflineModeIsEnabled:
            return Failure("refused", "offline mode is on: unset HF_HUB_OFFLINE", stop="model_unreachable")
        except _HTTP_ERROR as error:
            name = type(error).__name__
            return Failure("silent", f"{name}: {error}" if str(error) else name)
        finally:
            self._loads[index] -= 1

    async def close(self) -> None:
        """Closes all connections."""
        sessions, self._sessions, self._loads = self._sessions, [], []
        for session in sessions:
            await session.aclose()
