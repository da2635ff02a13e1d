"""What comes after every pair has been seen: every triple, then the full product.

Triples: fixing one value of one axis and covering the pairs of the others covers every triple that holds the value;
doing so for each tool, each rule, each stance and each history covers them all. Product: one permutation per tool and
kind of cell, walked lazily, so that a tool's cells keep their order whatever happens to the other tools.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from whileai_hf.scenarios.axes import (
    CALL_FREE_STANCES,
    HISTORIES,
    STANCES,
    SUCCESS,
    UNSPECIFIED,
    Axes,
    Cell,
    tier_of,
)
from whileai_hf.scenarios.blocks import rendezvous, rotated, turn
from whileai_hf.scenarios.covering import pairwise


# Fraction of a cycle one step of a permutation moves on: the golden ratio spreads neighbours the widest.
_GOLDEN = 0.6180339887498949


def _legal(axes: Axes, cell: Cell) -> Cell:
    """`cell`, or the nearest one that can occur."""
    if cell.world_state not in axes.world_states(cell.tool):
        cell = cell._replace(world_state=axes.world_states(cell.tool)[0])
    if cell.tool_condition not in axes.conditions(cell.tool, cell.stance):
        cell = cell._replace(tool_condition=SUCCESS)
    return cell


def _array(columns: Sequence[Sequence[str]], levels: Sequence[int], *names: object) -> Iterator[tuple[str, ...]]:
    """Rows in which every pair of values occurs, off the array for `levels`: shorter columns simply come round."""
    turned = [rotated(values, *names, index) for index, values in enumerate(columns)]
    for row in pairwise(tuple(levels)):
        yield tuple(values[level % len(values)] for values, level in zip(turned, row, strict=True))


def tool_triples(axes: Axes, tool: str) -> Iterator[Cell]:
    """Every triple that holds `tool`."""
    name = axes.identities[tool]
    for free in (False, True):
        stances = [stance for stance in STANCES if (stance in CALL_FREE_STANCES) == free]
        columns = (axes.rules, stances, axes.world_states(tool), axes.conditions(tool, stances[0]), HISTORIES)
        most = 1 if free else len(axes.all_conditions)
        levels = (len(axes.rules), len(stances), len(axes.all_world_states), most, len(HISTORIES))
        for values in _array(columns, levels, "triples", name):
            yield Cell(tool, *values)


def rule_triples(axes: Axes, rule: str) -> Iterator[Cell]:
    """Every triple that holds `rule` and no tool."""
    columns = (STANCES, axes.all_world_states, axes.all_conditions, HISTORIES)
    for values in _array(columns, [len(column) for column in columns], "triples", rule):
        yield _placed(axes, rule, values)


def value_triples(axes: Axes) -> Iterator[Cell]:
    """Every triple of stance, state, condition and history."""
    states, conditions = axes.all_world_states, axes.all_conditions
    for stance in STANCES:
        for row in _array(
            (states, conditions, HISTORIES), (len(states), len(conditions), len(HISTORIES)), "triples", stance
        ):
            yield _placed(axes, UNSPECIFIED, (stance, *row))
    for history in HISTORIES:
        for stance_free in _array((states, conditions), (len(states), len(conditions)), "triples", history):
            yield _placed(axes, UNSPECIFIED, ("ordinary", *stance_free, history))


def _placed(axes: Axes, rule: str, values: tuple[str, ...]) -> Cell:
    cell = Cell("", rule, *values)
    tool = rendezvous(axes, axes.able(cell) or axes.tools, "triples", rule, *values)[0]
    return _legal(axes, cell._replace(tool=tool))


def _step(size: int) -> int:
    step = max(1, round(size * _GOLDEN))
    while math.gcd(step, size) != 1:
        step += 1
    return step


def product_cells(axes: Axes, tool: str, tier: str, faulted: bool) -> Iterator[Cell]:
    """
    Every cell of `tool` in `tier` with or without a fault, each once, in a fixed scattered order.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        tool (`str`):
            A tool value.
        tier (`str`):
            The tier of the stances.
        faulted (`bool`):
            Whether to walk the cells with a fault or those without.
    """
    stances = [stance for stance in STANCES if tier_of(stance) == tier]
    possible = axes.conditions(tool, stances[0])
    conditions = [condition for condition in possible if (condition != SUCCESS) == faulted]
    columns: tuple[Sequence[str], ...] = (axes.rules, stances, axes.world_states(tool), conditions, HISTORIES)
    size = math.prod(len(values) for values in columns)
    if not size:
        return
    # An affine walk with a step prime to the size visits every index once before it returns.
    step, index = _step(size), turn("product", axes.identities[tool], tier, faulted) % size
    for _ in range(size):
        rest, picked = index, []
        for values in columns:
            rest, level = divmod(rest, len(values))
            picked.append(values[level])
        yield Cell(tool, *picked)
        index = (index + step) % size
