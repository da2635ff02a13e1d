"""A transformers model in this process, as a model backend: no server, no network.

Requests that arrive close together are generated as one batch on a thread that owns the model, so event loops never
wait. Loading, sampling, batches, templates and call syntax have modules of their own beside this one. A served model
answers many more requests at once; it goes through the client instead.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai_hf.actors.models.batching import Batcher, Job
from whileai_hf.actors.models.generation import BatchGenerator, Generated, Prompt
from whileai_hf.actors.models.loading import check, load, need_transformers
from whileai_hf.actors.models.markup import read_text
from whileai_hf.actors.models.model import Completion, Message
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.actors.models.templating import ChatTemplate
from whileai_hf.errors import ConfigurationError, ModelError, WhileaiError


# At these the sampler draws from the model's own distribution, which is what its log probabilities are of.
_TEMPERATURE = 1.0
_TOP_P = 1.0
# Tokens of one message: a long tool call or answer; a reasoning model needs more.
_MAX_TOKENS = 512
# Tokenizers without a limit carry a number beyond this as their longest input.
_NO_LIMIT = 10**9
# Parts of a folder that name a checkpoint: run and step. The rest of a path is this machine's business.
_NAME_PARTS = 2
# What a prompt ends with when its template has begun the reasoning for the model.
_OPENED = ("<think>", "[THINK]")


def _label(name_or_path: str) -> str:
    path = Path(name_or_path)
    return "/".join(path.resolve().parts[-_NAME_PARTS:]) if path.is_dir() else name_or_path


@dataclass(slots=True)
class _Request:
    """One call of `complete`."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    logprobs: bool
    seed: int | None


class _Backend:
    """What the batch thread runs; it alone touches model and tokenizer."""

    def __init__(self, name: str, model: Any, tokenizer: Any, sampling: Sampling, lent: bool) -> None:
        self._name, self._tokenizer = name, tokenizer
        self._most = sampling.max_tokens or _MAX_TOKENS
        self._stop = (sampling.stop,) if isinstance(sampling.stop, str) else tuple(sampling.stop or ())
        self._template = ChatTemplate(tokenizer, name, sampling.thinking)
        self._generator = BatchGenerator(
            model,
            tokenizer,
            temperature=sampling.temperature or 0.0,
            top_p=sampling.top_p or _TOP_P,
            stop=self._stop,
            lent=lent,
        )
        limits = [model.config.get_text_config().to_dict().get("max_position_embeddings"), tokenizer.model_max_length]
        self._room = min((limit for limit in limits if limit), default=_NO_LIMIT)

    def _prompt(self, job: Job) -> tuple[str, Prompt]:
        request: _Request = job.work
        text = self._template.render(request.messages, request.tools)
        # The template has written the special tokens; a tokenizer that adds its own would double them.
        tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        left = self._room - len(tokens)
        if left < 1:
            raise ModelError(
                f"the conversation is {len(tokens)} tokens long and {self._name} takes {self._room}; play fewer "
                "turns, or use a model with a longer context."
            )
        return text, Prompt(tokens, min(self._most, left), request.seed, lambda: job.abandoned)

    def _text(self, tokens: list[int]) -> str:
        # Special tokens stay in until the calls are read: some models mark calls with them.
        text: str = self._tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
        return text[: min((text.find(stop) for stop in self._stop if stop in text), default=len(text))]

    def _described(self, prompt: str, tokens: list[int], tools: Sequence[Mapping[str, Any]]) -> Message | None:
        """The message as the tokenizer's own description of its syntax reads it, if it has one that can."""
        # The attribute came with transformers 5.13; earlier tokenizers have none.
        if not tokens or getattr(self._tokenizer, "response_template", None) is None:
            return None
        try:
            parsed = self._tokenizer.parse_response(self._text(tokens), prefix=prompt, tools=[dict(t) for t in tools])
        except (ValueError, TypeError, KeyError):  # what a broken or cut call raises; it is read as text then
            return None
        calls = [call.get("function") for call in parsed.get("tool_calls") or ()]
        named = all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls)
        thought = parsed.get("reasoning_content") or parsed.get("thinking")
        if not named or (calls and not tools):
            return None
        message: Message = {"role": "assistant", "content": parsed.get("content") or ""}
        if isinstance(thought, str):
            message["reasoning_content"] = thought.strip()
        if calls:
            message["tool_calls"] = [{"type": "function", "function": call} for call in calls]
        return message

    def _message(self, prompt: str, tokens: list[int], request: _Request) -> Message:
        message = self._described(prompt, tokens, request.tools)
        if message is None:
            ended = bool(tokens) and tokens[-1] in self._generator.ends
            text = self._text(tokens[:-1] if ended else tokens)
            message = read_text(text, tools=bool(request.tools), opened=prompt.rstrip().endswith(_OPENED))
        for key in ("content", "reasoning_content"):
            for special in self._tokenizer.all_special_tokens if key in message else ():
                message[key] = message[key].replace(special, "")
        made = sum(len(earlier.get("tool_calls") or ()) for earlier in request.messages)
        for number, call in enumerate(message.get("tool_calls") or (), made):
            call["id"] = f"call_{number}"
        return message

    def _completion(self, request: _Request, prompt: str, row: Prompt, made: Generated) -> Completion:
        message = self._message(prompt, made.tokens, request)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        return Completion(
            message=message,
            finish_reason=finish if made.ended else "length",
            usage={"input_tokens": len(row.tokens), "output_tokens": len(made.tokens)},
            logprob=sum(made.logprobs) if request.logprobs else None,
            n_tokens=len(made.tokens) if request.logprobs else None,
            token_logprobs=made.logprobs if request.logprobs else None,
        )

    def answer(self, jobs: list[Job]) -> None:
        """Sets the future of every job; what stops the whole batch is raised."""
        ready = []
        for job in jobs:
            try:
                ready.append((job, *self._prompt(job)))
            except WhileaiError as error:
                job.future.set_exception(error)
        rows = self._generator.generate([row for _, _, row in ready]) if ready else []
        for (job, prompt, row), made in zip(ready, rows, strict=True):
            job.future.set_result(self._completion(job.work, prompt, row, made))


