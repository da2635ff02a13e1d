"""Reward functions as TRL knows them: their name, whether they are awaited, and whose trainer they were called by."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any


def name_of(function: Callable[..., Any]) -> str:
    """
    The name a trainer logs a reward function under: its own, that of what a partial wraps, or that of its class.

    Examples:
    ```python
    >>> def concise(completions, **columns): ...
    >>> name_of(functools.partial(concise, limit=3))
    'concise'

    ```
    """
    while isinstance(function, functools.partial):
        function = function.func
    # Instances of a class may carry a name like functions do, and mostly do not.
    return str(getattr(function, "__name__", type(function).__name__))


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call gives something to be awaited; of an instance its `__call__` says it."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


@dataclasses.dataclass(frozen=True)
class Caller:
    """
    What the trainer that called says about a batch; `None` for what nobody says.

    Args:
        evaluating (`bool`, *optional*):
            Whether the policy is being evaluated.
        weights (`dict[str, float]`, *optional*):
            Every reward source the trainer sums up, with its weight.
        longest (`int`, *optional*):
            Tokens a completion is cut off at.
        ends (`frozenset[int]`):
            Tokens that end a completion by themselves.
        temperature (`float`, *optional*):
            Of sampling.
    """

    evaluating: bool | None = None
    weights: dict[str, float] | None = None
    longest: int | None = None
    ends: frozenset[int] = frozenset()
    temperature: float | None = None


UNKNOWN = Caller()


def caller_of(columns: Mapping[str, Any]) -> Caller:
    """
    Reads the trainer behind a call: `log_metric`, which reward functions are handed, is a method of it.

    Args:
        columns (`Mapping[str, Any]`):
            What a reward function was called with.
    """
    log_metric = columns.get("log_metric")
    trainer = log_metric.__self__ if inspect.ismethod(log_metric) else None
    library = sys.modules.get("transformers")
    if library is None or not isinstance(trainer, library.Trainer):
        return UNKNOWN
    arguments = vars(trainer.args)  # `to_dict` would copy a hundred of them for every batch
    tokenizer: Any = trainer.processing_class
    ends = (
        [token for token in (tokenizer.eos_token_id, tokenizer.pad_token_id) if isinstance(token, int)]
        if (isinstance(tokenizer, library.PreTrainedTokenizerBase))
        else []
    )
    return Caller(
        evaluating=not trainer.model.training,
        weights=weights_of(trainer),
        longest=arguments.get("max_completion_length"),
        ends=frozenset(ends),
        temperature=arguments.get("temperature"),
    )


def weights_of(trainer: Any) -> dict[str, float] | None:
    """The reward sources of a trainer of TRL by name, with their weights; `None` for a trainer without."""
    own = vars(trainer)
    names, weights = own.get("reward_func_names"), own.get("reward_weights")
    return None if names is None or weights is None else dict(zip(names, weights.tolist(), strict=True))


def is_model(function: Any) -> bool:
    """Whether a reward source is a model, which a trainer calls with tokens."""
    torch = sys.modules.get("torch")  # a reward model can only be there when torch is
    return torch is not None and isinstance(function, torch.nn.Module)
