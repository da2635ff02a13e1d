"""Play an agent through simulated situations: `python recipes/01-simulate/run.py` writes loop-out/rollouts.jsonl."""

import re
from typing import Literal

import whileai_hf as wai
from whileai_hf.rows import rng


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
    """Looks the order up and refunds it when asked to; now and then it does not read what a tool said."""
    order = re.search(r"\bORD-\d+\b", message)
    if order is None:
        return {"steps": [], "final_text": "Which order is it? Please send me its number."}
    # Chance that depends on the rollout alone: the same run gives the same rows, at any concurrency.
    rollout = wai.current_rollout()
    draws = rng(rollout.seed, rollout.prompt, rollout.rollout_index)
    closing = draws.pick(["", " Anything else?", " Have a nice day.", " Write again any time."])
    tools = ["get_order", "refund_order"] if "refund" in message.lower() else ["get_order"]
    steps = []
    for tool in tools:
        arguments = {"order_id": order.group()}
        result = WORLD.call(tool, arguments)
        steps.append({"tool": tool, "arguments": arguments, "result": result})
        careless = draws.chance(0.4)
        if result["status"] not in ("ok", "updated") and not careless:
            return {"steps": steps, "final_text": f"{tool} did not go through, so nothing is settled yet.{closing}"}
    return {"steps": steps, "final_text": f"All settled.{closing}"}


if __name__ == "__main__":
    data = wai.simulate(
        desk,
        tools=TOOLS,
        system_prompt=POLICY,
        mode="rl",
        situations=50,
        repeats=4,
        repeat_policy="fixed",
        output="loop-out/rollouts.jsonl",
    )
    print(wai.run_report(data))
