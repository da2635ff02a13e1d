"""Whether a tokenizer's chat template can hold a conversation with tools while it is trained."""

from __future__ import annotations

import copy
from typing import Any

from whileai_hf.errors import ConfigurationError


# Model families whose chat templates TRL 1.16 both renders with tools and reads calls back from.
WORKING = (
    "Qwen2.5, Qwen3 (also Instruct-2507 and VL), Qwen3.5 to 3.8, Llama 3.1 and 3.2, Gemma 4, GPT-OSS, GLM-4-MoE, "
    "LFM2 and Nemotron 3"
)
_FIX = (
    f"use a model with a template that works ({WORKING}), or set tokenizer.chat_template to one of those, as in "
    "trl/chat_templates"
)


def check_tokenizer(tokenizer: Any) -> None:
    """
    Checks that TRL can render tools with a tokenizer, read its calls, and go on after a result.

    Args:
        tokenizer (`transformers.PreTrainedTokenizerBase` or `ProcessorMixin`):
            Of the model to be trained; it is left as it is.

    Raises:
        [`ConfigurationError`]: It cannot; the message names the templates that work.
    """
    readable(tokenizer)
    from trl.chat_template_utils import get_training_chat_template, is_chat_template_prefix_preserving

    if not is_chat_template_prefix_preserving(tokenizer):
        try:
            get_training_chat_template(tokenizer)
        except ValueError as error:
            raise ConfigurationError(
                f"the chat template changes earlier turns when the conversation goes on, and TRL has no training "
                f"version of it; {_FIX}"
            ) from error


def readable(tokenizer: Any) -> Any:
    """
    A copy of a tokenizer that reads the tool calls its model writes.

    Raises:
        [`ConfigurationError`]: Its template shows no tools, or TRL cannot read calls in its notation.
    """
    if not tokenizer.chat_template:
        raise ConfigurationError(f"the tokenizer has no chat template, so there are no turns to train on; {_FIX}")
    from trl.chat_template_utils import add_response_schema, supports_tool_calling

    if not supports_tool_calling(tokenizer):
        raise ConfigurationError(f"the chat template leaves out tool calls or their results; {_FIX}")
    reader = _copy(tokenizer)
    if vars(reader).get("response_template") is None and vars(reader).get("response_schema") is None:
        try:
            reader = add_response_schema(reader)
        except ValueError as error:
            raise ConfigurationError(
                f"TRL does not know how this chat template writes tool calls, so none could be read; {_FIX}; for an "
                "edited copy of one of them set tokenizer.response_template to that of the original"
            ) from error
    return reader


def _copy(tokenizer: Any) -> Any:
    """One that can be told how calls are written without the trainer's being told as well."""
    from transformers import ProcessorMixin

    made = copy.copy(tokenizer)
    if isinstance(made, ProcessorMixin):
        made.tokenizer = copy.copy(made.tokenizer)
        return made.tokenizer
    return made
