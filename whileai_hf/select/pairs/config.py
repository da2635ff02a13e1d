"""The knobs of pairing."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError


CUTS = ("first_divergence", "trajectory")
TRUNCATED = ("drop", "keep")


@dataclasses.dataclass(frozen=True)
class PairConfig:
    """
    Knobs of [`build_preference_pairs`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> PairConfig(cut="trajectory").per_prompt
    1

    ```
    """

    cut: str = field(
        default="first_divergence",
        metadata={
            "help": "compare the first turn that differs, or everything from the first turn on",
            "choices": CUTS,
        },
    )
    margin: float = field(default=0.0, metadata={"help": "smallest gap of the rewards; equal rewards never pair"})
    per_prompt: int = field(default=1, metadata={"help": "pairs of a prompt at most; a rollout is in one of them"})
    same_policy: bool = field(default=True, metadata={"help": "both rollouts of a pair come from one policy"})
    match_length: bool = field(
        default=True, metadata={"help": "among equal gaps prefer rollouts whose texts are equally long"}
    )
    max_length_ratio: float | None = field(
        default=None, metadata={"help": "longest text compared, in its shorter counterpart"}
    )
    truncated: str = field(
        default="drop", metadata={"help": "what becomes of replies cut at the token limit", "choices": TRUNCATED}
    )

    def __post_init__(self) -> None:
        for name, choices in (("cut", CUTS), ("truncated", TRUNCATED)):
            if getattr(self, name) not in choices:
                raise ConfigurationError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(map(repr, choices))}; pick one of them"
                )
        for name in ("same_policy", "match_length"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"{name}={getattr(self, name)!r} is neither true nor false")
        if isinstance(self.per_prompt, bool) or not isinstance(self.per_prompt, int) or self.per_prompt < 1:
            raise ConfigurationError(f"per_prompt={self.per_prompt!r} is not a number of pairs; pass 1 or more")
        ratio = 1.0 if self.max_length_ratio is None else self.max_length_ratio
        for name, value, least in (("margin", self.margin, 0.0), ("max_length_ratio", ratio, 1.0)):
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or value < least:
                raise ConfigurationError(f"{name}={value!r} is out of range; pass a number from {least:g} on")


class PairKnobs(TypedDict, total=False):
    """The fields of [`PairConfig`] as keywords."""

    cut: str
    margin: float
    per_prompt: int
    same_policy: bool
    match_length: bool
    max_length_ratio: float | None
    truncated: str
