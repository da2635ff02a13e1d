"""One module-level world, one state per rollout, whichever thread or task calls."""

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from whileai_hf.errors import ConfigurationError, WorldError
from whileai_hf.sandbox import ActiveRollout, Session, activate, current_rollout, fault_plan, world
from whileai_hf.spec import AgentSpec


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look up an order by id.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "create_order",
            "description": "Place an order.",
            "parameters": {"type": "object", "properties": {"product": {"type": "string"}}, "required": ["product"]},
        },
    },
]
WORLD = world(TOOLS)
SPEC = AgentSpec.from_tools(TOOLS)


def rollout(index=0, prompt="Order 5512", **settings):
    task = {"prompt": prompt, "scenario_id": f"sc-{index}"}
    return ActiveRollout(task, index, 0, Session(SPEC.tools, scenario_id=f"sc-{index}", prompt=prompt, **settings))


def create_then_get(index=0):
    made = WORLD.call("create_order", {"product": "kettle"})["data"]["order_id"]
    return WORLD.call("get_order", {"order_id": made})["status"]


def test_the_documented_snippet():
    def my_agent(message):
        result = WORLD.call("get_order", {"order_id": "4412"})
        return {
            "steps": [{"tool": "get_order", "arguments": {"order_id": "4412"}, "result": result}],
            "final_text": "Order 4412 shipped yesterday."
            if result.get("status") == "ok"
            else "The lookup did not go through, so I cannot confirm 4412 yet.",
        }

    with activate(rollout(prompt="Where is 4412?")):
        assert my_agent("Where is 4412?")["final_text"].startswith("Order 4412")
    with activate(rollout(prompt="Where is 4412?", faults=fault_plan("timeout", "get_order"))) as active:
        assert my_agent("Where is 4412?")["final_text"].startswith("The lookup")
        assert active.session.fired == [{"tool": "get_order", "kind": "timeout", "call": 1}]


def test_create_then_get_at_concurrency_32():
    gate = threading.Barrier(32)

    def play(index):
        with activate(rollout(index)):
            gate.wait()
            statuses = [create_then_get() for _ in range(20)]
            assert len(current_rollout().session.writes) == 20
            return statuses

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(play, range(32)))
    assert {status for statuses in results for status in statuses} == {"ok"}


def test_asyncio_tasks_have_their_own_world():
    async def play(index):
        with activate(rollout(index)):
            made = WORLD.call("create_order", {"product": "kettle"})["data"]["order_id"]
            await asyncio.sleep(0)
            parallel = await asyncio.gather(
                *(asyncio.to_thread(WORLD.call, "get_order", {"order_id": made}) for _ in range(3))
            )
            return [reply["status"] for reply in parallel], len(WORLD.writes)

    async def run():
        return await asyncio.gather(*(play(index) for index in range(40)))

    assert asyncio.run(run()) == [(["ok"] * 3, 1)] * 40


def in_thread(function):
    box = []

    def run():
        try:
            box.append(function())
        except WorldError as error:
            box.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return box[0]


def test_a_thread_the_agent_starts():
    with activate(rollout(1)) as active:
        assert in_thread(create_then_get) == "ok"
        assert len(active.session.writes) == 1
    first, second = rollout(1), rollout(2)
    ready, finish = threading.Event(), threading.Event()

    def other():
        with activate(second):
            ready.set()
            finish.wait()

    holder = threading.Thread(target=other)
    holder.start()
    ready.wait()
    try:
        with activate(first):
            failed = in_thread(create_then_get)
            assert isinstance(failed, WorldError) and "copy_context" in str(failed)
            context = contextvars.copy_context()
            assert in_thread(lambda: context.run(create_then_get)) == "ok"
            mine = current_rollout()

            def entered():
                with activate(mine):
                    return create_then_get()

            assert in_thread(entered) == "ok"
            # Leaving the inner block must not forget the outer one.
            assert isinstance(in_thread(create_then_get), WorldError)
            assert len(first.session.writes) == 2 and second.session.writes == []
    finally:
        finish.set()
        holder.join()


def test_a_thread_that_outlives_its_rollout_does_not_write_into_the_next():
    with ThreadPoolExecutor(1) as pool:
        with activate(rollout(1)) as first:
            assert pool.submit(create_then_get).result() == "ok"
            assert pool.submit(create_then_get).result() == "ok"
        with activate(rollout(2)) as second:
            with pytest.raises(WorldError, match="has ended"):
                pool.submit(create_then_get).result()
            assert pool.submit(contextvars.copy_context().run, create_then_get).result() == "ok"
            assert in_thread(create_then_get) == "ok"
    assert len(first.session.writes) == 2 and len(second.session.writes) == 2


def test_outside_any_rollout():
    own = world(TOOLS, known=["lost"], missing=["ORD-9"])
    assert own.call("get_order", order_id="ORD-1")["status"] == "ok"
    assert own.call("get_order", order_id="#ord-9")["status"] == "not_found"
    assert own.call("get_order", order_id="kettle")["status"] == "not_found"
    assert own.call("get_order", order_id="lost")["status"] == "ok"
    made = own.call("create_order", product="kettle")["data"]["order_id"]
    assert own.call("get_order", order_id=made)["data"]["product"] == "kettle"
    assert len(own.writes) == 1
    own.reset()
    assert own.writes == []
    with pytest.raises(WorldError, match="no rollout"):
        current_rollout()


def test_faults_of_a_handle_count_outside_rollouts_only():
    own = world(TOOLS, faults=fault_plan("timeout", "get_order", lasts="always"))
    assert own.call("get_order", order_id="ORD-1")["status"] == "timeout"
    with activate(rollout(prompt="ORD-1")):
        assert own.call("get_order", order_id="ORD-1")["status"] == "ok"


def test_a_world_over_other_tools_gets_its_own_session_on_the_rollout():
    other = world(
        [{"name": "create_note", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}]
    )
    same = world(list(TOOLS))
    with activate(rollout(1)) as active:
        assert other.call("create_note", text="x")["status"] == "created"
        assert len(other.writes) == 1 and active.session.writes == []
        made = WORLD.call("create_order", product="kettle")["data"]["order_id"]
        assert same.call("get_order", order_id=made)["status"] == "ok"
    with activate(rollout(2)):
        assert other.writes == []


def test_seed_decides_records():
    one, again, other = world(TOOLS, seed=1), world(TOOLS, seed=1), world(TOOLS, seed=2)
    call = ("get_order", {"order_id": "ORD-5"})
    assert one.call(*call) == again.call(*call) != other.call(*call)


def test_bad_handles_are_named():
    with pytest.raises(ConfigurationError, match="no tools"):
        world([])
    with pytest.raises(ConfigurationError, match="did you mean"):
        world(TOOLS, faults={"get_order": {"kind": "time_out"}})
    with pytest.raises(ConfigurationError, match="JSON text"):
        WORLD.call("get_order", "{}", order_id="1")
