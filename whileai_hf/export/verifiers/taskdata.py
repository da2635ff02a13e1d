"""The data of a task of verifiers, which stands whole in every recorded rollout."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from pydantic import Field


class WorldData(vf.TaskData):  # type: ignore[misc]  # verifiers comes without types
    """A task with everything it takes to play and grade it, since workers rebuild tasks from this alone."""

    environment: str
    scenario_id: str | None = None
    info: dict[str, Any]
    tools: list[dict[str, Any]]
    annotations: dict[str, Any] = Field(default_factory=dict)
    reward: str
    world: str | None = None
    user_model: str | None = None
    avg_turns: int = 1
