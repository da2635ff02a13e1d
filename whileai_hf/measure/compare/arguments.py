"""Numbers callers pass, checked: each refusal is one sentence with what was given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError


# Characters of a wrong argument that are shown; rows passed in the wrong place would fill the screen.
_SHOWN = 60


def shown(value: Any) -> str:
    """A wrong argument as it is shown in an error."""
    text = repr(value) if isinstance(value, str | int | float | complex | None) else f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def is_real(value: Any) -> bool:
    """Whether a value is a finite number, one of numpy's included."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer no double holds
        return False


def check_whole(name: str, value: Any, least: int) -> int:
    """
    A whole number from `least` on.

    Examples:
    ```python
    >>> check_whole("seed", 3, 0)
    3

    ```
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ConfigurationError(f"{name}={shown(value)}; expected a whole number from {least} on")
    return int(value)


def check_rise(name: str, value: Any) -> float:
    """A finite number above 0."""
    if not is_real(value) or value <= 0:
        raise ConfigurationError(f"{name}={shown(value)} is not a rise; pass a number above 0, such as 0.05")
    return float(value)
