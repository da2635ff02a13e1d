"""What k repeats of a task say: the unbiased pass@k and pass^k, and how often a group of k is mixed."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError


FloatArray = NDArray[np.float64]

# Factors held at a time: bounds memory to a few megabytes for groups of a million repeats.
_BLOCK = 1 << 18


def _counts(n: ArrayLike, c: ArrayLike, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ConfigurationError(f"k={k!r} is not a number of repeats; pass a whole number from 1 on")
    rollouts, passed = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64))
    if np.any(passed < 0) or np.any(passed > rollouts):
        raise ConfigurationError("passes c must lie between 0 and the number of rollouts n; check the counts")
    return rollouts, passed


def _all_drawn(n: NDArray[np.int64], c: NDArray[np.int64], k: int) -> FloatArray:
    """`C(c, k) / C(n, k)`: the chance that k rollouts drawn without replacement are among the c; `nan` if n < k."""
    short = n < k
    total = np.where(short, k, n)
    share = np.ones(n.shape)
    # A product of k ratios in [0, 1] keeps a relative error of about k roundings; factorials would overflow.
    width = max(1, _BLOCK // max(1, n.size))
    for start in range(0, k, width):
        i = np.arange(start, min(k, start + width))
        share *= np.prod(np.maximum(c[..., None] - i, 0) / (total[..., None] - i), axis=-1)
    return np.where(short, np.nan, share)


@overload
def pass_at_k(n: int, c: int, k: int) -> float: ...
@overload
def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Any: ...
def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Any:
    """
    Unbiased estimate of the chance that at least one of k rollouts passes, `1 - C(n-c, k) / C(n, k)`
    (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1).

    Args:
        n (`int` or array of `int`):
            Rollouts of each task.
        c (`int` or array of `int`):
            How many of them passed.
        k (`int`):
            Size of the draw, at least 1.

    Returns:
        `float` or `np.ndarray`: One estimate per task; `nan` where `k > n`, since it cannot be estimated.

    Raises:
        [`ConfigurationError`]: `k < 1`, or not `0 <= c <= n`.

    Examples:
    ```python
    >>> pass_at_k(4, 1, 2)
    0.5

    ```
    """
    rollouts, passed = _counts(n, c, k)
    value = 1.0 - _all_drawn(rollouts, rollouts - passed, int(k))
    return float(value) if value.ndim == 0 else value


@overload
def pass_pow_k(n: int, c: int, k: int) -> float: ...
@overload
def pass_pow_k(n: ArrayLike, c: ArrayLike, k: int) -> Any: ...
def pass_pow_k(n: ArrayLike, c: ArrayLike, k: int) -> Any:
    """
    Unbiased estimate of the chance that all of k rollouts pass, `C(c, k) / C(n, k)` (pass^k; Yao et al. 2024,
    "tau-bench").

    Args:
        n (`int` or array of `int`):
            Rollouts of each task.
        c (`int` or array of `int`):
            How many of them passed.
        k (`int`):
            Size of the draw, at least 1.

    Returns:
        `float` or `np.ndarray`: One estimate per task; `nan` where `k > n`, since it cannot be estimated.

    Raises:
        [`ConfigurationError`]: `k < 1`, or not `0 <= c <= n`.

    Examples:
    ```python
    >>> pass_pow_k(4, 3, 2)
    0.5

    ```
    """
    rollouts, passed = _counts(n, c, k)
    value = _all_drawn(rollouts, passed, int(k))
    return float(value) if value.ndim == 0 else value


@overload
def mixed_group_rate(p: float, k: int) -> float: ...
@overload
def mixed_group_rate(p: ArrayLike, k: int) -> Any: ...
def mixed_group_rate(p: ArrayLike, k: int) -> Any:
    """
    How often k rollouts of a task with pass rate p disagree, `1 - p^k - (1-p)^k`: the share of groups that carry a
    gradient for a group-relative update.

    Args:
        p (`float` or array of `float`):
            Pass rate, in `[0, 1]`.
        k (`int`):
            Rollouts in a group, at least 1.

    Returns:
        `float` or `np.ndarray`: The rate; `nan` where `p` is `nan`.

    Examples:
    ```python
    >>> mixed_group_rate(0.5, 2)
    0.5

    ```
    """
    rate = np.asarray(p, dtype=np.float64)
    if np.any((rate < 0.0) | (rate > 1.0)):
        raise ConfigurationError("p must be a pass rate between 0 and 1; check its scale")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ConfigurationError(f"k={k!r} is not a number of repeats; pass a whole number from 1 on")
    value = np.maximum(0.0, 1.0 - rate**k - (1.0 - rate) ** k)
    return float(value) if value.ndim == 0 else value
