"""A transformers model in this process as the reference: one forward pass over what the policy wrote."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from whileai_hf.actors.models.loading import check, load, need_transformers
from whileai_hf.actors.models.templating import template_messages
from whileai_hf.errors import AgentError, ConfigurationError, ModelError
from whileai_hf.measure.logprobs.columns import FloatArray
from whileai_hf.measure.logprobs.turns import Turn


# Tokens of one forward pass, padding included: bounds its memory whatever the lengths.
_BATCH_TOKENS = 16_384


@dataclasses.dataclass(frozen=True)
class Passage:
    """Tokens the policy was shown and the tokens it generated; `cut` as in [`Turn`]."""

    prompt: list[int]
    generated: list[int]
    cut: bool = False


# Per turn: what was found, or why nothing was.
Passages = list[Passage | str]
Scores = list[FloatArray | str]


class LocalReference:
    """
    Log probabilities under a model in this process.

    Args:
        source (`str` or `PreTrainedModel`):
            A folder, a model id, or a model that is loaded already; one that is loaded stays where it is.
        tokenizer (`PreTrainedTokenizerBase`, *optional*):
            Needed beside a loaded model.
        batch_size (`int`):
            Most turns of one forward pass.

    Raises:
        [`ConfigurationError`]: torch or transformers is missing, nothing loads, or there is no chat template.
    """

    def __init__(self, source: Any, tokenizer: Any, batch_size: int) -> None:
        need_transformers()
        if isinstance(source, str):
            self.name = f"transformers:{source}"
            source, tokenizer = load(source, tokenizer, None)
        else:
            self.name = f"transformers:{type(source).__name__}"
        if tokenizer is None:
            raise ConfigurationError("a loaded reference model needs its tokenizer; pass tokenizer=")
        check(self.name, source, tokenizer)
        if not tokenizer.chat_template:
            raise ConfigurationError(
                f"the tokenizer of {self.name} has no chat template, so it cannot be shown a conversation; use an "
                "instruct model, or pass tokenizer= with chat_template set"
            )
        self._model, self._tokenizer, self._batch_size = source, tokenizer, batch_size
        accepted = inspect.signature(source.forward).parameters
        self._keeps = "logits_to_keep" in accepted
        self._places = "position_ids" in accepted
        self._ends = self._end_tokens()
        self._room = source.config.get_text_config().to_dict().get("max_position_embeddings") or sys.maxsize

    def _end_tokens(self) -> frozenset[int]:
        config = self._model.generation_config
        given = None if config is None else config.eos_token_id
        ends = {self._tokenizer.eos_token_id, *(given if isinstance(given, list) else [given])}
        return frozenset(token for token in ends if token is not None)

    def _render(self, messages: Sequence[dict[str, Any]], tools: list[dict[str, Any]], ask: bool) -> str:
        from jinja2 import TemplateError

        refusal: Exception | None = None
        for plain in (False, True):
            try:
                text: str = self._tokenizer.apply_chat_template(
                    template_messages(messages, plain=plain),
                    tools=tools or None,
                    add_generation_prompt=ask,
                    tokenize=False,
                )
            except (TemplateError, TypeError, KeyError) as error:
                refusal = error
            else:
                return text
        raise ModelError(f"the chat template of {self.name} refuses the conversation: {refusal}")

    def _tokens(self, text: str) -> list[int]:
        # The template has written the special tokens.
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def passages(self, turns: Sequence[tuple[Turn, list[dict[str, Any]]]]) -> Passages:
        """Turns, each with the tools the policy had, as tokens."""
        found: Passages = []
        for turn, tools in turns:
            try:
                found.append(self._passage(turn, tools))
            except (AgentError, ModelError) as error:
                found.append(str(error))
        return found

    def _passage(self, turn: Turn, tools: list[dict[str, Any]]) -> Passage:
        shown = self._render(turn.before, tools, ask=True)
        whole = self._render([*turn.before, turn.message], tools, ask=False)
        if not whole.startswith(shown):
            raise ModelError(f"the chat template of {self.name} does not continue the prompt with the message")
        generated = self._tokens(whole[len(shown) :])
        ends = [place for place, token in enumerate(generated) if token in self._ends]
        if ends:  # what follows the end of the message is the template's
            generated = generated[: ends[-1] if turn.cut else ends[-1] + 1]
        made = Passage(self._tokens(shown), generated, turn.cut)
        if _length(made) > self._room:
            raise ModelError(f"the conversation is {_length(made)} tokens long and {self.name} takes {self._room}")
        return made

    def score(self, passages: Sequence[Passage]) -> Scores:
        """The log probability of every generated token of every passage, at temperature 1."""
        found: Scores = [np.empty(0)] * len(passages)
        order = sorted(range(len(passages)), key=lambda place: -_length(passages[place]))
        with self._evaluating():
            for batch in self._batches(order, passages):
                scored = self._forward([passages[place] for place in batch])
                for place, values in zip(batch, scored, strict=True):
                    found[place] = values
        return found

    def _batches(self, order: list[int], passages: Sequence[Passage]) -> Iterator[list[int]]:
        """Passages of like length together; the first is the longest."""
        batch: list[int] = []
        for place in order:
            width = _length(passages[batch[0]]) if batch else 0
            if batch and (len(batch) == self._batch_size or (len(batch) + 1) * width > _BATCH_TOKENS):
                yield batch
                batch = []
            if passages[place].generated:
                batch.append(place)
        if batch:
            yield batch

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Without dropout; a model that was being trained goes on training."""
        training = self._model.training
        self._model.eval()
        try:
            yield
        finally:
            self._model.train(training)

    def _forward(self, passages: list[Passage]) -> list[FloatArray]:
        import torch

        width = max(map(_length, passages))
        longest = max(len(passage.generated) for passage in passages)
        # Padded on the left, so that what was generated stands at the end of every row.
        ids = torch.zeros((len(passages), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, passage in enumerate(passages):
            ids[row, width - _length(passage) :] = torch.tensor([*passage.prompt, *passage.generated])
            mask[row, width - _length(passage) :] = 1
        device = self._model.device
        more: dict[str, Any] = {"logits_to_keep": longest + 1} if self._keeps else {}
        if self._places:
            more["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0).to(device)
        with torch.no_grad():
            logits = self._model(
                input_ids=ids.to(device), attention_mask=mask.to(device), use_cache=False, **more
            ).logits
            found = []
            for row, passage in enumerate(passages):  # one row at a time: float32 over a vocabulary is large
                n = len(passage.generated)
                scores = logits[row, -n - 1 : -1].float()
                tokens = torch.tensor(passage.generated, device=scores.device)
                chosen = scores.gather(-1, tokens[:, None])[:, 0] - scores.logsumexp(-1)
                found.append(np.asarray(chosen.cpu().numpy(), dtype=np.float64))
        return found


def _length(passage: Passage) -> int:
    return len(passage.prompt) + len(passage.generated)
