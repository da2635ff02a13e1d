"""What scripted policies are made of: reading a conversation, and the messages they answer with."""

import json
from typing import Any

from specs.spec import Message


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """One tool call."""
    return {"type": "function", "function": {"name": tool, "arguments": arguments}}


def calling(*calls: dict[str, Any]) -> Message:
    """A message that makes calls."""
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def saying(text: str) -> Message:
    """A message that ends the turn."""
    return {"role": "assistant", "content": text}


def ask_of(messages: list[Message]) -> str:
    """What the user asked."""
    return next(str(message["content"]) for message in messages if message["role"] == "user")


def results_of(messages: list[Message]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The calls made so far, in order: tool, arguments and result."""
    made = [made["function"] for message in messages for made in message.get("tool_calls") or ()]
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    return [
        (function["name"], _object(function["arguments"]), _object(answer))
        for function, answer in zip(made, answers, strict=False)
    ]


def _object(value: Any) -> dict[str, Any]:
    return dict(value if isinstance(value, dict) else json.loads(value))
