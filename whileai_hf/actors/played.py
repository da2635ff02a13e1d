"""What playing one task gives: the steps, the last words, and the conversation they make.

Also reads what a message callable returned, and says in one sentence what is wrong with it. Nothing here talks to a
world or decides a reward.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.errors import AgentError
from whileai_hf.rows.canonical import dumps


_SHAPE = '{"steps": [...], "final_text": str}'


@dataclass(slots=True)
class Played:
    """
    One conversation, played to its end.

    Args:
        steps (`list[dict]`):
            `{"tool", "arguments", "result"}`, `{"text"}` (the agent speaks) or `{"user"}` (the user does), in order.
            Arguments that were no JSON object stand as written, beside `"malformed": True`. The first step of a turn
            carries what is known of it: `logprob`, `n_tokens`, `input_tokens`, `output_tokens`, `token_logprobs`,
            `"truncated": True`; then the last reply is a step as well.
        final_text (`str`):
            What the agent said last, without reasoning.
        finish_reason (`str`, *optional*, defaults to `"stop"`):
            `"stop"`, `"length"` (the turns or tokens ran out) or `"error"`.
        extra (`dict`, *optional*):
            Whatever else the agent returned, `seeded` and `usage` among it. For chat callables the totals `usage`,
            `logprob`, `n_tokens` and `token_logprobs`, and what a [`UserTurns`] reports.
        messages (`list[dict]`, *optional*):
            The conversation without the system message: `user`, `assistant` with OpenAI `tool_calls` whose
            `arguments` are dicts, `tool` with the result as JSON text.
    """

    steps: list[dict[str, Any]]
    final_text: str
    finish_reason: str = "stop"
    extra: dict[str, Any] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)


def parse_arguments(written: Any) -> tuple[dict[str, Any], bool]:
    """
    The arguments of a tool call as a dict, and whether they were readable.

    Args:
        written (`dict`, `str` or `None`):
            As the agent wrote them: a dict, or the JSON text chat APIs carry.

    Returns:
        `tuple[dict, bool]`: Unreadable arguments come back as `{"malformed": <as written>}` and `False`.
    """
    if isinstance(written, dict):
        return written, True
    if written is None or written == "":
        return {}, True
    if isinstance(written, Mapping):
        return dict(written), True
    if isinstance(written, str):
        try:
            parsed = json.loads(written)
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            return parsed, True
    return {"malformed": written if isinstance(written, str) else repr(written)}, False


def tool_text(result: Any) -> str:
    """A tool result as the text of a `tool` message: strings as they are, everything else as JSON."""
    return result if isinstance(result, str) else dumps(result).decode()


def call_message(name: str, arguments: dict[str, Any], call_id: str, text: str = "") -> dict[str, Any]:
    """The assistant message that makes one tool call."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def tool_message(name: str, result: Any, call_id: str) -> dict[str, Any]:
    """The `tool` message that answers a call."""
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": tool_text(result)}


def messages_from_steps(prompt: str, steps: list[dict[str, Any]], final_text: str) -> list[dict[str, Any]]:
    """
    The conversation that a list of steps stands for.

    What the agent says right before a call goes into the message of that call. A last text equal to `final_text` is
    said once.

    Args:
        prompt (`str`):
            What the user asked.
        steps (`list[dict]`):
            Checked steps.
        final_text (`str`):
            The agent's last words.

    Returns:
        `list[dict]`: Messages without a system message.
    """
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    said: str | None = None
    for index, step in enumerate(steps):
        name = step.get("tool")
        if name is not None:
            words = "\n\n".join(part for part in (said, step.get("text")) if part)
            call_id = f"call_{index}"
            arguments = parse_arguments(step["arguments"])[0] if "malformed" in step else step["arguments"]
            messages.append(call_message(name, arguments, call_id, words))
            messages.append(tool_message(name, step["result"], call_id))
            said = None
            continue
        if said is not None:
            messages.append({"role": "assistant", "content": said})
            said = None
        if "user" in step:
            messages.append({"role": "user", "content": step["user"]})
        else:
            said = step["text"]
    if said is not None and said != final_text:
        messages.append({"role": "assistant", "content": said})
    messages.append({"role": "assistant", "content": final_text})
    return messages


def _checked_step(step: Any, index: int) -> dict[str, Any]:
    if not isinstance(step, Mapping):
        raise AgentError(f"the agent's steps[{index}] is {step!r:.60}; expected a dict with a tool, a text or a user.")
    name = step.get("tool")
    if name is None:
        for key in ("text", "user"):
            if key in step:
                if isinstance(step[key], str):
                    return dict(step)
                raise AgentError(f"the agent's steps[{index}] has {key} {step[key]!r:.60}; make it a string.")
        hint = '; call it "tool" instead of "name"' if "name" in step else ""
        keys = ", ".join(map(str, step)) or "nothing"
        raise AgentError(f"the agent's steps[{index}] has no tool name (it has {keys}){hint}.")
    if not isinstance(name, str) or not name:
        raise AgentError(f"the agent's steps[{index}] has no tool name: tool is {name!r:.60}; make it a string.")
    written = step.get("arguments")
    arguments, readable = parse_arguments(written)
    if readable:
        return {**step, "arguments": arguments, "result": step.get("result")}
    return {**step, "result": step.get("result"), "malformed": True}


def read_result(result: Any, prompt: str) -> Played:
    """
    What a message callable returned, checked, with its conversation.

    Args:
        result (`Any`):
            The return value; expected `{"steps": [...], "final_text": str, ...}`.
        prompt (`str`):
            What the user asked.

    Returns:
        [`Played`]: Keys other than `steps`, `final_text` and `finish_reason` are in `extra`.

    Raises:
        AgentError: When the shape is wrong; one sentence, with the index of the step.
    """
    if not isinstance(result, Mapping):
        kind = "None" if result is None else f"a {type(result).__name__}"
        raise AgentError(f"the agent returned {kind}; return {_SHAPE}.")
    steps = result.get("steps")
    if not isinstance(steps, (list, tuple)):
        raise AgentError(f"the agent's steps is {steps!r:.60}; return {_SHAPE}, with [] when it called no tool.")
    final_text = result.get("final_text")
    if not isinstance(final_text, str):
        state = f"is {final_text!r:.60}" if "final_text" in result else "is missing"
        raise AgentError(f"the agent's final_text {state}; return {_SHAPE}.")
    finish = result.get("finish_reason")
    checked = [_checked_step(step, index) for index, step in enumerate(steps)]
    extra = {key: value for key, value in result.items() if key not in ("steps", "final_text", "finish_reason")}
    messages = messages_from_steps(prompt, checked, final_text)
    return Played(checked, final_text, finish if isinstance(finish, str) else "stop", extra, messages)
