"""The knobs of an export: one dataclass, from which keywords, CLI flags and YAML keys are made."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError


MASK_MODES = ("all", "final")
PARALLEL_CALLS = ("refuse", "split")


@dataclasses.dataclass(frozen=True)
class ExportConfig:
    """
    Knobs of [`to_trl`] and of what stands on it. Every field is also a keyword and a YAML key.

    Examples:
    ```python
    >>> ExportConfig(mask_mode="final").unroll
    False

    ```
    """

    mask_mode: str = field(
        default="all",
        metadata={"help": "all: train every turn of the agent; final: its last turn only", "choices": MASK_MODES},
    )
    unroll: bool = field(
        default=False, metadata={"help": "one row per turn of the agent, ending with it, with loss on it alone"}
    )
    max_tool_output_chars: int | None = field(
        default=None, metadata={"help": "characters of a tool message kept; the rest is cut, marked and counted"}
    )
    max_length: int | None = field(
        default=None,
        metadata={
            "help": "tokens of a row at most, with a tokenizer; longer rows are left out (default: the model's)"
        },
    )
    parallel_calls: str = field(
        default="refuse",
        metadata={
            "help": "split: turns with several calls, or with text beside a call, become consecutive turns where the "
            "template cannot show them as they are (without a tokenizer: always)",
            "choices": PARALLEL_CALLS,
        },
    )

    def __post_init__(self) -> None:
        for name, choices in (("mask_mode", MASK_MODES), ("parallel_calls", PARALLEL_CALLS)):
            if getattr(self, name) not in choices:
                raise ConfigurationError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(map(repr, choices))}; pick one of them"
                )
        if not isinstance(self.unroll, bool):
            raise ConfigurationError(f"unroll={self.unroll!r} is neither true nor false")
        for name, least in (("max_tool_output_chars", 0), ("max_length", 1)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ConfigurationError(f"{name}={value!r}; pass a number from {least}, or leave it out")

    @property
    def final_turn_only(self) -> bool:
        """Whether a row is trained on its last message alone."""
        return self.unroll or self.mask_mode == "final"


class ExportKnobs(TypedDict, total=False):
    """The fields of [`ExportConfig`] as keywords."""

    mask_mode: str
    unroll: bool
    max_tool_output_chars: int | None
    max_length: int | None
    parallel_calls: str
