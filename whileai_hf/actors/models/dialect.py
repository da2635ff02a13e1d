"""What one server does not understand of a chat request, found out once and left out from then on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whileai_hf.actors.models.endpoint import Endpoint
from whileai_hf.actors.models.failures import Failure, without_key
from whileai_hf.errors import ModelError


Body = dict[str, Any]


def _drop(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _rename(old: str, new: str) -> Callable[[Body], Body]:
    return lambda body: {new if key == old else key: value for key, value in body.items()}


# Name of a concession, the field it is about, the words of a 400 that call for it, and what it does. Servers word a
# refused schema in many ways, so it is tried last and on any 400.
_CONCESSIONS: tuple[tuple[str, str, re.Pattern[str], Callable[[Body], Body]], ...] = (
    ("cap", "max_tokens", re.compile("max_completion_tokens"), _rename("max_tokens", "max_completion_tokens")),
    ("seed", "seed", re.compile(r"\bseed\b"), _drop("seed")),
    ("schema", "response_format", re.compile(""), _drop("response_format")),
)
# What cannot be left out without giving something else than was asked for.
_DEMANDS = (
    ("logprobs", r"log_?prob", "it returns no log probabilities: run without logprobs="),
    (
        "tools",
        r"tool.choice|tool.call.parser|(not support|unsupported|unknown|unrecognized|extra)\b.{0,60}\b(tool|function)"
        r"|\b(tools?|functions?)\b.{0,60}\b(not support|unsupported|not permitted|not allowed)",
        "it takes no tools: serve the model with tool calling on (vLLM: --enable-auto-tool-choice and "
        "--tool-call-parser), or use another model",
    ),
    (
        "chat_template_kwargs",
        r"chat_template|enable_thinking",
        "its template has no thinking switch: leave thinking= out",
    ),
)
# Statuses with which servers refuse a field: bad request, unprocessable, not implemented.
_REFUSED_FIELD = (400, 422, 501)


class Dialect:
    """The concessions one client makes to its server."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def apply(self, body: Body, also: frozenset[str] = frozenset()) -> Body:
        """The request as this server takes it."""
        for name, field, _, change in _CONCESSIONS:
            if (name in self._kept or name in also) and field in body:
                body = change(body)
        return body

    def concede(self, body: Body, failure: Failure) -> str | None:
        """The concession to try after a refusal; `body` is what was refused. `None` when there is none left."""
        if failure.status not in _REFUSED_FIELD:
            return None
        for name, field, words, _ in _CONCESSIONS:
            if field in body and words.search(failure.said):
                return name
        return None

    def keep(self, conceded: frozenset[str]) -> None:
        """Remembers concessions that helped."""
        self._kept |= conceded


def refusal(endpoint: Endpoint, body: Body, failure: Failure) -> ModelError:
    """The one sentence about a request the server will not take."""
    where = f"the model {endpoint.model} at {endpoint.shown}"
    said = without_key(endpoint, failure.said)
    if failure.status in _REFUSED_FIELD:
        for field, words, advice in _DEMANDS:
            if field in body and re.search(words, failure.said, re.IGNORECASE):
                return ModelError(f"{where} refused the request ({said}); {advice}.")
    return ModelError(f"{where} refused the request ({said}).")
