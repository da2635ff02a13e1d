"""Messages as the JSON text that is written, each call read back from it."""

from __future__ import annotations

import orjson

from whileai_hf.export.messages import Message, encode_message
from whileai_hf.export.tally import Tally
from whileai_hf.rows import dumps


def encode(message: Message, tally: Tally) -> bytes:
    """
    The text of a message, with its calls compared to what they were read from.

    Args:
        message (`dict`):
            A message that [`read_message`] made.
        tally (`Tally`):
            Says how arguments are encoded, and counts calls.

    Returns:
        `bytes`: JSON.

    Examples:
    ```python
    >>> tally = Tally(encoding="json_string")
    >>> call = {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    >>> encode({"role": "assistant", "content": "", "tool_calls": [call]}, tally).decode()[-31:]
    '"f","arguments":"{\\\\"a\\\\":1}"}}]}'
    >>> tally.calls, tally.invalid_calls
    (1, 0)

    ```
    """
    if "tool_calls" not in message:
        try:
            return orjson.dumps(message)
        except TypeError:  # lone surrogates
            return dumps(message)
    text = dumps(_wire(message)) if tally.encoding == "json_string" else encode_message(message)
    tally.check_calls(message, text)
    return text


def _wire(message: Message) -> Message:
    calls = [
        {**call, "function": {**call["function"], "arguments": dumps(call["function"]["arguments"]).decode()}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}
