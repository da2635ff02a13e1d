"""What the policy said in a row, turn by turn, as a reference model has to be shown it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Turn:
    """
    One message of the policy.

    Args:
        before (`list[dict]`):
            The conversation it answers.
        message (`dict`):
            What it said.
        cut (`bool`):
            Whether it ended at the token limit, so that the token that ends a message was never generated.
    """

    before: list[dict[str, Any]]
    message: dict[str, Any]
    cut: bool


def policy_turns(row: Mapping[str, Any]) -> list[Turn]:
    """
    Every message of the policy in a row.

    Args:
        row (`Mapping`):
            A rollout with `messages`, or with `prompt` and `final_text`.

    Returns:
        `list[Turn]`: Empty for a row without a message of the policy.

    Examples:
    ```python
    >>> [turn.message["content"] for turn in policy_turns({"prompt": "Where is it?", "final_text": "It shipped."})]
    ['It shipped.']

    ```
    """
    given = row.get("messages")
    messages = [dict(message) for message in given if isinstance(message, Mapping)] if isinstance(given, list) else []
    if not messages and isinstance(row.get("prompt"), str) and isinstance(row.get("final_text"), str):
        messages = [
            {"role": "user", "content": row["prompt"]},
            {"role": "assistant", "content": row["final_text"]},
        ]
    places = [place for place, message in enumerate(messages) if message.get("role") == "assistant"]
    cut = row.get("finish_reason") == "length"
    return [Turn(messages[:place], messages[place], cut and place == places[-1]) for place in places]


def row_tools(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools the policy had, in OpenAI shape."""
    tools = row.get("tools")
    return [dict(tool) for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
