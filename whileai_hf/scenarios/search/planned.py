"""When a run has seen enough: every planned cell often enough, and nothing new for a while."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from whileai_hf.scenarios.axes import Cell


# Rollouts a planned cell needs. Every other mode plays a situation as often as it ever will when it first gets there;
# adaptive comes back until it has seen it five times.
VISITS, ADAPTIVE_VISITS = 1, 5
# Rows without anything new after which nothing new is expected: as many as there are planned cells, within bounds. On
# two windows chance alone is silent; a thousand rows are as much patience as a large grid is worth.
_LEAST_QUIET, _MOST_QUIET = 128, 1024
# Share of rows with something new that still counts as quiet: the behaviours of a model never quite end.
_TRICKLE = 0.01


class Planned:
    """
    Counts visits to the planned cells and how long nothing new has turned up.

    Args:
        cells (`Iterable[Cell]`):
            The planned cells, all of which can be drawn.
        visits (`int`):
            How often each is to be visited.
    """

    def __init__(self, cells: Iterable[Cell], visits: int) -> None:
        self.cells = frozenset(cells)
        self.wanted = visits
        self.visits: Counter[Cell] = Counter()
        self._short = len(self.cells)
        self._quiet = min(max(len(self.cells), _LEAST_QUIET), _MOST_QUIET)
        self._windows: deque[tuple[int, int]] = deque()
        self._rows = 0

    @property
    def finished(self) -> int:
        """Planned cells that have been visited often enough."""
        return len(self.cells) - self._short

    def visit(self, cell: Cell, rows: int) -> bool:
        """Counts `rows` rollouts in a cell; whether it is a planned one that nobody had been in."""
        if cell not in self.cells:
            return False
        before = self.visits[cell]
        self.visits[cell] = before + rows
        self._short -= before < self.wanted <= before + rows
        return before == 0

    def note(self, rows: int, found: int) -> None:
        """Takes note of a window: its rows and the new things among them."""
        self._windows.append((rows, found))
        self._rows += rows
        while self._windows and self._rows - self._windows[0][0] >= self._quiet:
            self._rows -= self._windows.popleft()[0]

    @property
    def saturated(self) -> bool:
        """Whether every planned cell has its visits and the last rows brought nothing new."""
        if self._short or self._rows < self._quiet:
            return False
        return sum(found for _, found in self._windows) <= _TRICKLE * self._rows
