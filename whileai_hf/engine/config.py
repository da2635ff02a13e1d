"""The knobs of a simulation: one dataclass, from which keywords, CLI flags and YAML keys are made."""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, SupportsIndex, TypedDict

from whileai_hf.engine.checks import check_config
from whileai_hf.engine.topology import MODES, REPEAT_POLICIES, Topology, resolve
from whileai_hf.knobs import overlay


@dataclasses.dataclass(frozen=True)
class SimulationConfig:
    """
    Knobs of [`simulate`]. Every field is also a keyword of `simulate` and a YAML key; those that can be written as
    text are flags of `whileai-hf simulate`.

    Examples:
    ```python
    >>> SimulationConfig(mode="rl", situations=2).topology().rows
    16

    ```
    """

    mode: str = field(
        default="explore",
        metadata={
            "help": "explore: a new situation every row; sft: several phrasings; rl: repeats of an ask; adaptive: "
            "a mix, led by what turns up",
            "choices": MODES,
        },
    )
    budget: int | None = field(
        default=None,
        metadata={"help": "rows to produce; 1000, or situations x phrasings x repeats when situations is given"},
    )
    time_budget: float | None = field(
        default=None, metadata={"help": "seconds after which the run ends; the clock is off unless set"}
    )
    stop_grace: float = field(
        default=5.0, metadata={"help": "seconds a stopped run waits for rollouts under way before it abandons them"}
    )
    until: str = field(
        default="compute",
        metadata={"help": "saturation: also stop when nothing new turns up", "choices": ("compute", "saturation")},
    )
    situations: int | None = field(default=None, metadata={"help": "distinct situations"})
    phrasings: int | None = field(
        default=None, metadata={"help": "ways to ask one situation; 1, in sft mode 3 unless given"}
    )
    repeats: int | None = field(
        default=None, metadata={"help": "rollouts of one phrasing (k); 1, in sft mode 4 and in rl mode 8 unless given"}
    )
    repeat_policy: str | None = field(
        default=None,
        metadata={
            "help": "two_stage (rl mode): probe every prompt, fill those whose rollouts disagree; successive: one "
            "more rollout while it pays; fixed: every prompt gets k",
            "choices": REPEAT_POLICIES,
        },
    )
    probe: int | None = field(
        default=None, metadata={"help": "rollouts every prompt gets first; 3, under successive 2 unless given"}
    )
    explore_rate: float | None = field(
        default=None,
        metadata={"help": "share of unanimous prompts two_stage fills all the same; 0.1 up to k=8, then 0.8/k"},
    )
    seed: int = field(default=0, metadata={"help": "seed of every random choice"})
    concurrency: int = field(default=32, metadata={"help": "rollouts in flight; changes the speed, never the rows"})
    fault_rate: float = field(
        default=0.5, metadata={"help": "share of tool situations with a scheduled fault, between 0 and 1"}
    )
    twins: bool = field(
        default=False, metadata={"help": "play every situation with a fault a second time without the fault"}
    )
    seeds: Sequence[str] = field(
        default=(), metadata={"help": "your own example asks; they come first and are never dropped"}
    )
    embedder: Any = field(
        default="hash",
        metadata={"help": "what tells near-copies apart: hash, wordllama, model2vec:<repo> or a callable"},
    )
    simulator: Any = field(
        default=None,
        metadata={"help": "model that writes the situations, or 'template'; unset: the agent's, else none"},
    )
    user_model: Any = field(
        default=None,
        metadata={
            "help": "model that plays the user in follow-up turns, or 'template'; unset: the agent's, else none"
        },
    )
    avg_turns: int = field(
        default=12, metadata={"help": "length of a conversation to aim at; the user speaks at most half of it"}
    )
    max_turns: int = field(default=12, metadata={"help": "agent turns in one rollout of a chat agent"})
    logprobs: Any = field(
        default=False,
        metadata={"help": "record log probabilities of generated tokens; 'tokens' keeps each", "cli": False},
    )
    sampling: dict[str, Any] | None = field(
        default=None,
        metadata={"help": "how your own agent samples; recorded on every row as given", "cli": False},
    )
    execute: Callable[[str, dict[str, Any]], Any] | None = field(
        default=None,
        metadata={"help": "execute(tool, arguments) -> result: your world instead of the simulated one", "cli": False},
    )
    output: str | None = field(
        default=None,
        metadata={"help": "JSONL file the rows are written to as they land (on the command line: rollouts.jsonl)"},
    )
    resume: str | None = field(
        default=None, metadata={"help": "JSONL file of a run that was cut off: its rows are kept, the rest is played"}
    )
    runs: int = field(default=1, metadata={"help": "times the whole task set is played; rows say which in lineage"})
    engine: str = field(
        default="local",
        metadata={"help": "ray: play on a Ray cluster, same rows (extra: ray)", "choices": ("local", "ray")},
    )
    reproducible: bool = field(
        default=False, metadata={"help": "accepted for compatibility: every run without a clock is reproducible"}
    )

    def __post_init__(self) -> None:
        for name in ("output", "resume"):
            if isinstance(getattr(self, name), os.PathLike):
                object.__setattr__(self, name, os.fspath(getattr(self, name)))
        for knob in dataclasses.fields(self):
            value = getattr(self, knob.name)
            if isinstance(value, SupportsIndex) and not isinstance(value, int | str):
                object.__setattr__(self, knob.name, operator.index(value))  # a whole number of numpy's
        check_config(self)

    def topology(self) -> Topology:
        """
        How many rows, situations, phrasings and repeats these knobs mean.

        Raises:
            [`ConfigurationError`]: `budget` is smaller than one group of repeats.
        """
        return resolve(self)


