"""Messages in the shape of the OpenAI API, each call read back from the text that is written."""

from __future__ import annotations

from whileai_hf.export.messages import Message
from whileai_hf.export.tally import Tally
from whileai_hf.rows import dumps, loads


def wired(messages: list[Message], tally: Tally) -> list[Message]:
    """
    Messages as they are written: arguments as JSON text where the job says so, as dicts otherwise.

    Args:
        messages (`list[dict]`):
            Messages that [`read_message`] made.
        tally (`Tally`):
            Says how arguments are encoded, and counts calls that cannot be read back.

    Returns:
        `list[dict]`: The same messages, or copies.

    Examples:
    ```python
    >>> call = {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    >>> (turn,) = wired([{"role": "assistant", "content": "", "tool_calls": [call]}], Tally(encoding="json_string"))
    >>> turn["tool_calls"][0]["function"]["arguments"]
    '{"a":1}'

    ```
    """
    if tally.encoding == "dict":
        return messages
    return [_wire(message, tally) if "tool_calls" in message else message for message in messages]


def _wire(message: Message, tally: Tally) -> Message:
    calls = []
    for call in message["tool_calls"]:
        arguments = call["function"]["arguments"]
        text = dumps(arguments).decode()
        back = loads(text)
        tally.invalid_calls += not (isinstance(back, dict) and back.keys() == arguments.keys())
        calls.append({**call, "function": {**call["function"], "arguments": text}})
    return {**message, "tool_calls": calls}
