"""Which situations an adaptive run comes back to, and with how many rollouts."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from whileai_hf.rows.rng import unit
from whileai_hf.scenarios.axes import Cell
from whileai_hf.scenarios.search.planned import ADAPTIVE_VISITS


# Share of situations that are new: half while there are planned ones left, then a fifth, to keep looking.
_EXPLORE, _EXPLORE_LATER = 0.5, 0.2
# Of the others, the share that is asked once in new words; the rest is asked once and answered several times.
_EXPAND = 0.6
VERIFY_REPEATS = 4


class Revisits:
    """
    Keeps count of how often each planned situation has been drawn.

    Args:
        cells (`Iterable[Cell]`):
            The planned situations.
        seed (`int`):
            Seed of the mix.
    """

    def __init__(self, cells: Iterable[Cell], seed: int) -> None:
        self._fresh = set(cells)
        self._seed = seed
        self._due: list[tuple[int, int, Cell]] = []
        self._turn = 0

    def drawn(self, cell: Cell) -> None:
        """Takes note of a situation drawn for the first time."""
        if cell in self._fresh:
            self._fresh.remove(cell)
            heapq.heappush(self._due, (1, self._turn, cell))

    def next(self) -> tuple[Cell, int] | None:
        """The situation to come back to and its rollouts; `None` when the next one is to be new."""
        self._turn += 1
        explore = _EXPLORE if self._fresh else _EXPLORE_LATER
        draw = unit(self._seed, "adaptive", self._turn)
        if draw < explore or not self._due:
            return None
        repeats = 1 if draw < explore + (1 - explore) * _EXPAND else VERIFY_REPEATS
        visits, _, cell = heapq.heappop(self._due)
        if visits + repeats < ADAPTIVE_VISITS:
            heapq.heappush(self._due, (visits + repeats, self._turn, cell))
        return cell, repeats