# The help of the flags, where `help()` shows it.
SimulationConfig.__doc__ = (
    (SimulationConfig.__doc__ or "")
    + "\n    Args:\n"
    + "".join(
        f"        {knob.name} (*optional*, defaults to `{knob.default!r}`):\n            {knob.metadata['help']}.\n"
        for knob in dataclasses.fields(SimulationConfig)
    )
)
# What the knobs are called elsewhere.
_ELSEWHERE = {
    "num_generations": "repeats",
    "k": "repeats",
    "rollouts_per_request": "repeats",
    "requests_per_situation": "phrasings",
    "n": "phrasings",
    "num_rollouts": "budget",
    "n_rows": "budget",
    "judge": "grader",
    "risk": "fault_rate",
    "policy": "system_prompt",
    "user_simulator": "user_model",
    "user": "user_model",
    "writer": "simulator",
    "max_concurrency": "concurrency",
    "num_proc": "concurrency",
    "timeout": "time_budget",
}
# Knobs of a model, which is made before the run.
_OF_MODELS = ("temperature", "top_p", "max_tokens", "base_url", "api_key", "model")


class SimulationKnobs(TypedDict, total=False):
    """The fields of [`SimulationConfig`] as keywords."""

    mode: str
    budget: int | None
    time_budget: float | None
    stop_grace: float
    until: str
    situations: int | None
    phrasings: int | None
    repeats: int | None
    repeat_policy: str | None
    probe: int | None
    explore_rate: float | None
    seed: int
    concurrency: int
    fault_rate: float
    twins: bool
    seeds: Sequence[str]
    embedder: Any
    simulator: Any
    user_model: Any
    avg_turns: int
    max_turns: int
    logprobs: Any
    sampling: dict[str, Any] | None
    execute: Callable[[str, dict[str, Any]], Any] | None
    output: str | None
    resume: str | None
    runs: int
    engine: str
    reproducible: bool


def make_config(config: SimulationConfig | None, knobs: SimulationKnobs) -> SimulationConfig:
    """A config with keywords laid over it, see [`overlay`]."""
    return overlay(SimulationConfig, config, knobs, _elsewhere)


def _elsewhere(name: str) -> str | None:
    if name in _OF_MODELS:
        return f"it belongs to a model: agent=as_model('openai:<model>', {name}=...)"
    return f"did you mean {_ELSEWHERE[name]!r}?" if name in _ELSEWHERE else None


def resolve_topology(config: SimulationConfig | None = None, **knobs: Any) -> Topology:
    """
    What a combination of knobs means, before any of it is run.

    Args:
        config ([`SimulationConfig`], *optional*):
            The base.
        **knobs:
            Fields of [`SimulationConfig`], such as `mode`, `situations`, `repeats` and `budget`.

    Returns:
        [`Topology`]: Its `str` says in a few sentences what will be run.

    Raises:
        [`ConfigurationError`]: A knob, or a combination, that cannot be honoured.

    Examples:
    ```python
    >>> print(resolve_topology(mode="rl", situations=200, repeats=8))
    rl: 200 situations x 1 phrasing, up to 8 rollouts each: at most 1600 rows
    two_stage: 3 rollouts of every prompt; to 8 where they disagree, and for 10% of the unanimous prompts

    ```
    """
    return make_config(config, knobs).topology()  # type: ignore[arg-type]  # make_config checks the names
