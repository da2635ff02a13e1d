"""Rows laid out by ask, so that centring, sums and shuffles within asks are operations on whole arrays.

Asks of one size stand together as a `(size, asks)` block: the sum over an ask is a sum over the first axis. Asks whose
rewards differ come first, because only they say anything about the reward.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Bits = NDArray[np.uint8]
# From this size on an ask is shuffled by itself; below, all asks of one size at a time.
_LARGE = 64
# Rows of features summed at a time.
_FEATURES = 32


class Block(NamedTuple):
    """Asks of one size: positions `start` to `end` are `size` rollouts of each of `asks` asks."""

    start: int
    end: int
    size: int
    asks: int


@dataclasses.dataclass(frozen=True)
class Asks:
    """
    The layout.

    Args:
        order (`np.ndarray` of shape `(rows,)`):
            Row at each position.
        blocks (`list[Block]`):
            Blocks of asks in order of position, mixed ones first.
        n_mixed_rows (`int`):
            Rows of asks whose rewards differ: the positions before this one.
        reward (`np.ndarray` of shape `(rows,)`):
            Reward at each position, less the mean of its ask, in units of the largest such difference.
        spread (`float`):
            Root of the sum of squares of `reward`.
        n_asks (`int`):
            Asks with at least two rows.
        n_mixed (`int`):
            Those whose rewards differ.
        n_all_pass (`int`):
            Those whose rewards are all the same, and at least 1.
    """

    order: IntArray
    blocks: list[Block]
    n_mixed_rows: int
    reward: FloatArray
    spread: float
    n_asks: int
    n_mixed: int
    n_all_pass: int

    @property
    def mixed_blocks(self) -> list[Block]:
        """Blocks of asks whose rewards differ."""
        return [block for block in self.blocks if block.end <= self.n_mixed_rows]

    def centred(self, values: FloatArray) -> FloatArray:
        """Values by position, less the mean of their ask; where a value is `nan` it is as good as the mean."""
        out = np.empty(values.shape)
        for block in self.blocks:
            part = values[block.start : block.end].reshape(block.size, block.asks)
            known = ~np.isnan(part)
            count = np.maximum(known.sum(axis=0), 1)
            mean = np.where(known, part, 0.0).sum(axis=0) / count
            out[block.start : block.end] = np.where(known, part - mean, 0.0).ravel()
        return out

    def spreads(self, bits: Bits) -> FloatArray:
        """
        Root of the sum of squares of each feature, centred within asks.

        Args:
            bits (`np.ndarray` of shape `(features, rows)`):
                Features that are 0 or 1, by position.
        """
        parts = [bits[at : at + _FEATURES] for at in range(0, len(bits), _FEATURES)]
        return (
            np.sqrt(np.maximum(np.concatenate([self.overlaps(part) for part in parts]), 0.0)) if parts else np.zeros(0)
        )

    def overlaps(self, bits: Bits, others: Bits | None = None) -> FloatArray:
        """
        Sum of products of each feature, centred within asks, with another one.

        Args:
            bits (`np.ndarray` of shape `(features, rows)`):
                Features that are 0 or 1, by position.
            others (`np.ndarray` of the same shape, *optional*):
                The other ones; left out, each is taken with itself.
        """
        left = np.zeros(len(bits))
        for block in self.blocks:
            part = bits[:, block.start : block.end]
            count = _counts(part, block)
            other = count if others is None else _counts(others[:, block.start : block.end], block)
            both = count if others is None else _counts(part & others[:, block.start : block.end], block)
            left += both.sum(axis=1, dtype=np.float64)
            left -= np.einsum("fa,fa->f", count, other, dtype=np.float64) / block.size
        return left

    def shuffles(self, count: int, generator: np.random.Generator) -> NDArray[np.float32]:
        """
        The rewards of the mixed asks, shuffled within asks.

        Args:
            count (`int`):
                Shuffles.
            generator (`np.random.Generator`):
                Where chance comes from.

        Returns:
            `np.ndarray` of shape `(count, n_mixed_rows)`.
        """
        out = np.empty((count, self.n_mixed_rows), np.float32)
        for block in self.mixed_blocks:
            part = self.reward[block.start : block.end].reshape(1, block.size, block.asks)
            drawn = np.broadcast_to(part, (count, block.size, block.asks)).astype(np.float32)
            if block.size > _LARGE:
                drawn = generator.permuted(drawn, axis=1)
            else:
                _shuffle(drawn, generator)
            out[:, block.start : block.end] = drawn.reshape(count, -1)
        return out


def _counts(bits: Bits, block: Block) -> NDArray[np.float32]:
    # Sums of fewer than 256 bits fit the bytes they are made of, which is several times faster.
    kind = np.uint8 if block.size < 256 else np.uint32
    return np.asarray(bits.reshape(len(bits), block.size, block.asks).sum(axis=1, dtype=kind), dtype=np.float32)


def _shuffle(drawn: NDArray[np.float32], generator: np.random.Generator) -> None:
    """Fisher and Yates, along the middle axis, one exchange for all asks at once."""
    count, size, asks = drawn.shape
    for last in range(size - 1, 0, -1):
        other = generator.integers(0, last + 1, size=(count, 1, asks), dtype=np.uint8).astype(np.intp)
        taken = np.take_along_axis(drawn, other, axis=1)
        np.put_along_axis(drawn, other, drawn[:, last : last + 1].copy(), axis=1)
        drawn[:, last : last + 1] = taken


def lay_out(groups: IntArray, rewards: FloatArray, place: IntArray | None = None) -> Asks:
    """
    Lays rows out by ask.

    Args:
        groups (`np.ndarray` of shape `(rows,)`):
            Ask of each row, as numbers from 0 on.
        rewards (`np.ndarray` of shape `(rows,)`):
            Reward of each row, none of them `nan`.
        place (`np.ndarray` of shape `(rows,)`, *optional*):
            Order of the rows within their ask; left out, the order they are in.
    """
    if not groups.size:
        return Asks(np.zeros(0, np.int64), [], 0, np.zeros(0), 0.0, 0, 0, 0)
    groups = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(groups)
    low, high = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(low, groups, rewards)
    np.maximum.at(high, groups, rewards)
    flat, several = low == high, sizes >= 2
    keys = (groups, sizes[groups], flat[groups])
    by_ask = np.lexsort(keys if place is None else (place, *keys))
    order, blocks, start = np.empty(groups.size, np.int64), [], 0
    for is_flat in (False, True):
        for size in np.unique(sizes[flat == is_flat]).tolist():
            asks = int(np.count_nonzero((sizes == size) & (flat == is_flat)))
            end = start + size * asks
            order[start:end] = by_ask[start:end].reshape(asks, size).T.ravel()
            blocks.append(Block(start, end, size, asks))
            start = end
    bare = Asks(
        order,
        blocks,
        int(sizes[~flat].sum()),
        np.zeros(0),
        0.0,
        int(np.count_nonzero(several)),
        int(np.count_nonzero(~flat)),
        int(np.count_nonzero(flat & several & (low >= 1.0))),
    )
    # Rewards of any size: their sums and squares have to fit, in single precision, too.
    largest = float(np.abs(rewards).max()) or 1.0
    reward = bare.centred(rewards[order] / largest)
    reward[bare.n_mixed_rows :] = 0.0  # what rounding leaves of equal rewards is no difference
    reward /= float(np.abs(reward).max()) or 1.0
    return dataclasses.replace(bare, reward=reward, spread=float(np.sqrt(reward @ reward)))
