"""Conversations as chat templates take them.

Templates disagree about details that APIs leave open: some iterate over arguments, some insist on ids of nine
characters, some know one call per message. What is sent here fits them all where that costs nothing, and is bent
further only for a template that refused it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.played import parse_arguments
from whileai_hf.actors.replies import content_text
from whileai_hf.errors import ConfigurationError, ModelError
from whileai_hf.rows.rng import digest


# Mistral's templates refuse ids of any other length; the others do not look at them.
_ID_LENGTH = 9


def _template_id(written: Any) -> str:
    return digest(written, length=_ID_LENGTH)


def _call(entry: Mapping[str, Any], plain: bool) -> dict[str, Any]:
    inner = entry.get("function", entry)
    written = inner.get("arguments")
    arguments, readable = parse_arguments(written)
    # A call that was never JSON goes back the way the model wrote it, unless the template needs a mapping.
    shown = arguments if readable or plain else written
    function = {"name": inner.get("name"), "arguments": shown}
    return {"id": _template_id(entry.get("id")), "type": "function", "function": function}


def template_messages(messages: Sequence[Mapping[str, Any]], *, plain: bool = False) -> list[dict[str, Any]]:
    """
    The messages with the keys templates read, content as text and arguments as mappings.

    Args:
        messages (`Sequence[Mapping]`):
            OpenAI shape; arguments as mappings or JSON text.
        plain (`bool`, *optional*, defaults to `False`):
            For templates that refuse the ordinary form: one call per message, each followed by its result, and
            unreadable arguments wrapped in a mapping.

    Returns:
        `list[dict]`: New messages.

    Examples:
    ```python
    >>> call = {"id": "call_0", "function": {"name": "ping", "arguments": '{"host": "a"}'}}
    >>> made = template_messages([{"role": "assistant", "content": None, "tool_calls": [call]}])
    >>> made[0]["content"], made[0]["tool_calls"][0]["function"]["arguments"]
    ('', {'host': 'a'})

    ```
    """
    made: list[dict[str, Any]] = []
    # Tools by the id of their call: chat APIs leave the name out of results, some templates print it.
    callers: dict[str, Any] = {}
    for message in messages:
        entry = {"role": message["role"], "content": content_text(message.get("content"))}
        if isinstance(message.get("reasoning_content"), str):
            entry["reasoning_content"] = message["reasoning_content"]
        if message["role"] == "tool":
            entry["tool_call_id"] = _template_id(message.get("tool_call_id"))
            name = message.get("name") or callers.get(entry["tool_call_id"])
            if name:
                entry["name"] = name
        if message.get("tool_calls"):
            entry["tool_calls"] = [_call(call, plain) for call in message["tool_calls"]]
            callers |= {call["id"]: call["function"]["name"] for call in entry["tool_calls"]}
        made.append(entry)
    return _one_call_each(made) if plain else made


def _one_call_each(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same conversation, every message with several calls told as one call and its result after the other."""
    told: list[dict[str, Any]] = []
    results = {message["tool_call_id"]: message for message in messages if message["role"] == "tool"}
    moved: set[int] = set()
    for message in messages:
        calls = message.get("tool_calls") or []
        if len(calls) < 2:
            told += [] if id(message) in moved else [message]
            continue
        for place, call in enumerate(calls):
            told.append({**message, "content": message["content"] if place == 0 else "", "tool_calls": [call]})
            result = results.get(call["id"])
            if result is not None and id(result) not in moved:
                told.append(result)
                moved.add(id(result))
    return told


class ChatTemplate:
    """
    A tokenizer's chat template.

    Args:
        tokenizer (`PreTrainedTokenizerBase`):
            Read, never changed.
        name (`str`):
            What errors call the model.
        thinking (`bool`, *optional*):
            Passed to the template as `enable_thinking`; the template's own default when left out.

    Raises:
        ConfigurationError: When the tokenizer has no template.
    """

    def __init__(self, tokenizer: Any, name: str, thinking: bool | None = None) -> None:
        if not tokenizer.chat_template:
            raise ConfigurationError(
                f"the tokenizer of {name} has no chat template, so it cannot hold a conversation; use an instruct "
                "model, or pass tokenizer= with chat_template set."
            )
        self._tokenizer, self._name = tokenizer, name
        self._options = {} if thinking is None else {"enable_thinking": thinking}
        self._shows_tools: bool | None = None

    def _text(self, messages: list[dict[str, Any]], tools: Sequence[Mapping[str, Any]] | None) -> str:
        rendered: str = self._tokenizer.apply_chat_template(
            messages,
            tools=[dict(tool) for tool in tools] if tools else None,
            add_generation_prompt=True,
            tokenize=False,
            **self._options,
        )
        return rendered

    def render(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None) -> str:
        """
        The prompt text, up to where the assistant speaks.

        Args:
            messages (`Sequence[Mapping]`):
                The conversation.
            tools (`Sequence[Mapping]`, *optional*):
                OpenAI shape.

        Raises:
            ConfigurationError: When there are tools and the template leaves them out.
            ModelError: When the template refuses the conversation.
        """
        from jinja2 import TemplateError

        usual, plain = (template_messages(messages, plain=plain) for plain in (False, True))
        try:
            text = self._text(usual, tools)
        except (TemplateError, TypeError) as refusal:
            try:
                usual, text = plain, self._text(plain, tools)
            except (TemplateError, TypeError):
                raise ModelError(
                    f"the chat template of {self._name} refuses the conversation: {refusal}."
                ) from refusal
        if tools and self._shows_tools is None:
            self._shows_tools = text != self._text(usual, None)
        if tools and not self._shows_tools:
            raise ConfigurationError(
                f"the chat template of {self._name} leaves tools out, so the model would never know of them; use a "
                "model trained to call tools, or pass tokenizer= with a chat_template that renders them."
            )
        return text
