"""Situations one step away from another: the same but for the value of one axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.rows.rng import rng
from whileai_hf.scenarios.axes import AXES, EVERY_CONDITION, HISTORIES, STANCES, WORLD_STATES, Axes, Cell
from whileai_hf.scenarios.grid import wanted


def cell_of(axes: Axes, dimensions: Mapping[str, Any]) -> Cell | None:
    """The cell a task's dimensions name, `None` when they name none of this agent's grid."""
    cell = Cell(*(str(dimensions.get(axis)) for axis in AXES))
    known = (axes.tools, axes.rules, STANCES, None, EVERY_CONDITION, HISTORIES)
    if any(values is not None and value not in values for value, values in zip(cell, known, strict=True)):
        return None
    return cell if axes.possible(cell) else None


def neighbours(axes: Axes, cell: Cell, fault_rate: float) -> Iterator[Cell]:
    """
    The situations one axis away from `cell`, in an order that depends on `cell` alone; also those with rare faults.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        cell ([`Cell`]):
            The situation.
        fault_rate (`float`):
            At 0 no situation with a fault is among them, at 1 none without.
    """
    columns = (axes.tools, axes.rules, STANCES, WORLD_STATES, EVERY_CONDITION, HISTORIES)
    draws = rng(0, "neighbours", *cell)
    ways = [draws.shuffled(values) for values in columns]
    # The axes take turns, so that the many tools or rules do not crowd out the two or three states.
    order = draws.shuffled(range(len(AXES)))
    for turn in range(max(len(values) for values in ways)):
        for axis in order:
            if turn >= len(ways[axis]) or ways[axis][turn] == cell[axis]:
                continue
            other = cell._replace(**{AXES[axis]: ways[axis][turn]})
            if axes.telling(other) and wanted(axes, other, fault_rate):
                yield other
