"""The knobs of an exported environment."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypedDict

from whileai_hf.actors.callable import DEFAULT_MAX_TURNS
from whileai_hf.actors.users import DEFAULT_AVG_TURNS
from whileai_hf.errors import ConfigurationError
from whileai_hf.export.package.requirements import check_requires


@dataclasses.dataclass(frozen=True)
class PackageConfig:
    """
    Knobs of [`export_environment`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> PackageConfig(band=(0.2, 0.8)).band
    (0.2, 0.8)

    ```
    """

    name: str | None = field(
        default=None, metadata={"help": "name of the distribution; that of the folder, with dashes, by default"}
    )
    holdout: Any = field(
        default=0.2, metadata={"help": "share of the tasks to hold out, or the tasks themselves; 0 holds none out"}
    )
    band: Sequence[float] | None = field(
        default=(0.0, 1.0),
        metadata={
            "help": "lowest and highest mean reward of a task; tasks whose rewards are all equal go in any case, "
            "unless it is None",
            "cli": False,
        },
    )
    threshold: float = field(default=1.0, metadata={"help": "reward from which a rollout counts as a pass"})
    seed: int = field(default=0, metadata={"help": "seed of the split, and of worlds whose task brings none"})
    max_turns: int = field(default=DEFAULT_MAX_TURNS, metadata={"help": "turns of the policy in one rollout"})
    user_model: str | None = field(
        default=None,
        metadata={"help": "who plays the user after the ask: 'template' (no model) or a model's spec string"},
    )
    avg_turns: int = field(
        default=DEFAULT_AVG_TURNS, metadata={"help": "length of a conversation with the user to aim at"}
    )
    rubric: str | None = field(default=None, metadata={"help": "what a judge model goes by; kept out of the prompt"})
    tasks: Any = field(
        default=None,
        metadata={"help": "the task set of the rollouts, for what only a judge may see; else the local run store"},
    )
    include: Sequence[Any] = field(
        default=(), metadata={"help": "Python files to put into the package, such as the one that has the reward"}
    )
    requires: Sequence[str] = field(
        default=(),
        metadata={"help": "what reward and world need beside whileai-hf, as pip writes it: 'whileai-hf[math]'"},
    )
    overwrite: bool = field(default=False, metadata={"help": "replace an environment that is in the folder already"})

    def __post_init__(self) -> None:
        for name in ("max_turns", "avg_turns"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name}={value!r} is not a whole number of turns, 1 or more")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ConfigurationError(f"seed={self.seed!r} is not a whole number")
        if isinstance(self.include, str) or not isinstance(self.include, Sequence):
            raise ConfigurationError(f"include={self.include!r:.60} is no list of files; pass include=['rewards.py']")
        check_requires(self.requires)
        self._check_band()
        if isinstance(self.holdout, bool) or (
            isinstance(self.holdout, int | float) and not (math.isfinite(self.holdout) and 0.0 <= self.holdout < 1.0)
        ):
            raise ConfigurationError(
                f"holdout={self.holdout!r} is not a share of the tasks; pass a number from 0 up to 1, or the tasks"
            )

    def _check_band(self) -> None:
        if self.band is None:
            return
        given = list(self.band) if isinstance(self.band, Sequence) and not isinstance(self.band, str) else []
        numbers = [value for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
        if len(numbers) != 2 or len(given) != 2 or not numbers[0] <= numbers[1]:
            raise ConfigurationError(
                f"band={self.band!r} is no pair of mean rewards, the lower one first; pass (0.2, 0.8), or None"
            )


class PackageKnobs(TypedDict, total=False):
    """The fields of [`PackageConfig`] as keywords."""

    name: str | None
    holdout: Any
    band: Sequence[float] | None
    threshold: float
    seed: int
    max_turns: int
    user_model: str | None
    avg_turns: int
    rubric: str | None
    tasks: Any
    include: Sequence[Any]
    requires: Sequence[str]
    overwrite: bool
