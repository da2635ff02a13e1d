"""The tool loop of chat callables: what they see, what the row keeps, when it ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from whileai_hf.actors import ScriptedModel, adapt, play
from whileai_hf.errors import AgentError
from whileai_hf.spec import AgentSpec


SPEC = AgentSpec.from_tools([{"name": "get_order"}, {"name": "refund_order"}], "You help with orders.")


class World:
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((tool, arguments))
        return {"status": "ok", "n": len(self.calls)}


def ask(name: str, arguments: Any, call_id: str | None = None) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [{**call, "id": call_id} if call_id else call]}


def played_with(replies: Any, max_turns: int = 12) -> Any:
    world = World()
    return play(ScriptedModel(replies), "Where is A1?", spec=SPEC, session=world, max_turns=max_turns), world


def test_calls_run_until_the_model_answers() -> None:
    seen: list[Any] = []
    replies = [ask("get_order", '{"order_id": "A1"}', "x1"), {"role": "assistant", "content": "It shipped."}]

    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        seen.append(([dict(m) for m in messages], tools))
        return replies[len(seen) - 1]

    world = World()
    played = play(agent, "Where is A1?", spec=SPEC, session=world)
    assert world.calls == [("get_order", {"order_id": "A1"})]
    result = {"role": "tool", "tool_call_id": "x1", "name": "get_order", "content": '{"status":"ok","n":1}'}
    assert seen[0][0] == [
        {"role": "system", "content": "You help with orders."},
        {"role": "user", "content": "Where is A1?"},
    ]
    assert seen[0][1] == SPEC.openai_tools()
    # The model gets its own message back as it wrote it; the row keeps one shape.
    assert seen[1][0][2:] == [replies[0], result]
    assert played.messages == [
        {"role": "user", "content": "Where is A1?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "x1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": "A1"}}}
            ],
        },
        result,
        {"role": "assistant", "content": "It shipped."},
    ]
    assert played.steps == [{"tool": "get_order", "arguments": {"order_id": "A1"}, "result": {"status": "ok", "n": 1}}]
    assert (played.final_text, played.finish_reason) == ("It shipped.", "stop")


@pytest.mark.parametrize("arguments", ['{"order_id": ', "[1]", 7, ["A1"]])
def test_malformed_arguments_are_kept_and_answered(arguments: Any) -> None:
    played, world = played_with([ask("get_order", arguments), "Sorry."])
    assert world.calls == []
    step = played.steps[0]
    assert (step["arguments"], step["malformed"], step["result"]["status"]) == (arguments, True, "invalid_arguments")
    assert isinstance(played.messages[1]["tool_calls"][0]["function"]["arguments"], dict)
    assert "valid JSON" in played.messages[2]["content"]
    assert played.final_text == "Sorry."


def test_parallel_calls_run_in_list_order_and_are_told_apart() -> None:
    calls = [{"name": name, "arguments": {"i": i}, "id": "same"} for i, name in enumerate(["b", "a", "b"])]
    played, world = played_with([{"tool_calls": calls, "content": "Looking."}, "Done."])
    assert world.calls == [("b", {"i": 0}), ("a", {"i": 1}), ("b", {"i": 2})]
    ids = [call["id"] for call in played.messages[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert [m["tool_call_id"] for m in played.messages if m["role"] == "tool"] == ids
    assert played.steps[0] == {"text": "Looking."}


def test_the_turns_run_out() -> None:
    played, world = played_with(lambda messages, tools: ask("get_order", {}), max_turns=3)
    assert len(world.calls) == 3
    assert (played.finish_reason, played.final_text, played.messages[-1]["role"]) == ("length", "", "tool")


@pytest.mark.parametrize(
    ("reply", "text", "reasoning"),
    [
        ({"content": "Hi.", "reasoning_content": "think"}, "Hi.", "think"),
        ({"content": "Hi.", "reasoning": "think"}, "Hi.", "think"),
        ({"content": "<think>\nthink\n</think>\n\nHi."}, "Hi.", "think"),
        ({"content": "think\n</think>\n\nHi."}, "Hi.", "think"),
        ({"content": "<think>think"}, "", "think"),
        ({"content": [{"type": "thinking", "thinking": "think"}, {"type": "text", "text": "Hi."}]}, "Hi.", "think"),
        ({"content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "."}]}, "Hi.", ""),
        ({"content": "I think> so"}, "I think> so", ""),
    ],
)
def test_reasoning_never_reaches_the_final_text(reply: dict[str, Any], text: str, reasoning: str) -> None:
    played = play(lambda messages, tools: {"role": "assistant", **reply}, "hi", spec=SPEC, session=World())
    assert played.final_text == text
    assert played.messages[-1]["content"] == text
    assert played.messages[-1].get("reasoning_content", "") == reasoning


def test_a_whole_completion_with_usage() -> None:
    def agent(messages: list[dict[str, Any]], tools: Any = None) -> dict[str, Any]:
        done = len(messages) > 2
        message = {"role": "assistant", "content": "cut"} if done else ask("get_order", {})
        return {
            "choices": [{"message": message, "finish_reason": "length" if done else "tool_calls"}],
            "usage": {"n": 5},
        }

    played = play(agent, "hi", spec=SPEC, session=World())
    assert (played.final_text, played.finish_reason, played.extra) == ("cut", "length", {"usage": {"n": 10}})


def test_tool_use_blocks_are_calls() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "get_order", "input": {"order_id": "A1"}}
    first = {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, block]}
    world = World()
    agent = iter([first, {"role": "assistant", "content": "Done."}])
    played = play(lambda messages, tools: next(agent), "hi", spec=SPEC, session=world)
    assert world.calls == [("get_order", {"order_id": "A1"})]
    assert played.messages[2]["tool_call_id"] == "t1"


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (None, "the agent returned None; a chat callable returns"),
        ("Hello.", "the agent returned a str"),
        ({"text": "x"}, "a dict with text"),
        ({"role": "user", "content": "x"}, "a chat callable returns"),
        ({"content": 3}, "content 3"),
        ({"tool_calls": {"name": "x"}}, "tool_calls is"),
        ({"tool_calls": [{"name": "a"}, {"arguments": {}}]}, r"tool_calls\[1\] has no tool name"),
        ({"tool_calls": ["get_order"]}, r"tool_calls\[0\] has no tool name"),
    ],
)
def test_a_wrong_message_gets_one_sentence(reply: Any, sentence: str) -> None:
    with pytest.raises(AgentError, match=sentence):
        play(lambda messages, tools: reply, "hi", spec=SPEC, session=World())


def test_chat_callables_are_told_by_their_signature() -> None:
    def two(messages: Any, tools: Any) -> Any: ...
    def named(messages: Any, tools: Any = None) -> Any: ...
    def keyword(messages: Any, *, tools: Any) -> Any:
        assert tools == SPEC.openai_tools()
        return {"role": "assistant", "content": "by keyword"}

    def message(message: Any, temperature: float = 0.5) -> Any: ...

    assert [adapt(f).is_chat for f in (two, named, keyword, message)] == [True, True, True, False]
    assert play(keyword, "hi", spec=SPEC, session=World()).final_text == "by keyword"


def test_async_chat_callables() -> None:
    script = ScriptedModel([ask("get_order", {}), "Done."])

    async def agent(messages: Any, tools: Any) -> Any:
        await asyncio.sleep(0)
        return script(messages, tools)

    assert adapt(agent).is_async
    played = play(agent, "hi", spec=SPEC, session=World())
    assert played == play(script, "hi", spec=SPEC, session=World())
    assert played.final_text == "Done."
