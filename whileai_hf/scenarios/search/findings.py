"""What the rows of a run have brought to light so far, arm by arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from whileai_hf.scenarios.axes import Axes, Cell
from whileai_hf.scenarios.search.neighbours import cell_of
from whileai_hf.scenarios.search.outcome import Outcome
from whileai_hf.scenarios.search.planned import Planned
from whileai_hf.scenarios.search.weights import ARMS, OPEN_ENDED


SEED = "seed"
# A signature seen no more often than this is rare.
_RARE = 2


@dataclass
class ArmFindings:
    """
    What an arm has drawn, and what came of it.

    Args:
        drawn (`int`):
            Tasks.
        rows (`int`):
            Rollouts learnt from.
        new_signatures (`int`):
            Behaviours nobody had shown before.
        new_cells (`int`):
            Planned situations nobody had been in, and sorts of open-ended asks nobody had made.
    """

    drawn: int = 0
    rows: int = 0
    new_signatures: int = 0
    new_cells: int = 0


class Findings:
    """
    Counts what is new.

    Args:
        axes ([`Axes`]):
            The agent's axes.
        planned ([`Planned`]):
            The planned situations.
    """

    def __init__(self, axes: Axes, planned: Planned) -> None:
        self.planned = planned
        self.arms = {arm: ArmFindings() for arm in (SEED, *ARMS)}
        self.signatures: Counter[str] = Counter()
        self._axes = axes
        self._sorts: set[tuple[str, str]] = set()

    def cell(self, task: Mapping[str, Any]) -> Cell | None:
        """The situation of the grid a task is; `None` for the owner's asks and those from outside the grid."""
        dimensions = task["scenario_dimensions"]
        if task["arm"] == OPEN_ENDED or "family" in dimensions or task["writer_model"] == SEED:
            return None
        return cell_of(self._axes, dimensions)

    def learn(self, outcomes: Sequence[Outcome]) -> tuple[Counter[str], Counter[str]]:
        """
        Takes note of what came of a window of tasks.

        Args:
            outcomes (`Sequence[Outcome]`):
                Finished tasks, in order.

        Returns:
            `tuple[Counter, Counter]`: Rows, and new things among them, by arm.
        """
        rows: Counter[str] = Counter()
        news: Counter[str] = Counter()
        telling = 0
        for outcome in outcomes:
            arm, count = outcome.task["arm"], max(1, len(outcome.signatures))
            signatures = sum(signature not in self.signatures for signature in set(outcome.signatures))
            self.signatures.update(outcome.signatures)
            cell = self._new_cell(outcome.task, count)
            # A sort of free ask is new to its arm; that it is asked at all says nothing about the agent.
            telling += signatures + (cell and arm != OPEN_ENDED)
            found = self.arms[arm]
            found.rows += count
            found.new_signatures += signatures
            found.new_cells += cell
            rows[arm] += count
            news[arm] += signatures + cell
        self.planned.note(len(outcomes), telling)
        return rows, news

    def _new_cell(self, task: Mapping[str, Any], rows: int) -> bool:
        cell = self.cell(task)
        if cell is not None:
            return self.planned.visit(cell, rows)
        if task["arm"] != OPEN_ENDED:
            return False
        dimensions = task["scenario_dimensions"]
        sort = (dimensions.get("family") or "", dimensions["tool"])
        new = sort not in self._sorts
        self._sorts.add(sort)
        return new

    def rare(self, outcome: Outcome) -> bool:
        """Whether somebody did there what has hardly been seen."""
        return any(self.signatures[signature] <= _RARE for signature in outcome.signatures)

    def report(self, shares: Mapping[str, float]) -> dict[str, Any]:
        """
        The counts.

        Args:
            shares (`Mapping[str, float]`):
                The arms' shares of the situations.
        """
        return {
            "arms": {arm: {**asdict(self.arms[arm]), "weight": round(shares.get(arm, 0.0), 4)} for arm in ARMS},
            "seeds": self.arms[SEED].drawn,
            "signatures": len(self.signatures),
            "planned_cells": len(self.planned.cells),
            "planned_finished": self.planned.finished,
            "saturated": self.planned.saturated,
        }
