"""Style markers: what a reply sounds like, read from its words alone, 1.0 where it is clean.

One module per tic decides on sentences (`boilerplate`, `hedging`, `apology`, `sycophancy`, `answering`), its wordings
in `rules/*.txt`; `replies` and `drafts` take out what a reply only shows; `reading` puts them together. English.
"""

from whileai_hf.markers.style.reading import STYLE_MARKERS
from whileai_hf.markers.style.refusals import RefusalReport, refusal_report
from whileai_hf.markers.style.report import StyleReport, style_report
from whileai_hf.markers.style.tics import StyleMarkers, style_markers, style_of


__all__ = [
    "STYLE_MARKERS",
    "RefusalReport",
    "StyleMarkers",
    "StyleReport",
    "refusal_report",
    "style_markers",
    "style_of",
    "style_report",
]
