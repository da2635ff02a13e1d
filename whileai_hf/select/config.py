"""The knobs of a selection: one dataclass, from which keywords, CLI flags and YAML keys are made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError


MODES = ("rl", "sft")
TRUNCATED = ("drop", "keep", "penalize")
ORDERS = ("turns", "middle")
SELECT = ("top_per_prompt", "top_k_overall", "random_per_prompt", "random_k_overall")
# Prompts the policy solves 20-80% of the time: the offline difficulty filter of published reasoning recipes.
BAND = (0.2, 0.8)


@dataclasses.dataclass(frozen=True)
class SelectionConfig:
    """
    Knobs of [`optimize`]. Every field is also a keyword of `optimize` and a YAML key.

    Examples:
    ```python
    >>> SelectionConfig(mode="sft").select
    'top_per_prompt'

    ```
    """

    mode: str = field(
        default="rl",
        metadata={"help": "rl: whole groups that carry a gradient; sft: the best completions", "choices": MODES},
    )
    target: int | None = field(
        default=None, metadata={"help": "rows to keep at most; in rl mode whole groups, at least one"}
    )
    band: Sequence[float] = field(
        default=BAND, metadata={"help": "lowest and highest mean reward of a group kept in rl mode", "cli": False}
    )
    enforce_band: bool = field(
        default=True, metadata={"help": "drop groups outside the band; otherwise they only come last"}
    )
    threshold: float = field(default=1.0, metadata={"help": "reward from which a rollout counts as a pass"})
    truncated: str = field(
        default="drop",
        metadata={
            "help": "what becomes of replies cut at the token limit; penalize keeps them as failures",
            "choices": TRUNCATED,
        },
    )
    order: str = field(
        default="turns",
        metadata={
            "help": "rl mode: turns over faults and pass rates, or nearest to one half first",
            "choices": ORDERS,
        },
    )
    endorsed: Sequence[str] = field(
        default=(),
        metadata={"help": "what the reward is meant to track; with it the report holds a hack scan", "cli": False},
    )
    select: str = field(
        default="top_per_prompt",
        metadata={"help": "sft mode: how completions are picked; random_* are chance controls", "choices": SELECT},
    )
    k: int = field(default=1, metadata={"help": "sft mode: completions of a prompt, as unlike as their rewards allow"})
    min_reward: float = field(default=1.0, metadata={"help": "sft mode: lowest reward of a completion kept"})
    seed: int = field(default=0, metadata={"help": "seed of the random controls"})

    def __post_init__(self) -> None:
        if not isinstance(self.enforce_band, bool):
            raise ConfigurationError(f"enforce_band={self.enforce_band!r} is neither true nor false")
        known = {"mode": MODES, "truncated": TRUNCATED, "order": ORDERS, "select": SELECT}
        for name, choices in known.items():
            if getattr(self, name) not in choices:
                raise ConfigurationError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(map(repr, choices))}; pick one of them"
                )
        for name, number in (("target", 1 if self.target is None else self.target), ("k", self.k)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigurationError(f"{name}={number!r} is not a number of rows; pass 1 or more, or leave it out")
        for name in ("threshold", "min_reward"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ConfigurationError(f"{name}={value!r} is not a reward; pass a finite number")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ConfigurationError(f"seed={self.seed!r} is no seed; pass a whole number from 0 on")
        check_band(self.band, "or enforce_band=False to keep every group")


def check_band(band: object, otherwise: str = "or leave it out") -> None:
    """
    Refuses what is no band; `otherwise` says what else there is to do.

    Raises:
        [`ConfigurationError`]: Not two pass rates, the lower one first.
    """
    numbers = band if isinstance(band, list | tuple) else ()
    if len(numbers) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in numbers):
        low, high = numbers
        if 0 <= low < high <= 1:
            return
    raise ConfigurationError(
        f"band={band!r:.80} is not a pair of pass rates with 0 <= low < high <= 1; pass for example (0.2, 0.8), "
        f"{otherwise}"
    )


class SelectionKnobs(TypedDict, total=False):
    """The fields of [`SelectionConfig`] as keywords."""

    mode: str
    target: int | None
    band: Sequence[float]
    enforce_band: bool
    threshold: float
    truncated: str
    order: str
    endorsed: Sequence[str]
    select: str
    k: int
    min_reward: float
    seed: int
