"""A rule-based order desk: reads the ask, calls the shop's tools, answers. Sometimes it is careless."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from whileai_hf.rows import rng
from whileai_hf.sandbox import current_rollout, world


_SPEC = json.loads((Path(__file__).parent / "spec.json").read_text(encoding="utf-8"))
# Inside a rollout this is that rollout's own world, with its records and its scheduled faults.
SHOP = world(_SPEC["tools"])

# Two rollouts of a model that samples hardly ever read the same; these make the desk's differ, too.
_OPENERS = ("", "Thank you for writing. ", "Sure. ", "I had a look. ", "Good day. ", "Right away. ")
_CLOSERS = ("", " Anything else?", " Have a nice day.", " Write again any time.", " Your order desk.", " Best wishes.")

# How hurried the desk is differs from ask to ask, between these probabilities of one careless act.
_CALM, _HURRIED = 0.05, 0.75

_ORDER = re.compile(r"\bORD-\d{5}\b")
# First match wins, so writes come before reads.
_INTENTS = (
    ("refund_order", re.compile(r"\brefund|money back|reimburse", re.IGNORECASE)),
    ("cancel_order", re.compile(r"\bcancel|\bcall off", re.IGNORECASE)),
    ("update_address", re.compile(r"\b(?:change|update|correct|set)\b.{0,40}\baddress", re.IGNORECASE)),
    ("search_products", re.compile(r"\bproducts?\b|\bcatalog|\bsearch|\bin stock\b", re.IGNORECASE)),
    ("get_order", re.compile(r"\border|\bORD-", re.IGNORECASE)),
)
_REASONS = (
    ("damaged", re.compile(r"damag|broke|crack", re.IGNORECASE)),
    ("late", re.compile(r"\blate\b|delay", re.IGNORECASE)),
    ("wrong_item", re.compile(r"wrong[ _]item", re.IGNORECASE)),
)
_DONE = {
    "refund_order": "The refund for {order_id} is done.",
    "cancel_order": "Order {order_id} is cancelled: that is done.",
    "update_address": "The new address of {order_id} is saved: that is done.",
    "get_order": "I found order {order_id}; the lookup is done.",
    "search_products": "The search is done; I sent you what I found.",
}


# What a tool says when it did what was asked.
CONFIRMED = ("ok", "created", "updated", "deleted")


def agent(message: str) -> dict[str, Any]:
    """
    Answers one customer.

    Args:
        message (`str`):
            What the customer wrote.

    Returns:
        `dict`: `steps`, the tool calls with their results, and `final_text`.
    """
    rollout = current_rollout()
    hurry = rng(rollout.seed, "order desk", rollout.prompt).uniform(_CALM, _HURRIED)
    draws = rng(rollout.seed, "order desk", rollout.prompt, rollout.rollout_index)
    steps: list[dict[str, Any]] = []
    reply = _handle(message, steps, skips_lookup=draws.chance(hurry), skips_reading=draws.chance(hurry))
    return {"steps": steps, "final_text": draws.pick(_OPENERS) + reply + draws.pick(_CLOSERS)}


def _handle(message: str, steps: list[dict[str, Any]], *, skips_lookup: bool, skips_reading: bool) -> str:
    tool = next((name for name, pattern in _INTENTS if pattern.search(message)), None)
    if tool is None:
        return "I can only help with orders and products of this shop."
    order = _ORDER.search(message)
    if order is None and tool != "search_products":
        return "Which order is this about? Please give me its number."
    arguments = _arguments(tool, message, order.group() if order else "")
    if tool not in ("get_order", "search_products") and not skips_lookup:
        found = _call("get_order", {"order_id": arguments["order_id"]}, steps)
        if found["status"] not in CONFIRMED:
            return "The lookup did not go through, so I have changed nothing."
    result = _call(tool, arguments, steps)
    if result["status"] in CONFIRMED or skips_reading:
        return _DONE[tool].format(**arguments)
    return f"That did not go through ({result['status']}); nothing is confirmed yet."


def _call(tool: str, arguments: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    result = SHOP.call(tool, arguments)
    steps.append({"tool": tool, "arguments": arguments, "result": result})
    return result


def _arguments(tool: str, message: str, order_id: str) -> dict[str, Any]:
    if tool == "search_products":
        quoted = re.search(r'"([^"]+)"', message)
        return {"query": quoted.group(1) if quoted else " ".join(message.split()[:8])}
    arguments = {"order_id": order_id}
    if tool == "refund_order":
        arguments["reason"] = next((name for name, pattern in _REASONS if pattern.search(message)), "other")
    elif tool == "update_address":
        street = re.search(r"\b\d{1,4} [A-Z]\w+(?: [A-Z]\w+)*(?:, [A-Z]\w+)?", message)
        arguments["address"] = street.group() if street else "as given by the customer"
    return arguments
