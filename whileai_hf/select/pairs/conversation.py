"""Rollouts as conversations that can be compared turn by turn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.played import messages_from_steps
from whileai_hf.rows import dumps, loads


Message = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Conversation:
    """Messages, what each says as a key (call ids differ between rollouts), and where the agent starts to answer."""

    messages: list[Message]
    keys: list[tuple[str, str, bytes]]
    start: int

    @property
    def length(self) -> int:
        """Characters of the agent's text."""
        return said(self.messages)


def text_of(content: Any) -> str:
    """
    The text of a message's content, of content blocks those that hold text.

    Examples:
    ```python
    >>> text_of([{"type": "text", "text": "Hi"}, {"type": "image"}]), text_of(None)
    ('Hi', '')

    ```
    """
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else []
    texts = [block.get("text") if isinstance(block, Mapping) else block for block in blocks]
    return "\n".join(text for text in texts if isinstance(text, str))


def said(messages: Sequence[Message]) -> int:
    """Characters of the agent's text in some messages."""
    return sum(len(text_of(message.get("content"))) for message in messages if message["role"] == "assistant")


def _arguments(value: Any) -> Any:
    """Arguments given as JSON text and as a dict are the same."""
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            return value
    return _ordered(value)


def _key(message: Message) -> tuple[str, str, bytes]:
    calls: list[Any] = []
    given = message.get("tool_calls")
    if not given:
        return message["role"], " ".join(text_of(message.get("content")).split()), b""
    for call in given if isinstance(given, list | tuple) else []:
        inner = call.get("function") if isinstance(call, dict) else None
        function = inner if isinstance(inner, dict) else call  # some stacks leave the wrapper out
        if isinstance(function, dict):
            calls.append([function.get("name"), _arguments(function.get("arguments"))])
    return message["role"], " ".join(text_of(message.get("content")).split()), dumps(calls)


def read_messages(messages: Any) -> list[Message]:
    """Messages with a role, without empty keys; none of a list that holds something else."""
    if not isinstance(messages, list | tuple):
        return []
    read: list[Message] = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return []
        if any(value is None for value in message.values()):
            message = {key: value for key, value in message.items() if value is not None}
        read.append(message)
    return read


def answered(messages: Sequence[Message]) -> bool:
    """Whether the agent speaks in messages, so that its steps need not be read."""
    return any(message["role"] == "assistant" for message in messages)


def _checked_steps(steps: Any) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = []
    for step in steps if isinstance(steps, list | tuple) else []:
        if not isinstance(step, Mapping):
            continue
        words = {key: step[key] for key in ("text", "user") if isinstance(step.get(key), str)}
        if isinstance(step.get("tool"), str):
            given = step.get("arguments")
            arguments = dict(given) if isinstance(given, Mapping) else {}
            read.append({**words, "tool": step["tool"], "arguments": arguments, "result": step.get("result")})
        elif words:
            read.append(words)
    return read


def conversation(messages: Sequence[Message], prompt: Any, steps: Any, final_text: Any) -> Conversation | None:
    """
    The conversation of a row.

    Args:
        messages (`Sequence[dict]`):
            As read from the row; used when the agent speaks in them.
        prompt (`str` or `list[dict]`, *optional*):
            The ask, or the messages that hold it; with the steps and the last text it stands for the conversation
            otherwise.
        steps (`list[dict]`, *optional*):
            What the agent did.
        final_text (`str`, *optional*):
            Its last words.

    Returns:
        [`Conversation`], *optional*: `None` where there is no ask before, or no turn of, the agent.

    Examples:
    ```python
    >>> [m["role"] for m in conversation([], "Where is A1?", None, "On its way.").messages]
    ['user', 'assistant']

    ```
    """
    read = list(messages)
    if not answered(read):
        if not isinstance(prompt, str | list | tuple) or not prompt:
            return None
        last = final_text if isinstance(final_text, str) else ""
        if not isinstance(prompt, str):  # the messages before the agent's first turn
            read = read or read_messages(prompt)
            prompt = ""
        rest = messages_from_steps(prompt, _checked_steps(steps), last)
        read = [*read, *(rest[1:] if read else rest)]
    elif read[-1]["role"] == "tool" and isinstance(final_text, str) and final_text.strip():
        read.append({"role": "assistant", "content": final_text})
    while read and read[-1]["role"] == "user":
        read.pop()
    asked = next((at for at, message in enumerate(read) if message["role"] == "user"), len(read))
    # What an agent says before it is asked is a greeting, no answer.
    start = next((at for at in range(asked, len(read)) if read[at]["role"] == "assistant"), None)
    if start is None:
        return None
    return Conversation(read, [_key(message) for message in read], start)


def _ordered(value: Any) -> Any:
    """A JSON value with the keys of its objects in order, so that equal values have equal text."""
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value, key=str)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
