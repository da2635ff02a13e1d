"""The prompts so far, as vectors: how like the nearest of them a new one is, at a cost that does not grow.

Vectors are held as whole numbers of length about [`_LENGTH`], so that every sum in a matrix product is exact whatever
the order it is taken in: the same prompts are near-copies on every machine, however many threads it computes with.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from whileai_hf.scenarios.diversity.embedders import Vectors


# Its square stays below 2^24, up to where `float32` holds every whole number; rounding moves a cosine by under 0.01.
_LENGTH = 2048
# Vectors kept. Beyond, every second one of the older half goes, so that the recent past is whole and the distant past
# a sample. A product of 64 prompts with all of them takes about 1.5 ms.
CAPACITY = 2048
# Products are taken in tiles of that many rows: at 256 dimensions small enough for OpenBLAS to stay on one thread.
# Agents are at work meanwhile, and threads that wait for a core cost more than the product.
_ONE_TILE, _OTHER_TILE = 16, 64


def whole(vectors: Vectors) -> Vectors:
    """Vectors of length 1 as whole numbers."""
    return np.asarray(np.rint(vectors * _LENGTH))


def _tiles(vectors: Vectors, rows: int) -> Vectors:
    short = -len(vectors) % rows
    if short:
        vectors = np.concatenate([vectors, np.zeros((short, vectors.shape[1]), vectors.dtype)])
    return vectors.reshape(-1, rows, vectors.shape[1])


def _products(one: Vectors, other: Vectors) -> Vectors:
    """Dot products by tile: first tile, second tile, row in the first, row in the second."""
    first, second = _tiles(one, _ONE_TILE), _tiles(other, _OTHER_TILE)
    return np.asarray(np.matmul(first[:, None], second.transpose(0, 2, 1)[None]))


def cosines(one: Vectors, other: Vectors) -> Vectors:
    """The cosine of each row of `one` with each row of `other`, both as [`whole`] numbers."""
    if not len(one) or not len(other):
        return np.zeros((len(one), len(other)), np.float32)
    products = _products(one, other).transpose(0, 2, 1, 3)
    table = products.reshape(products.shape[0] * _ONE_TILE, products.shape[2] * _OTHER_TILE)
    return np.asarray(table[: len(one), : len(other)] / np.float32(_LENGTH * _LENGTH))


def nearest(one: Vectors, other: Vectors) -> Vectors:
    """For each row of `one` the highest of its [`cosines`], no less than 0."""
    if not len(one) or not len(other):
        return np.zeros(len(one), np.float32)
    highest = _products(one, other).max(axis=(1, 3)).reshape(-1)[: len(one)]
    return np.asarray(np.maximum(highest, 0) / np.float32(_LENGTH * _LENGTH))


def _print_of(vector: Vectors) -> bytes:
    return blake2b(vector.tobytes(), digest_size=8).digest()


class Archive:
    """
    The vectors of the prompts so far.

    Args:
        capacity (`int`, *optional*):
            How many are kept.

    Examples:
    ```python
    >>> import numpy as np
    >>> archive = Archive()
    >>> archive.add(whole(np.array([[1.0, 0.0]], dtype=np.float32)))
    >>> [round(float(one), 2) for one in archive.likeness(whole(np.array([[0.6, 0.8], [0.0, 1.0]])))]
    [0.6, 0.0]

    ```
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._held: np.ndarray[Any, Any] = np.zeros((0, 0), np.float32)
        self._size = 0
        # Exact copies are known for ever; 8 bytes each.
        self._ever: set[bytes] = set()

    def __len__(self) -> int:
        return self._size

    def add(self, vectors: Vectors) -> None:
        """Keeps `vectors`, given as [`whole`] numbers."""
        self._ever.update(map(_print_of, vectors))
        if self._held.shape[1] != vectors.shape[1]:
            self._held = np.zeros((self._capacity, vectors.shape[1]), np.float32)
        while len(vectors):
            room = self._capacity - self._size
            if not room:
                self._thin()
                continue
            fitting, vectors = vectors[:room], vectors[room:]
            self._held[self._size : self._size + len(fitting)] = fitting
            self._size += len(fitting)

    def _thin(self) -> None:
        older = self._capacity // 2
        kept = np.concatenate([self._held[0:older:2], self._held[older : self._size]])
        self._size = len(kept)
        self._held[: self._size] = kept

    def likeness(self, vectors: Vectors) -> Vectors:
        """For each of `vectors` the highest cosine with a kept one, 1 if it was ever added; 0 when there is none."""
        likeness = nearest(vectors, self._held[: self._size])
        if len(self._ever) > self._size:
            likeness[[_print_of(vector) in self._ever for vector in vectors]] = 1.0
        return likeness
