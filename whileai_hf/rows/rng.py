"""Every random choice of the library comes from here.

A choice is named, not sequenced: `rng(seed, scenario_id, "tone")` gives the same draws whatever else was drawn
before it, on every platform and Python version, so adding a choice somewhere never moves the others. Only
`random.Random.random` is used below the helpers because it is the one method CPython promises to keep reproducible.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar


T = TypeVar("T")

# Separates the parts of a name so that ("ab", "c") and ("a", "bc") are different names.
_SEPARATOR = "\x1f"


def _hash(parts: tuple[object, ...], size: int) -> blake2b:
    text = _SEPARATOR.join(part if isinstance(part, str) else repr(part) for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size)


def digest(*parts: object, length: int = 10) -> str:
    """
    Hexadecimal digest of `parts`, stable across processes and platforms.

    Args:
        *parts (`object`):
            Strings are hashed as they are, everything else by its `repr`.
        length (`int`, *optional*, defaults to `10`):
            Number of hexadecimal characters, at most 64.

    Returns:
        `str`: The digest.

    Examples:
    ```python
    >>> digest("order", 1) == digest("order", 1)
    True
    >>> len(digest("order"))
    10

    ```
    """
    return _hash(parts, 32).hexdigest()[:length]


def unit(seed: int, *names: object) -> float:
    """
    One uniform draw in `[0, 1)` named by `names`: the cheap way when a single number is needed.

    Examples:
    ```python
    >>> 0.0 <= unit(0, "sc-1", "fault") < 1.0
    True

    ```
    """
    # 53 bits, the precision of a double.
    return (int.from_bytes(_hash((seed, *names), 8).digest(), "big") >> 11) / (1 << 53)


class Draws(random.Random):
    """A seeded stream with the few draws the library needs, each built on `random()` alone."""

    def pick(self, options: Sequence[T]) -> T:
        """One element of `options`, uniformly."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """`True` with the given probability."""
        return self.random() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer in `[low, high]`, both ends included."""
        return low + int(self.random() * (high - low + 1))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """A new list with the elements in random order (Fisher-Yates)."""
        items = list(options)
        for last in range(len(items) - 1, 0, -1):
            other = int(self.random() * (last + 1))
            items[last], items[other] = items[other], items[last]
        return items

    def sample_k(self, options: Sequence[T], k: int) -> list[T]:
        """`k` different elements (all of them when there are fewer), in random order."""
        return self.shuffled(options)[:k]


def rng(seed: int, *names: object) -> Draws:
    """
    The stream of draws named by `names` under `seed`.

    Args:
        seed (`int`):
            Seed of the run.
        *names (`object`):
            What is being decided, for instance `("prompt", scenario_id, phrasing)`.

    Returns:
        [`Draws`]: A fresh stream; two calls with equal arguments give equal streams.

    Examples:
    ```python
    >>> rng(0, "tone").pick(["calm", "angry"]) == rng(0, "tone").pick(["calm", "angry"])
    True

    ```
    """
    return Draws(int.from_bytes(_hash((seed, *names), 8).digest(), "big"))
