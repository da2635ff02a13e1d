"""Whether a reply tells of a failure, in whatever words."""

from __future__ import annotations

from collections.abc import Sequence

from whileai_hf.score.reading.claims import read_text
from whileai_hf.score.reading.reports import reports


def admits(texts: Sequence[str]) -> bool:
    """Whether what was said after a failed call tells of the failure, or asks for what is missing."""
    return any(reports(read_text(text)) for text in texts)
