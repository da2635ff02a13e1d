"""The grid as an arm of the search: situations in covering order, and the ones that others took out of turn."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from whileai_hf.scenarios.axes import Cell
from whileai_hf.scenarios.grid import cells
from whileai_hf.scenarios.search.drafts import Draft
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.search.rare import RareFaults
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
        self._cells = self._in_order(cells(maker.axes, fault_rate))
        self._rare = RareFaults(maker.axes)
        # Situations whose turn another one had, each moved on by one faulted situation at a time.
        self._delayed: deque[tuple[Cell, int]] = deque()
        self._ahead: set[Cell] = set()
        self._worded: Counter[Cell] = Counter()

    def next(self, *, rare: bool = False) -> Cell:
        """
        The next situation of the covering order that nobody has taken ahead of it.

        Args:
            rare (`bool`, *optional*, defaults to `False`):
                Whether some of those with a fault give their turn to one with a rare fault. They have the next such
                turn instead, so that the share of faults is the same and no situation is left out.
        """
        cell, used_up = next(self._cells)
        instead = self._rare.instead_of(cell, self.free) if rare and cell.faulted else None
        if instead is None:
            return cell
        self._delayed.appendleft((cell, used_up))
        return instead

    def _in_order(self, order: Iterator[tuple[Cell, int]]) -> Iterator[tuple[Cell, int]]:
        for cell, used_up in order:
            if cell.faulted and self._delayed:
                self._delayed.append((cell, used_up))
                cell, used_up = self._delayed.popleft()
            if used_up or cell not in self._ahead:
                yield cell, used_up
            else:
                self._ahead.remove(cell)

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
