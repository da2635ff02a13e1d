"""One assistant message as chat callables return it, brought to one shape.

Clients differ in where they put things: text as a string or as blocks, reasoning in its own key, in a block or in
`<think>` tags, calls with or without an id, arguments as a dict or as JSON text, the message bare or inside
`choices`. Everything after this module sees a [`Reply`].
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.actors.played import parse_arguments
from whileai_hf.errors import AgentError


_SHAPE = '{"role": "assistant", "content": str, "tool_calls": [...]}'
# Keys under which clients and templates carry reasoning, in the order they are looked at.
_REASONING = ("reasoning_content", "reasoning", "thinking")
# A template may have opened the tag in the prompt, so the opening one can be missing; a cut answer lacks the closing.
_THOUGHT = re.compile(r"^\s*(?:<think>)?(?P<thought>.*?)</think>\s*", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"^\s*<think>(?P<thought>.*)$", re.DOTALL)


@dataclass(slots=True)
class Call:
    """One tool call of a reply. `arguments` is `{"malformed": text}` when what was `written` is not readable."""

    name: str
    written: Any
    arguments: dict[str, Any]
    readable: bool
    call_id: str | None


@dataclass(slots=True)
class Reply:
    """An assistant message: its visible text, its reasoning, its calls, and the message as it came."""

    text: str
    reasoning: str
    calls: list[Call]
    finish_reason: str | None
    native: dict[str, Any]
    usage: dict[str, Any] = field(default_factory=dict)

    def message(self, ids: list[str]) -> dict[str, Any]:
        """The message as rows keep it, its calls named by `ids`."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call, call_id in zip(self.calls, ids, strict=True)
            ]
        return message


def content_text(content: Any) -> str:
    """
    The text of a message's content: a string, blocks of text, or nothing.

    Examples:
    ```python
    >>> content_text([{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}])
    'Hello'

    ```
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        raise AgentError(f"the agent's message has content {content!r:.60}; make it a string or a list of blocks.")
    parts = [block if isinstance(block, str) else _block_text(block) for block in content]
    return "".join(part for part in parts if part)


def _block_text(block: Any) -> str:
    if isinstance(block, Mapping) and block.get("type", "text") in ("text", "output_text"):
        text = block.get("text")
        return text if isinstance(text, str) else ""
    return ""


def _block_reasoning(content: Any) -> str:
    if not isinstance(content, (list, tuple)):
        return ""
    texts = [
        block.get("thinking") or block.get("reasoning") or block.get("text")
        for block in content
        if isinstance(block, Mapping) and block.get("type") in ("thinking", "reasoning")
    ]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _without_thought(text: str) -> tuple[str, str]:
    for pattern in (_THOUGHT, _OPEN_THOUGHT):
        match = pattern.match(text) if "think>" in text else None
        if match:
            return text[match.end() :], match["thought"].strip()
    return text, ""


def _call(entry: Any, index: int) -> Call:
    inner = entry.get("function", entry) if isinstance(entry, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(inner, Mapping) or not isinstance(name, str) or not name:
        raise AgentError(f"the agent's tool_calls[{index}] has no tool name: {entry!r:.80}.")
    written = inner.get("arguments", inner.get("input"))
    arguments, readable = parse_arguments(written)
    call_id = entry.get("id")
    return Call(name, written, arguments, readable, call_id if isinstance(call_id, str) and call_id else None)


def read_reply(reply: Any) -> Reply:
    """
    The assistant message a chat callable returned.

    Args:
        reply (`dict`):
            `{"role": "assistant", "content", "tool_calls"}`, or a whole chat completion with `choices`.

    Returns:
        [`Reply`]: With text and reasoning apart.

    Raises:
        AgentError: When it is no assistant message, or a call has no tool name (with its index).
    """
    usage: dict[str, Any] = {}
    finish: Any = None
    if isinstance(reply, Mapping) and isinstance(reply.get("choices"), (list, tuple)) and reply["choices"]:
        usage = dict(reply["usage"]) if isinstance(reply.get("usage"), Mapping) else {}
        choice = reply["choices"][0]
        finish = choice.get("finish_reason")
        reply = choice.get("message")
    if not isinstance(reply, Mapping):
        kind = "None" if reply is None else f"a {type(reply).__name__}"
        raise AgentError(f"the agent returned {kind}; a chat callable returns {_SHAPE}.")
    if reply.get("role", "assistant") != "assistant" or not reply.keys() & {"content", "tool_calls"}:
        keys = ", ".join(map(str, reply)) or "nothing"
        raise AgentError(f"the agent returned a dict with {keys}; a chat callable returns {_SHAPE}.")
    content = reply.get("content")
    text, thought = _without_thought(content_text(content))
    named = next((reply[key] for key in _REASONING if isinstance(reply.get(key), str)), "")
    entries = reply.get("tool_calls") or []
    if not isinstance(entries, (list, tuple)):
        raise AgentError(f"the agent's tool_calls is {entries!r:.60}; make it a list.")
    if isinstance(content, (list, tuple)):
        entries = [*entries, *(b for b in content if isinstance(b, Mapping) and b.get("type") == "tool_use")]
    finish = reply.get("finish_reason", finish)
    return Reply(
        text=text,
        reasoning=named or _block_reasoning(content) or thought,
        calls=[_call(entry, index) for index, entry in enumerate(entries)],
        finish_reason=finish if isinstance(finish, str) else None,
        native={**reply, "role": "assistant"},
        usage=usage,
    )