class TransformersModel:
    """
    A causal language model in this process.

    Tools go through the chat template. Calls are read with the tokenizer's response template where it has one, else
    in the syntax of Hermes and Qwen, Mistral, or Llama. A call with broken JSON is kept as written.

    With a seed, an answer does not depend on what else is in its batch, up to rounding (see `generation`).
    Log probabilities are the model's own, at temperature 1 and without the cut of `top_p`; the token that ends the
    message counts, as it does when the message is trained on. A `schema` is not enforced.

    Args:
        name_or_path (`str`):
            A folder or a model id on the Hub; with `model` and `tokenizer`, only the name rows carry.
        model (`PreTrainedModel`, *optional*):
            A model that is loaded already. It stays where it is and gets its train or eval mode back after every
            batch; do not train it while it answers.
        tokenizer (`PreTrainedTokenizerBase`, *optional*):
            Used instead of the one that belongs to the name. It is never changed.
        device (`str`, *optional*):
            Where to load it; a GPU if there is one, else the CPU.
        batch_size (`int`, *optional*, defaults to `8`):
            Most requests generated together.
        sampling:
            `temperature` (1.0; 0 is greedy), `top_p` (1.0), `max_tokens` (512), `thinking`, `stop`, `seed`; see
            [`Sampling`].

    Raises:
        ConfigurationError: When torch or transformers is missing, nothing loads under the name, it is not a causal
            language model, it has no chat template, or a knob is unknown.
    """

    def __init__(
        self,
        name_or_path: str,
        *,
        model: Any = None,
        tokenizer: Any = None,
        device: str | None = None,
        batch_size: int = 8,
        **sampling: Any,
    ) -> None:
        if "timeout" in sampling:
            raise ConfigurationError("timeout is for endpoints; an in-process model ends a message at max_tokens.")
        given = {knob: value for knob, value in sampling.items() if value is not None}
        defaults = {"temperature": _TEMPERATURE, "top_p": _TOP_P, "max_tokens": _MAX_TOKENS}
        self._sampling = Sampling.of({**defaults, **given})
        if batch_size < 1:
            raise ConfigurationError(f"batch_size is {batch_size}; make it 1 or more.")
        if model is not None and (tokenizer is None or device is not None):
            raise ConfigurationError("a loaded model= stays where it is and needs its tokenizer= beside it.")
        need_transformers()
        self._given = {
            "model": model,
            "tokenizer": tokenizer,
            "device": device,
            "batch_size": batch_size,
            **sampling,
        }
        self._name_or_path = name_or_path
        self._label = _label(name_or_path)
        lent = model is not None
        if not lent:
            model, tokenizer = load(name_or_path, tokenizer, device)
        check(self.name, model, tokenizer)
        backend = _Backend(self.name, model, tokenizer, self._sampling, lent)
        self._batcher = Batcher(backend.answer, batch_size)
        # Runs when this object goes or the process ends, whichever is first; a thread killed inside of torch aborts.
        self._closing = weakref.finalize(self, self._batcher.close)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process loads it again; only a model that came loaded travels with its weights.
        return _again, (self._name_or_path, self._given)

    @property
    def name(self) -> str:
        """`transformers:` and the model id, or the last two parts of a folder."""
        return f"transformers:{self._label}"

    @property
    def sampling(self) -> dict[str, Any]:
        """How it samples, as resolved."""
        return {"model": self.name, **self._sampling.shown()}

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        logprobs: bool = False,
        schema: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> Completion:
        """
        The next assistant message; see [`Model`] for the arguments.

        Raises:
            ModelError: When the conversation does not fit, the template refuses it, or generation fails.
        """
        seed = self._sampling.seed if seed is None else seed
        job = self._batcher.submit(_Request(list(messages), list(tools or ()), logprobs, seed))
        try:
            completion: Completion = await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            job.abandoned = True
            raise
        except WhileaiError:
            raise
        except Exception as error:  # whatever a model or a device raises is one call without an answer
            raise ModelError(f"{self.name} failed to generate: {type(error).__name__}: {error}") from error
        return completion


def _again(name_or_path: str, given: dict[str, Any]) -> TransformersModel:
    return TransformersModel(name_or_path, **given)
