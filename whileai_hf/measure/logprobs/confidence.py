"""Whether reward goes with how sure the policy was, among the rollouts of one ask.

What only tracks which ask it is (hard asks make long, unsure answers) is taken out first: both are centred within the
ask, as a group-relative update does.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np

from whileai_hf.measure.logprobs.columns import FloatArray
from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.stats import Interval


# Asks whose rollouts differ in both; the interval leans on the central limit over them.
FEWEST_ASKS = 10
_Z = NormalDist().inv_cdf(0.975)


@dataclasses.dataclass(frozen=True)
class WithinAsk:
    """Correlation within asks (`None`: nothing varies), its 95 % interval, and the asks that differ in both."""

    value: float | None
    ci95: Interval | None
    n_asks: int


def correlate_within(x: FloatArray, y: FloatArray, ask: IntArray) -> WithinAsk:
    """
    Pearson correlation of `x` and `y` after both are centred within the ask.

    The interval is the delta method over asks (rollouts of one ask are not independent) on Fisher's z scale.

    Args:
        x, y (`np.ndarray` of shape `(rows,)`):
            Finite values.
        ask (`np.ndarray` of shape `(rows,)`):
            Code of each row's ask.

    Returns:
        [`WithinAsk`]: No interval below ten asks in which both differ.

    Examples:
    ```python
    >>> import numpy as np
    >>> one, other = np.array([1.0, 2.0, 9.0, 8.0]), np.array([3.0, 4.0, 1.0, 0.0])
    >>> correlate_within(one, other, np.array([0, 0, 1, 1])).value
    1.0

    ```
    """
    size = int(ask.max(initial=-1)) + 1
    n = np.maximum(np.bincount(ask, minlength=size), 1)
    centred = [values - (np.bincount(ask, weights=values, minlength=size) / n)[ask] for values in (x, y)]
    xx, xy, yy = (
        np.bincount(ask, weights=one * other, minlength=size)
        for one, other in ((centred[0], centred[0]), (centred[0], centred[1]), (centred[1], centred[1]))
    )
    # Centring leaves rounding behind where nothing differs.
    differ = (xx > 1e-12 * (1 + np.bincount(ask, weights=x * x, minlength=size))) & (yy > 1e-12)
    asks, sums = int(np.count_nonzero(differ)), (float(xx.sum()), float(xy.sum()), float(yy.sum()))
    if not asks or sums[0] <= 0 or sums[2] <= 0:
        return WithinAsk(None, None, asks)
    scale = math.sqrt(sums[0] * sums[2])
    value = max(-1.0, min(1.0, sums[1] / scale))
    if asks < FEWEST_ASKS or abs(value) > 1 - 1e-9:
        return WithinAsk(value, None, asks)
    influence = xy / scale - value / 2 * (xx / sums[0] + yy / sums[2])
    error = math.sqrt(float((influence**2).sum()) * asks / (asks - 1)) / (1 - value**2)
    middle = math.atanh(value)
    return WithinAsk(value, (math.tanh(middle - _Z * error), math.tanh(middle + _Z * error)), asks)
