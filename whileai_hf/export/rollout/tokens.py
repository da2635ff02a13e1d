"""Conversations as tokens that only ever grow: what was sampled is never written anew.

Rendering a conversation again after every turn would tokenise the policy's words afresh, and the tokens trained on
would not be those it sampled. So the tokens of what comes in between (results, the user) are cut out of a rendering of
a conversation that stands for any other, and put behind what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment.templates import WORKING, readable
from whileai_hf.export.template import raised_by_templates


Message = Mapping[str, Any]
_ASKED = {"role": "user", "content": "x"}
# Tokens by which the end of a turn is recognised: its last word and the token that ends it.
_SAME = 2


class TurnTokens:
    """
    A tokenizer's chat template, turn by turn.

    Args:
        tokenizer (`transformers.PreTrainedTokenizerBase`):
            Of the policy; it is left as it is.
        options (`Mapping`, *optional*):
            Further arguments of the template, such as `enable_thinking`.
        tools (`bool`, *optional*, defaults to `True`):
            Whether tools are called in the conversations.

    Raises:
        [`ConfigurationError`]: The template shows no tools, changes earlier turns and cannot be helped, or has no
            fixed end of a turn.
    """

    def __init__(self, tokenizer: Any, options: Mapping[str, Any] | None = None, *, tools: bool = True) -> None:
        from trl.chat_template_utils import get_training_chat_template, is_chat_template_prefix_preserving

        if not tokenizer.chat_template:
            raise ConfigurationError("the tokenizer has no chat template, so there are no turns to train on")
        self._reader = readable(tokenizer) if tools else None
        self._tokenizer = tokenizer
        self._options = dict(options or {})
        if tools and not is_chat_template_prefix_preserving(tokenizer):
            try:
                self._options["chat_template"] = get_training_chat_template(tokenizer)
            except ValueError as error:
                raise ConfigurationError(
                    "the chat template changes earlier turns when the conversation goes on, and TRL has no training "
                    f"version of it; use a model with a template that works ({WORKING})"
                ) from error
        self._between: dict[str, list[int]] = {}
        self.between([_ASKED])  # said now, not after the first rollouts

    def _render(self, messages: Sequence[Message], tools: Any = None, *, opening: bool) -> list[int]:
        try:
            ids = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=tools or None,  # some templates print their instructions for an empty list
                add_generation_prompt=opening,
                tokenize=True,
                return_dict=False,
                **self._options,
            )
        except raised_by_templates() as error:
            raise ConfigurationError(
                f"the chat template refuses a conversation ({error}); use a model with one that works ({WORKING})"
            ) from error
        return list(ids)

    def opening(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        """The tokens of a conversation up to where the policy speaks first."""
        return self._render(messages, list(tools), opening=True)

    def between(self, messages: Sequence[Message]) -> list[int]:
        """
        What follows a turn of the policy: the rest of its frame, these messages, and the next turn's opening.

        Args:
            messages (`Sequence[dict]`):
                Results of tools, or what the user said.

        Raises:
            [`ConfigurationError`]: The template writes turns in a way that has no such tokens.
        """
        before = [_ASKED, _turn(messages)]
        key = str(before[1])
        known = self._between.get(key)
        if known is None:
            known = self._between[key] = self._ended(self._render(before, opening=False))
        whole = self._render([*before, *messages], opening=True)
        if whole[: len(known)] == known:
            return whole[len(known) :]
        return self._behind(known, whole)

    def _behind(self, known: list[int], whole: list[int]) -> list[int]:
        """
        What follows a turn that the template writes differently once something does.

        Some leave the thoughts out of turns before the user's last. The turn still ends with the token that ends all
        turns, in the same place of the conversation, and what the policy wrote is kept in any case.
        """
        end = self._tokenizer.eos_token_id
        turns = known.count(end)
        places = [place for place, token in enumerate(whole) if token == end]
        place = places[turns - 1] + 1 if 0 < turns <= len(places) else 0
        if not place or whole[place - _SAME : place] != known[-_SAME:]:
            raise ConfigurationError(
                "the chat template ends a turn of the agent in another way once the user goes on, so the tokens of "
                "a conversation cannot be kept; use a model such as Qwen3 or Llama 3.1, or environment_factory= "
                "(trainer_kwargs() without rollout=True), where the user speaks once"
            )
        return whole[place:]

    def _ended(self, ids: list[int]) -> list[int]:
        """Tokens up to the one that ends the turn; a line break behind it is not sampled by the policy."""
        end = self._tokenizer.eos_token_id
        places = [place for place, token in enumerate(ids) if token == end]
        return ids[: places[-1] + 1] if places else ids

    def read(self, written: list[int], before: list[int], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The message the policy wrote; one that cannot be read as calls is text."""
        if self._reader is None:
            text = self._tokenizer.decode(written, skip_special_tokens=True)
            return {"role": "assistant", "content": text}
        from trl.chat_template_utils import parse_response

        message = parse_response(self._reader, written, prefix=before, tools=[dict(tool) for tool in tools] or None)
        return {"content": "", **message}


def _turn(messages: Sequence[Message]) -> dict[str, Any]:
    """A turn of the policy that such messages follow."""
    calls = [
        {"id": message.get("tool_call_id"), "type": "function", "function": {"name": message["name"], "arguments": {}}}
        for message in messages
        if message["role"] == "tool"
    ]
    if not calls:
        return {"role": "assistant", "content": "x"}
    return {"role": "assistant", "content": "", "tool_calls": calls}
