"""A tokenizer's chat template: what it makes of a conversation, and where in the text the agent speaks.

No mark inside the template is needed. What the template writes for the first `n` messages and the generation prompt is
where the agent's next turn begins, and what it writes for one message more is where the turn ends, as long as the text
of a conversation begins with the text of every shorter one (the template is prefix-preserving).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.faithful import find_turn, shows
from whileai_hf.export.messages import Message
from whileai_hf.export.reasons import Reason


_PROBE = [{"role": "user", "content": "probe"}]


@lru_cache(maxsize=1)
def raised_by_templates() -> tuple[type[Exception], ...]:
    """A template's own refusal, and what its expressions raise on shapes they were not written for."""
    from jinja2.exceptions import TemplateError  # here with the tokenizer that renders; no core dependency

    return (TemplateError, TypeError, ValueError, KeyError, IndexError, AttributeError)


class Tokenizer(Protocol):
    """What is used of a `transformers` tokenizer."""

    chat_template: Any
    model_max_length: int
    all_special_tokens: Sequence[str]

    def __call__(self, text: Any, **options: Any) -> Any: ...

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any: ...

    def decode(self, token_ids: Any, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Turn:
    """Where in the text one turn of the agent stands: message number, first character, one past the last."""

    message: int
    start: int
    end: int


@dataclass(frozen=True)
class Rendered:
    """The text of a conversation, and the agent's turns in it; `turns` is `None` where no place is theirs alone."""

    text: str
    turns: list[Turn] | None


class Template:
    """
    The chat template of a tokenizer.

    Args:
        tokenizer (`transformers.PreTrainedTokenizerBase`):
            It has to have a chat template.

    Raises:
        [`ConfigurationError`]: It has none.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        if tokenizer is None or isinstance(tokenizer, str):
            raise ConfigurationError(
                f"tokenizer={tokenizer!r}; pass a tokenizer, as AutoTokenizer.from_pretrained returns it"
            )
        if not tokenizer.chat_template:
            raise ConfigurationError(
                "the tokenizer has no chat template; set tokenizer.chat_template to the one of the model to be trained"
            )
        self.tokenizer = tokenizer
        self._stops = tuple(stop for stop in tokenizer.all_special_tokens if stop)
        self._head: str | None = None

    def text(self, messages: Sequence[Message], tools: Any, opening: bool = False) -> str | None:
        """What the template writes, `None` when it raises; with `opening` the agent's next turn is begun."""
        try:
            text = self.tokenizer.apply_chat_template(
                list(messages), tools=tools, tokenize=False, add_generation_prompt=opening
            )
        except raised_by_templates():
            return None
        return text if isinstance(text, str) else None

    def render(self, messages: Sequence[Message], tools: Any, first: int = 0) -> Rendered | None:
        """
        The text of a conversation and the agent's turns in it.

        Args:
            messages (`Sequence[dict]`):
                The conversation.
            tools (`list[dict]`, *optional*):
                Schemas the template prints.
            first (`int`, *optional*, defaults to 0):
                Number of the message from which on turns are looked for.

        Returns:
            `Rendered`, or `None` when the template raises on the conversation.
        """
        whole = self.text(messages, tools)
        if whole is None:
            return None
        turns = []
        for number, message in enumerate(messages):
            if message["role"] != "assistant" or number < first:
                continue
            after = whole if number + 1 == len(messages) else self.text(messages[: number + 1], tools)
            start = self._start(messages, number, tools, after or "")
            if after is None or start is None or not whole.startswith(after):
                return Rendered(whole, None)
            turns.append(Turn(number, start, self._end(after, start)))
        return Rendered(whole, turns)

    def _start(self, messages: Sequence[Message], number: int, tools: Any, after: str) -> int | None:
        """Where turn `number` begins in the text that ends with it."""
        if number:
            before = self.text(messages[:number], tools, opening=True)
            return len(before) if before is not None and after.startswith(before) else None
        # Nothing stands before the first message, and templates do not take an empty conversation.
        if self._head is None:
            asked, begun = self.text(_PROBE, None) or "", self.text(_PROBE, None, opening=True) or ""
            self._head = begun[len(asked) :] if begun.startswith(asked) else ""
        place = after.find(self._head) if self._head else -1
        return None if place < 0 else place + len(self._head)

    def _end(self, after: str, start: int) -> int:
        """Line breaks behind the token that ends a turn are never sampled, so they are no part of the turn."""
        turn = after[start:].rstrip()
        return start + len(turn) if turn.endswith(self._stops) and self._stops else len(after)

    def check(self, messages: Sequence[Message], tools: Any) -> Rendered | Reason:
        """
        The text of a conversation, or why the template does not show all of it.

        Every turn of the agent is read back: its text, and each call with its name and arguments, in order. Of the
        other messages the text is looked for, as it is or as JSON.
        """
        rendered = self.render(messages, tools)
        if rendered is None:
            return Reason.TEMPLATE_REFUSES
        lost = _lost(rendered, messages)
        return rendered if lost is None else lost


def _lost(rendered: Rendered, messages: Sequence[Message]) -> Reason | None:
    text, cursor = rendered.text, 0
    places = {turn.message: turn for turn in rendered.turns or ()}
    for number, message in enumerate(messages):
        if message["role"] != "assistant":
            if not shows(text, message["content"]):
                return Reason.TEMPLATE_LOSES_TEXT
            continue
        turn = places.get(number)
        found = find_turn(text, message, turn.start if turn else cursor, turn.end if turn else len(text))
        if isinstance(found, Reason):
            return found
        cursor = found
    return None
