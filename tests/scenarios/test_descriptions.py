"""From what a tool's author wrote to what a person would ask for."""

import re

import pytest

from whileai_hf.rows import rng
from whileai_hf.scenarios.asks import read_phrases
from whileai_hf.scenarios.descriptions import facets, read_request
from whileai_hf.scenarios.subjects import fields_of
from whileai_hf.scenarios.topics import topics_of
from whileai_hf.scenarios.values import spell
from whileai_hf.spec import AgentSpec, Tool


def tool(name, description, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": parameters}


@pytest.mark.parametrize(
    "name, description, request_text",
    [
        ("get_order", "Look up an order by id. Returns status, total and date.", "look up an order"),
        ("git_status", "Shows the working tree status", "show the working tree status"),
        ("search", "**Searches** the [docs](https://example.com) for pages.", "search the docs for pages"),
        ("think", "Use the tool to think about something. It changes nothing.", "think about something"),
        (
            "fetch",
            "Fetches a URL from the internet and optionally extracts its contents.",
            "fetch a URL from the internet",
        ),
        ("read", "DEPRECATED: Read a file as text.", "read a file"),
        ("copy", "This tool copies a file, preserving its mode.", "copy a file"),
        ("mk", "Create a new directory or ensure a directory exists.", "create a new directory"),
        ("move", "Move or rename files and directories.", "move files and directories"),
        ("f", "Tool for validating a VAT number.", "validate a VAT number"),
        ("x", "This tool belongs to the shop. Tool description: Add an item to the cart.", "add an item to the cart"),
        ("get_weather", "", "get the weather"),
        ("search_orders", "\u67e5\u8be2\u8ba2\u5355", "search orders"),
        ("links", "Returns up to ten links.", "return up to ten links"),
        ("order_status", "Order status of a customer.", "check the order status"),
    ],
)
def test_a_description_becomes_a_request(name, description, request_text):
    assert read_request(Tool(name, description)).text == request_text


def test_what_comes_back_is_read_off_the_later_sentences():
    assert facets(Tool("get", "Look up an order. Returns status, total and date.")) == ("status", "total", "date")
    assert facets(Tool("env", "Returns all variables, useful for debugging")) == ()


def worded(*tools):
    """Every request of the first tool with its parameters' names in the place of their values."""
    phrase = read_phrases(AgentSpec.from_tools(list(tools)))[tools[0]["name"]]
    names = {chr(0xE000 + index): param.name for index, param in enumerate(phrase.params)}
    found = []
    for wording in phrase.requests:
        text = " | ".join([wording.text, *(said[0] for said in wording.after)]) + wording.listed
        found.append(re.sub("[\ue000-\ue0ff]", lambda mark: f"<{names[mark.group()]}>", text))
    return found


TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize(
    "made, wanted",
    [
        (tool("get_order", "Look up an order by id.", order_id=TEXT), "look up order <order_id>"),
        (
            tool("update_address", "Change the delivery address of an order.", order_id=TEXT, address=TEXT),
            "change the delivery address of order <order_id> to <address>",
        ),
        (
            tool("delete", "Deletes the email with the given `email_id` from the inbox.", email_id=TEXT),
            "delete email <email_id> from my inbox",
        ),
        (
            tool("add", "Add a user to a given channel.", user=TEXT, channel=TEXT),
            "add <user> to the <channel> channel",
        ),
        (
            tool("send", "Send a message from `author` to `recipient` with `content`.", recipient=TEXT, body=TEXT),
            'send a message to <recipient> saying "<body>"',
        ),
        (
            tool("f", "Search flights between two cities on a given date.", origin=TEXT, destination=TEXT, date=TEXT),
            "search for flights from <origin> to <destination> on <date>",
        ),
        (
            tool("transfer", "Transfer the user to a human agent, with a summary.", summary=TEXT),
            'transfer me to a human agent with the summary "<summary>"',
        ),
        (tool("sum", "Returns the sum of two numbers", a=NUMBER, b=NUMBER), "get the sum of <a> and <b>"),
        (tool("git_checkout", "Switches branches", branch_name=TEXT), "switch to branch <branch_name>"),
        (tool("move_file", "Move or rename files.", source=TEXT, destination=TEXT), "move <source> to <destination>"),
        (tool("refund", "Refund an order.", order_id=TEXT, amount=NUMBER), "refund order <order_id> for $<amount>"),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_values_stand_where_a_person_puts_them(made, wanted):
    assert wanted in worded(made)


def test_two_tools_with_one_description_are_asked_for_differently():
    same = "Search flights between two cities."
    direct, onestop = tool("search_direct_flight", same), tool("search_onestop_flight", same)
    assert not set(worded(direct, onestop)) & set(worded(onestop, direct))


def test_many_values_are_listed():
    names = ("user_id", "origin", "cabin", "meal", "seat", "gate", "row", "door")
    said = worded(tool("book", "Book a trip.", **dict.fromkeys(names, TEXT)))
    assert all(f"\n- {name.replace('_id', ' ID')}: <{name}>" in said[0] for name in names)


def test_values_that_belong_together_fit():
    spec = AgentSpec.from_tools(
        [
            tool(
                "create_event",
                "Create an event.",
                start_time={"type": "string", "description": "Format YYYY-MM-DD HH:MM."},
                end_time={"type": "string", "description": "Format YYYY-MM-DD HH:MM."},
            ),
            tool(
                "flight",
                "Search flights.",
                origin={"type": "string", "description": "Airport code, such as 'JFK'."},
                destination={"type": "string", "description": "Airport code, such as 'LAX'."},
            ),
            tool("bags", "Add bags.", total_baggages={"type": "integer"}, nonfree_baggages={"type": "integer"}),
        ]
    )
    phrases = read_phrases(spec)
    for index in range(200):
        event = phrases["create_event"].draw(rng(index, "event")).arguments
        assert event["start_time"] < event["end_time"] and event["start_time"][:10] == event["end_time"][:10]
        flight = phrases["flight"].draw(rng(index, "flight")).arguments
        assert flight["origin"] != flight["destination"]
        bags = phrases["bags"].draw(rng(index, "bags")).arguments
        assert bags["nonfree_baggages"] <= bags["total_baggages"]


def test_money_is_written_as_the_number_of_the_call():
    phrase = read_phrases(AgentSpec.from_tools([tool("pay", "Pay.", amount={"type": "number"})]))["pay"]
    for index in range(200):
        value = phrase.draw(rng(index, "pay")).arguments["amount"]
        assert str(value) == spell(value) and len(str(value)) <= 6


@pytest.mark.parametrize(
    "clause, subject",
    [
        ("Never refund more than 100 dollars without a supervisor.", "supervisor"),
        ("Refuse to share another customer's data.", "customer data"),
        ("Do not guess.", "guessing"),
        ("Use the git tools to do what the user asks.", "git tools"),
        ("If the airline cancelled the flight, say so.", "flight"),
        ("Always be there for them.", "fine print"),
    ],
)
def test_a_rule_has_a_subject(clause, subject):
    found = topics_of(clause)
    assert subject in found and len(found) <= 4


def test_a_prompt_says_what_field_the_agent_is_in():
    ping = [{"name": "ping"}]
    assert fields_of(AgentSpec.from_tools(ping, "As an airline agent, you can help users.")) == ("airline",)
    assert fields_of(AgentSpec.from_tools(ping, "You are an assistant. Use the git tools.")) == ("git",)
    assert "online shop" in fields_of(AgentSpec.from_tools(ping, "You are an agent for a small online shop."))
