"""What a combination of knobs means: how many rows, of how many situations, each asked and repeated how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whileai_hf.errors import ConfigurationError


if TYPE_CHECKING:
    from whileai_hf.engine.config import SimulationConfig

MODES = ("explore", "sft", "rl", "adaptive")
REPEAT_POLICIES = ("two_stage", "successive", "fixed")
# Phrasings of a situation and repeats of a phrasing when the caller names neither. In adaptive mode they are limits.
_TOPOLOGY = {"explore": (1, 1), "sft": (3, 4), "rl": (1, 8), "adaptive": (1, 4)}
DEFAULT_BUDGET = 1000

# Rollouts that tell most mixed prompts from unanimous ones. Of all sizes, 3 costs the fewest rollouts for each mixed
# group of k = 4 to 64, over prompts whose pass rates are 0, 0.05, 0.5, 0.95 and 1 in equal shares.
PROBE = 3
SUCCESSIVE_PROBE = 2  # the least that can show a split
# Share of unanimous prompts that are filled to k all the same, so that what happens beyond the probe is known for all
# kinds of prompts. Beyond k = 8 each of them costs more, and the share falls so that they cost as much in total.
EXPLORE_RATE = 0.1
_EXPLORE_K = 8


@dataclass(frozen=True)
class Topology:
    """
    What a combination of knobs means.

    Args:
        mode (`str`):
            `explore`, `sft`, `rl` or `adaptive`.
        rows (`int`):
            Rows at most.
        situations (`int` or `None`):
            Distinct situations; `None` where only the rows are limited.
        phrasings (`int`):
            Ways one situation is asked.
        repeats (`int`):
            Rollouts of one phrasing, k.
        policy (`str`):
            `fixed`, `two_stage` or `successive`.
        probe (`int`):
            Rollouts every prompt gets whatever comes of them.
        explore_rate (`float`):
            Share of unanimous prompts filled to k all the same.
    """

    mode: str
    rows: int
    situations: int | None
    phrasings: int
    repeats: int
    policy: str = "fixed"
    probe: int = 1
    explore_rate: float = 0.0

    @property
    def tasks(self) -> int:
        """Tasks a run of a known task set has: all that were asked for, or as many whole groups as the rows allow."""
        return self.rows // self.repeats if self.situations is None else self.situations * self.phrasings

    def __str__(self) -> str:
        phrasings = "1 phrasing" if self.phrasings == 1 else f"{self.phrasings} phrasings"
        each = f"{self.repeats} rollouts each" if self.repeats > 1 else "1 rollout each"
        if self.policy != "fixed" or self.mode == "adaptive":
            each = f"up to {each}"
        limit = "at most " if self.policy != "fixed" else ""
        situations = "as many situations as that takes" if self.situations is None else f"{self.situations} situations"
        lines = [f"{self.mode}: {situations} x {phrasings}, {each}: {limit}{self.rows} rows"]
        if self.policy == "two_stage":
            lines.append(
                f"two_stage: {self.probe} rollouts of every prompt; to {self.repeats} where they disagree, and for "
                f"{self.explore_rate:.0%} of the unanimous prompts"
            )
        if self.policy == "successive":
            lines.append(
                f"successive: {self.probe} rollouts of every prompt; to {self.repeats} where they disagree; a "
                "unanimous prompt gets one more while that is likelier to show a split than a new prompt"
            )
        return "\n".join(lines)


def resolve(config: SimulationConfig) -> Topology:
    """
    The topology of a config.

    Args:
        config ([`SimulationConfig`]):
            The knobs.

    Raises:
        [`ConfigurationError`]: `budget` is smaller than one group of repeats.
    """
    phrasings = config.phrasings or _TOPOLOGY[config.mode][0]
    repeats = config.repeats or _TOPOLOGY[config.mode][1]
    if config.situations is not None:
        rows = config.situations * phrasings * repeats * (2 if config.twins else 1)
        rows = rows if config.budget is None else min(rows, config.budget)
    else:
        rows = config.budget or DEFAULT_BUDGET
    if repeats > rows:
        raise ConfigurationError(
            f"repeats={repeats} is larger than budget={rows}: not one prompt would get its rollouts; "
            f"raise budget to {repeats} or more, or lower repeats"
        )
    policy, probe = _policy(config, repeats)
    rate = EXPLORE_RATE * min(1.0, _EXPLORE_K / repeats) if config.explore_rate is None else config.explore_rate
    return Topology(
        config.mode,
        rows,
        config.situations,
        phrasings,
        repeats,
        policy,
        probe,
        float(rate) if policy == "two_stage" else 0.0,
    )


def _policy(config: SimulationConfig, repeats: int) -> tuple[str, int]:
    policy = config.repeat_policy or ("two_stage" if config.mode == "rl" else "fixed")
    probe = config.probe or (SUCCESSIVE_PROBE if policy == "successive" else PROBE)
    if probe >= repeats:
        policy = "fixed"
    return policy, repeats if policy == "fixed" else probe
