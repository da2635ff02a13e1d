"""The grid as an arm of the search: situations in covering order, and the ones that others took out of turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from whileai_hf.scenarios.axes import Cell
from whileai_hf.scenarios.grid import cells
from whileai_hf.scenarios.search.drafts import Draft
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.tasks import TaskMaker


class GridArm:
    """
    Draws situations of the grid, each once until all have been used.

    Args:
        maker ([`TaskMaker`]):
            Makes the rows.
        fault_rate (`float`):
            Share of situations with a planned fault among those that could have one.
        phrasings (`int`):
            Wordings of each situation.
        opened (`Callable`, *optional*):
            Called with each situation when it is used for the first time, whoever uses it.
    """

    def __init__(
        self,
        maker: TaskMaker,
        fault_rate: float,
        phrasings: int,
        opened: Callable[[Cell], None] | None = None,
    ) -> None:
        self._maker = maker
        self._phrasings = phrasings
        self._opened = opened
        self._cells = cells(maker.axes, fault_rate)
        self._ahead: set[Cell] = set()
        self._worded: Counter[Cell] = Counter()

    def next(self) -> Cell:
        """The next situation of the covering order that nobody has taken ahead of it."""
        for cell, used_up in self._cells:
            if used_up or cell not in self._ahead:
                return cell
            self._ahead.remove(cell)
        raise AssertionError("the grid has no end")

    def free(self, cell: Cell) -> bool:
        """Whether a situation has not been used yet."""
        return cell not in self._worded

    def take(self, cell: Cell) -> Cell:
        """Takes a situation ahead of its turn."""
        self._ahead.add(cell)
        return cell

    def drafts(self, cell: Cell, arm: str, phrasings: int | None = None) -> list[Draft]:
        """
        The next wordings of a situation.

        Args:
            cell ([`Cell`]):
                The situation.
            arm (`str`):
                What the rows say drew it.
            phrasings (`int`, *optional*):
                How many, when not the usual number.
        """
        first = self._worded[cell]
        if not first and self._opened is not None:
            self._opened(cell)
        count = phrasings or self._phrasings
        self._worded[cell] += count
        return [self._draft(cell, arm, phrasing) for phrasing in range(first, first + count)]

    def _draft(self, cell: Cell, arm: str, phrasing: int) -> Draft:
        def worded(attempt: int) -> Task:
            row = self._maker.row(cell, phrasing, attempt)
            row["arm"] = arm
            return row

        return Draft(worded(0), worded)
