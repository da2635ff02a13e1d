"""The search for situations: five arms draw, the weights of the arms follow what their rows bring to light.

[`Search.draw`] gives tasks in running order, [`Search.learn`] is told what came of them. Everything is a function of
the seed, the agent and the outcomes learnt so far: whoever learns at a constant distance behind the drawing gets the
same tasks at any speed. The first tasks are the grid's alone, plain asks before edges, so that a short run is spent on
coverage and no outcome is needed to know them. After that some faulted ones meet a rare kind of fault (`rare`).
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from whileai_hf.errors import ConfigurationError
from whileai_hf.scenarios.diversity import EmbedderSource, as_embedder
from whileai_hf.scenarios.grid import planned_cells
from whileai_hf.scenarios.search.drafts import Copies, Draft, near_copy
from whileai_hf.scenarios.search.findings import Findings
from whileai_hf.scenarios.search.free import FreeAsks
from whileai_hf.scenarios.search.free_arm import FreeArm, Inventor
from whileai_hf.scenarios.search.grid_arm import GridArm
from whileai_hf.scenarios.search.leads import Leads
from whileai_hf.scenarios.search.outcome import Outcome, Task
from whileai_hf.scenarios.search.owned import owned_drafts
from whileai_hf.scenarios.search.planned import ADAPTIVE_VISITS, VISITS, Planned
from whileai_hf.scenarios.search.revisits import Revisits
from whileai_hf.scenarios.search.variants import Variants
from whileai_hf.scenarios.search.weights import (
    BEHAVIOR_TARGETED,
    FAILURE_MUTATION,
    GRID,
    MODEL_GUIDED,
    OPEN_ENDED,
    STRUCTURED,
    Weights,
)
from whileai_hf.scenarios.seeds import unique_seeds
from whileai_hf.scenarios.tasks import TaskMaker, check_draw
from whileai_hf.spec import AgentSpec


MODES = ("explore", "sft", "rl", "adaptive")
# Tasks made and compared with the earlier ones at a time.
WINDOW = 64
# Situations of the grid before the first ask from outside it: every tool has been asked for plainly and most of what
# can go wrong with one has been seen once.
OPENING = 128


class SituationWriter(Protocol):
    """Words drawn situations with a model, as [`~whileai_hf.scenarios.writing.ModelWriter`] does."""

    def write(self, tasks: Sequence[Task]) -> list[Task]:
        """The same tasks, in the same order, worded by the model where that worked out."""


class Search:
    """
    Draws the tasks of a run.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
        seed (`int`, *optional*, defaults to `0`):
            Seed of values and wording.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            Share of situations with a planned fault among those that could have one.
        seeds (`Sequence[str]`, *optional*):
            The owner's own asks; they come first, as they are.
        phrasings (`int`, *optional*, defaults to `1`):
            Wordings of each situation.
        mode (`str`, *optional*, defaults to `"explore"`):
            `explore`, `sft`, `rl` or `adaptive`; only the last one comes back to situations.
        writer ([`SituationWriter`], *optional*):
            A model that words situations, and may invent asks.
        embedder (`str` or `Callable`, *optional*):
            What prompts are compared by, see [`~whileai_hf.scenarios.diversity.as_embedder`].

    Examples:
    ```python
    >>> from whileai_hf.spec import AgentSpec
    >>> search = Search(AgentSpec.from_tools([{"name": "ping", "description": "Ping the server."}]))
    >>> tasks = search.draw(64)
    >>> search.learn([Outcome(task, ("a1",)) for task in tasks])
    >>> search.report()["arms"]["structured"]["new_signatures"], search.saturated()
    (1, False)

    ```
    """

    def __init__(
        self,
        spec: AgentSpec,
        *,
        seed: int = 0,
        fault_rate: float = 0.5,
        seeds: Sequence[str] = (),
        phrasings: int = 1,
        mode: str = "explore",
        writer: SituationWriter | None = None,
        embedder: EmbedderSource | None = None,
    ) -> None:
        check_draw(seed, fault_rate, phrasings)
        if mode not in MODES:
            raise ConfigurationError(f"mode={mode!r:.40} is not one of {', '.join(map(repr, MODES))}.")
        asked, notes = unique_seeds(list(seeds) if isinstance(seeds, tuple) else seeds)
        for note in notes:
            warnings.warn(note + ".", stacklevel=2)
        maker = TaskMaker(spec, seed)
        self._writer = writer
        compared_by = as_embedder(embedder)
        self._copies = Copies(compared_by, near_copy(compared_by, maker))
        cells, adaptive = planned_cells(maker.axes, fault_rate), mode == "adaptive"
        self._revisits = Revisits(cells, seed) if adaptive else None
        self._grid = GridArm(maker, fault_rate, phrasings, self._revisits.drawn if self._revisits else None)
        inventor = writer if isinstance(writer, Inventor) else None
        self._free = FreeArm(FreeAsks(maker, seed, fault_rate), self._copies, seed, phrasings, inventor)
        self._variants = Variants(maker, self._grid, self._free, fault_rate, phrasings)
        self._odd, self._failures = Leads(), Leads()
        self._weights = Weights(guided=writer is not None)
        self._findings = Findings(maker.axes, Planned(cells, ADAPTIVE_VISITS if adaptive else VISITS))
        self.rare_faults = True
        """Whether, after the opening, some of the faulted situations meet a kind of fault that is not on the grid."""
        self._repeats: dict[tuple[str, int], int] = {}
        self._situations = 0
        # A task the model has yet to word waits as a draft.
        self._ready: deque[Task | Draft] = deque()
        own = list(dict.fromkeys([*spec.seeds, *asked]))
        owned = owned_drafts(spec, own, maker.writer, seed, phrasings)
        self._admit((draft, writer is not None and draft.task["phrasing"] > 0) for draft in owned)

    def draw(self, n: int) -> list[Task]:
        """
        The next `n` tasks, in running order.

        Args:
            n (`int`):
                How many.

        Returns:
            `list[dict]`: Task rows. There are always as many as wanted.

        Raises:
            [`~whileai_hf.errors.ModelStopError`]: If the writer's model answers no further call.
        """
        while len(self._ready) < n:
            self._fill()
        tasks = self._worded([self._ready.popleft() for _ in range(n)])
        for task in tasks:
            self._findings.arms[task["arm"]].drawn += 1
        return tasks

    def _fill(self) -> None:
        made: list[tuple[Draft, bool]] = []
        while len(made) < WINDOW:
            arm, drafts = self._situation()
            made += [(draft, arm == MODEL_GUIDED) for draft in drafts]
        self._admit(made)

    def _admit(self, made: Iterable[tuple[Draft, bool]]) -> None:
        """Puts tasks in line, those for the model as drafts."""
        made = list(made)
        admitted = iter(self._copies.admit([draft for draft, guided in made if not guided]))
        tasks = (draft if guided else next(admitted) for draft, guided in made)
        self._ready.extend(task for task in tasks if task is not None)

    def _situation(self) -> tuple[str, list[Draft]]:
        """The wordings of the next situation, and the arm it is from."""
        again = self._revisits.next() if self._revisits is not None else None
        if again is not None:
            cell, repeats = again
            drafts = self._grid.drafts(cell, STRUCTURED, 1)
            if repeats > 1:
                self._repeats[_key(drafts[0].task)] = repeats
            return self._weights.next(GRID), drafts
        self._situations += 1
        arm = self._weights.next(self._able())
        drafts = []
        if arm == OPEN_ENDED:
            drafts = self._free.next()
        elif arm == BEHAVIOR_TARGETED:
            drafts = self._odd.next()
        elif arm == FAILURE_MUTATION:
            drafts = self._failures.next()
        if drafts:
            return arm, drafts
        cell = self._grid.next(rare=self.rare_faults and self._situations > OPENING)
        return arm if arm in GRID else STRUCTURED, self._grid.drafts(cell, STRUCTURED)

    def _able(self) -> tuple[str, ...]:
        """The arms that have something to draw."""
        if self._situations <= OPENING:
            return GRID
        odd = (BEHAVIOR_TARGETED,) if self._odd else ()
        return (*GRID, OPEN_ENDED, *odd, *((FAILURE_MUTATION,) if self._failures else ()))

    def _worded(self, drawn: Sequence[Task | Draft]) -> list[Task]:
        """The drawn tasks, those that wait for the model in its words; its near-copies keep the template's."""
        waiting = [draft for draft in drawn if isinstance(draft, Draft)]
        if not waiting or self._writer is None:
            return [one for one in drawn if not isinstance(one, Draft)]
        written = self._writer.write([draft.task for draft in waiting])
        drafts = [_other_than_written(draft, task) for draft, task in zip(waiting, written, strict=True)]
        worded = iter(self._copies.admit(drafts))
        tasks = (next(worded) if isinstance(one, Draft) else one for one in drawn)
        return [task for task in tasks if task is not None]

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """
        Takes note of what came of a window of tasks.

        Args:
            outcomes (`Sequence[Outcome]`):
                Finished tasks, in the order they were drawn in.
        """
        self._weights.learn(*self._findings.learn(outcomes))
        for outcome in outcomes:
            task = outcome.task
            if self._findings.rare(outcome):
                self._odd.note(self._variants.around(task, self._findings.cell(task)))
            if outcome.failed:
                self._failures.note(self._variants.of_failure(task, self._findings.cell(task)))

    def repeats(self, task: Mapping[str, Any]) -> int:
        """Rollouts an adaptive run gives a task; 1 in every other mode."""
        return self._repeats.get(_key(task), 1)

    def saturated(self) -> bool:
        """
        Whether what has been learnt leaves nothing to expect.

        Returns:
            `bool`: True when every planned situation (those that cover all pairs, as far as they can be drawn) has
            been played, five times in adaptive mode, and as many tasks as there are planned situations, between 128
            and 1,024, have brought something new in at most 1 of 100.
        """
        return self._findings.planned.saturated

    def report(self) -> dict[str, Any]:
        """
        What the search has done so far.

        Returns:
            `dict`: `arms` (for each: tasks `drawn`, `rows` learnt from, `new_signatures`, `new_cells`, `weight`),
            `seeds` (tasks that are the owner's asks), `signatures` (different ones), `planned_cells`,
            `planned_finished`, `saturated`, `embedder`, `near_copy_from` (cosine), `near_copies_dropped`,
            `near_copies_kept` (situations of which no wording was unlike enough).
        """
        return {
            **self._findings.report(self._weights.shares),
            "near_copy_from": round(self._copies.limit, 4),
            "near_copies_dropped": self._copies.dropped,
            "near_copies_kept": self._copies.kept,
            "embedder": self._copies.embedder.name,
        }


def _key(task: Mapping[str, Any]) -> tuple[str, int]:
    return task["scenario_id"], task["phrasing"]


def _other_than_written(draft: Draft, written: Task) -> Draft:
    """What the model wrote; where that is a near-copy, the template's words instead. The owner's asks never are."""
    reworded = draft.reworded
    if reworded is None:
        return Draft(written)
    return Draft(written, lambda attempt: draft.task if attempt == 1 else reworded(attempt))
