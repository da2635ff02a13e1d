"""Variants of a task that is worth a second look: next to it on the grid, more of its family, or in other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.scenarios.axes import Cell
from whileai_hf.scenarios.search.drafts import Draft
from whileai_hf.scenarios.search.free_arm import FreeArm
from whileai_hf.scenarios.search.grid_arm import GridArm
from whileai_hf.scenarios.search.mutation import mutated, mutations
from whileai_hf.scenarios.search.neighbours import neighbours
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.search.weights import BEHAVIOR_TARGETED, FAILURE_MUTATION
from whileai_hf.scenarios.tasks import TaskMaker


# Further asks of the family of a rare one.
_MORE_LIKE_IT = 2


@dataclass(frozen=True)
class Variants:
    """
    Makes variants, one at a time.

    Args:
        maker ([`TaskMaker`]):
            Makes rows of the grid.
        grid ([`GridArm`]):
            Knows which situations have been used.
        free ([`FreeArm`]):
            Makes asks from outside the grid.
        fault_rate (`float`):
            At 0 no variant has a fault, at 1 all that can have one do.
        phrasings (`int`):
            Wordings of each.
    """

    maker: TaskMaker
    grid: GridArm
    free: FreeArm
    fault_rate: float
    phrasings: int
    _used: set[tuple[str, str]] = field(default_factory=set)

    def around(self, task: Mapping[str, Any], cell: Cell | None) -> Iterator[list[Draft]]:
        """
        Situations next to a task's that have not been used.

        Args:
            task (`Mapping`):
                The task.
            cell ([`Cell`], *optional*):
                Its place on the grid.
        """
        family = task["scenario_dimensions"].get("family")
        if cell is not None:
            for other in neighbours(self.maker.axes, cell, self.fault_rate):
                if self.grid.free(other):
                    yield self.grid.drafts(self.grid.take(other), BEHAVIOR_TARGETED)
        elif family is not None:
            for _ in range(_MORE_LIKE_IT):
                yield [_by(BEHAVIOR_TARGETED, draft) for draft in self.free.like(family)]

    def of_failure(self, task: Mapping[str, Any], cell: Cell | None) -> Iterator[list[Draft]]:
        """
        A failed task in other words, then next to it, in turns.

        Args:
            task (`Mapping`):
                The task.
            cell ([`Cell`], *optional*):
                Its place on the grid.
        """
        if cell is None and task["arm"] == FAILURE_MUTATION:
            return  # words around words around somebody's words
        near = neighbours(self.maker.axes, cell, self.fault_rate) if cell is not None else iter(())
        situation = task["scenario_id"] if cell is None else self.maker.row(cell)["scenario_id"]
        for name in mutations(situation):
            if (situation, name) not in self._used:
                self._used.add((situation, name))
                yield [self._mutated(task, cell, name, phrasing) for phrasing in range(self.phrasings)]
            other = next((one for one in near if self.grid.free(one)), None)
            if other is not None:
                yield self.grid.drafts(self.grid.take(other), FAILURE_MUTATION)

    def _mutated(self, task: Mapping[str, Any], cell: Cell | None, name: str, phrasing: int) -> Draft:
        def worded(attempt: int) -> Task:
            # The ask is said in other words too where they are the template's: a wrapped copy is still a copy.
            inside = dict(task) if cell is None else self.maker.row(cell, phrasing, 1 + attempt)
            return mutated(inside, name, self.maker.writer, phrasing, attempt)

        return Draft(worded(0), worded, self.phrasings == 1)


def _by(arm: str, draft: Draft) -> Draft:
    """A draft under the name of another arm."""
    reworded = draft.reworded
    other = None if reworded is None else lambda attempt: {**reworded(attempt), "arm": arm}
    return Draft({**draft.task, "arm": arm}, other, draft.optional)
