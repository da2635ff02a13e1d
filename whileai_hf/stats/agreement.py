"""How far raters agree on categories, beyond what chance would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from whileai_hf.errors import ConfigurationError


def kappa_of_table(table: ArrayLike) -> float | None:
    """
    Cohen's kappa (1960), unweighted, of a table of counts: (observed - expected) / (1 - expected) agreement.

    Args:
        table (array of `int` of shape `(categories, categories)`):
            How often one rater said the row's category while the other said the column's.

    Returns:
        `float` or `None`: 1.0 for full agreement, 0.0 for as much as chance gives; `None` without an item, and when
        both raters gave one and the same category throughout, where chance explains everything.

    Raises:
        [`ConfigurationError`]: Not a square table.

    Examples:
    ```python
    >>> round(kappa_of_table([[2, 0], [1, 1]]), 3)
    0.5

    ```
    """
    counts = np.asarray(table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ConfigurationError(f"a table of shape {counts.shape} is not square; pass categories by categories")
    # Python's integers: the products of the margins of a long table do not fit 64 bit.
    rows, columns = (list(map(int, counts.sum(axis=axis))) for axis in (1, 0))
    n = sum(rows)
    # In whole numbers as long as possible, so that "by chance" is exact where it has to be compared with 1.
    by_chance = sum(one * other for one, other in zip(rows, columns, strict=True))
    if by_chance == n * n:  # also without an item
        return None
    return (n * int(np.trace(counts)) - by_chance) / (n * n - by_chance)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """
    Cohen's kappa of two raters' categories, see [`kappa_of_table`].

    Args:
        first (`Sequence`):
            Categories one rater gave.
        second (`Sequence`):
            Those of the other, on the same items.

    Returns:
        `float` or `None`: `None` where it is undefined.

    Raises:
        [`ConfigurationError`]: Sequences of different lengths.

    Examples:
    ```python
    >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]), 3)
    0.5

    ```
    """
    if len(first) != len(second):
        raise ConfigurationError(
            f"{len(first)} and {len(second)} ratings cannot be compared; pass one of each rater per item"
        )
    codes = {category: at for at, category in enumerate(dict.fromkeys((*first, *second)))}
    table = np.zeros((len(codes), len(codes)), dtype=np.int64)
    for (one, other), count in Counter(zip(first, second, strict=True)).items():
        table[codes[one], codes[other]] += count
    return kappa_of_table(table)


def krippendorff_alpha(items: Iterable[Sequence[Hashable]]) -> float | None:
    """
    Krippendorff's alpha for categories (nominal), any number of raters an item: 1 - observed / expected disagreement.

    Args:
        items (`Iterable[Sequence]`):
            For each item the categories it was given, in any order; items with fewer than two count nowhere.

    Returns:
        `float` or `None`: 1.0 for full agreement, 0.0 for as much as chance gives; `None` without an item that was
        rated twice, and when all ratings are one and the same.

    Examples:
    ```python
    >>> round(krippendorff_alpha([(1, 1), (0, 0), (1, 0), (1, 1, 1)]), 3)
    0.556

    ```
    """
    margins: Counter[Hashable] = Counter()
    agreeing = 0.0
    for ratings in items:
        if len(ratings) < 2:
            continue
        counts = Counter(ratings)
        margins.update(counts)
        # Ordered pairs within an item, weighted so that every rating counts once.
        agreeing += sum(count * (count - 1) for count in counts.values()) / (len(ratings) - 1)
    n = margins.total()
    by_chance = sum(count * (count - 1) for count in margins.values())
    if n < 2 or by_chance == n * (n - 1):
        return None
    return 1.0 - (n - 1) * (n - agreeing) / (n * (n - 1) - by_chance)
