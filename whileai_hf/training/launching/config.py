"""The knobs of `train`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypedDict

from whileai_hf.errors import ConfigurationError


METHODS = ("sft", "dpo", "kto", "reward", "grpo")
OTHER_NAMES = {"rm": "reward"}
PLACES = ("subprocess", "inline", "jobs")
# Small enough for one GPU of 24 GB with LoRA, and it calls tools.
BASE_MODEL = "Qwen/Qwen3-0.6B"
# How long each method trains unless said otherwise: SFT counts epochs, the others steps of the optimizer.
DEFAULT_LENGTH: Mapping[str, Mapping[str, int]] = {
    "sft": {"num_train_epochs": 2},
    "dpo": {"max_steps": 100},
    "kto": {"max_steps": 100},
    "reward": {"max_steps": 60},
    "grpo": {"max_steps": 100},
}


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """
    Knobs of [`train`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> TrainConfig(steps=20).lora
    True

    ```
    """

    epochs: float | None = field(default=None, metadata={"help": "passes over the data"})
    steps: int | None = field(default=None, metadata={"help": "steps of the optimizer, in place of epochs"})
    learning_rate: float | None = field(default=None, metadata={"help": "peak learning rate"})
    batch_size: int | None = field(default=None, metadata={"help": "rows of a step on one device"})
    beta: float | None = field(default=None, metadata={"help": "weight of the KL term (dpo, kto, grpo)"})
    generations: int | None = field(default=None, metadata={"help": "rollouts of a prompt in one step (grpo)"})
    seed: int | None = field(default=None, metadata={"help": "seed of the training"})
    lora: bool = field(default=True, metadata={"help": "train an adapter; the whole model otherwise"})
    holdout: str | None = field(default=None, metadata={"help": "held-out rows (default: the split beside the data)"})
    k: int | None = field(default=None, metadata={"help": "rollouts of every held-out task"})
    agent: str | None = field(default=None, metadata={"help": "agent spec in place of the tools on the rows"})
    reward: Callable[..., Any] | str | None = field(
        default=None, metadata={"help": "judge or reward function, as module:name or a function of a module"}
    )
    gold: Callable[..., Any] | str | None = field(
        default=None, metadata={"help": "judge of the held-out rollouts, which training does not see"}
    )
    execute: Callable[..., Any] | str | None = field(
        default=None, metadata={"help": "execute(tool, arguments), your world instead of the simulated one"}
    )
    output: str | None = field(default=None, metadata={"help": "folder for weights (default: in the run's folder)"})
    push_to: str | None = field(default=None, metadata={"help": "model repo for the result, namespace/name"})
    flags: Mapping[str, Any] = field(
        default_factory=dict, metadata={"help": "any other flag of the program, by its name in TRL"}
    )
    flavor: str | None = field(default=None, metadata={"help": "hardware of a job (default: the program's own)"})
    timeout: str | None = field(default=None, metadata={"help": "longest time of a job, such as '3h'"})
    namespace: str | None = field(default=None, metadata={"help": "account or organisation that pays for a job"})

    def __post_init__(self) -> None:
        if self.epochs is not None and self.steps is not None:
            raise ConfigurationError(f"epochs={self.epochs} and steps={self.steps} both say how long to train")
        for name in ("epochs", "steps", "learning_rate", "batch_size", "generations", "k"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
                raise ConfigurationError(f"{name}={value!r} is no positive number")
        if not isinstance(self.flags, Mapping):
            raise ConfigurationError(f"flags is a {type(self.flags).__name__}; pass a dict of flags by name")


class TrainKnobs(TypedDict, total=False):
    """The fields of [`TrainConfig`] as keywords."""

    epochs: float | None
    steps: int | None
    learning_rate: float | None
    batch_size: int | None
    beta: float | None
    generations: int | None
    seed: int | None
    lora: bool
    holdout: str | None
    k: int | None
    agent: str | None
    reward: Callable[..., Any] | str | None
    gold: Callable[..., Any] | str | None
    execute: Callable[..., Any] | str | None
    output: str | None
    push_to: str | None
    flags: Mapping[str, Any]
    flavor: str | None
    timeout: str | None
    namespace: str | None


def method_of(name: Any) -> str:
    """
    The method a name stands for.

    Raises:
        [`ConfigurationError`]: There is none.
    """
    method = OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    if method not in METHODS:
        raise ConfigurationError(f"method={name!r}; train knows {', '.join(map(repr, METHODS))}")
    return str(method)
