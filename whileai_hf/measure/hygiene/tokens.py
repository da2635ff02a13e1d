"""Token sets as numbers: what they share with each other, rarest first, and how much of it two of them share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import IntArray


# Tokens kept as bits: the words of the template, which nearly every set has. Groups whose bits are made at a time.
_BITS, _ROWS = 256, 4096


@dataclasses.dataclass(frozen=True)
class TokenGroups:
    """Groups of sets: the tokens they share with other sets, rarest first, and how many each has to itself."""

    of: IntArray  # the group of every set
    count: IntArray  # sets in the group
    first: IntArray  # the first of them
    own: IntArray  # tokens each of them has to itself
    start: IntArray  # where the tokens of the group begin
    token: IntArray  # ranks, from rare to common
    n_tokens: int

    @property
    def shared(self) -> IntArray:
        """Tokens that other sets have, too."""
        return np.diff(self.start)

    @property
    def size(self) -> IntArray:
        """All tokens of each of its sets."""
        return self.shared + self.own


def _flatten(sets: Iterable[Sequence[str]]) -> tuple[IntArray, IntArray]:
    """Token numbers of all sets, set after set, and the sizes of the sets."""
    numbers: dict[str, int] = {}
    tokens: list[int] = []
    sizes: list[int] = []
    for members in sets:
        distinct = dict.fromkeys(members)
        tokens.extend([numbers.setdefault(word, len(numbers)) for word in distinct])
        sizes.append(len(distinct))
    return np.array(tokens, np.int64), np.array(sizes, np.int64)


def group_sets(sets: Iterable[Sequence[str]]) -> TokenGroups:
    """Sets that differ in nothing but tokens no other set has, as one group each."""
    token, size = _flatten(sets)
    owner = np.repeat(np.arange(size.size), size)
    shared = np.bincount(token)[token] > 1 if token.size else np.empty(0, bool)
    order = np.lexsort((token[shared], owner[shared]))
    token, owner = token[shared][order], owner[shared][order]
    common = np.bincount(owner, minlength=size.size)
    ends = np.concatenate([[0], np.cumsum(common)])
    own = size - common
    seen: dict[tuple[int, bytes], int] = {}
    of = np.array(
        [
            seen.setdefault((alone, token[begin:end].tobytes()), len(seen))
            for alone, begin, end in zip(own.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    first = np.unique(of, return_index=True)[1].astype(np.int64)
    kept = np.isin(owner, first)
    token, owner = token[kept], of[owner[kept]]
    # Rank by how many groups have the token: those of a single group lead nowhere and come first.
    frequency = np.bincount(token)
    rank = np.empty(frequency.size, np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(frequency.size)
    order = np.lexsort((rank[token], owner))
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=first.size))])
    return TokenGroups(of, np.bincount(of), first, own[first], start, rank[token][order], frequency.size)


class Overlaps:
    """How many tokens two groups share: bits for the most frequent tokens, a search for the rest."""

    def __init__(self, groups: TokenGroups) -> None:
        count = groups.first.size
        owner = np.repeat(np.arange(count), groups.shared)
        floor = groups.n_tokens - _BITS
        frequent = groups.token >= floor
        row, column = owner[frequent], groups.token[frequent] - floor
        self._bits = np.empty((count, _BITS // 64), np.uint64)
        at = np.searchsorted(row, np.arange(0, count + _ROWS, _ROWS))
        for block, begin in enumerate(range(0, count, _ROWS)):
            here = slice(at[block], at[block + 1])
            dense = np.zeros((min(_ROWS, count - begin), _BITS), bool)
            dense[row[here] - begin, column[here]] = True
            self._bits[begin : begin + _ROWS] = np.packbits(dense, axis=1).view(np.uint64)
        self._width = max(groups.n_tokens, 1)
        self._token = groups.token[~frequent]
        self._keys = owner[~frequent] * self._width + self._token
        self._start = np.concatenate([[0], np.cumsum(np.bincount(owner[~frequent], minlength=count))])

    def of(self, left: IntArray, right: IntArray, needed: IntArray) -> IntArray:
        """Shared tokens of every pair of groups; where `needed` is out of reach, some number below it."""
        found = _set_bits(self._bits[left] & self._bits[right])
        length = self._start[left + 1] - self._start[left]
        reach = np.minimum(length, self._start[right + 1] - self._start[right])
        open_ = np.flatnonzero((reach > 0) & (found + reach >= needed))
        if open_.size:
            left, right, length = left[open_], right[open_], length[open_]
            pair = np.repeat(np.arange(open_.size), length)
            at = np.arange(pair.size) - np.repeat(np.cumsum(length) - length, length) + self._start[left][pair]
            wanted = right[pair] * self._width + self._token[at]
            place = np.minimum(np.searchsorted(self._keys, wanted), self._keys.size - 1)
            found[open_] += np.bincount(pair[self._keys[place] == wanted], minlength=open_.size)
        return np.asarray(found, dtype=np.int64)


def _set_bits(words: NDArray[np.uint64]) -> IntArray:
    """Bits set in every row of 64-bit words, added up in pairs, fours and bytes."""
    pairs = words - ((words >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.asarray(((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56)).sum(axis=1), dtype=np.int64)
