"""What a judge may answer: a scale says which words and numbers are on it, how to ask for one, and what it is worth.

To add one, subclass [`VerdictScale`] and give it its words, its numbers (`number`) and how it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError


_PASSING = ("yes", "pass", "passed", "passes", "true", "correct", "met", "success", "successful", "succeeded", "1")
_FAILING = ("no", "fail", "failed", "fails", "false", "incorrect", "unmet", "wrong", "failure", "unsuccessful", "0")
# What the letters of the usual graders stand for, when a judge writes the word instead.
_SPELLED = {"C": "correct", "I": "incorrect", "P": "partial", "Y": "yes", "N": "no", "T": "true", "F": "false"}


class VerdictScale:
    """
    Base class of scales.

    Examples:
    ```python
    >>> Scale(1, 5).reward(4.0), Binary().words["incorrect"]
    (0.75, 0.0)

    ```
    """

    key: str = "verdict"
    """Key of the verdict in the JSON that is asked for."""
    words: Mapping[str, float]
    """Lower-case words on the scale and their values."""
    likert: bool = False
    """Whether the value is a rating, to be kept beside the reward."""

    def number(self, value: float, base: float | None = None) -> float | None:
        """
        The value of a number that was written.

        Args:
            value (`float`):
                The number.
            base (`float`, *optional*):
                What it was given out of: 10 in `7/10`, 100 in `70%`.

        Returns:
            `float` or `None`: `None` when it is not on the scale.
        """
        if base is not None and base != 1.0:
            return None
        return value if value in (0.0, 1.0) else None

    def reward(self, value: float) -> float:
        """What a value is worth, from 0 to 1."""
        return value

    def schema(self) -> dict[str, Any]:
        """JSON schema of the verdict alone."""
        return {"type": "string", "enum": ["pass", "fail"]}

    def wording(self) -> str:
        """How the verdict is asked for."""
        return '"pass" or "fail"'

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class Binary(VerdictScale):
    """Pass or fail, under any of their usual names; 1 and 0 as numbers."""

    words: Mapping[str, float] = {**dict.fromkeys(_PASSING, 1.0), **dict.fromkeys(_FAILING, 0.0)}


class YesNo(VerdictScale):
    """Yes or no and nothing between."""

    words: Mapping[str, float] = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}

    def schema(self) -> dict[str, Any]:
        """JSON schema of the verdict alone."""
        return {"type": "string", "enum": ["yes", "no"]}

    def wording(self) -> str:
        """How the verdict is asked for."""
        return '"yes" or "no"'


class Letters(VerdictScale):
    """
    Letters that stand for values, as graders use them.

    Args:
        mapping (`Mapping[str, float]`, *optional*, defaults to `{"C": 1, "I": 0}`):
            Letter or word to its value, from 0 to 1.

    Raises:
        [`ConfigurationError`]: No letters, or a value outside 0 to 1.
    """

    key = "grade"

    def __init__(self, mapping: Mapping[str, float] | None = None) -> None:
        given = {"C": 1.0, "I": 0.0} if mapping is None else dict(mapping)
        if not given or not all(isinstance(name, str) and name.strip() for name in given):
            raise ConfigurationError(f"Letters got {mapping!r:.80}; pass a mapping of letters to values")
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ConfigurationError(f"Letters maps {name!r} to {value!r}; pass a number from 0 to 1")
        self.mapping = {name.strip(): float(value) for name, value in given.items()}
        spelled = {_SPELLED[name.upper()]: value for name, value in self.mapping.items() if name.upper() in _SPELLED}
        self.words = {**spelled, **{name.casefold(): value for name, value in self.mapping.items()}}

    def number(self, value: float, base: float | None = None) -> float | None:
        """Letters have no numbers."""
        return None

    def schema(self) -> dict[str, Any]:
        """JSON schema of the verdict alone."""
        return {"type": "string", "enum": list(self.mapping)}

    def wording(self) -> str:
        """How the verdict is asked for."""
        return "one of " + ", ".join(f'"{name}"' for name in self.mapping)

    def __repr__(self) -> str:
        return f"Letters({self.mapping!r})"


class Scale(VerdictScale):
    """
    A rating from `lo` to `hi`.

    Args:
        lo (`float`):
            The worst rating.
        hi (`float`):
            The best one.

    Raises:
        [`ConfigurationError`]: When `lo` is not below `hi`.
    """

    key = "rating"
    words: Mapping[str, float] = {}
    likert = True

    def __init__(self, lo: float, hi: float) -> None:
        for bound in (lo, hi):
            if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
                raise ConfigurationError(f"scale=({lo!r}, {hi!r}) has a bound that is no finite number")
        if lo >= hi:
            raise ConfigurationError(f"scale=({lo!r}, {hi!r}) has no room; pass the worst rating, then the best")
        self.lo, self.hi = float(lo), float(hi)

    def number(self, value: float, base: float | None = None) -> float | None:
        """The rating, `None` when it is off the scale. A share (`80%`, `8/10`) is a rating from 0 to 1 only."""
        if base is not None and base != self.hi:
            if (self.lo, self.hi) != (0.0, 1.0) or base <= 0:
                return None
            value = value / base
        return value if self.lo <= value <= self.hi else None

    def reward(self, value: float) -> float:
        """The rating from 0 at `lo` to 1 at `hi`."""
        return (value - self.lo) / (self.hi - self.lo)

    def schema(self) -> dict[str, Any]:
        """JSON schema of the verdict alone."""
        return {"type": "number", "minimum": self.lo, "maximum": self.hi}

    def wording(self) -> str:
        """How the verdict is asked for."""
        return f"a number from {self.lo:g} (worst) to {self.hi:g} (best)"

    def __repr__(self) -> str:
        return f"Scale({self.lo:g}, {self.hi:g})"


def as_scale(scale: VerdictScale | tuple[float, float] | list[float] | None) -> VerdictScale:
    """
    The scale a user means.

    Args:
        scale ([`VerdictScale`] or `(lo, hi)`, *optional*):
            Pass or fail when left out.

    Raises:
        [`ConfigurationError`]: When it is neither.

    Examples:
    ```python
    >>> as_scale((1, 5)), as_scale(None)
    (Scale(1, 5), Binary())

    ```
    """
    if scale is None:
        return Binary()
    if isinstance(scale, VerdictScale):
        return scale
    if isinstance(scale, tuple | list) and len(scale) == 2:
        return Scale(scale[0], scale[1])
    raise ConfigurationError(f"scale={scale!r:.60}; pass (lo, hi), such as (1, 5), or leave it out for pass and fail")
