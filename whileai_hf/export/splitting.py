"""Turns with several calls as consecutive turns, for templates that show one call at a time and no text beside it."""

from __future__ import annotations

from whileai_hf.export.messages import Message


def _results(messages: list[Message], start: int, n: int) -> list[int] | None:
    """Positions of the results of the `n` calls of message `start - 1`, in the order of the calls."""
    calls = messages[start - 1]["tool_calls"]
    end = start
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    found = list(range(start, end))
    if len(found) != n:
        return None
    ids = [call.get("id") for call in calls]
    by_id = {messages[place].get("tool_call_id"): place for place in found}
    if None not in ids and set(ids) == set(by_id) and len(by_id) == n:
        return [by_id[name] for name in ids]
    return found  # no ids to pair by: stacks without them give results in the order of the calls


def split_calls(messages: list[Message]) -> tuple[list[Message], list[int]]:
    """
    The conversation with one call per turn of the agent, each followed by its result, and text in a turn of its own.

    Args:
        messages (`list[dict]`):
            Messages as [`read_message`] makes them.

    Returns:
        `tuple[list[dict], list[int]]`: The messages, and for each the position of the message it comes from. A turn
        whose calls and results do not match in number stays as it is.

    Examples:
    ```python
    >>> calls = [{"id": name, "function": {"name": name, "arguments": {}}} for name in ("f", "g")]
    >>> results = [{"role": "tool", "content": name, "tool_call_id": name} for name in ("g", "f")]
    >>> made, origin = split_calls([{"role": "assistant", "content": "Both.", "tool_calls": calls}, *results])
    >>> [message["content"] for message in made], origin
    (['Both.', '', 'f', '', 'g'], [0, 0, 2, 0, 1])

    ```
    """
    made: list[Message] = []
    origin: list[int] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        calls = message.get("tool_calls", ())
        places = _results(messages, index + 1, len(calls)) if calls else None
        if places is None or (len(calls) == 1 and not message["content"].strip()):
            made.append(message)
            origin.append(index)
            index += 1
            continue
        rest = {key: value for key, value in message.items() if key not in ("tool_calls", "content")}
        if message["content"].strip():
            made.append({**rest, "content": message["content"]})
            origin.append(index)
            rest = {"role": "assistant"}  # reasoning comes once, before the first of the turns
        for call, place in zip(calls, places, strict=True):
            made += [{**rest, "content": "", "tool_calls": [call]}, messages[place]]
            origin += [index, place]
            rest = {"role": "assistant"}
        index += 1 + len(places)
    return made, origin
