"""How a model samples: the knobs of a spec string, checked once."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from whileai_hf.errors import ConfigurationError


# Seconds one try may take. Long answers of slow local servers take a minute; two say the server hangs.
DEFAULT_TIMEOUT = 120.0
# The range OpenAI-compatible servers accept.
_HOTTEST = 2.0


@dataclass(frozen=True)
class Sampling:
    """
    Sampling knobs. What is left out is left to the server.

    Args:
        temperature (`float`, *optional*):
            Between 0 and 2.
        top_p (`float`, *optional*):
            Above 0, at most 1.
        max_tokens (`int`, *optional*):
            Tokens one answer may have.
        seed (`int`, *optional*):
            Seed of calls that bring none of their own; rollouts mix it into theirs.
        stop (`str` or `list[str]`, *optional*):
            Texts that end the answer.
        timeout (`float`, *optional*, defaults to `120.0`):
            Seconds one try may take.
        thinking (`bool`, *optional*):
            Switches the reasoning of models whose chat template knows `enable_thinking`.

    Raises:
        ConfigurationError: When a value is out of range.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    timeout: float = DEFAULT_TIMEOUT
    thinking: bool | None = None

    def __post_init__(self) -> None:
        _number("temperature", self.temperature, 0.0, _HOTTEST)
        _number("top_p", self.top_p, math.ulp(0.0), 1.0)
        _number("timeout", self.timeout, math.ulp(0.0), math.inf)
        for name, least in (("max_tokens", 1), ("seed", None)):
            value = getattr(self, name)
            if value is not None and (not _is_integer(value) or (least is not None and value < least)):
                bound = f" of at least {least}" if least is not None else ""
                raise ConfigurationError(f"{name} is {value!r}; pass a whole number{bound}.")
        if self.thinking not in (None, True, False):
            raise ConfigurationError(f"thinking is {self.thinking!r}; pass True, False or None (the model's default).")
        texts = [self.stop] if isinstance(self.stop, str) else self.stop
        if texts is not None and not (isinstance(texts, list) and all(isinstance(t, str) and t for t in texts)):
            raise ConfigurationError(f"stop is {self.stop!r:.60}; pass a text or a list of texts.")

    @classmethod
    def of(cls, knobs: Mapping[str, Any]) -> Sampling:
        """
        The sampling that keyword arguments ask for.

        Raises:
            ConfigurationError: When a knob does not exist; names the nearest one.

        Examples:
        ```python
        >>> Sampling.of({"temperature": 0.7}).request()
        {'temperature': 0.7}

        ```
        """
        known = [knob.name for knob in fields(cls)]
        for name in knobs:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
                hint = f"did you mean {near[0]!r}?" if near else f"the knobs are {', '.join(known)}."
                raise ConfigurationError(f"{name!r} is no sampling knob; {hint}")
        given = dict(knobs)
        if given.get("timeout", 0) is None:
            del given["timeout"]
        if isinstance(given.get("stop"), tuple):
            given["stop"] = list(given["stop"])
        return cls(**given)

    def request(self) -> dict[str, Any]:
        """The fields of a chat request, without the seed, which is each call's own."""
        named = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "stop")}
        body = {name: value for name, value in named.items() if value is not None}
        if self.thinking is not None:
            body["chat_template_kwargs"] = {"enable_thinking": self.thinking}
        return body

    def shown(self) -> dict[str, Any]:
        """What a row keeps: the knobs that decide what is sampled, those left to the server left out."""
        values = {knob.name: getattr(self, knob.name) for knob in fields(self)}
        return {name: value for name, value in values.items() if name != "timeout" and value is not None}


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(name: str, value: object, low: float, high: float) -> None:
    if value is None and name != "timeout":
        return
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return
    bounds = "above 0" if high == math.inf else f"{'above 0' if low else 'from 0'} to {high:g}"
    raise ConfigurationError(f"{name} is {value!r}; pass a number {bounds}.")
