"""Tasks on their way into the run, and the check that keeps copies of earlier prompts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from whileai_hf.scenarios.diversity import Archive, Embedder, HashEmbedder, whole
from whileai_hf.scenarios.diversity.archive import cosines, nearest
from whileai_hf.scenarios.diversity.embedders import Vectors
from whileai_hf.scenarios.grid import cells
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.tasks import TaskMaker


# Cosine of the default vectors from which a prompt is a near-copy. Two phrasings of one situation stay below 0.84,
# and of 1,000 situations 99 in 100 below 0.72 to 0.88 of their nearest, over twelve agents; the 10 of 12,000 above
# 0.9 are the same sentence with another value.
NEAR_COPY = 0.9
# With other vectors: halfway from the most alike of so many situations in two wordings each to identity (with the
# default ones that is 0.9 to 0.92). Never so near to 1 that rounding could hide a copy.
_MEASURED_ON, _HIGHEST = 48, 0.995
# Wordings tried instead of a near-copy; with the wording there is, the second one is as good as always new.
_REWORDINGS = 16


@dataclass
class Draft:
    """
    A task that may still change its wording.

    Args:
        task (`dict`):
            The task.
        reworded (`Callable`, *optional*):
            The task in the wording of an attempt, from 1 on; `None` when its wording is given.
        optional (`bool`, *optional*, defaults to `False`):
            Whether it is left out when no wording of it is unlike the earlier prompts. A situation of the grid is not.
    """

    task: Task
    reworded: Callable[[int], Task] | None = None
    optional: bool = False


def near_copy(embedder: Embedder, maker: TaskMaker) -> float:
    """
    The cosine from which prompts of an agent are near-copies: above what two wordings of one situation have.

    Args:
        embedder ([`Embedder`]):
            What they are compared by.
        maker ([`TaskMaker`]):
            Makes the agent's rows.
    """
    if embedder.name == HashEmbedder.name:
        return NEAR_COPY
    some = [cell for cell, _ in islice(cells(maker.axes), _MEASURED_ON)]
    first, second = (whole(embedder([maker.row(cell, n)["prompt"] for cell in some])) for n in (0, 1))
    highest = float(np.diagonal(cosines(first, second)).max())
    return min(_HIGHEST, (1 + highest) / 2)


class Copies:
    """
    Lets prompts into the run that are unlike the earlier ones.

    Args:
        embedder ([`Embedder`]):
            What they are compared by.
        limit (`float`, *optional*, defaults to `0.9`):
            Cosine from which a prompt is a near-copy.
    """

    def __init__(self, embedder: Embedder, limit: float = NEAR_COPY) -> None:
        self.embedder = embedder
        self.limit = limit
        self.archive = Archive()
        self.dropped = 0
        self.kept = 0

    def vectors(self, tasks: Sequence[Task]) -> Vectors:
        """The vectors of the tasks' prompts, as whole numbers."""
        return whole(self.embedder([task["prompt"] for task in tasks]))

    def admit(self, drafts: Sequence[Draft]) -> list[Task | None]:
        """
        The tasks in order, near-copies in other words; they count as earlier prompts from now on.

        Args:
            drafts (`Sequence[Draft]`):
                The tasks. One whose wording is given is let in as it is.

        Returns:
            `list[dict | None]`: One a draft; `None` for an optional one that stays a copy in any words.
        """
        if not drafts:
            return []
        tasks: list[Task | None] = [draft.task for draft in drafts]
        vectors = self.vectors([draft.task for draft in drafts])
        between = np.tril(cosines(vectors, vectors), -1)
        likeness = np.maximum(self.archive.likeness(vectors), between.max(axis=1))
        while len(copies := np.flatnonzero(likeness >= self.limit)):
            at = int(copies[0])
            if drafts[at].reworded is not None:
                tasks[at], vectors[at] = self._other_words(drafts[at], vectors[:at], vectors[at], float(likeness[at]))
                # Those after it are compared with what it says now.
                between[at + 1 :, at] = cosines(vectors[at + 1 :], vectors[at : at + 1])[:, 0]
                likeness[at + 1 :] = np.maximum(likeness[at + 1 :], between[at + 1 :, at])
            likeness[at] = 0
        self.archive.add(vectors)
        return tasks

    def _other_words(
        self, draft: Draft, before: Vectors, vector: Vectors, likeness: float
    ) -> tuple[Task | None, Vectors]:
        """The first wording that is no near-copy, else the one least like a copy."""
        best = draft.task
        for attempt in range(1, _REWORDINGS):
            self.dropped += 1
            task = draft.reworded(attempt) if draft.reworded is not None else draft.task
            tried = self.vectors([task])
            found = max(float(self.archive.likeness(tried)[0]), float(nearest(tried, before)[0]))
            if found < likeness:
                best, vector, likeness = task, tried[0], found
            if likeness < self.limit:
                return best, vector
        if draft.optional:
            self.dropped += 1
            return None, vector
        self.kept += 1
        return best, vector
