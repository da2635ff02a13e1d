"""A row as a reward model was shown its training examples: the way TRL's `RewardTrainer` turns one into tokens.

A conversation goes through the tokenizer's chat template as a whole, tools included, without a generation prompt. A
tokenizer without a template was trained on plain text: prompt and reply joined, and the end-of-text token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.actors.models.templating import template_messages
from whileai_hf.errors import AgentError, DataError
from whileai_hf.score.reading.texts import text_of


def conversation_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """
    The conversation of a row.

    Args:
        row (`dict`):
            `messages`; else `prompt` (text or messages) and `final_text`.

    Raises:
        DataError: When the agent said nothing, or the messages are none.
    """
    messages = row.get("messages")
    if not messages:
        prompt = row.get("prompt")
        asked: list[Any] = (
            list(prompt or ()) if _is_conversation(prompt) else [{"role": "user", "content": text_of(prompt)}]
        )
        messages = [*asked, {"role": "assistant", "content": text_of(row.get("final_text"))}]
    if not _is_conversation(messages):
        raise DataError("messages is not a list of messages with a role each")
    said = [entry for entry in messages if entry["role"] == "assistant"]
    if not any(text_of(entry.get("content")).strip() or entry.get("tool_calls") for entry in said):
        raise DataError("the agent said nothing")
    try:
        shown = template_messages([{**entry, "content": _readable(entry)} for entry in messages])
    except (AgentError, AttributeError, KeyError, TypeError) as error:
        raise DataError(f"the messages cannot be read ({error})") from error
    return shown


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(entry, Mapping) and isinstance(entry.get("role"), str) for entry in value
    )


def _readable(entry: Mapping[str, Any]) -> str:
    # Lone halves of characters are no text to a tokenizer.
    return text_of(entry.get("content")).encode("utf-8", "replace").decode("utf-8")


def tokens_of(row: Mapping[str, Any], tokenizer: Any) -> list[int]:
    """
    The tokens of a row.

    Args:
        row (`dict`):
            The row; `tools` in OpenAI shape are shown too.
        tokenizer (`PreTrainedTokenizerBase`):
            Tokenizer of the reward model.

    Raises:
        DataError: When the row has no reply, or its form is one the model was not trained on.
    """
    from jinja2 import TemplateError

    conversation = conversation_of(row)
    if not tokenizer.chat_template:
        return _plain(conversation, tokenizer)
    tools = row.get("tools")
    try:
        rendered: list[int] = tokenizer.apply_chat_template(
            conversation, tools=list(tools) if tools else None, tokenize=True, return_dict=True
        )["input_ids"]
    except (TemplateError, TypeError, UnicodeEncodeError) as error:
        raise DataError(f"the chat template of the reward model refuses the conversation ({error})") from error
    return rendered


def _plain(conversation: list[dict[str, Any]], tokenizer: Any) -> list[int]:
    if [entry["role"] for entry in conversation] != ["user", "assistant"]:
        raise DataError("the reward model has no chat template and takes only one ask and one reply")
    text = "".join(entry["content"] for entry in conversation)
    end = tokenizer.eos_token
    tokens: list[int] = tokenizer(text if not end or text.endswith(end) else text + end)["input_ids"]
    return tokens
