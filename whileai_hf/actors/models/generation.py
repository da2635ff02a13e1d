"""Batched generation in which every row samples with randomness of its own.

A row's tokens are a function of its prompt and its seed, whatever else is in the batch: noise comes from a generator
per row (Gumbel-max: the most likely token after adding Gumbel noise is a draw from the distribution), so adding or
removing rows moves nothing. What remains is rounding: kernels sum in another order for another batch shape, which can
flip a near tie, rarely in float32 and more often in bfloat16; a batch size of 1 removes that too.

Log probabilities are those of the model itself, log_softmax of the raw logits at temperature 1 before any cut, because
that is what a forward pass of a trainer or a reference model gives for the same tokens. At temperature 1 and top_p 1
(the defaults) the sampler draws from exactly this distribution, so the ratio of new to old probability is unbiased.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


# Seeds of torch generators are 64 bit; ours may be any integer.
_SEED_BITS = 63


def _awaited() -> bool:
    return False


@dataclass(slots=True)
class Prompt:
    """
    One row to continue.

    Args:
        tokens (`list[int]`):
            The rendered conversation.
        most (`int`):
            Most tokens to generate, at least 1.
        seed (`int`, *optional*):
            Seed of its noise; fresh entropy when left out.
        abandoned (`Callable`, *optional*):
            Asked after every token; `True` ends the row early.
    """

    tokens: list[int]
    most: int
    seed: int | None = None
    abandoned: Callable[[], bool] = _awaited


@dataclass(slots=True)
class Generated:
    """Tokens a row was continued by (the end token among them), their log probabilities, and whether it ended."""

    tokens: list[int]
    logprobs: list[float]
    ended: bool


class RowSampler:
    """Picks every row's next token and leaves it as the only one possible, so that greedy decoding takes it."""

    def __init__(self, prompts: Sequence[Prompt], temperature: float, top_p: float, device: Any) -> None:
        import torch

        self._temperature, self._top_p = temperature, top_p
        self._generators = []
        for prompt in prompts if temperature > 0 else ():
            generator = torch.Generator(device)
            if prompt.seed is None:
                generator.seed()
            else:
                generator.manual_seed(prompt.seed % (1 << _SEED_BITS))
            self._generators.append(generator)
        self.logprobs: list[Any] = []

    def _nucleus(self, scores: Any) -> Any:
        """Scores with everything outside the smallest set of probability `top_p` ruled out."""
        ordered, order = scores.softmax(-1).sort(dim=-1, descending=True)
        outside = ordered.cumsum(-1) - ordered >= self._top_p
        return scores.masked_fill(outside.scatter(-1, order, outside), float("-inf"))

    def _noise(self, scores: Any) -> Any:
        import torch

        rows = [scores.new_empty(scores.shape[-1]).exponential_(generator=g) for g in self._generators]
        # Minus the log of an exponential is Gumbel; an exponential of exactly 0 would beat every score.
        return -torch.stack(rows).clamp_(min=torch.finfo(scores.dtype).tiny).log_()

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The logits hook of `generate`: `scores` of shape (rows, vocabulary)."""
        tilted = scores
        if self._temperature > 0:
            tilted = scores / self._temperature
            if self._top_p < 1:
                tilted = self._nucleus(tilted)
            tilted = tilted + self._noise(scores)
        chosen = tilted.argmax(-1, keepdim=True)
        # Kept on the device: reading numbers off it at every step would make it wait.
        self.logprobs.append((scores.gather(-1, chosen) - scores.logsumexp(-1, keepdim=True)).squeeze(-1))
        return scores.new_full(scores.shape, float("-inf")).scatter_(-1, chosen, 0.0)


class RowLimits:
    """Ends the rows that reached their own cap, wrote a stop text, or that nobody waits for."""

    def __init__(self, prompts: Sequence[Prompt], width: int, stopped: Callable[[list[int]], bool] | None) -> None:
        self._prompts, self._width, self._stopped = prompts, width, stopped

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        """The stopping hook of `generate`."""
        import torch

        done = input_ids.shape[1] - self._width
        ended = [done >= prompt.most or prompt.abandoned() for prompt in self._prompts]
        if self._stopped is not None:
            # Of what was generated only: a stop text may also stand in the prompt, or begin there.
            made = input_ids[:, self._width :].tolist()
            ended = [over or self._stopped(tokens) for over, tokens in zip(ended, made, strict=True)]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)


class BatchGenerator:
    """
    A causal language model and how it samples.

    Args:
        model (`PreTrainedModel`):
            Generates in eval mode and gets every module's mode back afterwards.
        tokenizer (`PreTrainedTokenizerBase`):
            Read, never changed: padding is done by hand.
        temperature (`float`):
            0 is greedy.
        top_p (`float`):
            Share of probability to sample from.
        stop (`tuple[str, ...]`):
            Texts that end a row.
        lent (`bool`):
            The model is used elsewhere, perhaps trained, afterwards.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, temperature: float, top_p: float, stop: tuple[str, ...], lent: bool
    ) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._temperature, self._top_p, self._stop = temperature, top_p, stop
        self._lent = lent
        ends = model.generation_config.eos_token_id
        # Chat models end a turn with a token of the tokenizer that their config does not always name.
        self.ends = {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}
        pads = (tokenizer.pad_token_id, *sorted(self.ends), 0)
        self._pad = next(token for token in pads if token is not None)

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        import torch

        modes = [(module, module.training) for module in self._model.modules()]
        self._model.eval()
        # Buffers that a model updates under inference mode cannot be part of a backward pass later.
        try:
            with torch.no_grad() if self._lent else torch.inference_mode():
                yield
        finally:
            for module, training in modes:
                module.training = training

    def _config(self, most: int) -> Any:
        import transformers

        make: Any = transformers.GenerationConfig
        # Said out loud so that the checkpoint's own defaults do not fill them in: rows then sample as reported.
        return make(
            max_new_tokens=most,
            do_sample=False,
            num_beams=1,
            temperature=1.0,
            top_p=1.0,
            top_k=50,
            repetition_penalty=1.0,
            no_repeat_ngram_size=0,
            min_new_tokens=0,
            eos_token_id=sorted(self.ends) or None,
            pad_token_id=self._pad,
            use_cache=True,
            return_dict_in_generate=False,
        )

    def _stopped(self, tokens: list[int]) -> bool:
        text = self._tokenizer.decode(tokens)
        return any(stop in text for stop in self._stop)

    def _cut(self, tokens: list[int]) -> tuple[list[int], bool]:
        """The tokens up to the first thing that ends a row, and whether there was one."""
        end = next((place for place, token in enumerate(tokens, 1) if token in self.ends), None)
        kept = tokens[:end]
        if self._stop and self._stopped(kept):
            return kept[: bisect_left(range(len(kept)), True, key=lambda count: self._stopped(kept[:count]))], True
        return kept, end is not None

    def _generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        width = max(len(prompt.tokens) for prompt in prompts)
        device = self._model.device
        padding = [width - len(prompt.tokens) for prompt in prompts]
        rows = [[self._pad] * pad + prompt.tokens for pad, prompt in zip(padding, prompts, strict=True)]
        mask = [[0] * pad + [1] * (width - pad) for pad in padding]
        # A token is a byte at least, so a stop text that just ended lies within as many tokens as it has bytes.
        recent = max((len(stop.encode()) for stop in self._stop), default=0)
        stopped = (lambda tokens: self._stopped(tokens[-recent:])) if recent else None
        sampler = RowSampler(prompts, self._temperature, self._top_p, device)
        with self._quiet():
            output = self._model.generate(
                input_ids=torch.tensor(rows, device=device),
                attention_mask=torch.tensor(mask, device=device),
                generation_config=self._config(max(prompt.most for prompt in prompts)),
                logits_processor=LogitsProcessorList([sampler]),
                stopping_criteria=StoppingCriteriaList([RowLimits(prompts, width, stopped)]),
            )
            logprobs = torch.stack(sampler.logprobs, dim=1).tolist()
            made = output[:, width:].tolist()
        answers = []
        for prompt, tokens, values in zip(prompts, made, logprobs, strict=True):
            kept, ended = self._cut(tokens[: prompt.most])
            answers.append(Generated(kept, values[: len(kept)], ended))
        return answers

    def generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        """
        Continues every prompt; a batch that does not fit into memory is tried again in halves.

        Args:
            prompts (`Sequence[Prompt]`):
                The rows, of any lengths.

        Returns:
            `list[Generated]`: One per prompt, in order.
        """
        import torch

        try:
            return self._generate(prompts)
        except torch.OutOfMemoryError:
            if len(prompts) == 1:
                raise
        # Outside the handler: the traceback holds the tensors that filled the memory.
        half = len(prompts) // 2
        return [*self.generate(prompts[:half]), *self.generate(prompts[half:])]
