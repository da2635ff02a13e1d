"""Which messages of a conversation are trained on: 1 for the agent's turns, 0 for everybody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from whileai_hf.errors import DataError
from whileai_hf.export.messages import Message


def loss_mask(messages: Sequence[Message], mask_mode: str = "all", given: Sequence[int] | None = None) -> list[int]:
    """
    One 0 or 1 per message.

    Args:
        messages (`Sequence[dict]`):
            The conversation.
        mask_mode (`str`, *optional*, defaults to `"all"`):
            `"all"` trains every turn of the agent, `"final"` its last one.
        given (`Sequence[int]`, *optional*):
            A mask that came with the row; a turn it leaves out stays out.

    Returns:
        `list[int]`: Tool results are the environment's words, so they are 0 whatever was given.

    Examples:
    ```python
    >>> talk = [{"role": role, "content": "x"} for role in ("user", "assistant", "tool", "assistant")]
    >>> loss_mask(talk), loss_mask(talk, "final"), loss_mask(talk, given=[1, 1, 1, 0])
    ([0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0])

    ```
    """
    mask = [1 if message["role"] == "assistant" else 0 for message in messages]
    if given is not None:
        mask = [one & int(bool(other)) for one, other in zip(mask, given, strict=True)]
    if mask_mode == "final" and 1 in mask:
        last = len(mask) - 1 - mask[::-1].index(1)
        mask = [int(place == last) for place in range(len(mask))]
    return mask


def is_mask(cell: Any) -> TypeGuard[Sequence[int]]:
    """Whether a cell holds a 0 or 1 for each of some messages."""
    return isinstance(cell, list | tuple) and all(one in (0, 1) for one in cell)


def read_mask(cell: Any, row: dict[str, Any], messages: list[Message], index: int) -> list[int] | None:
    """
    The `loss_mask` cell of a row, fitted to its conversation as it was read.

    Args:
        cell (`list[int]`, *optional*):
            What the row holds.
        row (`dict`):
            The row, for the messages the mask was made for.
        messages (`list[dict]`):
            The conversation read from them: turns at the end may have gone, or the last answer been added.
        index (`int`):
            Position of the row, for the error.

    Raises:
        [`DataError`]: The mask does not have one number per message.
    """
    if cell is None:
        return None
    stored = row.get("messages")
    if not is_mask(cell) or not isinstance(stored, list | tuple) or len(cell) != len(stored):
        raise DataError(f"row {index}: loss_mask does not have one 0 or 1 per message; repair it or drop the column")
    fitted = [int(bool(value)) for value in cell[: len(messages)]]
    return fitted + [1] * (len(messages) - len(fitted))


def completion_mask(row: dict[str, Any], messages: list[Message]) -> list[int]:
    """
    The mask of a row of `prompt` and `completion`: what stands in its prompt is not trained on.

    Examples:
    ```python
    >>> turns = [{"role": role} for role in ("user", "assistant", "user", "assistant")]
    >>> completion_mask({"prompt": turns[:3], "completion": turns[3:]}, turns)
    [0, 0, 0, 1]

    ```
    """
    prompt = row.get("prompt")
    asked = bool(prompt.strip()) if isinstance(prompt, str) else len(prompt or ())
    return [0] * asked + [1] * (len(messages) - asked)
