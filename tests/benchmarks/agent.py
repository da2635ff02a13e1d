"""The agent that the benchmark programs simulate: four tools of a small shop, and stand-ins for a remote model."""

import asyncio
import time
from collections.abc import Awaitable, Callable


def _tool(name: str, description: str, properties: dict, required: list[str]) -> dict:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_ID = {"order_id": {"type": "string"}}
TOOLS = [
    _tool("get_order", "Look up an order by id. Returns status, total and date.", _ID, ["order_id"]),
    _tool("refund_order", "Refund an order.", {**_ID, "amount": {"type": "number"}}, ["order_id", "amount"]),
    _tool("update_address", "Change the delivery address.", {**_ID, "address": {"type": "string"}}, ["order_id"]),
    _tool("search_products", "Search the catalog.", {"query": {"type": "string"}}, ["query"]),
]
POLICY = (
    "You are a support agent for a small online shop.\n"
    "1. Verify the order before any refund.\n"
    "2. Never refund more than 100 dollars without a supervisor.\n"
    "3. Do not change an address after the order has shipped.\n"
    "4. Say so when a lookup fails. Do not guess.\n"
    "5. Refuse to share another customer's data.\n"
)
ANSWER = {
    "steps": [{"tool": "get_order", "arguments": {"order_id": "A1001"}, "result": {"status": "ok"}}],
    "final_text": "Order A1001 shipped yesterday.",
}


def sleeping(seconds: float) -> Callable[[str], dict]:
    """A sync agent that only waits, as on a remote model."""

    def agent(message: str) -> dict:
        time.sleep(seconds)
        return ANSWER

    return agent


def sleeping_async(seconds: float) -> Callable[[str], Awaitable[dict]]:
    """The same as a coroutine."""

    async def agent(message: str) -> dict:
        await asyncio.sleep(seconds)
        return ANSWER

    return agent
