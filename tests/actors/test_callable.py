"""What agents may look like, and what is said when they return something else."""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from whileai_hf.actors import Agent, adapt, agent_id, play
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.spec import AgentSpec


SPEC = AgentSpec.from_tools([{"name": "get_order"}, {"name": "refund_order"}], "You help with orders.")
STEP = {"tool": "get_order", "arguments": {"order_id": "A1"}, "result": {"status": "ok"}}
GOOD = {"steps": [STEP], "final_text": "It shipped."}


class World:
    """Records the calls and answers each with its number."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((tool, arguments))
        return {"status": "ok", "n": len(self.calls)}


def sync_function(message: str) -> dict[str, Any]:
    return GOOD


async def async_function(message: str) -> dict[str, Any]:
    await asyncio.sleep(0)
    return GOOD


class SyncObject:
    def __call__(self, message: str) -> dict[str, Any]:
        return GOOD

    def method(self, message: str, temperature: float = 0.0) -> dict[str, Any]:
        return GOOD


class AsyncObject:
    async def __call__(self, message: str) -> dict[str, Any]:
        return GOOD


def with_prefix(prefix: str, message: str) -> dict[str, Any]:
    return GOOD


def looks_sync(message: str) -> Any:
    return async_function(message)


@pytest.mark.parametrize(
    ("agent", "is_async"),
    [
        (sync_function, False),
        (async_function, True),
        (SyncObject(), False),
        (SyncObject().method, False),
        (AsyncObject(), True),
        (functools.partial(with_prefix, "p"), False),
        (functools.partial(async_function), True),
        (lambda *messages: GOOD, False),
        (looks_sync, False),
    ],
    ids=["sync", "async", "object", "method", "async-object", "partial", "async-partial", "star", "looks-sync"],
)
def test_message_callables_of_every_kind(agent: Any, is_async: bool) -> None:
    adapted = adapt(agent)
    assert (adapted.is_chat, adapted.is_async) == (False, is_async)
    assert adapt(adapted) is adapted
    played = play(agent, "Where is A1?", spec=SPEC)
    again = asyncio.run(adapted.arun("Where is A1?", spec=SPEC, session=None))
    assert played == again
    assert (played.steps, played.final_text, played.finish_reason, played.extra) == ([STEP], "It shipped.", "stop", {})


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        ("hf:some/model", "agent is 'hf:some/model'; pass a function"),
        (None, "agent is None"),
        (SyncObject, "agent is the class SyncObject; pass an instance"),
        (lambda: GOOD, r"takes \(\); pass a function of one argument"),
        (lambda a, b, c: GOOD, r"takes \(a, b, c\)"),
        (lambda a, *, key: GOOD, r"takes \(a, \*, key\)"),
    ],
)
def test_what_cannot_be_called_so_is_refused_at_once(agent: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        adapt(agent)


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (None, "the agent returned None; return"),
        ("It shipped.", "the agent returned a str"),
        ([GOOD], "the agent returned a list"),
        ({"final_text": "x"}, "steps is None"),
        ({"steps": "none", "final_text": "x"}, "steps is 'none'"),
        ({"steps": {}, "final_text": "x"}, r"steps is \{\}"),
        ({"steps": []}, "final_text is missing"),
        ({"steps": [], "final_text": None}, "final_text is None"),
        ({"steps": [], "final_text": 3}, "final_text is 3"),
        ({"steps": ["get_order"], "final_text": "x"}, r"steps\[0\] is 'get_order'"),
        ({"steps": [STEP, {"arguments": {}}], "final_text": "x"}, r"steps\[1\] has no tool name \(it has arguments\)"),
        ({"steps": [{"name": "get_order"}], "final_text": "x"}, r"steps\[0\] has no tool name.*call it \"tool\""),
        ({"steps": [{"tool": ""}], "final_text": "x"}, r"steps\[0\] has no tool name: tool is ''"),
        ({"steps": [{"text": 3}], "final_text": "x"}, r"steps\[0\] has text 3; make it a string"),
    ],
)
def test_a_wrong_shape_gets_one_sentence(returned: Any, sentence: str) -> None:
    with pytest.raises(AgentError, match=sentence) as caught:
        play(lambda message: returned, "hi", spec=SPEC)
    assert "\n" not in str(caught.value)


def test_what_the_agent_raises_passes_through() -> None:
    def broken(message: str) -> dict[str, Any]:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError):
        play(broken, "hi", spec=SPEC)


def test_other_keys_are_kept_and_steps_are_filled_up() -> None:
    def agent(message: str) -> dict[str, Any]:
        return {
            "steps": (
                {"tool": "a"},
                {"tool": "b", "arguments": '{"x": 1}', "logprob": -0.5},
                {"tool": "c", "arguments": "{"},
            ),
            "final_text": "x",
            "finish_reason": "length",
            "seeded": ["hedging"],
            "cost": 3,
        }

    played = play(agent, "hi", spec=SPEC)
    assert played.steps == [
        {"tool": "a", "arguments": {}, "result": None},
        {"tool": "b", "arguments": {"x": 1}, "result": None, "logprob": -0.5},
        {"tool": "c", "arguments": "{", "result": None, "malformed": True},
    ]
    assert (played.finish_reason, played.extra) == ("length", {"seeded": ["hedging"], "cost": 3})
    arguments = [m["tool_calls"][0]["function"]["arguments"] for m in played.messages if "tool_calls" in m]
    assert arguments == [{}, {"x": 1}, {"malformed": "{"}]


def test_messages_are_rebuilt_from_steps() -> None:
    def agent(message: str) -> dict[str, Any]:
        return {
            "steps": [
                {"text": "Which order?"},
                {"user": "A1."},
                {"text": "Looking."},
                STEP,
                {"tool": "refund_order", "arguments": {}, "result": "refused", "text": "Trying."},
                {"text": "Done."},
            ],
            "final_text": "Done.",
        }

    def call(index: int, name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}]

    assert play(agent, "Where is it?", spec=SPEC).messages == [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": "Which order?"},
        {"role": "user", "content": "A1."},
        {"role": "assistant", "content": "Looking.", "tool_calls": call(3, "get_order", {"order_id": "A1"})},
        {"role": "tool", "tool_call_id": "call_3", "name": "get_order", "content": '{"status":"ok"}'},
        {"role": "assistant", "content": "Trying.", "tool_calls": call(4, "refund_order", {})},
        {"role": "tool", "tool_call_id": "call_4", "name": "refund_order", "content": "refused"},
        {"role": "assistant", "content": "Done."},
    ]


def test_what_is_returned_is_not_changed() -> None:
    returned = {"steps": [dict(STEP)], "final_text": "x", "seeded": []}
    before = json.dumps(returned)
    played = play(lambda message: returned, "hi", spec=SPEC)
    played.steps[0]["extra"] = 1
    played.messages.append({})
    assert json.dumps(returned) == before


def test_a_message_callable_costs_next_to_nothing() -> None:
    agent = adapt(sync_function)

    def seconds() -> float:
        start = time.thread_time()  # what it costs, whatever else the machine does
        for _ in range(500):
            agent.run("Where is A1?", spec=SPEC, session=None)
        return (time.thread_time() - start) / 500

    assert min(seconds() for _ in range(5)) < 60e-6  # 30 measured on an idle core; the rest is for a busy one


def test_agent_id_is_a_name_not_an_address() -> None:
    name, _, source = agent_id(sync_function).partition("#")
    assert name.endswith(":sync_function") and len(source) == 8
    assert agent_id(SyncObject()) == agent_id(SyncObject())
    assert agent_id(SyncObject()).split("#")[0].endswith(":SyncObject")
    assert agent_id(functools.partial(with_prefix, "a")) == agent_id(functools.partial(with_prefix, "a"))
    assert agent_id(sync_function) != agent_id(async_function)
    assert agent_id(len) == "builtins:len"


def test_agent_id_follows_the_source_on_disk_and_not_the_process(tmp_path: Any) -> None:
    program = "import sys; sys.path.insert(0, {path!r}); import mine; from whileai_hf.actors import agent_id; "
    program = program.format(path=str(tmp_path)) + "print(agent_id(mine.make({state})))"

    def name(reply: str, state: int) -> str:
        (tmp_path / "mine.py").write_text(
            f"def make(state):\n    def agent(message):\n        return {reply!r}, state\n    return agent\n"
        )
        done = subprocess.run(
            [sys.executable, "-B", "-c", program.format(state=state)], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    one = name("a", 1)
    assert one.startswith("mine:make.<locals>.agent#")
    assert name("a", 1) == one
    assert name("a", 2) != one
    assert name("b", 1) != one


def test_agents_set_up_differently_are_different_agents_and_what_they_hold_does_not_count() -> None:
    class Client:
        def __init__(self, model: str) -> None:
            self.model, self.calls, self.lock = model, [], threading.Lock()

        def __call__(self, message: str) -> dict[str, Any]:
            self.calls.append(message)
            return GOOD

    one = Client("base")
    before = agent_id(one)
    one("hi")
    assert agent_id(one) == before == agent_id(Client("base"))
    assert agent_id(Client("tuned")) != before
    assert agent_id(one.__call__) != agent_id(Client("tuned").__call__)
    wrapped = [functools.partial(with_prefix, prefix) for prefix in ("a", "b")]
    assert agent_id(wrapped[0]) != agent_id(wrapped[1])


def test_agents_that_name_themselves() -> None:
    class Mine:
        agent_id = "mine"

        def __call__(self, message: str) -> dict[str, Any]:
            return GOOD

    assert agent_id(Mine()) == "mine"


def test_an_agent_object_is_what_adapt_gives() -> None:
    assert isinstance(adapt(sync_function), Agent)
