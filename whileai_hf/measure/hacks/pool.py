"""Candidate features of one set of rows, laid out by ask, and their correlations with the reward."""

from __future__ import annotations

import dataclasses
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.asks import Asks, Bits, FloatArray, IntArray
from whileai_hf.measure.hacks.reading import Readings
from whileai_hf.measure.hacks.terms import Term, Texts, term_bits


Tier = Literal["hand", "auto"]
# Counts that every text has. Where one of them says the same as a word, the word is what a person can act on.
_SURFACE = frozenset({"reply_length", "words", "digits", "newlines", "punctuation", "upper_share"})
SURFACE_PARTS = 4
# Words and word pairs that are features.
MOST_TERMS = 200
# Terms filled in at a time until there are enough that differ within an ask.
_STEP = 100
# Sums of squares below this are what rounding leaves of nothing.
_TINY = 1e-9
# Rows turned into floating point at a time.
_ROWS = 16_384


class Name(NamedTuple):
    """A feature; `aliases` are other names of the same column. Of equal ones, that of the fewest `parts` is named."""

    name: str
    tier: Tier
    parts: int
    aliases: tuple[str, ...] = ()


def listed(name: str) -> Name:
    """The name of a feature somebody listed."""
    return Name(name, "hand", SURFACE_PARTS if name in _SURFACE else 0)


@dataclasses.dataclass(frozen=True)
class Pool:
    """
    Features by position of the rows: `bits` are 0 or 1, `dense` numbers, centred within asks and of length 1.

    Args:
        asks ([`Asks`]):
            The layout.
        names (`list[Name]`):
            Names of the features, those of `bits` first.
        bits (`np.ndarray` of `uint8`, shape `(binaries, rows)`):
            Features that say yes or no.
        spreads (`np.ndarray` of shape `(binaries,)`):
            Their roots of sums of squares, centred within asks.
        dense (`np.ndarray` of `float32`, shape `(others, rows)`):
            All other features.
        candidates (`list[str]`):
            Names of all features there are, those that never differ within an ask included.
    """

    asks: Asks
    names: list[Name]
    bits: Bits
    spreads: FloatArray
    dense: NDArray[np.float32]
    candidates: list[str]

    def correlate(self, values: FloatArray) -> FloatArray:
        """
        Correlation of every feature with values centred within asks.

        Args:
            values (`np.ndarray` of shape `(rows,)`):
                The values by position.
        """
        length = float(np.sqrt(values @ values))
        if length < _TINY or not self.names:
            return np.zeros(len(self.names))
        sums = np.zeros(len(self.names))
        # Nothing beyond the last value that is not zero adds to a sum.
        end = int(np.flatnonzero(values)[-1]) + 1
        for at in range(0, end, _ROWS):
            part = values[at : min(at + _ROWS, end)]
            for features, to in ((self.bits, sums[: len(self.bits)]), (self.dense, sums[len(self.bits) :])):
                to += np.einsum("fr,r->f", features[:, at : at + part.size].astype(np.float64), part)
        sums[: len(self.bits)] /= self.spreads
        return np.asarray(sums / length, dtype=np.float64)

    def column(self, index: int) -> FloatArray:
        """One feature by position, centred within asks."""
        if index >= len(self.bits):
            return np.asarray(self.dense[index - len(self.bits)], dtype=np.float64)
        return self.asks.centred(self.bits[index].astype(np.float64))


def build_pool(readings: Readings, asks: Asks, terms: list[Term], n_words: int) -> Pool:
    """
    The features of rows that differ within at least one ask.

    Args:
        readings ([`Readings`]):
            What was read of the rows.
        asks ([`Asks`]):
            Their layout.
        terms (`list[Term]`):
            Words and pairs to look for, the most common first; those that never differ within an ask are left out.
        n_words (`int`):
            Words in the vocabulary.
    """
    place = np.empty_like(asks.order)
    place[asks.order] = np.arange(asks.order.size)
    yes_no, dense, names, dense_names = _hand(readings, asks, place)
    candidates = [*(name.name for name in names), *readings.numbers, *readings.flags]
    hand = np.stack(yes_no) if yes_no else np.zeros((0, place.size), np.uint8)
    parts, spreads = [hand], [asks.spreads(hand)]
    texts, found = Texts.of(readings), 0
    for at in range(0, len(terms), _STEP):
        if found >= MOST_TERMS:
            break
        some = terms[at : at + _STEP]
        bits = term_bits(texts, some, place, n_words)
        spread = asks.spreads(bits)
        differs = np.flatnonzero(spread > _TINY)[: MOST_TERMS - found]
        found += differs.size
        parts.append(bits[differs])
        spreads.append(spread[differs])
        names += [Name(term.name, "auto", 1 + (term.second >= 0), term.aliases) for term in (some[i] for i in differs)]
    candidates += [name for term in terms for name in (term.name, *term.aliases)]
    numbers = np.stack(dense) if dense else np.zeros((0, place.size), np.float32)
    return Pool(
        asks, [*names, *dense_names], np.concatenate(parts), np.concatenate(spreads), numbers, sorted(set(candidates))
    )


def _hand(
    readings: Readings, asks: Asks, place: IntArray
) -> tuple[list[Bits], list[NDArray[np.float32]], list[Name], list[Name]]:
    """Features somebody listed: those that say yes or no, the others, and their names."""
    yes_no: list[Bits] = []
    dense: list[NDArray[np.float32]] = []
    names: list[Name] = []
    dense_names: list[Name] = []
    for name, rows in readings.flags.items():
        bits = np.zeros(place.size, np.uint8)
        bits[place[rows]] = 1
        if asks.spreads(bits[None])[0] > _TINY:
            yes_no.append(bits)
            names.append(listed(name))
    for name, values in readings.numbers.items():
        values = np.where(np.isfinite(values), values, np.nan)[asks.order]
        if np.all((values == 0.0) | (values == 1.0)):
            bits = values.astype(np.uint8)
            if asks.spreads(bits[None])[0] > _TINY:
                yes_no.append(bits)
                names.append(listed(name))
            continue
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        centred = asks.centred(values / largest if largest else values)  # squares of large numbers do not fit
        length = float(np.sqrt(centred @ centred))
        if length > _TINY:
            dense.append((centred / length).astype(np.float32))
            dense_names.append(listed(name))
    return yes_no, dense, names, dense_names
