"""The default embedder: words and pairs of neighbouring words, hashed into a short vector. No model, no download.

A word and its sign go to one of [`DIMENSIONS`] places (feature hashing, Weinberger et al. 2009), so that texts which
share nothing have a cosine near 0. Counts are whole numbers: the vectors are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from whileai_hf.scenarios.diversity.words import Words, flattened


# Enough for the 60 to 90 features of a prompt to meet rarely: the noise on a cosine is about 1/16.
DIMENSIONS = 256
# A word that carries meaning against one that does not; a pair of neighbours counts like the latter.
_CONTENT, _STOP, _PAIR = 2, 1, 1
# Odd 64-bit multipliers (the golden ratio's, and a prime from splitmix64): a pair is another feature than its reverse.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SIGN, _PLACE = np.uint64(63), np.uint64(32)


@cache
def _stopwords() -> frozenset[str]:
    return frozenset((Path(__file__).parents[1] / "data" / "stopwords.txt").read_text("utf-8").split())


class HashEmbedder:
    """
    Embeds texts by their words.

    Examples:
    ```python
    >>> vectors = HashEmbedder()(["Where is order 4412?", "where is order 99", "Cancel my flight to Rome"])
    >>> vectors.shape, float(vectors[0] @ vectors[1].round(6)) > 0.999, float(vectors[0] @ vectors[2]) < 0.3
    ((3, 256), True, True)

    ```
    """

    name = "hash"

    def __init__(self) -> None:
        self._words = Words(self._learn)
        self._size = 0
        self._hashes = np.zeros(1024, np.uint64)
        self._weights = np.zeros(1024, np.float64)

    def _learn(self, word: str) -> None:
        if self._size == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
            self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
        self._hashes[self._size] = int.from_bytes(
            blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big"
        )
        self._weights[self._size] = _STOP if word in _stopwords() or len(word) < 2 else _CONTENT
        self._size += 1

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """
        Vectors of length 1, `float32`, one row a text; a text without words is a row of zeros.

        Args:
            texts (`Sequence[str]`):
                The texts.
        """
        numbers, rows = flattened([self._words.numbers(text) for text in texts])
        hashes = self._hashes[numbers]
        beside = rows[:-1] == rows[1:]
        pairs = ((hashes[:-1] * _FIRST) ^ (hashes[1:] * _SECOND))[beside]
        features = np.concatenate([hashes, pairs])
        weights = np.concatenate([self._weights[numbers], np.full(len(pairs), float(_PAIR))])
        places = np.concatenate([rows, rows[:-1][beside]]) * DIMENSIONS
        places += ((features >> _PLACE) % np.uint64(DIMENSIONS)).astype(np.int64)
        signs = np.where(features >> _SIGN, -1.0, 1.0)
        counts = np.bincount(places, weights=signs * weights, minlength=len(texts) * DIMENSIONS)
        vectors = counts.reshape(len(texts), DIMENSIONS)
        lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return np.asarray(vectors / np.maximum(lengths, 1.0), dtype=np.float32)
