"""Environment instances by TRL's contract, without TRL."""

import inspect
import json
import pickle
import time

import pytest

import whileai_hf as wai
from whileai_hf.errors import WorldError
from whileai_hf.export.environment import EnvironmentFactory, load_environment, original_messages, rollout_of
from whileai_hf.sandbox import Session, fault_plan
from whileai_hf.spec import read_tools


def ask(text, **row):
    return {"prompt": [{"role": "user", "content": text}], **row}


@pytest.fixture
def factory(tools):
    return EnvironmentFactory(read_tools(tools)[0])


def test_the_tools_are_the_public_functions_of_the_class(factory, tools):
    environment = factory()
    public = [
        name
        for name, _ in inspect.getmembers(type(environment), predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    ]
    assert public == ["get_order", "refund_order"]
    assert not [name for name in dir(environment) if name == "get_reward"]  # it would become a reward of its own
    # What TRL takes of the instance is the schema itself, and can be called.
    assert [getattr(environment, name) for name in public] == tools
    assert [getattr(environment, name).__name__ for name in public] == public
    assert not any(inspect.iscoroutinefunction(getattr(environment, name)) for name in public)


def test_results_are_json_text_of_what_the_world_answers(factory, tools):
    row = ask("Refund ORD-7, please.", scenario_id="sc-1", seed=5, faults=fault_plan("timeout", "get_order"))
    session = Session.of_task(tools, {**row, "prompt": "Refund ORD-7, please."})
    environment = factory()
    assert environment.reset(**row) is None
    calls = [
        ("get_order", {"order_id": "ORD-7"}),
        ("get_order", {"order_id": "ORD-7"}),
        ("refund_order", {"order_id": "ORD-7", "reason": "bored"}),
        ("refund_order", {"order_id": "ORD-7", "reason": "late"}),
        ("get_order", {}),
        ("get_order", {"order_id": ["ORD-7"], "extra": None}),
    ]
    for name, arguments in calls:
        told = getattr(environment, name)(**arguments)
        assert isinstance(told, str)
        assert json.loads(told) == session.call(name, arguments)
        assert not told.startswith("[")  # a list would be taken for images
    live = rollout_of(environment).session
    assert live.state_digest() == session.state_digest()
    assert live.fired == session.fired == [{"tool": "get_order", "kind": "timeout", "call": 1}]


def test_the_functions_of_the_class_answer_as_the_instance_does(factory):
    environment = factory()
    environment.reset(**ask("Where is ORD-7?"))
    assert type(environment).get_order(environment, order_id="ORD-7") == environment.get_order(order_id="ORD-7")


def test_an_instance_is_reset_for_every_rollout(factory):
    first, second = factory(), factory()
    row = ask("Refund ORD-7, please.", scenario_id="sc-1")
    first.reset(**row)
    second.reset(**row)
    done = first.refund_order(order_id="ORD-7")
    assert json.loads(done)["status"] == "updated"
    assert second.refund_order(order_id="ORD-7") == done  # the same world, and another copy of it
    assert json.loads(first.refund_order(order_id="ORD-7"))["status"] == "already_done"
    first.reset(**row)
    assert first.refund_order(order_id="ORD-7") == done
    first.reset(**ask("Hello"))
    assert rollout_of(first).session.writes == []


def test_repeats_of_a_task_are_counted_over_all_instances(tools):
    seen = []

    def execute(tool, arguments):
        rollout = wai.current_rollout()
        seen.append((rollout.prompt, rollout.rollout_index))
        return [tool]

    factory = EnvironmentFactory(read_tools(tools)[0], execute=execute)
    environments = [factory() for _ in range(3)]
    for place, environment in enumerate(environments):
        environment.reset(**ask("One" if place < 2 else "Two"))
    told = [environment.get_order(order_id="A") for environment in environments]
    assert seen == [("One", 0), ("One", 1), ("Two", 0)]
    assert set(told) == {'{"status":"ok","result":["get_order"]}'}
    environments[0].reset(**ask("One"))
    environments[0].get_order(order_id="A")
    assert seen[-1] == ("One", 2)


def test_an_execute_that_fails_is_an_answer(tools):
    def execute(tool, arguments):
        raise ValueError("no such order")

    environment = EnvironmentFactory(read_tools(tools)[0], execute=execute)()
    environment.reset(**ask("Hello"))
    assert json.loads(environment.get_order(order_id="A")) == {
        "status": "error",
        "error": "ValueError: no such order",
    }


def test_before_a_reset_there_is_no_world(factory):
    with pytest.raises(WorldError, match="before reset"):
        factory().get_order(order_id="ORD-7")
    with pytest.raises(WorldError, match="no environment instance"):
        rollout_of(factory())
    with pytest.raises(WorldError, match="no environment instance"):
        rollout_of("environment")


def test_tools_named_like_what_is_here(tools):
    """No tool takes the place of something of ours, and nothing of ours becomes a tool."""
    names = ["reset", "get_reward", "_answer", "_rollout", "_factory", "items", "keys", "self"]
    given = [{"name": name, "parameters": {"properties": {"self": {}, "tool": {}, "row": {}}}} for name in names]
    factory = EnvironmentFactory(read_tools(given)[0])
    environment = factory()
    environment.reset(self=1, factory=2, tool=3, **ask("Hello"))
    for shown in factory.shown:
        assert json.loads(getattr(environment, shown.name)(self_="a", tool="b", row="c"))["status"]
    assert environment.reset(**ask("Again")) is None


def test_messages_under_the_tools_own_names():
    given = [{"name": "reset", "parameters": {"properties": {"from": {}}}}]
    environment = EnvironmentFactory(read_tools(given)[0])()
    call = {"type": "function", "function": {"name": "reset_", "arguments": {"from_": 1, "to": 2}}}
    said = [
        {"role": "assistant", "content": "", "tool_calls": [call, {"type": "function"}, None]},
        {"role": "tool", "name": "reset_", "content": "{}"},
        {"role": "tool", "name": "other", "content": "{}"},
        {"role": "user", "content": "reset_"},
    ]
    made = original_messages(environment, said)
    assert made[0]["tool_calls"][0]["function"] == {"name": "reset", "arguments": {"from": 1, "to": 2}}
    assert made[0]["tool_calls"][1:] == [{"type": "function"}, None]
    assert [message.get("name") for message in made] == [None, "reset", "other", None]
    assert call["function"]["name"] == "reset_"
    assert original_messages(object(), said) == said


def test_every_row_of_any_origin_opens_a_world(factory):
    environment = factory()
    for row in (
        {"prompt": "Where is ORD-7?"},
        {"prompt": []},
        {"prompt": [{"role": "user"}]},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
        ask("Hi \ud800", task_id=0, world_state="the shop is closed", faults=None, seed=None),
        {},
    ):
        environment.reset(**row)
        assert json.loads(environment.get_order(order_id="ORD-7"))["status"]


def test_a_factory_can_be_sent_to_another_process(tools):
    def look(order_id: str) -> str:
        """Look.

        Args:
            order_id: The order.
        """
        return order_id

    factory = EnvironmentFactory(read_tools([look])[0], seed=4)
    again = pickle.loads(pickle.dumps(factory))
    first, second = factory(), again()
    for environment in (first, second):
        environment.reset(**ask("Where is ORD-7?"))
    assert first.look(order_id="ORD-7") == second.look(order_id="ORD-7")


def test_a_spec_s_worlds_are_those_of_simulate(agent, tools, policy):
    """Without a trainer: every call of every simulated rollout, made again through the environment."""
    rows = wai.simulate(agent, tools=tools, system_prompt=policy, budget=40, fault_rate=0.8, seed=11, avg_turns=2)
    spec = load_environment(rows, reward=lambda row: 1.0)
    environment = spec.environment_factory()
    by_task = {row["task_id"]: row for row in spec.train_dataset}
    assert sum(bool(row["faults_fired"]) for row in rows) > 5
    for row in rows:
        environment.reset(**by_task[row["scenario_id"]])
        for step in row["steps"]:
            if "tool" in step:
                told = getattr(environment, step["tool"])(**step["arguments"])
                assert json.loads(told) == step["result"]
        assert rollout_of(environment).session.state_digest() == row["state_digest"]


def test_a_call_costs_little(factory):
    """0.3 ms at most in our code; the best of several, since others use the machine too."""
    environment = factory()
    row = ask("Refund ORD-7, please.", scenario_id="sc-1", faults=fault_plan("timeout", "get_order"))
    costs = []
    for _ in range(5):
        environment.reset(**row)
        started = time.perf_counter()
        for number in range(100):
            environment.get_order(order_id=f"ORD-{number}")
            environment.refund_order(order_id=f"ORD-{number}", reason="late")
        costs.append((time.perf_counter() - started) / 200)
    assert min(costs) < 3e-4
