"""The knobs of an environment."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypedDict

from whileai_hf.actors.callable import DEFAULT_MAX_TURNS
from whileai_hf.actors.users import DEFAULT_AVG_TURNS
from whileai_hf.errors import ConfigurationError


@dataclasses.dataclass(frozen=True)
class EnvironmentConfig:
    """
    Knobs of [`load_environment`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> EnvironmentConfig(avg_turns=4).avg_turns
    4

    ```
    """

    seed: int = field(default=0, metadata={"help": "seed of worlds whose task brings none, and of the holdout split"})
    execute: Callable[[str, dict[str, Any]], Any] | None = field(
        default=None,
        metadata={"help": "execute(tool, arguments) -> result: your world instead of the simulated one"},
    )
    rubric: str | None = field(default=None, metadata={"help": "what doing the job means, for a judge model"})
    tasks: Any = field(
        default=None,
        metadata={"help": "the task set of rollouts, for what only a judge may see; else the run's local store"},
    )
    user_model: Any = field(
        default=None,
        metadata={"help": "model that plays the user in the rollout function, or 'template' (no model)"},
    )
    avg_turns: int = field(
        default=DEFAULT_AVG_TURNS,
        metadata={"help": "length of a conversation with the user to aim at; the user speaks at most half of it"},
    )
    max_turns: int = field(
        default=DEFAULT_MAX_TURNS, metadata={"help": "turns of the policy in one conversation of the rollout function"}
    )

    def __post_init__(self) -> None:
        for name in ("avg_turns", "max_turns"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name}={value!r} is not a whole number of turns, 1 or more")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ConfigurationError(f"seed={self.seed!r} is not a whole number")
        if self.execute is not None and not callable(self.execute):
            raise ConfigurationError(f"execute={self.execute!r:.60} is not callable; pass (tool, arguments) -> result")


class EnvironmentKnobs(TypedDict, total=False):
    """The fields of [`EnvironmentConfig`] as keywords."""

    seed: int
    execute: Callable[[str, dict[str, Any]], Any] | None
    rubric: str | None
    tasks: Any
    user_model: Any
    avg_turns: int
    max_turns: int
