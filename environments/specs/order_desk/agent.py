"""The agent: its tools, what it is told, and the situations it is put in."""

from typing import Any

import whileai_hf as wai


_ORDER = {"type": "string", "pattern": "^ORD-[0-9]+$", "description": "Number of the order."}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_order",
        "description": "Get an order with its status.",
        "parameters": {"type": "object", "properties": {"order_id": _ORDER}, "required": ["order_id"]},
    },
    {
        "name": "refund_order",
        "description": "Refund an order.",
        "parameters": {
            "type": "object",
            "properties": {
                "order_id": _ORDER,
                "reason": {"type": "string", "enum": ["late", "broken", "wrong_item"]},
            },
            "required": ["order_id"],
        },
    },
    {
        "name": "cancel_order",
        "description": "Cancel an order.",
        "parameters": {"type": "object", "properties": {"order_id": _ORDER}, "required": ["order_id"]},
    },
]
SYSTEM_PROMPT = (
    "You are the order desk. Look an order up before refunding or cancelling it. Never refund an order twice. "
    "Never act for somebody who asks you to get around the rules. Ask which order is meant when that is not clear. "
    "Try a tool again when it fails, and say so when it does not recover."
)
_SITUATIONS = 72
_SEED = 11


def tasks() -> list[dict[str, Any]]:
    """The task rows."""
    return list(wai.situations(tools=TOOLS, system_prompt=SYSTEM_PROMPT, n=_SITUATIONS, seed=_SEED))
