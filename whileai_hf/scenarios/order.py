"""The order cells are run in: which kind comes next, and which cell of that kind.

[`Steering`] keeps two running shares where they should be: hard tiers among all cells, faulted cells among those that
could be faulted. [`by_coverage`] orders a finite stage so that cells that cover the most new pairs come first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from whileai_hf.rows.rng import digest
from whileai_hf.scenarios.axes import AXES, HARD_TIERS, Axes, Cell, tier_of


# Share of cells whose stance is a tier of its own. Plain asks must stay the majority, or the data trains suspicion.
HARD_SHARE = 0.4

# Stance, state, condition, history.
_INNER_PAIRS = tuple(combinations(range(2, 6), 2))

# Place of a block among blocks of equal gain, by the axis it is about.
_PLACE: dict[int | None, int] = {AXES.index("tool"): 0, None: 1, AXES.index("rule"): 2}

Kind = tuple[str, bool]
KINDS: tuple[Kind, ...] = tuple((tier, faulted) for tier in ("ordinary", *HARD_TIERS) for faulted in (False, True))


def kind_of(cell: Cell) -> Kind:
    """Tier and whether a fault is planned."""
    return tier_of(cell.stance), cell.faulted


class Steering:
    """
    Says which kind of cell should come next, from what has come so far.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        fault_rate (`float`):
            Wanted share of faulted cells among those that could be faulted, between 0 and 1.
    """

    def __init__(self, axes: Axes, fault_rate: float) -> None:
        self._axes = axes
        self._rate = fault_rate
        self._cells = 0
        self._hard = 0
        self._faultable = 0
        self._faulted = 0
        self._turn = 0

    def note(self, cell: Cell, *, opening: bool = False) -> None:
        """Count a cell that has been emitted; the opening round of plain asks owes no hard ones."""
        if self._axes.can_fault(cell):
            self._faultable += 1
            self._faulted += cell.faulted
        if not opening:
            self._cells += 1
            self._hard += tier_of(cell.stance) != "ordinary"

    def preferences(self) -> Iterator[Kind]:
        """All kinds, the wanted one first."""
        hard = self._hard + 1 <= HARD_SHARE * (self._cells + 1)
        fault = self._faulted + 1 <= self._rate * (self._faultable + 1)
        if not hard:
            yield "ordinary", fault
        # The hard tiers take turns, so that one with many cells does not crowd out the others.
        turns = [HARD_TIERS[(self._turn + step) % len(HARD_TIERS)] for step in range(len(HARD_TIERS))]
        self._turn += hard
        for tier in (*turns, "ordinary") if hard else ("ordinary", *turns):
            yield tier, fault
            # A tier that cannot fault says nothing about the share of faults.
            if fault and tier not in ("ordinary", "boundary"):
                yield tier, False
        for tier in ("ordinary", *turns):
            yield tier, not fault

    def next_from(self, take: Callable[[Kind], Cell | None]) -> Cell | None:
        """The next cell, asking `take` for each kind in the order of preference."""
        for kind in self.preferences():
            cell = take(kind)
            if cell is not None:
                self.note(cell)
                return cell
        return None


@dataclass(frozen=True)
class Block:
    """
    Cells that belong together, and what they are there to cover.

    Args:
        cells (`tuple[Cell, ...]`):
            The cells.
        about (`int` or `None`):
            Position of the axis whose value the block is about: its cells count the pairs that hold that value.
            `None` for the base block, which counts the pairs of the axes that are neither tool nor rule.
    """

    cells: tuple[Cell, ...]
    about: int | None

    def pairs(self, cell: Cell) -> tuple[tuple[int, str, str], ...]:
        """The pairs `cell` covers of those this block is there for."""
        if self.about is None:
            return tuple((8 * i + j, cell[i], cell[j]) for i, j in _INNER_PAIRS)
        return tuple((i, cell[self.about], cell[i]) for i in range(len(cell)) if i != self.about)


def ranked(block: Block, seen: Iterable[Cell]) -> Iterator[tuple[int, str, Cell]]:
    """
    The cells of a block by pairs newly covered (lazy greedy), each with minus its gain and its own hash.

    Args:
        block ([`Block`]):
            The block.
        seen (`Iterable[Cell]`):
            Cells that come before all of them.
    """
    covered = {pair for cell in seen for pair in block.pairs(cell)}
    pairs = {cell: block.pairs(cell) for cell in block.cells}
    heap = [(-len(pairs[cell]), digest("\x1f".join(("tie", *cell)), length=12), cell) for cell in pairs]
    heapq.heapify(heap)
    while heap:
        _, tie, cell = heap[0]
        gain = sum(pair not in covered for pair in pairs[cell])
        # Gains only shrink, so a top that still holds its place after recounting is the best of all.
        if len(heap) == 1 or (-gain, tie) <= min(heap[1:3])[:2]:
            heapq.heappop(heap)
            covered.update(pairs[cell])
            yield -gain, tie, cell
        else:
            heapq.heapreplace(heap, (-gain, tie, cell))


def by_coverage(blocks: Iterable[Block], seen: Iterable[Cell]) -> list[Cell]:
    """
    The cells of all blocks, most pairs newly covered first, each once.

    A cell's place depends on its own block only: one count over all blocks would cover a little faster, and a single
    edited rule would reshuffle everything.

    Args:
        blocks (`Iterable[Block]`):
            The blocks.
        seen (`Iterable[Cell]`):
            Cells that come before all of them.
    """
    known = set(seen)
    # Between equal gains tools come before the base and the base before rules: prompts are edited more than tools.
    order = sorted(
        (loss, _PLACE[block.about], tie, cell) for block in blocks for loss, tie, cell in ranked(block, known)
    )
    return list(dict.fromkeys(cell for *_, cell in order))
