"""What a reward function may hand back, and what a trainer makes of it.

A trainer takes one finite number or `None` for every completion. NaN counts as `None`, which hides a mistake; an
infinite reward turns the advantages of its whole group into NaN; text ends the training.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from whileai_hf.score.verdicts import as_number


class Fault(NamedTuple):
    """Something wrong with one call of a reward."""

    kind: str
    detail: str
    reply: int | None = None
    """Which of the replies of the call; `None` for the call as a whole."""


def read_rewards(returned: Any, n: int) -> tuple[list[float | None], list[Fault]]:
    """
    The rewards of a batch as finite numbers or `None`, and what is wrong with them.

    Args:
        returned (`Any`):
            What the function returned.
        n (`int`):
            Replies it was given.

    Returns:
        `tuple[list[float | None], list[Fault]]`: Always `n` rewards.

    Examples:
    ```python
    >>> read_rewards([1, None, True], 3)[0], [fault.kind for fault in read_rewards([1, "0.5"], 2)[1]]
    ([1.0, None, 1.0], ['text'])
    >>> [fault.kind for fault in read_rewards(0.5, 2)[1]]
    ['no list']

    ```
    """
    nothing: list[float | None] = [None] * n
    if isinstance(returned, str | bytes | dict) or not isinstance(returned, Iterable):
        what = "None" if returned is None else f"a {type(returned).__name__}"
        return nothing, [Fault("no list", f"it returned {what} for {n} replies; a list of {n} was expected")]
    try:
        given = list(returned)
    except TypeError as error:  # a tensor or array of no dimension
        return nothing, [Fault("no list", f"it returned a {type(returned).__name__} that is no list ({error})")]
    if len(given) != n:
        return nothing, [Fault("length", f"it returned {len(given)} rewards for {n} replies")]
    read: list[float | None] = []
    faults = []
    for index, value in enumerate(given):
        reward, fault = read_reward(value)
        read.append(reward)
        if fault is not None:
            faults.append(fault._replace(reply=index))
    return read, faults


def read_reward(value: Any) -> tuple[float | None, Fault | None]:
    """One reward, and what is wrong with it."""
    if value is None:
        return None, None
    if isinstance(value, bool):
        return float(value), Fault("bool", "it returned a bool")
    number = as_number(value)
    if number is not None:
        return number, None
    if isinstance(value, str | bytes):
        return None, Fault("text", f"it returned the text {value!r:.40}")
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None, Fault("text", f"it returned a {type(value).__name__} ({value!r:.40})")
    if math.isnan(number):
        return None, Fault("nan", "it returned NaN")
    if math.isinf(number):
        return None, Fault("inf", f"it returned {number}")
    return number, Fault("tensor", f"it returned a {type(value).__name__}")
