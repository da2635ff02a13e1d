"""The cells of an agent in running order: endless, lazy, never the same cell twice until all of them have been.

Three stages: every pair (strength 2), every triple (strength 3), the full product; then all of it again with the next
phrasing. Each kind of cell (tier, faulted or not) goes through them at its own pace, so that the shares of hard asks
and of faults hold throughout. The stages are made of blocks (`blocks.py`, `deeper.py`), ordered by `order.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from whileai_hf.scenarios import deeper
from whileai_hf.scenarios.axes import AXES, UNSPECIFIED, Axes, Cell
from whileai_hf.scenarios.blocks import base_cells, clean_twin, happy_cells, rule_block, tool_block
from whileai_hf.scenarios.order import KINDS, Block, Kind, Steering, by_coverage, kind_of


# Positions of the axes in a cell.
_TOOL, _RULE = AXES.index("tool"), AXES.index("rule")


def wanted(axes: Axes, cell: Cell, fault_rate: float) -> bool:
    """At the two ends the rate is a promise: 0 has no faulted cell, 1 faults every cell that can be."""
    return fault_rate > 0 if cell.faulted else (fault_rate < 1 or not axes.can_fault(cell))


def _wanted(axes: Axes, cells: Iterable[Cell], fault_rate: float) -> Iterator[Cell]:
    return (cell for cell in cells if wanted(axes, cell, fault_rate))


def _with_twins(cells: Iterator[Cell]) -> Iterator[Cell]:
    """Cells and, for each faulted one, the same without the fault: the contrast a fault is learnt from."""
    for cell in cells:
        yield cell
        if cell.faulted:
            yield clean_twin(cell)


def pair_blocks(axes: Axes, fault_rate: float = 0.5) -> list[Block]:
    """
    The blocks that together cover every pair: the base, one per tool, one per rule.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            At 0 the faulted cells are left out, at 1 those that could be faulted and are not.
    """

    def block(name: str, cells: Iterator[Cell], about: int | None) -> Block:
        return Block(name, tuple(dict.fromkeys(_wanted(axes, _with_twins(cells), fault_rate))), about)

    return [
        block("", base_cells(axes), None),
        *(block(tool, tool_block(axes, tool), _TOOL) for tool in axes.tools),
        *(block(rule, rule_block(axes, rule), _RULE) for rule in axes.rules if rule != UNSPECIFIED),
    ]


def planned_cells(axes: Axes, fault_rate: float = 0.5) -> list[Cell]:
    """
    The cells of the first stage: the plain asks, and those that together cover every pair.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            As in [`cells`].

    Returns:
        `list[Cell]`: Each once; [`cells`] emits them all.
    """
    plain = _wanted(axes, happy_cells(axes), fault_rate)
    return list(dict.fromkeys([*plain, *(cell for block in pair_blocks(axes, fault_rate) for cell in block.cells)]))


class _Queues:
    """Cells of an iterator sorted by kind as they are asked for; cells already emitted are dropped."""

    def __init__(self, sources: dict[Kind, Iterator[Cell]], emitted: set[Cell]) -> None:
        self._sources = sources
        self._emitted = emitted

    def take(self, kind: Kind) -> Cell | None:
        for cell in self._sources.get(kind, iter(())):
            if cell not in self._emitted:
                self._emitted.add(cell)
                return cell
        return None


def _round_robin(sources: list[Iterator[Cell]]) -> Iterator[Cell]:
    while sources:
        alive = []
        for source in sources:
            for cell in source:
                yield cell
                alive.append(source)
                break
        sources = alive


def _sorted_lazily(cells: Iterator[Cell]) -> dict[Kind, Iterator[Cell]]:
    """One stream split by kind without reading further ahead than asked."""
    waiting: dict[Kind, list[Cell]] = {kind: [] for kind in KINDS}

    def stream(kind: Kind) -> Iterator[Cell]:
        while True:
            queue = waiting[kind]
            if queue:
                waiting[kind] = []
                yield from queue
                continue
            cell = next(cells, None)
            if cell is None:
                return
            waiting[kind_of(cell)].append(cell)

    return {kind: stream(kind) for kind in KINDS}


def _triples(axes: Axes, fault_rate: float) -> Iterator[Cell]:
    parts = [deeper.tool_triples(axes, tool) for tool in axes.tools]
    parts += [deeper.rule_triples(axes, rule) for rule in axes.rules if rule != UNSPECIFIED]
    parts.append(deeper.value_triples(axes))
    return _wanted(axes, _with_twins(_round_robin(parts)), fault_rate)


def _product(axes: Axes, kind: Kind, fault_rate: float) -> Iterator[Cell]:
    return _wanted(axes, _round_robin([deeper.product_cells(axes, tool, *kind) for tool in axes.tools]), fault_rate)


def _sources(axes: Axes, fault_rate: float, first: Sequence[Cell]) -> dict[Kind, Iterator[Cell]]:
    """For each kind of cell its pairs, then its triples, then its product; a kind moves on when it has to."""
    pairs = by_coverage(pair_blocks(axes, fault_rate), first, lambda: Steering(axes, fault_rate))
    triples = _sorted_lazily(_triples(axes, fault_rate))
    return {kind: chain(pairs[kind], triples[kind], _product(axes, kind, fault_rate)) for kind in KINDS}


def cells(axes: Axes, fault_rate: float = 0.5) -> Iterator[tuple[Cell, int]]:
    """
    Every cell in running order, with how often all of them have been used up before.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            Share of faulted cells among those that could be faulted, as a running share.

    Yields:
        `tuple[Cell, int]`: The cell and the round: 0 until the full product has been used up once, then 1, and so on.
    """
    steering = Steering(axes, fault_rate)
    first = list(_wanted(axes, happy_cells(axes), fault_rate))
    round_number = 0
    while True:
        emitted = set(first)
        for cell in first:
            steering.note(cell, opening=True)
            yield cell, round_number
        queues = _Queues(_sources(axes, fault_rate, first), emitted)
        while (found := steering.next_from(queues.take)) is not None:
            yield found, round_number
        round_number += 1
