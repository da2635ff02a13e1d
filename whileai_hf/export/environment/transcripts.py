"""What a trainer's transcript says happened, as the row a judge sees.

A transcript is what the policy is trained on, so it alone decides the reward: the calls in it are made again in a
fresh world of the task, which says what they left behind. A call whose result did not fit into the completion was made
in the trainer's environment and is not in the transcript; here it did not happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.actors import Played
from whileai_hf.actors.chat import Conversation
from whileai_hf.actors.replies import read_reply
from whileai_hf.engine.grading import hidden_of
from whileai_hf.errors import AgentError
from whileai_hf.export.environment.names import ShownTool
from whileai_hf.rows import canonical, dumps, loads
from whileai_hf.rows.features import SCHEMA_VERSION, rollout_features
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox import Session
from whileai_hf.spec import AgentSpec


Message = Mapping[str, Any]


def restore_names(said: Sequence[Message], shown: Mapping[str, ShownTool]) -> list[dict[str, Any]]:
    """
    Messages of a rollout under the names the tools were given.

    Args:
        said (`Sequence[dict]`):
            Messages as the trainer has them.
        shown (`Mapping[str, ShownTool]`):
            Tools by the name shown.

    Returns:
        `list[dict]`: New messages.
    """
    return [_restored(message, shown) for message in said]


def _restored(message: Message, shown: Mapping[str, ShownTool]) -> dict[str, Any]:
    made = dict(message)
    name = made.get("name")
    if made.get("role") == "tool" and isinstance(name, str) and name in shown:
        made["name"] = shown[name].tool.name
    calls = made.get("tool_calls")
    if isinstance(calls, list | tuple):
        made["tool_calls"] = [_restored_call(call, shown) for call in calls]
    return made


def _restored_call(call: Any, shown: Mapping[str, ShownTool]) -> Any:
    inner = call.get("function") if isinstance(call, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(name, str) or name not in shown:
        return call
    function = {**inner, "name": shown[name].tool.name}
    if isinstance(inner.get("arguments"), Mapping):
        function["arguments"] = shown[name].restore(inner["arguments"])
    return {**call, "function": function}


class _Retold:
    """Answers the calls of a transcript with the results in it, and makes them in a world beside it."""

    def __init__(self, session: Session | None, tools: tuple[str, ...]) -> None:
        self.session = session
        self.results: list[Any] = []
        self._tools = frozenset(tools)

    def call(self, tool: str, arguments: dict[str, Any], /) -> Any:
        """The result the transcript has."""
        result = self.results.pop(0)
        if tool not in self._tools:
            # The trainer refuses it in words of its own; judges read results in the shape a world gives them.
            return result if isinstance(result, dict) else {"status": "unknown_tool", "error": result}
        if self.session is not None:
            self.session.call(tool, arguments)
        return result


def _result(text: Any) -> Any:
    """A tool message's content: a world of ours answers with a dict, everything else stays text."""
    if not isinstance(text, str):
        return canonical(text)
    try:
        value = loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _blocks(said: Sequence[Message]) -> list[tuple[Message, list[Message]]]:
    """Every message that is no result, with the results right behind it."""
    blocks: list[tuple[Message, list[Message]]] = []
    for message in said:
        if message.get("role") == "tool":
            if blocks:
                blocks[-1][1].append(message)
        else:
            blocks.append((message, []))
    return blocks


def _without_calls(message: Message) -> dict[str, Any]:
    return {"role": "assistant", "content": message.get("content") or ""}


@dataclass(frozen=True)
class Transcript:
    """A conversation that was played elsewhere, and the world it leaves; `session` is `None` when that is unknown."""

    played: Played
    session: Session | None


