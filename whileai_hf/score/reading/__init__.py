"""What a trajectory says: its texts, its calls and what came of them, and the claims of its replies.

Shared by the conduct grade and the markers. `values` (which values were known when) and `words` (one spelling, own
words only) are imported from their modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from whileai_hf.score.reading.calls import Call, calls_of
from whileai_hf.score.reading.outcomes import failed, outcome_of
from whileai_hf.score.reading.texts import assistant_texts, final_text, text_of, user_texts


if TYPE_CHECKING:
    from whileai_hf.score.reading.claims import (
        asks,
        claims_check,
        claims_success,
        claims_write,
        declines,
        read_text,
        reports_failure,
    )

# Loaded on first use: compiling the wordings of claims takes longer than importing everything else here.
_OF_CLAIMS = frozenset(
    {"asks", "claims_check", "claims_success", "claims_write", "declines", "read_text", "reports_failure"}
)

__all__ = [
    "Call",
    "asks",
    "assistant_texts",
    "calls_of",
    "claims_check",
    "claims_success",
    "claims_write",
    "declines",
    "failed",
    "final_text",
    "outcome_of",
    "read_text",
    "reports_failure",
    "text_of",
    "user_texts",
]


def __getattr__(name: str) -> object:
    if name not in _OF_CLAIMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module("whileai_hf.score.reading.claims"), name)
