"""The knobs of a simulation: one dataclass, from which keywords, CLI flags and YAML keys are made."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypedDict

from whileai_hf.errors import ConfigurationError


MODES = ("explore", "sft", "rl")
REPEAT_POLICIES = ("fixed",)
# Phrasings of a situation and repeats of a phrasing when the caller names neither.
_TOPOLOGY = {"explore": (1, 1), "sft": (3, 4), "rl": (1, 8)}
DEFAULT_BUDGET = 1000


@dataclasses.dataclass(frozen=True)
class SimulationConfig:
    """
    Knobs of [`simulate`]. Every field is also a keyword of `simulate`, a flag of `whileai-hf simulate` and a YAML key.

    Examples:
    ```python
    >>> SimulationConfig(mode="rl", situations=2).topology()
    Topology(rows=16, situations=2, phrasings=1, repeats=8)

    ```
    """

    mode: str = field(
        default="explore",
        metadata={
            "help": "explore: a new situation every row; sft: several phrasings; rl: repeats of one ask",
            "choices": MODES,
        },
    )
    budget: int | None = field(
        default=None,
        metadata={"help": "rows to produce; 1000, or situations x phrasings x repeats when situations is given"},
    )
    situations: int | None = field(default=None, metadata={"help": "distinct situations"})
    phrasings: int | None = field(
        default=None, metadata={"help": "ways to ask one situation; 1, in sft mode 3 unless given"}
    )
    repeats: int | None = field(
        default=None, metadata={"help": "rollouts of one phrasing (k); 1, in sft mode 4 and in rl mode 8 unless given"}
    )
    repeat_policy: str = field(
        default="fixed", metadata={"help": "fixed: every prompt gets its k rollouts", "choices": REPEAT_POLICIES}
    )
    seed: int = field(default=0, metadata={"help": "seed of every random choice"})
    concurrency: int = field(default=32, metadata={"help": "rollouts in flight; changes the speed, never the rows"})
    fault_rate: float = field(
        default=0.5, metadata={"help": "share of tool situations with a scheduled fault, between 0 and 1"}
    )
    seeds: Sequence[str] = field(
        default=(), metadata={"help": "your own example asks; they come first and are never dropped"}
    )
    simulator: bool = field(
        default=False, metadata={"help": "False writes situations from templates, without a model"}
    )
    max_turns: int = field(default=12, metadata={"help": "agent turns in one rollout of a chat agent"})
    sampling: dict[str, Any] | None = field(
        default=None,
        metadata={"help": "how your own agent samples; recorded on every row as given", "cli": False},
    )
    execute: Callable[[str, dict[str, Any]], Any] | None = field(
        default=None,
        metadata={"help": "execute(tool, arguments) -> result: your world instead of the simulated one", "cli": False},
    )
    output: str | None = field(default=None, metadata={"help": "JSONL file the rows are written to as they land"})
    reproducible: bool = field(
        default=False, metadata={"help": "accepted for compatibility: every run is reproducible"}
    )

    def __post_init__(self) -> None:
        _choice("mode", self.mode, MODES)
        _choice("repeat_policy", self.repeat_policy, REPEAT_POLICIES)
        for name in ("budget", "situations", "phrasings", "repeats", "concurrency", "max_turns"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigurationError(f"{name}={value!r} is not a whole number above 0; pass 1 or more")
        if not isinstance(self.reproducible, bool):
            raise ConfigurationError(f"reproducible={self.reproducible!r} is neither true nor false")
        if not isinstance(self.fault_rate, int | float) or not 0 <= self.fault_rate <= 1:
            raise ConfigurationError(f"fault_rate={self.fault_rate!r} is not between 0 and 1; 0 switches faults off")
        if not isinstance(self.seeds, list | tuple) or not all(
            isinstance(ask, str) and ask.strip() for ask in self.seeds
        ):
            raise ConfigurationError("seeds must be a list of non-empty asks, each a string")
        if self.sampling is not None and not isinstance(self.sampling, dict):
            raise ConfigurationError(f"sampling={self.sampling!r:.80} is not a dict such as {{'temperature': 0.7}}")
        if self.simulator:
            raise ConfigurationError(
                f"simulator={self.simulator!r}: situations are written from templates so far; pass simulator=False"
            )
        if inspect.iscoroutinefunction(self.execute):
            raise ConfigurationError("execute= is an async function; the world answers at once, pass a sync one")
        if self.execute is not None and not callable(self.execute):
            raise ConfigurationError(f"execute={self.execute!r} is not callable; pass a function (tool, arguments)")

    @property
    def default_repeats(self) -> int:
        """Rollouts of one phrasing when `repeats` is not given."""
        return _TOPOLOGY[self.mode][1]

    def topology(self) -> Topology:
        """
        How many rows, situations, phrasings and repeats these knobs mean.

        Raises:
            [`ConfigurationError`]: `budget` is smaller than one group of repeats.
        """
        phrasings = self.phrasings or _TOPOLOGY[self.mode][0]
        repeats = self.repeats or self.default_repeats
        if self.situations is not None:
            rows = self.situations * phrasings * repeats
            rows = rows if self.budget is None else min(rows, self.budget)
        else:
            rows = self.budget or DEFAULT_BUDGET
        if repeats > rows:
            raise ConfigurationError(
                f"repeats={repeats} is larger than budget={rows}: not one prompt would get its rollouts; "
                f"raise budget to {repeats} or more, or lower repeats"
            )
        return Topology(rows, self.situations, phrasings, repeats)


@dataclasses.dataclass(frozen=True)
class Topology:
    """What a combination of knobs means. `situations` is `None` where only the rows are limited."""

    rows: int
    situations: int | None
    phrasings: int
    repeats: int

    @property
    def asked(self) -> int | None:
        """Rollouts of all the situations asked for, `None` without a limit on situations."""
        return None if self.situations is None else self.situations * self.phrasings * self.repeats


class SimulationKnobs(TypedDict, total=False):
    """The fields of [`SimulationConfig`] as keywords."""

    mode: str
    budget: int | None
    situations: int | None
    phrasings: int | None
    repeats: int | None
    repeat_policy: str
    seed: int
    concurrency: int
    fault_rate: float
    seeds: Sequence[str]
    simulator: bool
    max_turns: int
    sampling: dict[str, Any] | None
    execute: Callable[[str, dict[str, Any]], Any] | None
    output: str | None
    reproducible: bool


def _choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigurationError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def make_config(config: SimulationConfig | None, knobs: SimulationKnobs) -> SimulationConfig:
    """
    A config with keywords laid over it.

    Args:
        config ([`SimulationConfig`], *optional*):
            The base.
        knobs (`dict`):
            Fields to replace.

    Raises:
        [`ConfigurationError`]: An unknown knob; the message names the nearest known one.
    """
    if config is not None and not isinstance(config, SimulationConfig):
        raise ConfigurationError(
            f"config is a {type(config).__name__}; pass a SimulationConfig, or its fields as keywords"
        )
    known = [knob.name for knob in dataclasses.fields(SimulationConfig)]
    for name in knobs:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"the knobs are {', '.join(known)}"
            raise ConfigurationError(f"unknown knob {name!r}; {hint}")
    return dataclasses.replace(config or SimulationConfig(), **knobs)
