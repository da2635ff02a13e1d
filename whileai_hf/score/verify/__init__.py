"""Verifiers: rewards that are programs. Each is a judge, so it goes wherever a judge goes.

The candidate is the row's `final_text`, the gold answer its `privileged.reference` (joined by `grade` for the time of
the call), a flat column such as `answer`, or whatever `field=` points at.
"""

from whileai_hf.score.verify.base import Verifier, verifier
from whileai_hf.score.verify.compose import All, Any, Weighted
from whileai_hf.score.verify.pattern import Regex
from whileai_hf.score.verify.structure import JSONValid
from whileai_hf.score.verify.text import ExactMatch, Includes


__all__ = [
    "All",
    "Any",
    "ExactMatch",
    "Includes",
    "JSONValid",
    "Regex",
    "Verifier",
    "Weighted",
    "verifier",
]
