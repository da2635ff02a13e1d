"""Play an agent through simulated situations: `python recipes/01-simulate/run.py` writes loop-out/rollouts.jsonl."""

import re
from typing import Literal

import whileai_hf as wai


POLICY = """You are the order desk of a small shop.
- Look an order up before you refund it.
- Say so when a lookup fails; do not guess.
- Ask for the order number when there is none."""


def get_order(order_id: str) -> dict:
    """Look up an order.

    Args:
        order_id: The order's number, for example ORD-10432.
    """
    raise NotImplementedError("answered by the simulated world")


def refund_order(order_id: str, reason: Literal["damaged", "late", "other"] = "other") -> dict:
    """Refund an order.

    Args:
        order_id: The order's number, for example ORD-10432.
        reason: Why.
    """
    raise NotImplementedError("answered by the simulated world")


TOOLS = [get_order, refund_order]
WORLD = wai.world(TOOLS)


def desk(message: str) -> dict:
    """Looks the order up, refunds when asked to; every third rollout trusts a refund it did not check."""
    order = re.search(r"\bORD-\d+\b", message)
    if order is None:
        return {"steps": [], "final_text": "Which order is it? Please send me its number."}
    calls = [("get_order", {"order_id": order.group()})]
    if "refund" in message.lower():
        calls.append(("refund_order", {"order_id": order.group()}))
    steps = []
    for tool, arguments in calls:
        result = WORLD.call(tool, arguments)
        steps.append({"tool": tool, "arguments": arguments, "result": result})
        careless = wai.current_rollout().rollout_index == 2
        if result["status"] not in ("ok", "created", "updated") and not careless:
            return {"steps": steps, "final_text": f"{tool} did not go through, so nothing is settled yet."}
    return {"steps": steps, "final_text": "All settled."}


if __name__ == "__main__":
    data = wai.simulate(
        desk,
        tools=TOOLS,
        system_prompt=POLICY,
        mode="rl",
        situations=50,
        repeats=4,
        output="loop-out/rollouts.jsonl",
    )
    print(wai.run_report(data))
