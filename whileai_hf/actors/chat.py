"""The tool loop of a chat callable: call, run the tools, call again, until it answers.

The callable sees its own messages exactly as it returned them (chat APIs want back what they sent); the row gets them
in one shape. Calls of one message run in the order of its list.
"""

from __future__ import annotations

from typing import Any, Protocol

from whileai_hf.actors.played import Played, tool_message
from whileai_hf.actors.replies import Reply, read_reply
from whileai_hf.spec import AgentSpec


class ToolWorld(Protocol):
    """Whatever answers tool calls: a rollout's session or a plain world."""

    def call(self, tool: str, arguments: dict[str, Any], /) -> Any:
        """The result of calling `tool` with `arguments`."""


# What the model reads when its arguments are not JSON; it is told how to go on, as real tool servers do.
_MALFORMED = "the arguments are not a JSON object; call the tool again with valid JSON"


class Conversation:
    """
    One conversation in progress. Feed it each reply; it says whether another turn is needed.

    Args:
        prompt (`str`):
            What the user asked.
        spec ([`AgentSpec`]):
            Its system prompt opens the conversation.
        world ([`ToolWorld`]):
            Where tool calls go.
        max_turns (`int`):
            Replies after which the conversation is cut off.
    """

    def __init__(self, prompt: str, spec: AgentSpec, world: ToolWorld, max_turns: int) -> None:
        user = {"role": "user", "content": prompt}
        system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
        self.native: list[dict[str, Any]] = [*system, user]
        self._world = world
        self._turns_left = max_turns
        self._played = Played(steps=[], final_text="", messages=[dict(user)])
        self._calls = 0
        self._usage: dict[str, Any] = {}

    def _ids(self, reply: Reply) -> list[str]:
        ids: list[str] = []
        for call in reply.calls:
            # Servers without ids, or with one id for all, would make the results impossible to tell apart.
            own = call.call_id if call.call_id is not None and call.call_id not in ids else f"call_{self._calls}"
            ids.append(own)
            self._calls += 1
        return ids

    def _run(self, reply: Reply, ids: list[str]) -> None:
        for call, call_id in zip(reply.calls, ids, strict=True):
            step: dict[str, Any] = {"tool": call.name, "arguments": call.arguments}
            if call.readable:
                step["result"] = self._world.call(call.name, call.arguments)
            else:
                step["arguments"] = call.written
                step["result"] = {"status": "invalid_arguments", "error": _MALFORMED}
                step["malformed"] = True
            self._played.steps.append(step)
            message = tool_message(call.name, step["result"], call_id)
            self._played.messages.append(message)
            self.native.append(dict(message))

    def _native(self, reply: Reply, ids: list[str]) -> dict[str, Any]:
        """The reply as it came, its calls named so that the results can point at them."""
        entries = reply.native.get("tool_calls")
        if not entries or [call.call_id for call in reply.calls] == ids or len(entries) != len(ids):
            return reply.native
        return {**reply.native, "tool_calls": [{**entry, "id": i} for entry, i in zip(entries, ids, strict=True)]}

    def take(self, answer: Any) -> bool:
        """Takes one return value of the callable; `True` while the callable has to speak again."""
        reply = read_reply(answer)
        self._turns_left -= 1
        for key, count in reply.usage.items():
            if isinstance(count, int):
                self._usage[key] = self._usage.get(key, 0) + count
        ids = self._ids(reply)
        self.native.append(self._native(reply, ids))
        self._played.messages.append(reply.message(ids))
        self._played.final_text = reply.text
        if not reply.calls:
            self._played.finish_reason = reply.finish_reason if reply.finish_reason == "length" else "stop"
            return False
        if reply.text:
            self._played.steps.append({"text": reply.text})
        self._run(reply, ids)
        if self._turns_left > 0:
            return True
        self._played.finish_reason = "length"
        return False

    def played(self) -> Played:
        """The conversation so far, as a row keeps it."""
        if self._usage:
            self._played.extra["usage"] = self._usage
        return self._played


def tools_of(spec: AgentSpec) -> list[dict[str, Any]]:
    """The tools as a chat callable gets them: a list of its own, so that changing it changes no other rollout."""
    return [tool.openai() for tool in spec.tools]
