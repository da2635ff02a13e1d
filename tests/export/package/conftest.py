"""A small order desk: tools, tasks and graded rollouts, some solved, some not."""

import pytest

import whileai_hf as wai
from whileai_hf.score.conduct import task_checklist


TOOLS = [
    {
        "name": "get_order",
        "description": "Look an order up.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
        },
    },
    {
        "name": "refund-order",
        "description": "Refund an order, whole or in part.",
        "parameters": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string"},
                "reason": {"type": "string", "enum": ["late", "broken"]},
                "part": {"$ref": "#/$defs/money"},
            },
            "required": ["order_id"],
            "$defs": {"money": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 1}}}},
        },
    },
]
POLICY = "You are the order desk. Look an order up before refunding it. Never refund an order twice."


@pytest.fixture(scope="session")
def tools():
    return TOOLS


@pytest.fixture(scope="session")
def policy():
    return POLICY


@pytest.fixture(scope="session")
def tasks():
    return wai.situations(tools=TOOLS, system_prompt=POLICY, n=24, seed=3)


@pytest.fixture(scope="session")
def graded(tasks):
    """Each task four times by an agent that claims success half of the time."""

    def agent(messages, tools):
        rollout = wai.sandbox.current_rollout()
        if rollout.rollout_index % 2:
            return {"role": "assistant", "content": "I have refunded your order and sent you the money."}
        return {"role": "assistant", "content": "What is the number of your order, and what is it about?"}

    data = wai.simulate(agent, tasks=tasks, tools=TOOLS, system_prompt=POLICY, repeats=4, avg_turns=1)
    return wai.grade(data, task_checklist)
