"""What a policy might answer to a task: a text, the tool calls before it, and what they left behind.

One attempt has three shapes: the text a trainer samples from a plain prompt, the messages it samples from a
conversational one, and the row a judge sees.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import dumps


@dataclass(frozen=True)
class Attempt:
    """
    One reply to one task.

    Args:
        text (`str`, *optional*):
            The final message; `None` when the turn ended with a tool's answer.
        steps (`tuple[dict]`, *optional*):
            The tool calls before it, as `{"tool", "arguments", "result"}`.
        changes (`tuple[dict]`, *optional*):
            What is different in the world afterwards; `None` when that is unknown.
    """

    text: str | None
    steps: tuple[Mapping[str, Any], ...] = ()
    changes: tuple[Mapping[str, Any], ...] | None = ()

    def messages(self) -> list[dict[str, Any]]:
        """The messages after the prompt, as a trainer samples them."""
        found: list[dict[str, Any]] = []
        for step in self.steps:
            call = {"name": step["tool"], "arguments": copy.deepcopy(step["arguments"])}
            found.append({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]})
            result = step["result"]
            content = result if isinstance(result, str) else dumps(result).decode()
            found.append({"role": "tool", "name": step["tool"], "content": content})
        if self.text is not None:
            found.append({"role": "assistant", "content": self.text})
        return found

    def completion(self, conversational: bool) -> Any:
        """What a reward function gets as one of its `completions`."""
        return self.messages() if conversational else self.text or ""

    def row(self, columns: Mapping[str, Any], prompt: Any) -> dict[str, Any]:
        """The row a judge gets: the columns of the task, and this reply instead of any recorded one."""
        opening = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
        steps: list[dict[str, Any]] = [dict(step) for step in self.steps]
        if self.text:
            steps.append({"text": self.text})
        reply = {
            "messages": [*opening, *self.messages()],
            "steps": steps,
            "final_text": self.text or "",
            "finish_reason": "stop" if self.text is not None else "tool",
            "state_changes": None if self.changes is None else [dict(change) for change in self.changes],
        }
        return copy.deepcopy({**columns, **reply})

    def excerpt(self) -> str:
        """The reply in one short line, for a person."""
        calls = " ".join(f"{step['tool']}({dumps(step['arguments']).decode()})" for step in self.steps)
        text = " ".join((self.text or "").split())
        whole = " -> ".join(part for part in (calls, repr(text) if self.text is not None else "") if part)
        # What a reply holds may be unprintable on purpose.
        whole = whole.encode("utf-8", "replace").decode().replace("\x00", "\\0")
        return whole if len(whole) <= _EXCERPT else whole[: _EXCERPT - 3] + "..."


# Characters of a reply that are shown.
_EXCERPT = 100
