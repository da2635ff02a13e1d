"""Several tests at once: p-values adjusted so that few of the findings are false."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """
    Adjusted p-values of Benjamini and Hochberg (1995).

    Calling everything at or below 0.05 a finding keeps the expected share of false ones among the findings at or
    below 5%, for tests that are independent or positively dependent.

    Args:
        p_values (array of `float` of shape `(m,)`):
            One p-value per test. `nan` (not tested) stays `nan` and does not count as a test.

    Returns:
        `np.ndarray` of shape `(m,)`: Adjusted p-values in the order given, none below its p-value.

    Raises:
        [`ConfigurationError`]: A value outside `[0, 1]`.

    Examples:
    ```python
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]

    ```
    """
    given = np.asarray(p_values, dtype=np.float64)
    tested = given[~np.isnan(given)]
    if np.any((tested < 0.0) | (tested > 1.0)):
        raise ConfigurationError("p_values holds numbers outside 0 to 1; pass p-values, nan where nothing was tested")
    order = np.argsort(tested, kind="stable")
    scaled = tested[order] * tested.size / np.arange(1, tested.size + 1)
    adjusted = np.empty(tested.size)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    out = np.full(given.shape, np.nan)
    out[~np.isnan(given)] = adjusted
    return out
