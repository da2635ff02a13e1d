"""A chat completion as servers and callables give it, read into a [`Completion`]."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

from whileai_hf.actors.models.model import Completion, Message
from whileai_hf.actors.replies import Reply, read_reply
from whileai_hf.errors import AgentError, ModelError


_FINISH = {
    "max_tokens": "length",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "function_call": "tool_calls",
}
# What servers call the two counts.
_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
}


def parse_body(body: bytes) -> Any:
    """The JSON of an answer, `None` when it is none. Python servers write `NaN`, which only the slow parser reads."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return json.loads(body)
        except ValueError:
            return None


def count_tokens(usage: Any) -> dict[str, int]:
    """
    `input_tokens` and `output_tokens` of a usage record, those it has.

    Examples:
    ```python
    >>> count_tokens({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11})
    {'input_tokens': 9, 'output_tokens': 2}

    ```
    """
    if not isinstance(usage, Mapping):
        return {}
    counts: dict[str, int] = {}
    for name, keys in _COUNTS.items():
        value = next((usage[key] for key in keys if isinstance(usage.get(key), (int, float))), None)
        if value is not None and math.isfinite(value):
            counts[name] = int(value)
    return counts


def _token_logprobs(record: Any) -> list[float] | None:
    if not isinstance(record, Mapping):
        return None
    content = record.get("content")
    if isinstance(content, list):
        values = [entry.get("logprob") if isinstance(entry, Mapping) else None for entry in content]
    else:
        values = record.get("token_logprobs") or []
    numbers = [float(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    # A sum with holes in it would be a probability of nothing.
    return numbers if numbers and len(numbers) == len(values) else None


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    calls = []
    for call in reply.calls:
        function = {"name": call.name, "arguments": "{}" if call.written is None else call.written}
        made: dict[str, Any] = {"type": "function", "function": function}
        calls.append(made if call.call_id is None else {"id": call.call_id, **made})
    return calls


def _message(reply: Reply) -> Message:
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = _tool_calls(reply)
    return message


def _visible(message: Any) -> Any:
    """A message whose text is in its refusal, or nowhere, with the text where texts are."""
    if not isinstance(message, Mapping) or message.get("content") is not None:
        return message
    refusal = message.get("refusal")
    return {**message, "content": refusal if isinstance(refusal, str) else ""}


def read_completion(answer: Any, where: str) -> Completion:
    """
    Reads one answer.

    Args:
        answer (`Mapping`):
            A chat completion with `choices`, or a bare assistant message; the latter may carry `usage`, `logprob`,
            `n_tokens`, `token_logprobs` and `finish_reason` beside its own keys.
        where (`str`):
            Whose answer, for the error.

    Returns:
        [`Completion`]: Reasoning apart from the text, arguments as written.

    Raises:
        [`ModelError`]: When it is no assistant message, or a call has no tool name.

    Examples:
    ```python
    >>> read_completion({"role": "assistant", "content": "<think>Easy.</think>Hello."}, "the model").message
    {'role': 'assistant', 'content': 'Hello.', 'reasoning_content': 'Easy.'}

    ```
    """
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    choice: Any = choices[0] if isinstance(choices, (list, tuple)) and choices else {"message": answer}
    message = _visible(choice.get("message") if isinstance(choice, Mapping) else None)
    try:
        reply = read_reply(message)
    except AgentError as error:
        raise ModelError(f"{where} gave an answer that cannot be read: {error}") from error
    finish = choice.get("finish_reason") or reply.finish_reason
    listed = _token_logprobs(choice.get("logprobs"))
    if listed is None and isinstance(message.get("token_logprobs"), list):
        listed = _token_logprobs(message)
    total, count = message.get("logprob"), message.get("n_tokens")
    if listed is not None:
        total, count = math.fsum(listed), len(listed)
    return Completion(
        message=_message(reply),
        finish_reason=_FINISH.get(finish, finish) if isinstance(finish, str) else None,
        usage=count_tokens(answer.get("usage") if isinstance(answer, Mapping) else None),
        logprob=total if isinstance(total, float) else None,
        n_tokens=count if isinstance(count, int) else None,
        token_logprobs=listed,
    )
