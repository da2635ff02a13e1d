"""The four-tool shop the figures of this room are stated for, and the real agents beside the checkout."""

from functools import cache
from pathlib import Path

import pytest

from whileai_hf.spec import AgentSpec


REAL = (
    "agentdojo_slack",
    "agentdojo_workspace",
    "mcp_everything",
    "mcp_fetch",
    "mcp_filesystem",
    "mcp_git",
    "mcp_memory",
    "mcp_time",
    "tau_airline",
)


def tool(name, description, **properties):
    required = [key for key, schema in properties.items() if not schema.pop("optional", False)]
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties, "required": required},
    }


def shop_tools():
    return [
        tool("get_order", "Look up an order by id. Returns status, total and date.", order_id={"type": "string"}),
        tool(
            "refund_order",
            "Refund an order.",
            order_id={"type": "string"},
            amount={"type": "number"},
            reason={"type": "string", "enum": ["damaged", "late", "other"], "optional": True},
        ),
        tool(
            "update_address",
            "Change the delivery address of an order.",
            order_id={"type": "string"},
            address={"type": "string"},
        ),
        tool("search_products", "Search the catalog.", query={"type": "string"}),
    ]


RULES = (
    "Verify the order before any refund.",
    "Never refund more than 100 dollars without a supervisor.",
    "Do not change an address after the order has shipped.",
    "Say so when a lookup fails.",
    "Refuse to share another customer's data.",
)


def shop_spec(tools=None, rules=RULES):
    prompt = "You are a support agent for a small online shop.\n" + "\n".join(f"- {rule}" for rule in rules)
    return AgentSpec.from_tools(shop_tools() if tools is None else tools, prompt, name="shop")


@pytest.fixture(scope="session")
def rules():
    return RULES


@pytest.fixture(scope="session")
def make_tools():
    """`make_tools()`: the shop's four tools, free to be changed."""
    return shop_tools


@pytest.fixture(scope="session")
def make_shop():
    """`make_shop(tools, rules)`: the shop with other tools or rules."""
    return shop_spec


@pytest.fixture(scope="session")
def shop():
    return shop_spec()


@pytest.fixture(scope="session")
def real(shared: Path):
    """`real("mcp_git")`: one real agent."""

    @cache
    def load(name):
        return AgentSpec.load(shared / "real" / "specs" / f"{name}.json")

    return load
