"""How much of a text's words one other text covers with shared word n-grams.

The rule of Llama 2 (Touvron et al. 2023, appendix A.6): a word is covered when it stands in an n-gram that the other
text has, too. One shared n-gram in a long text covers little of it: situations written from the same templates share
whole sentences without sharing the question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import IntArray


HashArray = NDArray[np.uint64]
# Odd multipliers of a 64-bit mixing function (Steele, Lea and Flood 2014): n-grams are compared by hash, and two of a
# hundred million share one by chance less than once in a thousand corpora.
_STEP, _MIX_1, _MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Words hashed at a time.
_BLOCK = 4_000_000


def _mix(values: HashArray) -> HashArray:
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


def _grams(word: IntArray, size: IntArray, n: int) -> tuple[HashArray, IntArray, IntArray]:
    """Hashes of all n-grams within texts, the text each belongs to and its place there."""
    hashes = np.zeros(max(word.size - n + 1, 0), np.uint64)
    for offset in range(n):
        part = word[offset : offset + hashes.size].astype(np.uint64)
        hashes = _mix(hashes + _mix(part + np.uint64(1)) + _STEP)
    start = np.cumsum(size) - size
    text = np.repeat(np.arange(size.size), size)[: hashes.size]
    place = np.arange(hashes.size) - start[text]
    inside = place + n <= size[text]
    return hashes[inside], text[inside], place[inside]


@dataclasses.dataclass(frozen=True)
class Covered:
    """For every text the other text that covers most of it (`-1`: none covers any), and the share it covers."""

    by: IntArray
    share: NDArray[np.float64]


class Coverage:
    """
    Texts to be looked for in others.

    Args:
        others (`Sequence[Sequence[str]]`):
            Words of each text that may cover others.
        n (`int`):
            Words of an n-gram; shorter texts cover nothing.
    """

    def __init__(self, others: Sequence[Sequence[str]], n: int) -> None:
        self._n = n
        self._numbers: dict[str, int] = {}
        words = [self._numbers.setdefault(word, len(self._numbers)) for text in others for word in text]
        size = np.array([len(text) for text in others], np.int64)
        hashes, text, _ = _grams(np.array(words, np.int64), size, n)
        order = np.lexsort((text, hashes))
        hashes, text = hashes[order], text[order]
        fresh = np.ones(hashes.size, bool)
        fresh[1:] = (hashes[1:] != hashes[:-1]) | (text[1:] != text[:-1])
        hashes, self._text = hashes[fresh], text[fresh]
        self._hashes, begin = np.unique(hashes, return_index=True)
        self._begin = np.append(begin, hashes.size).astype(np.int64)

    def of(self, texts: Sequence[Sequence[str]], least: float) -> Covered:
        """
        What covers each text best.

        Args:
            texts (`Sequence[Sequence[str]]`):
                Words of each text.
            least (`float`):
                Shares below this are of no interest and come back as 0.
        """
        by, share = np.full(len(texts), -1, np.int64), np.zeros(len(texts))
        sizes = np.array([len(text) for text in texts], np.int64)
        at = 0
        while at < len(texts) and self._hashes.size:
            stop = max(at + 1, int(np.searchsorted(np.cumsum(sizes[at:]), _BLOCK)) + at)
            by[at:stop], share[at:stop] = self._block(texts[at:stop], sizes[at:stop], least)
            at = stop
        return Covered(by, share)

    def _block(
        self, texts: Sequence[Sequence[str]], size: IntArray, least: float
    ) -> tuple[IntArray, NDArray[np.float64]]:
        by, share = np.full(size.size, -1, np.int64), np.zeros(size.size)
        unknown = len(self._numbers)  # words no other text has: no n-gram with one is found
        word = np.array([self._numbers.get(word, unknown) for text in texts for word in text], np.int64)
        hashes, text, place = _grams(word, size, self._n)
        gram = np.minimum(np.searchsorted(self._hashes, hashes), self._hashes.size - 1)
        hit = self._hashes[gram] == hashes
        gram, text, place = gram[hit], text[hit], place[hit]
        # What all others cover together bounds what one of them does.
        together = np.bincount(text, weights=_spans(text, place, self._n), minlength=size.size)
        wanted = together >= np.maximum(least * size, 1) - 1e-9
        kept = wanted[text]
        gram, text, place = gram[kept], text[kept], place[kept]
        edges = np.flatnonzero(np.diff(text, prepend=-1, append=-1))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            best, words = self._best(gram[begin:end], place[begin:end])
            row = int(text[begin])
            if words >= least * size[row] - 1e-9:
                by[row], share[row] = best, words / size[row]
        return by, share

    def _best(self, gram: IntArray, place: IntArray) -> tuple[int, int]:
        """The other text that covers most words of one text, the first of equals, and how many words those are."""
        length = self._begin[gram + 1] - self._begin[gram]
        offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        other = self._text[np.repeat(self._begin[gram], length) + offset]
        order = np.argsort(other, kind="stable")  # places stay in order
        other, where = other[order], np.repeat(place, length)[order]
        first = np.flatnonzero(np.diff(other, prepend=-1))
        covered = np.add.reduceat(_spans(other, where, self._n), first)
        best = int(np.argmax(covered))
        return int(other[first[best]]), int(covered[best])


def _spans(owner: IntArray, place: IntArray, n: int) -> IntArray:
    """Words each n-gram adds to those its owner's earlier ones cover; places are in order within an owner."""
    step = np.full(place.size, n, np.int64)
    same = owner[1:] == owner[:-1]
    step[1:][same] = np.minimum(np.diff(place)[same], n)
    return step
