"""A scripted model answers by position, whoever asks and when."""

from __future__ import annotations

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from whileai_hf.actors import ScriptedModel, agent_id, play
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.spec import AgentSpec


SPEC = AgentSpec.from_tools([{"name": "get_order"}])
CALL = {"tool_calls": [{"name": "get_order", "arguments": {"order_id": "A1"}}]}


class World:
    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"status": "ok", **arguments}


def outputs() -> Any:
    yield CALL
    yield "Done."


@pytest.mark.parametrize("script", [[CALL, "Done."], outputs, outputs(), (CALL, "Done.")])
def test_lists_and_generators_answer_every_conversation_alike(script: Any) -> None:
    model = ScriptedModel(script)
    with ThreadPoolExecutor(16) as pool:
        played = list(pool.map(lambda i: play(model, f"ask {i}", spec=SPEC, session=World()), range(200)))
    assert {p.final_text for p in played} == {"Done."}
    assert all(p.steps == played[0].steps for p in played)
    assert [p.messages[0]["content"] for p in played] == [f"ask {i}" for i in range(200)]


def test_a_function_sees_messages_and_tools() -> None:
    def script(messages: Any, tools: Any) -> str:
        return f"{messages[-1]['content']} {tools[0]['function']['name']}"

    assert play(ScriptedModel(script), "hi", spec=SPEC, session=World()).final_text == "hi get_order"


def test_an_endless_generator_is_read_only_as_far_as_needed() -> None:
    def forever() -> Any:
        while True:
            yield "again"

    assert play(ScriptedModel(forever), "hi", spec=SPEC, session=World()).final_text == "again"


def test_past_the_end_is_said() -> None:
    for script in ([CALL], iter([CALL])):
        with pytest.raises(AgentError, match="the script has no reply for turn 2"):
            play(ScriptedModel(script), "hi", spec=SPEC, session=World())


@pytest.mark.parametrize("script", ["Done.", 3, None, {"content": "x"}, [3], [{"text": "x"}]])
def test_a_script_that_is_none_is_refused(script: Any) -> None:
    with pytest.raises(ConfigurationError, match="replies"):
        ScriptedModel(script)


def test_a_function_that_returns_no_output_is_refused() -> None:
    with pytest.raises(AgentError, match="the script's output for turn 1 is 3"):
        play(ScriptedModel(lambda messages, tools: 3), "hi", spec=SPEC, session=World())


def test_call_ids_are_unique_over_the_conversation_and_other_keys_stay() -> None:
    first = {"tool_calls": [*CALL["tool_calls"], {"function": {"name": "get_order"}}], "reasoning_content": "hm"}
    played = play(ScriptedModel([first, CALL, "Done."]), "hi", spec=SPEC, session=World())
    ids = [call["id"] for m in played.messages for call in m.get("tool_calls", ())]
    assert ids == ["call_0", "call_1", "call_2"]
    assert played.messages[1]["reasoning_content"] == "hm"


def test_what_it_is_called_follows_the_script() -> None:
    assert agent_id(ScriptedModel(["a"])) == agent_id(ScriptedModel(["a"]))
    assert agent_id(ScriptedModel(["a"])) != agent_id(ScriptedModel(["b"]))
    assert "0x" not in agent_id(ScriptedModel(lambda messages, tools: "a"))


def test_it_travels_between_processes() -> None:
    model = pickle.loads(pickle.dumps(ScriptedModel([CALL, "Done."])))
    assert play(model, "hi", spec=SPEC, session=World()).final_text == "Done."


def test_the_order_of_conversations_does_not_matter() -> None:
    model = ScriptedModel(outputs())
    order = list(range(40))
    random.Random(0).shuffle(order)
    one = {i: play(model, str(i), spec=SPEC, session=World()) for i in order}
    two = {i: play(ScriptedModel(outputs()), str(i), spec=SPEC, session=World()) for i in range(40)}
    assert one == two
