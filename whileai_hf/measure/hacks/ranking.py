"""Features in order of strength, conjunctions among them when they are stronger than what they are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from whileai_hf.measure.hacks.asks import FloatArray
from whileai_hf.measure.hacks.conjunctions import SAME, Conjunctions, beats
from whileai_hf.measure.hacks.floor import Floor
from whileai_hf.measure.hacks.pool import SURFACE_PARTS, Name, Pool
from whileai_hf.measure.hacks.report import HackFeature


# Correlation from which two features are the same thing.
COLLINEAR = 0.999
_TINY = 1e-12


def matches(name: str, aliases: Sequence[str], endorsed: Sequence[str]) -> bool:
    """Whether a pattern is part of the name or of another name of the same feature."""
    return any(pattern in known for pattern in endorsed for known in (name, *aliases))


@dataclasses.dataclass(frozen=True)
class Ranking:
    """
    All features, the strongest first.

    Args:
        features (`list[HackFeature]`):
            The features.
        collinear (`list[str]`):
            Features that cannot be told from the first one.
        perfect (`list[str]`):
            Features that explain the reward without rest.
    """

    features: list[HackFeature]
    collinear: list[str]
    perfect: list[str]


@dataclasses.dataclass(frozen=True)
class _Found:
    name: Name
    rho: float
    endorsed: bool
    columns: tuple[int, ...]

    def order(self) -> tuple[float, bool, int, str]:
        # Of features that say the same, the endorsed one, then one that somebody listed, then the shorter.
        return (-round(abs(self.rho), 5), not self.endorsed, self.name.parts, self.name.name)


def rank(pool: Pool, conjunctions: Conjunctions | None, floor: Floor, endorsed: Sequence[str]) -> Ranking:
    """
    Ranks the features of a pool.

    Args:
        pool ([`Pool`]):
            The features.
        conjunctions ([`Conjunctions`], *optional*):
            Their conjunctions, when those are looked at.
        floor ([`Floor`]):
            The noise floor.
        endorsed (`Sequence[str]`):
            Patterns of what the reward is meant to track.
    """
    rho = pool.correlate(pool.asks.reward)
    found = [
        _Found(name, float(value), matches(name.name, name.aliases, endorsed), (index,))
        for index, (name, value) in enumerate(zip(pool.names, rho, strict=True))
    ]
    if conjunctions is not None and len(pool.bits) > 1:
        found += _better(pool, conjunctions, rho, [feature.endorsed for feature in found])
    found.sort(key=_Found.order)
    _prefer_specific(pool, found, floor)
    features = [
        HackFeature(
            feature.name.name,
            round(feature.rho, 6),
            "and" if len(feature.columns) > 1 else feature.name.tier,
            abs(feature.rho) > floor.tau + SAME,
            feature.endorsed,
            list(feature.name.aliases),
        )
        for feature in found
    ]
    perfect = [name for feature in found if abs(feature.rho) >= COLLINEAR for name in _names(feature.name)]
    return Ranking(features, _collinear(pool, found), perfect)


def _prefer_specific(pool: Pool, found: list[_Found], floor: Floor) -> None:
    """
    Puts a word, a tool or a marker before a count of characters that is no better beyond chance.

    A phrase that pays makes replies longer and their punctuation heavier; what a person can act on is the phrase.
    """
    top = found[0]
    if top.name.parts != SURFACE_PARTS or abs(top.rho) <= floor.tau:
        return
    together = pool.correlate(pool.column(top.columns[0]))
    for at, other in enumerate(found):
        if len(other.columns) > 1 or other.name.parts == SURFACE_PARTS or abs(other.rho) <= floor.tau:
            continue
        freedom = pool.asks.n_mixed_rows - pool.asks.n_mixed
        strong, weak = np.array([top.rho]), np.array([other.rho])
        if not beats(strong, weak, together[[other.columns[0]]], freedom)[0]:
            found.insert(0, found.pop(at))
        return


def _names(name: Name) -> tuple[str, ...]:
    return (name.name, *name.aliases)


def _better(pool: Pool, conjunctions: Conjunctions, rho: FloatArray, endorsed: list[bool]) -> list[_Found]:
    """The conjunctions that are stronger than both of their parts, beyond chance."""
    rewards = pool.asks.reward[: pool.asks.n_mixed_rows].astype(np.float32)
    better, found = conjunctions.better(rho, rewards), []
    for one, other, value in zip(better.one.tolist(), better.other.tolist(), better.rho.tolist(), strict=True):
        first, second = sorted((pool.names[one], pool.names[other]))
        name = Name(f"{first.name} & {second.name}", "auto", 1 + first.parts + second.parts)
        found.append(_Found(name, value, endorsed[one] and endorsed[other], (one, other)))
    return found


def _collinear(pool: Pool, found: list[_Found]) -> list[str]:
    if not found or abs(found[0].rho) < _TINY:
        return []
    top = found[0]
    if len(top.columns) > 1:
        bits = np.bitwise_and.reduce(pool.bits[list(top.columns)], axis=0)
        column = pool.asks.centred(bits.astype(np.float64))
    else:
        column = pool.column(top.columns[0])
    alike = np.abs(pool.correlate(column)) >= COLLINEAR
    others = [name for index in np.flatnonzero(alike) for name in _names(pool.names[int(index)])]
    return [*top.name.aliases, *(name for name in others if name not in _names(top.name))]
