"""What a model wrote, read as an assistant message: reasoning, tool calls and the words said beside them.

Three ways to write a call cover most open models: JSON between `<tool_call>` tags (Hermes, Qwen), a list or names
after `[TOOL_CALLS]` (Mistral), and a bare object with `parameters` (Llama). A call that cannot be read is kept as
written, its text in place of the arguments, so that the tool loop answers it with an error the model can read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from whileai_hf.actors.played import parse_arguments


# The name of a call that does not say which tool it is for. No tool world knows it, and it tells a reader why.
NAMELESS = "invalid_tool_call"

_REASONING_TAGS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
# An unclosed call ends where the next begins, or with the text.
_HERMES = re.compile(r"<tool_call>(?P<body>.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_MISTRAL = "[TOOL_CALLS]"
_MISTRAL_NAMED = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\[CALL_ID\]\s*\w+\s*)?(?:\[ARGS\]\s*)?(?=\{)")
_LLAMA_TAG = "<|python_tag|>"
_NAME = re.compile(r'"name"\s*:\s*"(?P<name>[^"\\]+)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*')
_SEPARATORS = " \t\r\n;,"
_DECODER = json.JSONDecoder()

_Entry = dict[str, Any]


def _unreadable(body: str, name: str | None = None) -> _Entry:
    """A call as written. Where only its arguments are broken, they alone; else all of it, so that it stays broken."""
    named = _NAME.search(body)
    start = _ARGUMENTS.search(body)
    rest = body[start.end() :] if start else body
    written = body if parse_arguments(rest)[1] else rest
    return {"name": name or (named["name"] if named else NAMELESS), "arguments": written}


def _entry(value: Any, body: str) -> _Entry:
    inner = value.get("function", value) if isinstance(value, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("name"), str) and inner["name"]:
        arguments = inner.get("arguments", inner.get("parameters"))
        return {"name": inner["name"], "arguments": {} if arguments is None else arguments}
    return _unreadable(body)


def _objects(body: str) -> list[Any] | None:
    """The JSON values `body` consists of; `None` when it holds anything else."""
    values: list[Any] = []
    place = 0
    while rest := body[place:].lstrip(_SEPARATORS):
        place = len(body) - len(rest)
        try:
            value, place = _DECODER.raw_decode(body, place)
        except json.JSONDecodeError:
            return None
        values += value if isinstance(value, list) else [value]
    return values


def _entries(body: str) -> list[_Entry]:
    values = _objects(body)
    return [_entry(value, json.dumps(value)) for value in values] if values else [_unreadable(body.strip())]


def _hermes(text: str) -> tuple[str, list[_Entry]] | None:
    entries = [entry for match in _HERMES.finditer(text) for entry in _entries(match["body"])]
    return (_HERMES.sub("", text), entries) if entries else None


def _mistral(text: str) -> tuple[str, list[_Entry]] | None:
    said, *bodies = text.split(_MISTRAL)
    entries: list[_Entry] = []
    for body in bodies:
        named = _MISTRAL_NAMED.match(body)
        if named is None:
            entries += _entries(body)
            continue
        written = body[named.end() :].strip()
        values = _objects(written)
        readable = values is not None and len(values) == 1
        entries.append({"name": named["name"], "arguments": values[0] if readable and values else written})
    return (said, entries) if entries else None


def _bare(text: str) -> tuple[str, list[_Entry]] | None:
    said, tag, body = text.rpartition(_LLAMA_TAG)
    body = body.strip()
    if not body.startswith("{") or not (tag or (_NAME.search(body) and _ARGUMENTS.search(body))):
        return None
    values = _objects(body)
    # JSON that is the answer itself has other keys than a call.
    if not tag and values and not all(isinstance(v, dict) and v.keys() <= _CALL_KEYS for v in values):
        return None
    return said, _entries(body)


_CALL_KEYS = {"type", "id", "name", "arguments", "parameters"}
_READERS: Sequence[Callable[[str], tuple[str, list[_Entry]] | None]] = (_hermes, _mistral, _bare)


def split_reasoning(text: str, *, opened: bool = False) -> tuple[str, str]:
    """
    The words without the reasoning before them, and the reasoning.

    Args:
        text (`str`):
            What the model wrote.
        opened (`bool`, *optional*, defaults to `False`):
            The prompt ended inside of reasoning.

    Returns:
        `tuple[str, str]`: Reasoning that was cut off leaves no words.

    Examples:
    ```python
    >>> split_reasoning("<think>A1 is due.</think>Tomorrow.")
    ('Tomorrow.', 'A1 is due.')
    >>> split_reasoning("A1 is", opened=True)
    ('', 'A1 is')

    ```
    """
    for start, end in _REASONING_TAGS:
        begun = text.lstrip().startswith(start)
        thought, closed, said = text.partition(end)
        if closed and (begun or opened or start not in thought):
            return said.lstrip(), thought.replace(start, "", 1).strip()
        if begun:
            return "", text.lstrip().removeprefix(start).strip()
    return ("", text.strip()) if opened else (text, "")


def read_text(text: str, *, tools: bool = True, opened: bool = False) -> dict[str, Any]:
    """
    The assistant message a text is.

    Args:
        text (`str`):
            What the model wrote, without the token that ended it.
        tools (`bool`, *optional*, defaults to `True`):
            Look for tool calls. Without tools, what looks like a call is something the model says.
        opened (`bool`, *optional*, defaults to `False`):
            The prompt ended inside of reasoning.

    Returns:
        `dict`: `role`, `content`, and `reasoning_content` and `tool_calls` where there are any. Arguments are what the
        JSON says, or the text as written when it is not JSON.

    Examples:
    ```python
    >>> read_text('<tool_call>{"name": "ping", "arguments": {"host": "a"}}</tool_call>')["tool_calls"]
    [{'type': 'function', 'function': {'name': 'ping', 'arguments': {'host': 'a'}}}]

    ```
    """
    said, reasoning = split_reasoning(text, opened=opened)
    found = next(filter(None, (reader(said) for reader in _READERS)), None) if tools else None
    message: dict[str, Any] = {"role": "assistant", "content": found[0].strip() if found else said}
    if reasoning:
        message["reasoning_content"] = reasoning
    if found:
        message["tool_calls"] = [{"type": "function", "function": entry} for entry in found[1]]
    return message
