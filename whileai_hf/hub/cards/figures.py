"""Figures of a card, drawn by `plots` and committed beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from whileai_hf.hub.cards.numbers import SplitNumbers
from whileai_hf.plots import bars, histogram, reliability


# Markers in one figure: more bars are no figure any more.
_MOST_BARS = 30


@dataclasses.dataclass(frozen=True)
class Figure:
    """
    One image.

    Args:
        path (`str`):
            Its path in the repo.
        says (`str`):
            What it shows, for those who cannot see it.
        svg (`str`):
            The image.
    """

    path: str
    says: str
    svg: str

    def markdown(self) -> str:
        """The reference to it."""
        return f"![{self.says}]({self.path})"


def draw(splits: Sequence[SplitNumbers]) -> dict[str, list[Figure]]:
    """
    The figures of all splits.

    Args:
        splits (`Sequence[SplitNumbers]`):
            Their numbers. The first with something to draw gives the plain file names.

    Returns:
        `dict[str, list[Figure]]`: By what they show: `difficulty`, `reliability`, `markers`.
    """
    drawn: dict[str, list[Figure]] = {"difficulty": [], "reliability": [], "markers": []}
    for split in splits:
        for kind, figure in _of_split(split):
            path = f"figures/{kind}{f'-{split.name}' if drawn[kind] else ''}.svg"
            drawn[kind].append(dataclasses.replace(figure, path=path))
    return drawn


def _of_split(split: SplitNumbers) -> list[tuple[str, Figure]]:
    found = []
    if split.passes is not None and split.passes.per_task:
        rates = list(split.passes.per_task.values())
        title = f"How hard the tasks are: {split.name}, {len(rates)} tasks"
        svg = histogram(rates, title=title)
        found.append(("difficulty", Figure("", f"Histogram of the pass rates of {len(rates)} tasks", svg)))
    if split.passes is not None and len(split.passes.curve) > 1:
        svg = reliability(split.passes.curve, title=f"Reliability over repeats: {split.name}")
        found.append(("reliability", Figure("", "Chance that all, and that any, of j repeats pass", svg)))
    if split.markers is not None:
        means = {name: level.mean for name, level in split.markers.metrics.items() if level.mean is not None}
        told = dict(list(means.items())[:_MOST_BARS])
        if told:
            svg = bars(told, title=f"Markers: {split.name}", axis="mean over tasks, 1 is good")
            found.append(("markers", Figure("", f"Means of {len(told)} markers", svg)))
    return found
