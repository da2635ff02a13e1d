"""The order cells are run in: which kind comes next, and which cell of that kind.

[`Steering`] keeps two running shares where they should be: hard tiers among all cells, faulted cells among those that
could be faulted. [`by_coverage`] orders a finite stage so that each next cell covers the most pairs not seen yet.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from whileai_hf.rows.rng import digest
from whileai_hf.scenarios.axes import HARD_TIERS, Axes, Cell, tier_of


# Share of cells whose stance is a tier of its own. Plain asks must stay the majority, or the data trains suspicion.
HARD_SHARE = 0.4

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


def by_coverage(cells: Iterable[Cell], seen: Iterable[Cell], steering: Steering) -> Iterator[Cell]:
    """
    `cells` in the order of pairs newly covered within the kind that is wanted next, each once.

    Args:
        cells (`Iterable[Cell]`):
            The cells of the stage.
        seen (`Iterable[Cell]`):
            Cells that came before.
        steering ([`Steering`]):
            Decides the kind; told of every cell that comes out.
    """
    known = set(seen)
    covered: set[tuple[int, str, int, str]] = set()
    pairs: dict[Cell, tuple[tuple[int, str, int, str], ...]] = {}

    def pairs_of(cell: Cell) -> tuple[tuple[int, str, int, str], ...]:
        return tuple((i, cell[i], j, cell[j]) for i, j in combinations(range(len(cell)), 2))

    for cell in known:
        covered.update(pairs_of(cell))
    heaps: dict[Kind, list[tuple[int, str, Cell]]] = {kind: [] for kind in KINDS}
    for cell in cells:
        if cell not in known and cell not in pairs:
            pairs[cell] = pairs_of(cell)
            # Ties fall by the cell's own hash: an edit elsewhere must not reorder the rest.
            heaps[kind_of(cell)].append((-len(pairs[cell]), digest("tie", *cell, length=12), cell))
    for heap in heaps.values():
        heapq.heapify(heap)

    def take(kind: Kind) -> Cell | None:
        heap = heaps[kind]
        while heap:
            _, tie, cell = heap[0]
            gain = sum(pair not in covered for pair in pairs[cell])
            # Gains only shrink, so a top that still holds its place after recounting is the best of all.
            if len(heap) == 1 or (-gain, tie) <= min(heap[1:3])[:2]:
                heapq.heappop(heap)
                covered.update(pairs[cell])
                return cell
            heapq.heapreplace(heap, (-gain, tie, cell))
        return None

    while (cell := steering.next_from(take)) is not None:
        yield cell
