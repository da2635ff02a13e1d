"""Labelled cases of the markers, and what the detectors say about them.

A case is a line `{"id", "marker", "label": 1.0 | 0.0, "why", "row"}` of `tests/markers/labelled/<set>/<marker>.jsonl`.
Writers made the sets from the definitions alone, none having seen a detector: `first` while the detectors were
written, each later one to find out what they had missed; those from `fifth` on are of the markers that the one
before showed short.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai_hf.markers.grounding import mark_grounding
from whileai_hf.markers.style import STYLE_MARKERS, style_markers
from whileai_hf.markers.trajectory import MARKER_OF, trace_markers
from whileai_hf.score.conduct import conduct_grade
from whileai_hf.stats import wilson


FOLDER = Path(__file__).parents[1] / "markers" / "labelled"
SETS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

Row = dict[str, Any]
Values = Callable[[list[Row]], list[float | None]]


def _marked(mark: Callable[[list[Row]], Any], marker: str) -> Values:
    return lambda rows: [(markers or {}).get(marker) for markers in mark(rows)["markers"]]


# Marker -> what it is worth on rows.
MARKERS: dict[str, Values] = {
    **{marker: _marked(style_markers, marker) for marker in STYLE_MARKERS},
    **{marker: _marked(trace_markers, marker) for marker in sorted(set(MARKER_OF.values()))},
    "argument_grounding": _marked(mark_grounding, "argument_grounding"),
    "conduct": lambda rows: [conduct_grade(row)["reward"] for row in rows],
}


@dataclass(frozen=True)
class Found:
    """How a detector did; positive, for precision and recall, is the bad thing: label 0."""

    marker: str
    positive: int
    negative: int
    hits: int
    said: int
    unmeasured: int
    wrong: list[str]

    @property
    def precision(self) -> float:
        """Share of the rows flagged that are bad."""
        return self.hits / self.said if self.said else 0.0

    @property
    def recall(self) -> float:
        """Share of the bad rows that are flagged."""
        return self.hits / self.positive

    @property
    def lower(self) -> tuple[float, float]:
        """Lower ends of the Wilson 95% intervals of precision and recall."""
        ends = [wilson(self.hits, self.said), wilson(self.hits, self.positive)]
        return tuple(0.0 if end is None else end[0] for end in ends)


def read_cases(marker: str, folder: Path) -> list[dict[str, Any]]:
    """The cases of a marker in a folder."""
    return [json.loads(line) for line in (folder / f"{marker}.jsonl").read_text("utf-8").splitlines() if line.strip()]


def measure(marker: str, cases: list[dict[str, Any]]) -> Found:
    """What the detector of a marker makes of cases."""
    values = MARKERS[marker]([case["row"] for case in cases])
    bad = [case["label"] == 0.0 for case in cases]
    # The conduct grade also knows one half, for poor work; only 0 is the bad thing.
    flagged = [value == 0.0 for value in values]
    return Found(
        marker,
        positive=sum(bad),
        negative=len(bad) - sum(bad),
        hits=sum(one and other for one, other in zip(bad, flagged, strict=True)),
        said=sum(flagged),
        unmeasured=values.count(None),
        wrong=[case["id"] for case, one, other in zip(cases, bad, flagged, strict=True) if one != other],
    )
