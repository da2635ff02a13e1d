"""The blocks the grid is built from, so that an edit moves only its own cells.

Nothing here depends on how many rules or tools there are elsewhere: a tool's block is placed by the hash of its name
and schema, a rule's by the hash of its text, and rows of the base array find their tool by rendezvous hashing (a tool
that goes hands its rows to others and leaves theirs alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import task_key
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
from whileai_hf.scenarios.hidden import without_fault


T = TypeVar("T")

# 2^64 over the golden ratio, odd.
_GOLDEN_64 = 0x9E3779B97F4A7C15
_MASK_64 = (1 << 64) - 1
CALLING_STANCES = tuple(stance for stance in STANCES if stance not in CALL_FREE_STANCES)


def turn(*names: object) -> int:
    """A number that depends on `names` only: how far a block's axis is rotated."""
    return int(digest("turn", *names, length=8), 16)


def rotated(values: Sequence[T], *names: object) -> list[T]:
    """`values` starting somewhere else, decided by `names`."""
    by = turn(*names) % len(values)
    return [*values[by:], *values[:by]]


def rendezvous(axes: Axes, names: Sequence[str], *key: str) -> list[str]:
    """`names` ranked for `key`: dropping one leaves the order of the others as it was."""
    place, numbers = int(digest("\x1f".join(key), length=16), 16), axes.numbers
    # One hash for the key and one multiplication per name (Knuth's, by the golden ratio) instead of a hash per name.
    return sorted(names, key=lambda name: ((numbers[name] ^ place) * _GOLDEN_64) & _MASK_64)


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
                yield cell._replace(tool=rendezvous(axes, able, "base", *values)[0])


def tool_block(axes: Axes, tool: str) -> Iterator[Cell]:
    """Cells in which `tool` meets every value it can meet, one axis step a row."""
    names = ("tool", axes.identities[tool])
    stances, free = rotated(CALLING_STANCES, *names, "stance"), tuple(sorted(CALL_FREE_STANCES))
    states, histories = rotated(axes.world_states(tool), *names, "state"), rotated(HISTORIES, *names, "history")
    conditions = rotated(axes.conditions(tool, stances[0]), *names, "condition")
    width = max(len(stances), len(states), len(conditions), len(histories))
    for row in range(width + len(free)):
        stance = stances[row % len(stances)] if row < width else free[row - width]
        condition = conditions[row % len(conditions)] if row < width else SUCCESS
        state, history = states[row % len(states)], histories[row % len(histories)]
        yield Cell(tool, UNSPECIFIED, stance, state, condition, history)


def rule_block(axes: Axes, rule: str) -> Iterator[Cell]:
    """Cells in which `rule` meets every tool and every other value."""
    for tool in axes.tools:
        yield _met(axes, rule, tool)
    seen: set[tuple[int, str]] = set()
    free = tuple(sorted(CALL_FREE_STANCES))
    columns = [
        rotated(values, "rule", rule, axis)
        for axis, values in enumerate((CALLING_STANCES, axes.all_world_states, axes.all_conditions, HISTORIES))
    ]
    for row in range(max(len(values) for values in columns)):
        values = [column[row % len(column)] for column in columns]
        yield from _seated(axes, Cell("", rule, *values), seen)
    for row, stance in enumerate(free):
        state, history = (column[row % len(column)] for column in (columns[1], columns[3]))
        yield from _seated(axes, Cell("", rule, stance, state, SUCCESS, history), seen)
    # What no tool could show together with the rest of its row is shown by itself.
    for position, wanted in ((3, axes.all_world_states), (4, axes.all_conditions)):
        for value in wanted:
            if (position, value) not in seen:
                yield from _completing(axes, rule, position, value)


def _met(axes: Axes, rule: str, tool: str) -> Cell:
    """The cell in which a rule meets a tool, its other values decided by the two alone."""
    names = ("meets", rule, axes.identities[tool])
    stance = rotated(STANCES, *names, "stance")[0]
    states, conditions = axes.world_states(tool), axes.conditions(tool, stance)
    state, condition = rotated(states, *names, "state")[0], rotated(conditions, *names, "condition")[0]
    return Cell(tool, rule, stance, state, condition, rotated(HISTORIES, *names, "history")[0])


def _seated(axes: Axes, cell: Cell, seen: set[tuple[int, str]]) -> Iterator[Cell]:
    """`cell` with the tool that rendezvous hashing gives it among those that can show it, if any can."""
    able = axes.able(cell)
    if able:
        seen.update(enumerate(cell))
        yield cell._replace(tool=rendezvous(axes, able, *cell)[0])


def _completing(axes: Axes, rule: str, position: int, value: str) -> Iterator[Cell]:
    for tool in rendezvous(axes, axes.real_tools, rule, value):
        cell = Cell(tool, rule, CALLING_STANCES[0], axes.world_states(tool)[0], SUCCESS, HISTORIES[0])
        cell = cell._replace(world_state=value) if position == 3 else cell._replace(tool_condition=value)
        if axes.possible(cell):
            yield cell
            return


def clean_twin(cell: Cell) -> Cell:
    """The same situation with nothing going wrong."""
    return cell._replace(tool_condition=SUCCESS) if cell.faulted else cell


def clean_twin_task(task: Mapping[str, Any]) -> dict[str, Any]:
    """
    The clean twin of a task: the same ask in the same world, and every call goes through.

    Args:
        task (`Mapping`):
            A task with a fault plan; it is not changed.

    Returns:
        `dict`: The task without `faults`, under a `scenario_id` of its own that follows from the task's; `twin_of`
        names the task. What the judge is told says that nothing breaks.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If no fault is planned for the task.

    Examples:
    ```python
    >>> from whileai_hf.sandbox import fault_plan
    >>> task = {"scenario_id": "sc-1", "prompt": "Refund ORD-7.", "faults": fault_plan("timeout", "refund_order")}
    >>> twin = clean_twin_task(task)
    >>> twin["prompt"], twin["faults"], twin["twin_of"], twin["scenario_id"] != "sc-1"
    ('Refund ORD-7.', None, 'sc-1', True)

    ```
    """
    faults, dimensions, privileged = (task.get(name) for name in ("faults", "scenario_dimensions", "privileged"))
    key = str(task_key(task))
    if not faults:
        raise ConfigurationError(f"task {key!r:.60} has no fault plan, so its clean twin would be the task itself")
    twin = {**task, "scenario_id": f"sc-{digest('clean twin', key)}", "faults": None, "twin_of": key}
    if isinstance(dimensions, Mapping) and "tool_condition" in dimensions:
        twin["scenario_dimensions"] = {**dimensions, "tool_condition": SUCCESS}
    if isinstance(privileged, Mapping):
        twin["privileged"] = without_fault(privileged, faults, task.get("world_state"))
    return twin
