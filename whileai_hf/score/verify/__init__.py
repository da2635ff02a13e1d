"""Verifiers: rewards that are programs. Each is a judge, so it goes wherever a judge goes.

The candidate is the row's `final_text`, the gold answer its `privileged.reference` (joined by `grade` for the time of
the call), a flat column such as `answer`, or whatever `field=` points at. `verifier.as_reward()` makes a reward
function for TRL's trainers of it. To write one, decorate a function with [`verifier`], or subclass `base.Verifier`.
"""

from whileai_hf.score.verify.base import verifier
from whileai_hf.score.verify.calls import ToolCalls
from whileai_hf.score.verify.choice import MultipleChoice
from whileai_hf.score.verify.code import CodeExec
from whileai_hf.score.verify.compose import All, Any, Weighted
from whileai_hf.score.verify.field import JSONField
from whileai_hf.score.verify.math import MathEqual
from whileai_hf.score.verify.numeric import Numeric
from whileai_hf.score.verify.pattern import Regex
from whileai_hf.score.verify.schema import JSONSchema
from whileai_hf.score.verify.structure import JSONValid
from whileai_hf.score.verify.text import ExactMatch, Includes


__all__ = [
    "All",
    "Any",
    "CodeExec",
    "ExactMatch",
    "Includes",
    "JSONField",
    "JSONSchema",
    "JSONValid",
    "MathEqual",
    "MultipleChoice",
    "Numeric",
    "Regex",
    "ToolCalls",
    "Weighted",
    "verifier",
]
