"""The conversation of a chat callable: call it, run its tools, call it again, let the person answer, until it is over.

The callable sees its own messages exactly as it returned them (chat APIs want back what they sent); the row gets them
in one shape. Calls of one message run in the order of its list.
"""

from __future__ import annotations

from typing import Any, Protocol

from whileai_hf.actors.numbers import NUMBER_KEYS, Totals, TurnNumbers, read_numbers
from whileai_hf.actors.played import Played, tool_message
from whileai_hf.actors.replies import Reply, read_reply
from whileai_hf.actors.users.turns import UserTurns
from whileai_hf.sandbox import Session
from whileai_hf.spec import AgentSpec


class ToolWorld(Protocol):
    """Whatever answers tool calls: a rollout's session or a plain world."""

    def call(self, tool: str, arguments: dict[str, Any], /) -> Any:
        """The result of calling `tool` with `arguments`."""


# What the model reads when its arguments are not JSON; it is told how to go on, as real tool servers do.
_MALFORMED = "the arguments are not a JSON object; call the tool again with valid JSON"
# Who has to speak next.
AGENT, USER, NOBODY = "agent", "user", "nobody"


class Conversation:
    """
    One conversation in progress. Feed it each reply and each answer of the person; it says who speaks next.

    Args:
        prompt (`str`):
            What the user asked.
        spec ([`AgentSpec`]):
            Its system prompt opens the conversation.
        world ([`ToolWorld`]):
            Where tool calls go.
        max_turns (`int`):
            Replies after which the conversation is cut off.
        user ([`UserTurns`], *optional*):
            The person after the first message; without one, the first reply without calls ends the conversation.
    """

    def __init__(
        self, prompt: str, spec: AgentSpec, world: ToolWorld, max_turns: int, user: UserTurns | None = None
    ) -> None:
        opening = {"role": "user", "content": prompt}
        system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
        self.native: list[dict[str, Any]] = [*system, opening]
        self.user = user
        self.next = AGENT
        self._world = world
        self._turns_left = max_turns
        self._played = Played(steps=[], final_text="", messages=[dict(opening)])
        self._calls = 0
        self._totals = Totals()
        self._last = TurnNumbers()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far as rows keep it, without the system message."""
        return self._played.messages

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
        """The reply as it came, without numbers, its calls named so that the results can point at them."""
        native = {key: value for key, value in reply.native.items() if key not in NUMBER_KEYS}
        entries = native.get("tool_calls")
        if not entries or [call.call_id for call in reply.calls] == ids or len(entries) != len(ids):
            return native
        return {**native, "tool_calls": [{**entry, "id": i} for entry, i in zip(entries, ids, strict=True)]}

    def take(self, answer: Any) -> None:
        """Takes one return value of the callable, and runs the calls in it."""
        reply = read_reply(answer)
        self._turns_left -= 1
        self._last = read_numbers(answer)
        self._totals.add(self._last)
        ids = self._ids(reply)
        self.native.append(self._native(reply, ids))
        self._played.messages.append(reply.message(ids))
        self._played.final_text = reply.text
        if not reply.calls:
            self._answered(reply)
            return
        start = len(self._played.steps)
        if reply.text:
            self._played.steps.append({"text": reply.text})
        self._run(reply, ids)
        self._played.steps[start].update(self._last.on_step())
        if self._turns_left <= 0:
            self._cut("length")

    def _answered(self, reply: Reply) -> None:
        cut = self._last.truncated or reply.finish_reason == "length"
        self._played.finish_reason = "length" if cut else "stop"
        if self.user is None:
            self.next = NOBODY
        elif cut or (self._turns_left <= 0 and self.user.context.turn > 1):
            self._cut(self._played.finish_reason)
        else:
            self.next = USER if self._turns_left > 0 else NOBODY

    def _cut(self, finish_reason: str) -> None:
        self._played.finish_reason = finish_reason
        self.next = NOBODY
        if self.user is not None:
            self.user.cut()

    def hear(self, said: str | None) -> None:
        """Takes what the person said to the last reply; `None` ends the conversation."""
        if said is None:
            self.next = NOBODY
            return
        if isinstance(self._world, Session):
            self._world.hear(said)
        self._played.steps += [{"text": self._played.final_text, **self._last.on_step()}, {"user": said}]
        message = {"role": "user", "content": said}
        self._played.messages.append(message)
        self.native.append(dict(message))
        self._last = TurnNumbers()
        self.next = AGENT

    def played(self) -> Played:
        """The conversation so far, as a row keeps it."""
        played = self._played
        numbers = self._last.on_step()
        # The last reply is `final_text`, not a step; one is made where there is something to keep on it.
        if numbers and played.messages[-1]["role"] == "assistant":
            played.steps.append({"text": played.final_text, **numbers})
        played.extra.update(self._totals.on_row())
        if self.user is not None:
            played.extra.update(self.user.report(played.messages))
        return played


def tools_of(spec: AgentSpec) -> list[dict[str, Any]]:
    """The tools as a chat callable gets them: a list of its own, so that changing it changes no other rollout."""
    return [tool.openai() for tool in spec.tools]
