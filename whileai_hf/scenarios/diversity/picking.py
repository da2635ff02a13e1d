"""Which of several prompts to take: the ones least like anything before, with some chance mixed in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whileai_hf.scenarios.diversity.archive import cosines
from whileai_hf.scenarios.diversity.embedders import Vectors


# How much chance there is in a choice: it falls by this factor from one choice to the next, to no less than a floor,
# so that early on even ordinary prompts get in and later mostly new ones do.
_COOLING, _COLDEST = 0.93, 0.12
# What a draw of 1 is worth at temperature 1, in cosine: half of what divides a copy from a stranger.
_NOISE = 0.5


def temperature(turn: int) -> float:
    """
    Share of chance in the `turn`-th choice, from 0 on.

    Examples:
    ```python
    >>> temperature(0), round(temperature(10), 2), temperature(1000)
    (1.0, 0.48, 0.12)

    ```
    """
    return float(max(_COLDEST, _COOLING**turn))


def pick(vectors: Vectors, likeness: Vectors, wanted: int, noise: Sequence[float], warmth: float) -> list[int]:
    """
    The positions of `wanted` candidates, the best first.

    Args:
        vectors (`np.ndarray`):
            The candidates, as whole numbers.
        likeness (`np.ndarray`):
            How like the nearest earlier prompt each is.
        wanted (`int`):
            How many to take.
        noise (`Sequence[float]`):
            A draw between 0 and 1 for each.
        warmth (`float`):
            Share of chance, see [`temperature`].

    Returns:
        `list[int]`: Each taken for how far it is from earlier prompts and from those taken before it.
    """
    nearest = np.array(likeness, dtype=np.float64)
    between = cosines(vectors, vectors)
    bonus = _NOISE * warmth * np.asarray(noise, dtype=np.float64)
    free = np.ones(len(vectors), dtype=bool)
    taken: list[int] = []
    for _ in range(min(wanted, len(vectors))):
        best = int(np.where(free, bonus - nearest, -np.inf).argmax())
        taken.append(best)
        free[best] = False
        nearest = np.maximum(nearest, between[best])
    return taken
