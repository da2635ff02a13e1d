"""How much of an agent's situations a set of tasks covers, counted in pairs of axis values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from whileai_hf.rows import Report
from whileai_hf.sandbox.kinds import RARE_KINDS
from whileai_hf.scenarios.axes import AXES, HISTORIES, STANCES, Axes, Cell
from whileai_hf.spec import AgentSpec


@dataclass(frozen=True)
class CoverageReport(Report):
    """
    Pairs of axis values seen among those that can occur.

    Args:
        rows (`int`):
            Tasks counted.
        cells (`int`):
            Different situations among them.
        pairs_covered (`int`):
            Possible pairs seen at least once.
        pairs_total (`int`):
            Possible pairs.
        share (`float`):
            The first over the second; 1.0 when there is nothing to cover.
        strength (`int`):
            2 when every pair has been seen, 1 when every single value has, else 0.
        by_axes (`list[dict]`):
            `{"axes": [first, second], "covered", "total"}` for each two axes.
        notes (`list[str]`):
            What was left out of the count.
    """

    rows: int
    cells: int
    pairs_covered: int
    pairs_total: int
    share: float
    strength: int
    by_axes: list[dict[str, Any]]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.rows} tasks, {self.cells} different situations: "
            f"{self.pairs_covered} of {self.pairs_total} pairs covered ({self.share:.1%}), strength {self.strength}"
        ]
        lines += [
            f"  {' x '.join(entry['axes']):<32} {entry['covered']} of {entry['total']}" for entry in self.by_axes
        ]
        return "\n".join([*lines, *self.notes])


def _possible_pairs(axes: Axes) -> dict[tuple[int, int], set[tuple[str, str]]]:
    """Every pair that occurs in some possible situation, by the two axes' positions."""
    found: dict[tuple[int, int], set[tuple[str, str]]] = {two: set() for two in combinations(range(len(AXES)), 2)}
    for tool in axes.tools:
        for stance in STANCES:
            columns = (
                (tool,),
                axes.rules,
                (stance,),
                axes.world_states(tool),
                axes.conditions(tool, stance),
                HISTORIES,
            )
            for first, second in found:
                found[first, second].update((a, b) for a in columns[first] for b in columns[second])
    return found


def coverage(spec: AgentSpec, dims: Iterable[Mapping[str, Any]]) -> CoverageReport:
    """
    How many of the pairs of axis values that can occur for an agent some tasks cover.

    The rare kinds of fault are in no pair that is wanted: tasks with one count for their other values, and a note
    says how many there are.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
        dims (`Iterable[dict]`):
            The `scenario_dimensions` of the tasks.

    Returns:
        [`CoverageReport`]: Counts in all and for each two axes.

    Examples:
    ```python
    >>> from whileai_hf.scenarios import coverage, draw_tasks
    >>> from whileai_hf.spec import AgentSpec
    >>> spec = AgentSpec.from_tools([{"name": "ping"}])
    >>> tasks = draw_tasks(spec)
    >>> coverage(spec, [next(tasks)["scenario_dimensions"] for _ in range(200)]).strength
    2

    ```
    """
    axes = Axes.of(spec)
    possible = _possible_pairs(axes)
    last = len(AXES) - 1
    values: list[set[str]] = [{first for first, _ in possible[k, k + 1]} for k in range(last)]
    values.append({second for _, second in possible[last - 1, last]})
    seen: dict[tuple[int, int], set[tuple[str, str]]] = {two: set() for two in possible}
    cells, rows, foreign, rare = set(), 0, 0, Counter[str]()
    for dimensions in dims:
        rows += 1
        cell = Cell(*(str(dimensions.get(axis)) for axis in AXES))
        cells.add(cell)
        if cell.tool not in axes.tools or not axes.possible(cell):
            foreign += 1
        elif cell.tool_condition in RARE_KINDS:
            rare[cell.tool_condition] += 1
        for (i, j), pairs in seen.items():
            if (cell[i], cell[j]) in possible[i, j]:
                pairs.add((cell[i], cell[j]))
    by_axes: list[dict[str, Any]] = [
        {"axes": [AXES[i], AXES[j]], "covered": len(seen[i, j]), "total": len(possible[i, j])} for i, j in possible
    ]
    covered, total = sum(entry["covered"] for entry in by_axes), sum(entry["total"] for entry in by_axes)
    singles = all(wanted <= {str(cell[axis]) for cell in cells} for axis, wanted in enumerate(values))
    notes = [f"{foreign} tasks lie outside the grid (the owner's own asks, or another agent's)"] if foreign else []
    if rare:
        kinds = ", ".join(f"{kind} {rare[kind]}" for kind in RARE_KINDS if rare[kind])
        notes.append(f"{rare.total()} tasks meet a rare kind of fault, which is in no pair ({kinds})")
    return CoverageReport(
        rows=rows,
        cells=len(cells),
        pairs_covered=covered,
        pairs_total=total,
        share=covered / total if total else 1.0,
        strength=2 if covered == total else int(singles),
        by_axes=by_axes,
        notes=notes,
    )
