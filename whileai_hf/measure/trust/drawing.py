"""Samples of rows that do not depend on the order the rows came in."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.trust.keys import rollout_keys
from whileai_hf.rows import RowView, dumps
from whileai_hf.rows.rng import digest


IntArray = NDArray[np.int64]


def drawn_rows(rows: RowView, seed: int, *names: str) -> IntArray:
    """
    All rows in a random order that is theirs: the same rows in another order are drawn alike.

    Rows are put in the order of a hash of their [`rollout_keys`]; those of one key, such as rows that nothing
    identifies, in that of a hash of all they hold.

    Args:
        rows ([`RowView`]):
            The rows.
        seed (`int`):
            Seed of the draw.
        *names (`str`):
            What is drawn, so that two samples of the same rows are not the same.

    Returns:
        `np.ndarray` of `int`: Positions of the rows.

    Examples:
    ```python
    >>> from whileai_hf.rows import view
    >>> rows = [{"task_id": at} for at in range(9)]
    >>> drawn = [rows[at]["task_id"] for at in drawn_rows(view(rows), 0)]
    >>> drawn == [rows[::-1][at]["task_id"] for at in drawn_rows(view(rows[::-1]), 0)]
    True

    ```
    """
    keys = [digest(seed, *names, key, length=16) for key in rollout_keys(rows)]
    often = Counter(keys)
    if len(often) < len(keys):
        keys = [
            key + (digest(dumps(row)) if often[key] > 1 else "") for key, row in zip(keys, rows.rows(), strict=True)
        ]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
