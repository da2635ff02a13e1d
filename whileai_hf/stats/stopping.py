"""k-way estimates for groups that were stopped early because their first verdicts agreed.

The rule: a group of `k` repeats is probed; a probe that disagrees is filled to `k`, a unanimous one with chance
`carry` only. Then no plain mean over groups is right: full groups are mostly mixed ones, and a group that was
unanimous when it was stopped need not have stayed so.

What makes it right is that repeats of one task are exchangeable. Every order of the verdicts of a full group is
equally likely, so how often such a group would have been stopped is known from its count alone, and the full groups
that are nearly unanimous say how many of the stopped ones would have split. A full group with `c` passes is worth

    (target[c] - sum over both ends of chance(stopped at that end | c) * value(end)) / chance(filled | c)

and a stopped one the value of its end. For any two end values the mean over groups is unbiased for every pass rate
(write out the sum over outcomes: the end values cancel), even with `carry = 0`; the ends are chosen so that it varies
little. The weight is a Horvitz-Thompson weight (1952) averaged over orders, after Rao and Blackwell.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError


FloatArray = NDArray[np.float64]
Ends = tuple[float, float]
# A chance below this is a rounding error of 1 - 1.
_NEVER = 1e-12


def _check(k: int, probe: int, carry: float) -> None:
    if not 1 <= probe <= k:
        raise ConfigurationError(f"a probe of {probe} out of {k} repeats is none; expected 1 <= probe <= k")
    if not 0.0 <= carry <= 1.0:
        raise ConfigurationError(f"carry={carry!r} is not a chance; expected a number between 0 and 1")


def _end_chances(k: int, probe: int) -> FloatArray:
    """Chance that the first `probe` of `k` verdicts all fail (row 0) or all pass (row 1), given `c = 0..k` passes."""
    passes = np.array([math.comb(c, probe) / math.comb(k, probe) for c in range(k + 1)])
    return np.stack([passes[::-1], passes])


def fill_chances(k: int, probe: int, carry: float) -> FloatArray:
    """
    Chance that a group whose `k` repeats hold `c` passes gets all of them, for `c = 0..k`.

    Args:
        k (`int`):
            Repeats of a full group.
        probe (`int`):
            Repeats before the decision; with `probe = k` there is none.
        carry (`float`):
            Chance that a unanimous group is filled.

    Examples:
    ```python
    >>> fill_chances(4, 2, 0.0).round(2).tolist()
    [0.0, 0.5, 0.67, 0.5, 0.0]

    ```
    """
    _check(k, probe, carry)
    if probe == k:
        return np.ones(k + 1)
    filled = 1.0 - (1.0 - carry) * _end_chances(k, probe).sum(axis=0)
    return np.where(filled < _NEVER, 0.0, filled)


def end_values(target: ArrayLike, probe: int, carry: float) -> Ends:
    """
    What stopped groups should count as: the values that make the mean over groups vary least.

    They are fixed before any verdict is seen, least squares over pass rates that follow Jeffreys' Beta(1/2, 1/2), so
    nothing is fitted and nothing is biased. With `carry = 0` there is no choice: a stopped group counts as unanimous.

    Args:
        target (array of shape `(k + 1,)`):
            What a full group of `k` with `c` passes would count as, for instance `pass_pow_k(k, range(k + 1), k)`.
        probe (`int`):
            Repeats before the decision.
        carry (`float`):
            Chance that a unanimous group is filled.

    Returns:
        `tuple[float, float]`: Value of a group stopped with no pass, and of one stopped with nothing but passes.

    Examples:
    ```python
    >>> end_values([0, 0, 0, 0, 1], probe=2, carry=0.0)
    (0.0, 1.0)

    ```
    """
    aim = np.asarray(target, dtype=np.float64)
    k = aim.size - 1
    _check(k, probe, carry)
    ends = np.array([aim[0], aim[-1]])
    if carry < _NEVER or carry == 1.0 or probe == k:
        return float(ends[0]), float(ends[1])
    filled = fill_chances(k, probe, carry)
    pull = -(1.0 - carry) * _end_chances(k, probe) / filled  # what one unit of an end value adds to a full group
    # Chances under Jeffreys' prior: of c passes in k, and of a group stopped at either end.
    weight = np.array([math.exp(_log_jeffreys(c, k)) for c in range(k + 1)]) * filled
    at_end = (1.0 - carry) * math.exp(_log_jeffreys(probe, probe))
    normal = (pull * weight) @ pull.T + at_end * np.eye(2)
    best = np.linalg.solve(normal, -(pull * weight) @ (aim / filled))
    return float(best[0]), float(best[1])


def _log_jeffreys(c: int, n: int) -> float:
    """Log chance of `c` passes in `n` when the pass rate follows Beta(1/2, 1/2)."""
    above = math.lgamma(c + 0.5) + math.lgamma(n - c + 0.5)
    return above - math.lgamma(c + 1) - math.lgamma(n - c + 1) - math.log(math.pi)


def expected_value(target: ArrayLike, probe: int, passes: int) -> float:
    """
    What a full group will count as, given its probe: the mean under Jeffreys' prior, nothing fitted.

    Args:
        target (array of shape `(k + 1,)`):
            What a full group of `k` with `c` passes counts as.
        probe (`int`):
            Repeats seen.
        passes (`int`):
            How many of them passed.

    Examples:
    ```python
    >>> round(expected_value([0, 0.5, 1], probe=1, passes=1), 3)
    0.875

    ```
    """
    aim = np.asarray(target, dtype=np.float64)
    k = aim.size - 1
    rest = k - probe
    # P(c | probe) is proportional to the ways to get there times P(this very order of c in k).
    logs = [
        math.log(math.comb(rest, c - passes)) + _log_jeffreys(c, k) - math.log(math.comb(k, c))
        for c in range(passes, passes + rest + 1)
    ]
    chances = np.exp(np.array(logs) - max(logs))
    return float(aim[passes : passes + rest + 1] @ chances / chances.sum())


def full_values(target: ArrayLike, probe: int, carry: float, ends: Ends) -> FloatArray:
    """
    What full groups count as, by their passes, so that together with the stopped ones the mean is unbiased.

    Args:
        target (array of shape `(k + 1,)`):
            What a group of `k` with `c` passes would count as if no group were ever stopped.
        probe (`int`):
            Repeats before the decision.
        carry (`float`):
            Chance that a unanimous group is filled.
        ends (`tuple[float, float]`):
            Values of stopped groups, from [`end_values`].

    Returns:
        `np.ndarray` of shape `(k + 1,)`: One value per count; 0 for a count that cannot be reached.

    Examples:
    ```python
    >>> full_values([0, 0, 0, 0, 1], probe=2, carry=0.0, ends=(0.0, 1.0)).round(2).tolist()
    [0.0, 0.0, -0.25, -1.0, 0.0]

    ```
    """
    aim = np.asarray(target, dtype=np.float64)
    k = aim.size - 1
    filled = fill_chances(k, probe, carry)
    if probe == k:
        return aim
    stopped = (1.0 - carry) * _end_chances(k, probe)
    rest = aim - np.array(ends) @ stopped
    return np.where(filled > 0.0, rest / np.where(filled > 0.0, filled, 1.0), 0.0)


def probe_rates(k: int, probe: int, carry: float) -> FloatArray:
    """
    Pass rate of the probe, averaged over the orders in which a full group may have come: an unbiased pass@1 that
    varies less than the probe itself.

    Args:
        k (`int`):
            Repeats of the full group.
        probe (`int`):
            Repeats before the decision.
        carry (`float`):
            Chance that a unanimous group is filled.

    Returns:
        `np.ndarray` of shape `(k + 1,)`: One rate per count of passes, each in `[0, 1]`.

    Examples:
    ```python
    >>> probe_rates(8, 3, 0.1).round(2).tolist()
    [0.0, 0.29, 0.37, 0.44, 0.5, 0.56, 0.63, 0.71, 1.0]

    ```
    """
    filled = fill_chances(k, probe, carry)
    rates = np.arange(k + 1) / k  # the mean of the probe over all orders, before any group is stopped
    if probe == k:
        return rates
    reached = filled > 0.0
    gone = (1.0 - carry) * _end_chances(k, probe)[1]
    return np.where(reached, (rates - gone) / np.where(reached, filled, 1.0), rates)
