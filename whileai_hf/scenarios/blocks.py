"""The blocks the grid is built from, so that an edit moves only its own cells.

Nothing here depends on how many rules or tools there are elsewhere: a tool's block is placed by the hash of its name
and schema, a rule's by the hash of its text, and rows of the base array find their tool by rendezvous hashing (a tool
that goes hands its rows to others and leaves theirs alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from whileai_hf.rows.rng import digest
from whileai_hf.scenarios.axes import (
    CALL_FREE_STANCES,
    HISTORIES,
    STANCES,
    SUCCESS,
    UNSPECIFIED,
    Axes,
    Cell,
)
from whileai_hf.scenarios.covering import pairwise


T = TypeVar("T")

CALLING_STANCES = tuple(stance for stance in STANCES if stance not in CALL_FREE_STANCES)


def turn(*names: object) -> int:
    """A number that depends on `names` only: how far a block's axis is rotated."""
    return int(digest("turn", *names, length=8), 16)


def rotated(values: Sequence[T], *names: object) -> list[T]:
    """`values` starting somewhere else, decided by `names`."""
    by = turn(*names) % len(values)
    return [*values[by:], *values[:by]]


def rendezvous(names: Sequence[str], identities: dict[str, str], *key: object) -> list[str]:
    """`names` ranked for `key`: dropping one leaves the order of the others as it was."""
    return sorted(names, key=lambda name: digest("rendezvous", identities[name], *key, length=16))


def happy_cells(axes: Axes) -> list[Cell]:
    """The plain ask for each tool, where nothing goes wrong."""
    return [Cell(tool, UNSPECIFIED, "ordinary", axes.world_states(tool)[0], SUCCESS, "fresh") for tool in axes.tools]


def base_cells(axes: Axes) -> Iterator[Cell]:
    """Pairs of the axes that are neither tool nor rule, each row given to one tool that can show it."""
    states, free = axes.all_world_states, tuple(sorted(CALL_FREE_STANCES))
    for stances, conditions in ((CALLING_STANCES, axes.all_conditions), (free, (SUCCESS,))):
        for row in pairwise((len(stances), len(states), len(conditions), len(HISTORIES))):
            values = (stances[row[0]], states[row[1]], conditions[row[2]], HISTORIES[row[3]])
            cell = Cell("", UNSPECIFIED, *values)
            able = axes.able(cell)
            if able:
                yield cell._replace(tool=rendezvous(able, axes.identities, "base", *values)[0])


def _diagonal(axes: Axes, tools: Sequence[str], rules: Sequence[str], *names: object) -> Iterator[Cell]:
    """Rows in which every value of every axis occurs with what the block is about, one axis step a row."""
    calling, free = rotated(CALLING_STANCES, *names, "stance"), tuple(sorted(CALL_FREE_STANCES))
    usual = axes.conditions(tools[0], calling[0]) if len(tools) == 1 else axes.all_conditions
    conditions, histories = rotated(usual, *names, "condition"), rotated(HISTORIES, *names, "history")
    states = {tool: rotated(axes.world_states(tool), *names, "state") for tool in tools}
    width = max(len(tools), len(conditions), len(calling), *(len(values) for values in states.values()))
    for row in range(width):
        tool = tools[row % len(tools)]
        stance = calling[row % len(calling)]
        possible = axes.conditions(tool, stance)
        condition = conditions[row % len(conditions)]
        yield Cell(
            tool,
            rules[row % len(rules)],
            stance,
            states[tool][row % len(states[tool])],
            condition if condition in possible else SUCCESS,
            histories[row % len(histories)],
        )
    for row, stance in enumerate(free):
        tool = tools[(width + row) % len(tools)]
        state = states[tool][(width + row) % len(states[tool])]
        yield Cell(tool, rules[row % len(rules)], stance, state, SUCCESS, histories[(width + row) % len(histories)])


def tool_block(axes: Axes, tool: str) -> Iterator[Cell]:
    """Cells in which `tool` meets every value it can meet."""
    yield from _diagonal(axes, (tool,), (UNSPECIFIED,), "tool", axes.identities[tool])


def rule_block(axes: Axes, rule: str) -> Iterator[Cell]:
    """Cells in which `rule` meets every tool and every other value."""
    tools = sorted(axes.tools, key=lambda tool: digest("rule", rule, axes.identities[tool], length=16))
    seen: set[tuple[int, str]] = set()
    for cell in _diagonal(axes, tools, (rule,), "rule", rule):
        seen.update(enumerate(cell))
        yield cell
    # Tools that cannot meet a value left it out of the diagonal; a tool that can takes it up.
    for position, values in ((3, axes.all_world_states), (4, axes.all_conditions)):
        for value in values:
            if (position, value) not in seen:
                yield from _completing(axes, tools, rule, position, value)


def _completing(axes: Axes, tools: Sequence[str], rule: str, position: int, value: str) -> Iterator[Cell]:
    for tool in tools:
        cell = Cell(tool, rule, CALLING_STANCES[0], axes.world_states(tool)[0], SUCCESS, HISTORIES[0])
        cell = cell._replace(world_state=value) if position == 3 else cell._replace(tool_condition=value)
        if axes.possible(cell):
            yield cell
            return


def clean_twin(cell: Cell) -> Cell:
    """The same situation with nothing going wrong."""
    return cell._replace(tool_condition=SUCCESS) if cell.faulted else cell
