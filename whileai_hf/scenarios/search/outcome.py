"""What came of a task, as the search learns from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


Task = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """
    What came of one task.

    Args:
        task (`Mapping`):
            The task.
        signatures (`tuple[str, ...]`):
            The `behavior_signature` of each of its rollouts; none when the agent failed every time.
        failed (`bool` or `None`, *optional*):
            Whether the agent got it wrong; `None` when nobody judged.
        reward (`float` or `None`, *optional*):
            Mean reward of the rollouts; `None` when nobody judged.
    """

    task: Mapping[str, Any]
    signatures: tuple[str, ...]
    failed: bool | None = None
    reward: float | None = None
