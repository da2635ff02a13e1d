"""A row's conversation as the trace viewer shows it: all that was said, failed rollouts and broken calls too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.actors.played import messages_from_steps
from whileai_hf.export.messages import Message, read_arguments, read_message
from whileai_hf.export.reasons import Reason
from whileai_hf.rows import dumps, scrub
from whileai_hf.rows.view import Row


# Columns of a row that are read here.
TRANSCRIPT_COLUMNS = ("messages", "prompt", "steps", "final_text")
_ROLES = {"developer": "system", "function": "tool"}
_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})
_REASONING = ("reasoning_content", "thinking")


def transcript(row: Row, model: str | None = None) -> list[dict[str, Any]]:
    """
    The messages of a row in the viewer's shape.

    Args:
        row (`dict`):
            A rollout row; see `TRANSCRIPT_COLUMNS`.
        model (`str`, *optional*):
            What played the agent, put on its messages.

    Returns:
        `list[dict]`: `role`, `content`, and where they are there `reasoningContent`, `toolCalls`, `toolCallId`,
        `model`. Empty when the row holds no conversation.

    Examples:
    ```python
    >>> transcript({"prompt": "Where is A1?", "final_text": "On its way."})
    [{'role': 'user', 'content': 'Where is A1?'}, {'role': 'assistant', 'content': 'On its way.'}]

    ```
    """
    calls = _Calls()
    return [_shown(message, calls, model) for message in _messages(row)]


def _messages(row: Row) -> list[Message]:
    given, prompt = row.get("messages"), row.get("prompt")
    if not isinstance(given, list | tuple):
        given = prompt if isinstance(prompt, list | tuple) else []
    messages = [message for item in given if (message := _readable(item)) is not None]
    if any(message["role"] == "assistant" for message in messages):
        return messages
    opened = any(message["role"] == "user" for message in messages)
    asked = prompt if isinstance(prompt, str) else ""
    final_text = row.get("final_text")
    rest = messages_from_steps(
        asked, list(_steps(row.get("steps"))), final_text if isinstance(final_text, str) else ""
    )
    played = rest[1:] if opened or not asked else rest
    read = [message for item in played if (message := _readable(item)) is not None]
    # A rollout that failed has no last word; it is not shown as an empty one.
    return [*messages, *(message for message in read if message["content"] or message.get("tool_calls"))]


def _readable(item: Any) -> Message | None:
    """A message in one shape; what cannot be read as one is shown as the JSON it is."""
    if not isinstance(item, Mapping):
        return None
    read = read_message(dict(item), {})
    if not isinstance(read, Reason):
        return read
    role = item.get("role")
    role = _ROLES.get(role, role) if isinstance(role, str) else None
    told = [item[key] for key in ("content", "tool_calls", "function_call") if item.get(key)]
    if role not in _KNOWN_ROLES:
        return None
    return {"role": role, "content": "\n".join(one if isinstance(one, str) else _json(one) for one in told)}


def _json(value: Any) -> str:
    return dumps(scrub(value)).decode()


def _steps(steps: Any) -> Iterator[dict[str, Any]]:
    """Steps that [`messages_from_steps`] can take."""
    for step in steps if isinstance(steps, list | tuple) else ():
        if not isinstance(step, Mapping):
            continue
        words = {key: step[key] for key in ("text", "user") if isinstance(step.get(key), str)}
        if not isinstance(step.get("tool"), str) or not step["tool"]:
            if words:
                yield words
            continue
        arguments = read_arguments(step.get("arguments"))
        if arguments is None:
            arguments = {"malformed": scrub(step.get("arguments"))}
        yield {**words, "tool": step["tool"], "arguments": arguments, "result": scrub(step.get("result"))}


class _Calls:
    """Ids of calls in order: a result that names none answers the earliest call that has no result yet."""

    def __init__(self) -> None:
        self.made = 0
        self.waiting: list[str] = []

    def open(self, given: Any) -> str:
        name = given if isinstance(given, str) and given else f"call_{self.made}"
        self.made += 1
        self.waiting.append(name)
        return name

    def close(self, given: Any) -> str | None:
        name = given if isinstance(given, str) and given else (self.waiting[0] if self.waiting else None)
        if name in self.waiting:
            self.waiting.remove(name)
        return name


def _shown(message: Message, calls: _Calls, model: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    thought = next((message[key] for key in _REASONING if message.get(key)), None)
    if thought is not None:
        shown["reasoningContent"] = thought
    if message["role"] == "assistant":
        if message.get("tool_calls"):
            shown["toolCalls"] = [_call(call, calls) for call in message["tool_calls"]]
        if model is not None:
            shown["model"] = model
    elif message["role"] == "tool" and (answered := calls.close(message.get("tool_call_id"))) is not None:
        shown["toolCallId"] = answered
    return shown


def _call(call: Mapping[str, Any], calls: _Calls) -> dict[str, Any]:
    function = call["function"]
    written = {"name": function["name"], "arguments": dumps(function["arguments"]).decode()}
    return {"id": calls.open(call.get("id")), "function": written}
