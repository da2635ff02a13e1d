"""How a reward wants to be called, read from its signature.

A trainer's reward function takes `prompts` and `completions` and every column of the dataset by keyword, one list
each; a judge takes one row.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError, MissingColumnError
from whileai_hf.score.checking.hints import texts_of
from whileai_hf.score.judging import judge_name
from whileai_hf.score.verdicts import Named
from whileai_hf.score.verify.base import Verifier


# What a trainer passes besides the columns of the dataset.
GIVEN = ("prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric")
ENVIRONMENTS = "environments"
"""What a trainer passes besides, where its rollouts act in live environments."""
_TELLING = frozenset({"prompts", "completions", "completion_ids", ENVIRONMENTS})
_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_POSITIONAL = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)


def parameters_of(reward: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """The parameters of a reward; `None` for a built-in that does not say."""
    try:
        return inspect.signature(reward).parameters
    except (TypeError, ValueError):
        return None


def is_trainer_reward(reward: Any) -> bool:
    """
    Whether a reward is called as a trainer does, with lists; otherwise it is a judge, called with a row.

    Raises:
        [`ConfigurationError`]: It is no function, or its signature fits neither.

    Examples:
    ```python
    >>> is_trainer_reward(lambda completions, **kwargs: [1.0] * len(completions)), is_trainer_reward(lambda row: 1.0)
    (True, False)

    ```
    """
    if isinstance(reward, str):
        raise ConfigurationError(
            f"reward_funcs holds the text {reward!r}; the name of a model is no function: pass a judge that loads it"
        )
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(reward, torch.nn.Module):
        raise ConfigurationError(
            f"reward_funcs holds a {type(reward).__name__}, a model that needs its tokenizer; pass a judge around it"
        )
    if not callable(reward) or isinstance(reward, type):
        raise ConfigurationError(
            f"reward_funcs holds {reward!r:.80}, which cannot be called; pass functions (an instance, not a class)"
        )
    if isinstance(reward, Verifier):
        return False
    parameters = parameters_of(reward)
    if parameters is None:
        return False
    if _TELLING & parameters.keys():
        return True
    kinds = [parameter.kind for parameter in parameters.values()]
    required = [p for p in parameters.values() if p.kind in _POSITIONAL and p.default is p.empty]
    forced = [p for p in parameters.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(required) == 1 and not forced:
        return False
    if inspect.Parameter.VAR_KEYWORD in kinds:  # a wrapper that hands everything on
        return True
    if not required and inspect.Parameter.VAR_POSITIONAL in kinds:
        return False
    raise ConfigurationError(
        f"{name_of(reward)}({', '.join(parameters)}) is neither a reward function of a trainer, "
        "(prompts, completions, **columns), nor a judge, (row); rename its parameters or wrap it"
    )


def name_of(reward: Callable[..., Any]) -> str:
    """
    The name a trainer logs a reward under; a judge's own where it has one.

    Examples:
    ```python
    >>> import functools
    >>> def accuracy(completions, strict): ...
    >>> name_of(functools.partial(accuracy, strict=True))
    'accuracy'

    ```
    """
    while isinstance(reward, functools.partial):
        reward = reward.func
    if isinstance(reward, Named) and isinstance(reward.name, str):
        return reward.name
    if inspect.isroutine(reward):
        return reward.__name__
    try:
        own = vars(reward).get("__name__")
    except TypeError:  # an object without attributes of its own
        own = None
    return own if isinstance(own, str) else judge_name(reward)


def needs_environments(reward: Callable[..., Any]) -> bool:
    """
    Whether a reward function cannot be called without live environments.

    Examples:
    ```python
    >>> needs_environments(lambda environments, **_: []), needs_environments(lambda environments=None, **_: [])
    (True, False)

    ```
    """
    parameter = (parameters_of(reward) or {}).get(ENVIRONMENTS)
    bound = reward.keywords if isinstance(reward, functools.partial) else {}
    return parameter is not None and parameter.default is parameter.empty and ENVIRONMENTS not in bound


def reads_environments(reward: Callable[..., Any]) -> bool:
    """Whether a reward function names live environments, or the key under which a trainer passes them."""
    return ENVIRONMENTS in (parameters_of(reward) or {}) or ENVIRONMENTS in texts_of(reward)


def needed_columns(
    reward: Callable[..., Any], columns: Sequence[str], *, generic: bool
) -> tuple[list[str], list[str]]:
    """
    The columns a trainer's reward function names, and those it names but could do without and that are not there.

    Args:
        reward (`Callable`):
            The function.
        columns (`Sequence[str]`):
            Columns there are.
        generic (`bool`):
            Whether they are those of the generic asks.

    Raises:
        [`MissingColumnError`]: It needs one that is not there.
    """
    parameters = parameters_of(reward) or {}
    asked = [p for p in parameters.values() if p.kind in _KEYWORD and p.name not in GIVEN]
    bound = reward.keywords if isinstance(reward, functools.partial) else {}
    required = [p.name for p in asked if p.default is p.empty and p.name not in bound]
    missing = [name for name in required if name not in columns]
    if missing:
        there = "the generic asks have" if generic else "the dataset has"
        advice = "pass a dataset that has it" if generic else "add it to the dataset, or rename the argument"
        raise MissingColumnError(
            f"{name_of(reward)} needs the column {missing[0]!r}; {there} {', '.join(columns) or 'none'}: {advice}"
        )
    optional = [p.name for p in asked if p.name not in (*required, *bound, ENVIRONMENTS)]
    return [p.name for p in asked if p.name in columns], [name for name in optional if name not in columns]


def takes_everything(reward: Callable[..., Any]) -> bool:
    """Whether a function takes keywords it does not name, as a trainer passes them."""
    parameters = parameters_of(reward)
    return parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
