"""Knobs as keywords: one dataclass per stage, whose fields are keywords of a function, flags and YAML keys.

Every stage lays keywords over its config in the same way and answers a misspelt one with the name that was meant.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from whileai_hf.errors import ConfigurationError


class Knobs(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Config = TypeVar("Config", bound=Knobs)

# How alike a misspelt knob and a known one have to be, 0 to 1, for the known one to be suggested.
_ALIKE = 0.5


def overlay(
    kind: type[Config],
    config: Config | None,
    knobs: Mapping[str, Any],
    hint: Callable[[str], str | None] | None = None,
) -> Config:
    """
    A config with keywords laid over it.

    Args:
        kind (`type`):
            The dataclass.
        config (dataclass instance, *optional*):
            The base; the defaults without it.
        knobs (`Mapping[str, Any]`):
            Fields to replace.
        hint (`Callable[[str], str | None]`, *optional*):
            What to say about an unknown knob that belongs elsewhere.

    Raises:
        [`ConfigurationError`]: A config of another kind, or an unknown knob; the message names the nearest known one.

    Examples:
    ```python
    >>> @dataclasses.dataclass(frozen=True)
    ... class Sampling:
    ...     temperature: float = 0.7
    >>> overlay(Sampling, None, {"temperature": 0.2})
    Sampling(temperature=0.2)
    >>> overlay(Sampling, None, {"temprature": 0.2})
    Traceback (most recent call last):
        ...
    whileai_hf.errors.ConfigurationError: unknown knob 'temprature'; did you mean 'temperature'?

    ```
    """
    if config is not None and not isinstance(config, kind):
        raise ConfigurationError(
            f"config is a {type(config).__name__}; pass a {kind.__name__}, or its fields as keywords"
        )
    known = [knob.name for knob in dataclasses.fields(kind)]
    for name in knobs:
        if name not in known:
            raise ConfigurationError(f"unknown knob {name!r}; {(hint and hint(name)) or nearest(name, known)}")
    return dataclasses.replace(kind() if config is None else config, **knobs)


def nearest(name: str, known: list[str]) -> str:
    """What to say about a knob that is none."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
    return f"did you mean {near[0]!r}?" if near else f"the knobs are {', '.join(known)}"