def read_transcript(
    task: Mapping[str, Any], spec: AgentSpec, said: Sequence[Message], session: Session | None
) -> Transcript:
    """
    A conversation out of its messages.

    Args:
        task (`Mapping`):
            The task row.
        spec ([`AgentSpec`]):
            The agent that was asked.
        said (`Sequence[dict]`):
            Everything after the ask, under the tools' own names.
        session ([`Session`], *optional*):
            A fresh world of the task, which the calls are made in.

    Returns:
        [`Transcript`]: As `simulate` would have it. Calls without a result, at the end of a transcript that was cut
        off, did not happen. The world is kept when all its answers are those of the transcript.

    Raises:
        AgentError: A message of the agent's is none.
    """
    world = _Retold(session, spec.names)
    blocks = _blocks(said)
    talk = Conversation(task["prompt"], spec, world, max_turns=len(blocks) + 1)
    cut = not blocks or blocks[-1][0].get("role") != "assistant"
    for message, results in blocks:
        if message.get("role") == "user":
            words = message.get("content")
            if session is not None and isinstance(words, str):
                session.hear(words)
            talk.hear(words if isinstance(words, str) else "")
            continue
        reply = read_reply(message)
        if reply.calls and len(results) != len(reply.calls):
            talk.take(_without_calls(message))
            cut = True
            continue
        pairs = zip(reply.calls, results, strict=False)
        world.results = [_result(result.get("content")) for call, result in pairs if call.readable]
        talk.take(message)
        cut = cut or bool(reply.calls and message is blocks[-1][0])
    played = talk.played()
    if cut:
        played.finish_reason = "length"
    # A call of a tool nobody has leaves the world as it was.
    own = session is not None and session.answered([step for step in played.steps if step.get("tool") in spec.names])
    return Transcript(played, session if own else None)


def judged_row(
    task: Mapping[str, Any], spec: AgentSpec, transcript: Transcript, about: Mapping[str, Any]
) -> dict[str, Any]:
    """
    The row a judge sees of a rollout, in the shape and with the contents that rollouts of `simulate` have.

    Args:
        task (`Mapping`):
            The task row, with what only a judge may see.
        spec ([`AgentSpec`]):
            The agent.
        transcript ([`Transcript`]):
            What happened.
        about (`Mapping`):
            What else is known about the rollout, such as `rollout_index`, `seed` and what the simulated user reports.

    Returns:
        `dict`: A canonical row.
    """
    played, session = transcript.played, transcript.session
    system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
    annotations = {tool.name: dict(tool.annotations) for tool in spec.tools if tool.annotations}
    lineage: dict[str, Any] = {"system_prompt_sha": digest(spec.system_prompt, length=16)}
    if annotations:
        lineage["tool_annotations"] = annotations
    columns = rollout_features()
    more = {name: value for name, value in about.items() if name not in columns}
    row = {
        **dict.fromkeys(columns),
        **task,
        "schema_version": SCHEMA_VERSION,
        "messages": [*system, *played.messages],
        "tools": spec.openai_tools(),
        "steps": played.steps,
        "final_text": played.final_text,
        "finish_reason": played.finish_reason,
        "rollout_status": "ok",
        "error": None,
        "lineage": lineage,
        "writer_model": task.get("writer_model") or "pinned",
        "faults_fired": session.fired if session is not None else [],
        "state_digest": session.state_digest() if session is not None else None,
        "state_changes": session.state_changes() if session is not None else None,
        "metadata": more or None,
        **{name: value for name, value in about.items() if name in columns},
        **hidden_of(task, spec.rubric),
    }
    return loads(dumps(row))  # type: ignore[no-any-return]  # a copy in canonical form, down to the bottom


def failed_row(task: Mapping[str, Any], spec: AgentSpec, error: AgentError) -> dict[str, Any]:
    """The row of a transcript that is no conversation: like a rollout that failed, no judge is asked about it."""
    empty = Played([], "", "error", messages=[{"role": "user", "content": task["prompt"]}])
    return judged_row(task, spec, Transcript(empty, None), {"rollout_status": "invalid", "error": str(error)})
