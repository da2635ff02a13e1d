"""Why a row cannot be trained on."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """The value is the key in [`ExportReport`], `words` what a person reads."""

    FAILED = "failed"
    CUT_OFF = "cut_off"
    NO_CONVERSATION = "no_conversation"
    NOT_TEXT = "not_text"
    MALFORMED_CALLS = "malformed_calls"
    NO_FINAL_ANSWER = "no_final_answer"

    @property
    def words(self) -> str:
        """The reason in words."""
        return _WORDS[self]


_WORDS = {
    Reason.FAILED: "the rollout failed",
    Reason.CUT_OFF: "cut off before its end",
    Reason.NO_CONVERSATION: "no readable conversation",
    Reason.NOT_TEXT: "images, audio or files in a message",
    Reason.MALFORMED_CALLS: "a tool call without a name or with arguments that are no JSON object",
    Reason.NO_FINAL_ANSWER: "no final answer",
}
