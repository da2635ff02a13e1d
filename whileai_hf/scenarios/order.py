"""The order cells are run in: which kind comes next, and which cell of that kind.

[`Steering`] keeps two running shares where they should be: hard tiers among all cells, faulted cells among those that
could be faulted. [`by_coverage`] orders a finite stage so that cells that cover the most new pairs come first.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from whileai_hf.rows.rng import digest
from whileai_hf.scenarios.axes import HARD_TIERS, Axes, Cell, tier_of


# Share of cells whose stance is a tier of its own. Plain asks must stay the majority, or the data trains suspicion.
HARD_SHARE = 0.4

# Stance, state, condition, history.
_INNER_PAIRS = tuple(combinations(range(2, 6), 2))

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
        name (`str`):
            The tool or the text of the rule it is about; anything else for the base block.
        cells (`tuple[Cell, ...]`):
            The cells.
        about (`int` or `None`):
            Position of the axis whose value the block is about: its cells count the pairs that hold that value.
            `None` for the base block, which counts the pairs of the axes that are neither tool nor rule.
    """

    name: str
    cells: tuple[Cell, ...]
    about: int | None

    def pairs(self, cell: Cell) -> tuple[tuple[int, str, str], ...]:
        """The pairs `cell` covers of those this block is there for."""
        if self.about is None:
            return tuple((8 * i + j, cell[i], cell[j]) for i, j in _INNER_PAIRS)
        return tuple((i, cell[self.about], cell[i]) for i in range(len(cell)) if i != self.about)


def ranked(block: Block, seen: Iterable[Cell], steering: Steering) -> Iterator[tuple[int, Cell]]:
    """
    The cells of a block with the pairs each newly covers: the best of the kind wanted next, ties by the cell's hash.

    Args:
        block ([`Block`]):
            The block.
        seen (`Iterable[Cell]`):
            Cells that come before all of them.
        steering ([`Steering`]):
            The block's own: kinds mix inside a block as they will in the run, so that each gets its share of pairs.
    """
    covered = {pair for cell in seen for pair in block.pairs(cell)}
    pairs = {cell: block.pairs(cell) for cell in block.cells}
    heaps: dict[Kind, list[tuple[int, str, Cell]]] = {kind: [] for kind in KINDS}
    for cell in pairs:
        heaps[kind_of(cell)].append((-len(pairs[cell]), digest("\x1f".join(("tie", *cell)), length=12), cell))
    for heap in heaps.values():
        heapq.heapify(heap)
    gained = 0

    def take(kind: Kind) -> Cell | None:
        nonlocal gained
        heap = heaps[kind]
        while heap:
            _, tie, cell = heap[0]
            gained = sum(pair not in covered for pair in pairs[cell])
            # Gains only shrink, so a top that still holds its place after recounting is the best of all.
            if len(heap) == 1 or (-gained, tie) <= min(heap[1:3])[:2]:
                heapq.heappop(heap)
                covered.update(pairs[cell])
                return cell
            heapq.heapreplace(heap, (-gained, tie, cell))
        return None

    while (found := steering.next_from(take)) is not None:
        yield gained, found


def by_coverage(
    blocks: Iterable[Block], seen: Iterable[Cell], steering: Callable[[], Steering]
) -> dict[Kind, list[Cell]]:
    """
    The cells of all blocks by kind, most new pairs first, each once; blocks take turns among equals.

    A cell's place depends on its own block only. One count of new pairs over all blocks would cover a little faster,
    and a single edited rule would reshuffle everything.

    Args:
        blocks (`Iterable[Block]`):
            The blocks.
        seen (`Iterable[Cell]`):
            Cells that come before all of them.
        steering (`Callable`):
            Makes the steering of a block.
    """
    known = set(seen)
    places: dict[Kind, list[tuple[int, int, str, Cell]]] = {kind: [] for kind in KINDS}
    for block in blocks:
        name = digest("block", block.name, length=12)
        turns: Counter[tuple[Kind, int]] = Counter()
        for gain, cell in ranked(block, known, steering()):
            kind = kind_of(cell)
            places[kind].append((-gain, turns[kind, gain], name, cell))
            turns[kind, gain] += 1
    return {kind: list(dict.fromkeys(cell for *_, cell in sorted(found))) for kind, found in places.items()}
