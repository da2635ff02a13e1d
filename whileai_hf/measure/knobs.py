"""Arguments that many reports take, checked in one place: a wrong one is one sentence and not a trace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError


def check_threshold(threshold: Any) -> float:
    """
    The reward from which a row passes, as a number.

    Raises:
        [`ConfigurationError`]: It is none.

    Examples:
    ```python
    >>> check_threshold(1)
    1.0

    ```
    """
    known = isinstance(threshold, int | float | np.integer | np.floating) and not isinstance(threshold, bool)
    if not known or not math.isfinite(threshold):
        raise ConfigurationError(f"threshold={threshold!r:.80} is no reward; pass the number from which a row passes")
    return float(threshold)


def check_seed(seed: Any) -> int:
    """
    A seed of random numbers.

    Raises:
        [`ConfigurationError`]: It is no whole number, or below 0.

    Examples:
    ```python
    >>> check_seed(7)
    7

    ```
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigurationError(f"seed={seed!r:.80} is no seed; pass a whole number from 0 on")
    return int(seed)


def check_count(name: str, count: Any, least: int = 0) -> int:
    """
    A whole number of at least `least`.

    Raises:
        [`ConfigurationError`]: Anything else.

    Examples:
    ```python
    >>> check_count("examples", 5)
    5

    ```
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        raise ConfigurationError(f"{name}={count!r:.80} is no count; pass {least} or more")
    return int(count)


def check_column(argument: str, name: Any) -> str:
    """
    The name of a column.

    Raises:
        [`ConfigurationError`]: No text, or an empty one.

    Examples:
    ```python
    >>> check_column("ref", "ref_logprob")
    'ref_logprob'

    ```
    """
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{argument}={name!r:.80} is no name of a column; pass text")
    return name
