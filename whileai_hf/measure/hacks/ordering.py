"""An order of rows that is theirs and not that of the list they came in.

Shuffles, signs and ties are drawn and broken by position, so the same rows in another order would get other numbers.
Rows are therefore put in the order of a hash of what the scan reads of them, asks in the order of the hashes of their
rows. Rows or asks that fall together are alike in everything that is looked at, so that either may stand first.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.asks import FloatArray, IntArray
from whileai_hf.measure.hacks.letters import COUNTED
from whileai_hf.measure.hacks.reading import Readings


Keys = NDArray[np.uint64]
# Numbers that follow from the text, which is in the key already.
_OF_TEXT = frozenset((*COUNTED, "words"))
# Odd constants of a mixing step (those of splitmix64): every bit of a number moves every bit of the key.
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def _mixed(keys: Keys) -> Keys:
    for shift, factor in zip(_SHIFTS[:2], _MIX, strict=True):
        keys = (keys ^ (keys >> shift)) * factor
    return np.asarray(keys ^ (keys >> _SHIFTS[2]), dtype=np.uint64)


def _of_name(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"))


def row_keys(readings: Readings, rewards: FloatArray) -> Keys:
    """
    One number per row that says what was read of it: equal for equal rows, in every process.

    Args:
        readings ([`Readings`]):
            What was read.
        rewards (`np.ndarray` of shape `(rows,)`):
            Their rewards.
    """
    keys = _mixed(readings.distinct.view(np.uint64))
    for name, values in (("reward", rewards), *sorted(readings.numbers.items())):
        if name in _OF_TEXT:
            continue
        plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one nan, one zero
        keys = _mixed(keys ^ (plain.view(np.uint64) + _of_name(name)))
    for name, rows in sorted(readings.flags.items()):
        keys[rows] = _mixed(keys[rows] ^ _of_name(name))
    return keys


def canonical_order(asks: IntArray, keys: Keys) -> tuple[IntArray, IntArray]:
    """
    Asks numbered, and rows placed, whatever order they came in.

    Args:
        asks (`np.ndarray` of shape `(rows,)`):
            Ask of each row, as numbers from 0 on.
        keys (`np.ndarray` of `uint64`):
            Keys of the rows.

    Returns:
        `tuple`: The ask of each row under its new number, and the place of each row.

    Examples:
    ```python
    >>> import numpy as np
    >>> keys = np.array([5, 3, 9], np.uint64)
    >>> ask, place = canonical_order(np.array([0, 0, 1]), keys)
    >>> other, back = canonical_order(np.array([0, 1, 1]), keys[::-1])
    >>> ask.tolist() == other.tolist()[::-1], place.tolist() == back.tolist()[::-1]
    (True, True)

    ```
    """
    if not asks.size:
        return asks, asks
    by_ask = np.argsort(asks, kind="stable")
    found = asks[by_ask]
    starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
    sums = np.add.reduceat(_mixed(keys)[by_ask], starts)  # a sum does not mind the order; overflow is part of it
    number = np.empty(starts.size, np.int64)
    number[np.argsort(sums, kind="stable")] = np.arange(starts.size)
    ask = np.empty_like(asks)
    ask[by_ask] = np.repeat(number, np.diff(starts, append=asks.size))
    place = np.empty_like(asks)
    place[np.lexsort((keys, ask))] = np.arange(asks.size)
    return ask, place
