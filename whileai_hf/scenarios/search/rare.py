"""Rare faults in between: every so often a faulted situation of the grid meets a kind of fault that is not on it."""

from __future__ import annotations

from collections.abc import Callable

from whileai_hf.sandbox.kinds import RARE_KINDS
from whileai_hf.sandbox.reach import PAIRED
from whileai_hf.scenarios.axes import MULTI_TOOL, Axes, Cell


# Faulted situations of the grid to one with a rare fault: some fifty in a thousand tasks, eight of each kind.
_EVERY = 5
# Nothing is read from a record that is not there, and nothing written to it, so none of these faults would show.
_NOTHING_THERE = "entity missing"


class RareFaults:
    """
    Gives situations a rare fault; the kinds take turns as far as the tools let them.

    Args:
        axes ([`Axes`]):
            The agent's axes.
    """

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        met = frozenset().union(*axes.showing.values())
        self._used = {kind: 0 for kind in RARE_KINDS if kind in met}
        self._passed = 0

    def instead_of(self, cell: Cell, free: Callable[[Cell], bool]) -> Cell | None:
        """
        The situation that has the turn of another one, the same but for its fault.

        Args:
            cell ([`Cell`]):
                A situation with a fault.
            free (`Callable`):
                Whether a situation has not been used yet.

        Returns:
            [`Cell`], *optional*: `None` when it is not time for one, or none suits the tool.
        """
        self._passed += 1
        if self._passed < _EVERY or cell.world_state == _NOTHING_THERE:
            return None
        for kind in sorted(self._used, key=self._used.__getitem__):
            other = cell._replace(tool_condition=kind)
            if kind in PAIRED:
                # It takes two calls to see these.
                states = self._axes.world_states(MULTI_TOOL)
                state = cell.world_state if cell.world_state in states else states[0]
                other = other._replace(tool=MULTI_TOOL, world_state=state)
            if self._axes.telling(other) and free(other):
                self._used[kind] += 1
                self._passed = 0
                return other
        return None
