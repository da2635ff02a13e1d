"""How far two raters agree on categories, beyond what chance would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from whileai_hf.errors import ConfigurationError


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """
    Cohen's kappa (1960), unweighted: (observed - expected) / (1 - expected) agreement.

    Args:
        first (`Sequence`):
            Categories one rater gave.
        second (`Sequence`):
            Those of the other, on the same items.

    Returns:
        `float` or `None`: 1.0 for full agreement, 0.0 for as much as chance gives; `None` without an item, and when
        both raters gave one and the same category throughout, where chance explains everything.

    Raises:
        [`ConfigurationError`]: Sequences of different lengths.

    Examples:
    ```python
    >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]), 3)
    0.5

    ```
    """
    n = len(first)
    if n != len(second):
        raise ConfigurationError(f"{n} and {len(second)} ratings cannot be compared; pass one of each rater per item")
    if n == 0:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    one, other = Counter(first), Counter(second)
    # In whole numbers as long as possible, so that "by chance" is exact where it has to be compared with 1.
    by_chance = sum(count * other[category] for category, count in one.items())
    if by_chance == n * n:
        return None
    return (n * agreed - by_chance) / (n * n - by_chance)
