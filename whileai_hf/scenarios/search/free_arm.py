"""Asks from outside the grid as an arm of the search: more are made than needed, and the least familiar ones taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from whileai_hf.rows.rng import unit
from whileai_hf.scenarios.diversity import pick, temperature
from whileai_hf.scenarios.search.drafts import Copies, Draft
from whileai_hf.scenarios.search.free import FreeAsk, FreeAsks
from whileai_hf.scenarios.search.outcome import Task


# Asks taken at a time, and how many there are to choose from.
_TAKEN, _CANDIDATES = 16, 24
# Of the candidates, how many a model thinks up where there is one: its asks are the less predictable half.
_INVENTED = 12
# Asks a model is told to stay away from.
_SHOWN = 64


@runtime_checkable
class Inventor(Protocol):
    """Thinks up asks, as [`~whileai_hf.scenarios.writing.ModelWriter`] does."""

    def invent(self, n: int, avoid: Sequence[str] = ()) -> list[Task]:
        """Up to `n` task rows of asks unlike those in `avoid`."""


@dataclass(frozen=True)
class _Candidate:
    draft: Draft
    ask: FreeAsk | None


class FreeArm:
    """
    Draws asks from outside the grid.

    Args:
        asks ([`FreeAsks`]):
            Makes them without a model.
        copies ([`Copies`]):
            The prompts so far.
        seed (`int`):
            Seed of the chance in the choice.
        phrasings (`int`):
            Wordings of each ask.
        inventor ([`Inventor`], *optional*):
            A model that thinks up half of them.
    """

    def __init__(
        self, asks: FreeAsks, copies: Copies, seed: int, phrasings: int, inventor: Inventor | None = None
    ) -> None:
        self._asks = asks
        self._copies = copies
        self._seed = seed
        self._phrasings = phrasings
        self._inventor = inventor
        self._waiting: list[_Candidate] = []
        self._taken: deque[_Candidate] = deque()
        self._said: deque[str] = deque(maxlen=_SHOWN)
        self._turn = 0

    def next(self) -> list[Draft]:
        """The wordings of the next ask; none when everything that can be asked is a copy of something earlier."""
        if not self._taken:
            self._choose()
        if not self._taken:
            return []
        chosen = self._taken.popleft()
        self._said.append(chosen.draft.task["prompt"])
        if chosen.ask is None:
            return [chosen.draft]
        return [chosen.draft, *(self._draft(chosen.ask, phrasing) for phrasing in range(1, self._phrasings))]

    def like(self, family: str) -> list[Draft]:
        """The wordings of one more ask of a family."""
        ask = self._asks.another(family)
        return [self._draft(ask, phrasing) for phrasing in range(self._phrasings)]

    def _draft(self, ask: FreeAsk, phrasing: int) -> Draft:
        return Draft(self._asks.row(ask, phrasing), partial(self._asks.row, ask, phrasing), self._phrasings == 1)

    def _choose(self) -> None:
        found = self._waiting
        if self._inventor is not None:
            found += [_Candidate(Draft(row), None) for row in self._inventor.invent(_INVENTED, list(self._said))]
        while len(found) < _CANDIDATES:
            ask = self._asks.next()
            found.append(_Candidate(self._draft(ask, 0), ask))
        vectors = self._copies.vectors([one.draft.task for one in found])
        likeness = self._copies.archive.likeness(vectors)
        fresh = np.flatnonzero(likeness < self._copies.limit)
        self._copies.dropped += len(found) - len(fresh)
        noise = [unit(self._seed, "novelty", found[at].draft.task["scenario_id"]) for at in fresh]
        order = pick(vectors[fresh], likeness[fresh], _TAKEN, noise, temperature(self._turn))
        self._turn += 1
        chosen = {int(fresh[at]) for at in order}
        self._taken.extend(found[fresh[at]] for at in order)
        self._waiting = [found[at] for at in fresh if at not in chosen]
