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
    ORPHAN_RESULT = "orphan_result"
    NO_FINAL_ANSWER = "no_final_answer"
    NO_REWARD = "no_reward"
    NO_TEACHER_CONTEXT = "no_teacher_context"
    NO_PAIR = "no_pair"
    SAME_SIDES = "same_sides"
    NOTHING_TRAINED = "nothing_trained"
    TEMPLATE_REFUSES = "template_refuses"
    TEMPLATE_LOSES_CALLS = "template_loses_calls"
    TEMPLATE_LOSES_TEXT = "template_loses_text"
    NOT_PREFIX_PRESERVING = "not_prefix_preserving"
    JOINED_TOKENS = "joined_tokens"
    TOO_LONG = "too_long"

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
    Reason.ORPHAN_RESULT: "a tool result that answers no call",
    Reason.NO_FINAL_ANSWER: "no final answer",
    Reason.NO_REWARD: "no reward",
    Reason.NO_TEACHER_CONTEXT: "nothing privileged is known about the task",
    Reason.NO_PAIR: "one side of the pair is missing",
    Reason.SAME_SIDES: "both sides of the pair are the same",
    Reason.NOTHING_TRAINED: "the loss mask leaves no turn of the agent",
    Reason.TEMPLATE_REFUSES: "the chat template raises on it",
    Reason.TEMPLATE_LOSES_CALLS: "the chat template drops or changes a tool call",
    Reason.TEMPLATE_LOSES_TEXT: "the chat template drops text of a message",
    Reason.NOT_PREFIX_PRESERVING: "the chat template writes earlier turns differently once the conversation goes on",
    Reason.JOINED_TOKENS: "the tokenizer joins the agent's words with those before them into one token",
    Reason.TOO_LONG: "more tokens than max_length, or than the model takes",
}
