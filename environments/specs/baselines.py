"""Policies that know nothing of the task: no environment may reward them."""

import re
from typing import Any

from specs.spec import Message
from specs.talk import ask_of, call, calling, results_of, saying
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox import id_parameters, sample_arguments
from whileai_hf.spec import read_tools


_CODE = re.compile(r"\b[A-Z]{2,}-\d+\b|/[\w./-]*\w")


def null(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Says nothing and does nothing."""
    return saying("")


def echo(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Gives the ask back."""
    return saying(ask_of(messages))


def refuse(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Says that it cannot, whatever is asked: the answer that is right where nothing can be done."""
    return saying("I'm sorry, I cannot do that, and I have changed nothing. Which one do you mean?")


def every_tool(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Calls every tool once, with valid arguments and what the ask names where an id belongs, and reports success."""
    if results_of(messages):
        return saying("Done. I have taken care of everything you asked for.")
    ask = ask_of(messages)
    named = _CODE.search(ask)
    calls = []
    for tool in read_tools(tools)[0]:
        arguments = sample_arguments(tool, rng(0, "every tool", ask, tool.name))
        for name in id_parameters(tool) if named is not None else ():
            several = tool.parameters["properties"][name].get("type") == "array"
            arguments[name] = [named.group()] if several else named.group()
        calls.append(call(tool.name, **arguments))
    return calling(*calls)
