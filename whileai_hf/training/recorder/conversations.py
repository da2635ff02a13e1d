"""A sampled completion as a conversation of ours: messages, steps and last words, with nothing added or lost.

Trainers hand out a prompt and a completion, each as text or as messages. Their tool calls bear no ids, and what a tool
answered is text; here calls and answers get ids where they have none, so that a reader can tell which belong together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.played import parse_arguments
from whileai_hf.export.environment import original_messages
from whileai_hf.export.environment.rewards import TRAJECTORY
from whileai_hf.rows import canonical, loads
from whileai_hf.traces.messages import ask_of, text_of


Message = dict[str, Any]


def conversations_of(completions: Sequence[Any], columns: Mapping[str, Any]) -> list[Any]:
    """
    The completions of a batch as they were led, with tools under their own names.

    A rollout function with a simulated user hands the messages on beside the completion, in which they are one text;
    an environment of ours knows what the tools are called that the model was shown under other names.

    Args:
        completions (`Sequence`):
            As a trainer hands them to reward functions.
        columns (`Mapping[str, Any]`):
            What it hands them besides.

    Returns:
        `list`: One per completion: messages, or what the completion is where nobody knows better.
    """
    led, environments = columns.get(TRAJECTORY), columns.get("environments")
    count = len(completions)
    if isinstance(led, list) and len(led) == count:
        return [
            list(messages) if messages and is_conversation(messages) else completion
            for messages, completion in zip(led, completions, strict=True)
        ]
    if isinstance(environments, list) and len(environments) == count:
        return [
            original_messages(environment, completion) if is_conversation(completion) else completion
            for environment, completion in zip(environments, completions, strict=True)
        ]
    return list(completions)


def is_conversation(cell: Any) -> bool:
    """Whether it is a list of messages and nothing else."""
    return isinstance(cell, list | tuple) and all(isinstance(message, Mapping) for message in cell)


def as_messages(cell: Any, role: str) -> list[Message]:
    """Text or messages as new messages; text is said by `role`, and what is neither is said as text."""
    if isinstance(cell, str):
        return [{"role": role, "content": cell}]
    if isinstance(cell, Mapping):
        cell = [cell]
    if not isinstance(cell, Sequence):
        return [] if cell is None else [{"role": role, "content": str(cell)}]
    return [dict(m) if isinstance(m, Mapping) else {"role": role, "content": str(m)} for m in cell]


def ask(prompt: Any, messages: list[Message]) -> str:
    """What a task asks, as text: the row's `prompt`."""
    return prompt if isinstance(prompt, str) else ask_of(messages)


def said(completion: Any) -> list[Message]:
    """The messages of a completion, with an id on every call and on every answer to one."""
    messages = as_messages(completion, "assistant")
    waiting: list[str] = []
    count = 0
    for message in messages:
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and isinstance(calls, list | tuple):
            named = []
            waiting = []
            for call in calls:
                call_id = f"call_{count}"
                count += 1
                if isinstance(call, Mapping):
                    call = {**call, "id": call.get("id") or call_id}
                    call_id = str(call["id"])
                waiting.append(call_id)
                named.append(call)
            message["tool_calls"] = named
        elif message.get("role") == "tool" and waiting:
            answered = waiting.pop(0)
            message["tool_call_id"] = message.get("tool_call_id") or answered
    return messages


def steps_of(messages: Sequence[Message]) -> tuple[list[dict[str, Any]], str, bool]:
    """
    What happened in a completion.

    Args:
        messages (`list[dict]`):
            From [`said`].

    Returns:
        `tuple[list, str, bool]`: The steps, the last words, and whether the completion came to them: `False` for one
        that ends with a call or an answer to one.

    Examples:
    ```python
    >>> call = {"type": "function", "function": {"name": "get_order", "arguments": {"order_id": "A1"}}}
    >>> steps_of(said([{"role": "assistant", "content": "", "tool_calls": [call]},
    ...                {"role": "tool", "name": "get_order", "content": '{"status": "sent"}'},
    ...                {"role": "assistant", "content": "It is on its way."}]))
    ([{'tool': 'get_order', 'arguments': {'order_id': 'A1'}, 'result': {'status': 'sent'}}], 'It is on its way.', True)

    ```
    """
    last = len(messages) - 1
    steps: list[dict[str, Any]] = []
    unanswered: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        role, calls = message.get("role"), _calls(message)
        text = text_of(message.get("content"))
        if role == "tool":
            if unanswered:
                unanswered.pop(0)["result"] = _result(message.get("content"))
        elif role == "assistant":
            if calls:
                unanswered = []
            if text and (calls or at < last):
                steps.append({"text": text})
            for call in calls:
                step = _called(call)
                steps.append(step)
                unanswered.append(step)
        elif role == "user" and text:
            steps.append({"user": text})
    ended = bool(messages) and messages[-1].get("role") == "assistant" and not _calls(messages[-1])
    return steps, text_of(messages[-1].get("content")) if ended else "", ended


def _calls(message: Message) -> Sequence[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list | tuple) else ()


def _called(call: Any) -> dict[str, Any]:
    inner = call.get("function") if isinstance(call, Mapping) else None
    function = inner if isinstance(inner, Mapping) else {}
    arguments, readable = parse_arguments(function.get("arguments"))
    step = {"tool": str(function.get("name") or "?"), "arguments": arguments, "result": None}
    return step if readable else {**step, "malformed": True}


def _result(content: Any) -> Any:
    """An answer that is the text of an object is that object; every other one stays as it is."""
    if not isinstance(content, str):
        return canonical(content)
    try:
        value = loads(content)
    except ValueError:
        return content
    return value if isinstance(value, dict) else content
