"""Pairwise covering arrays, as indices, computed once per shape.

`covertable` finds the arrays. They are cached by their level counts: two tools with equal axes share one array and
differ in how it is rotated.
"""

from __future__ import annotations

from functools import lru_cache

from covertable import make


@lru_cache(maxsize=256)
def pairwise(levels: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """
    Rows of level indices in which every pair of levels of every two factors occurs.

    Args:
        levels (`tuple[int, ...]`):
            Number of levels of each factor, at least 1.

    Returns:
        `tuple[tuple[int, ...], ...]`: The rows, in a fixed order.

    Examples:
    ```python
    >>> rows = pairwise((2, 2, 2))
    >>> len(rows), {(row[0], row[2]) for row in rows} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    (4, True)

    ```
    """
    # A factor with one level adds no pair of its own and would only slow the search down.
    varied = [index for index, count in enumerate(levels) if count > 1]
    if len(varied) < 2:
        longest = max(levels, default=1)
        return tuple(tuple(min(row, count - 1) for count in levels) for row in range(longest))
    found = make([list(range(levels[index])) for index in varied], strength=2)
    rows = []
    for values in found:
        row = [0] * len(levels)
        for index, value in zip(varied, values, strict=True):
            row[index] = value
        rows.append(tuple(row))
    return tuple(rows)
