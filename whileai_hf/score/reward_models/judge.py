"""A reward model as a judge: rows that are judged at the same time are scored in one batch."""

from __future__ import annotations

import asyncio
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whileai_hf.actors.models.batching import Batcher, Job
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.score.reward_models.loading import find_model, load, version_of
from whileai_hf.score.reward_models.rendering import tokens_of


# A model trained on pairs fixes differences of scores, not their level. Zero is where training with TRL's
# `center_rewards_coefficient` puts the middle between chosen and rejected, and the one level that is not arbitrary
# without labels.
_DEFAULT_THRESHOLD = 0.0
_STORED_THRESHOLD = "reward_threshold"
# Tokenizers without a limit carry a number beyond this as their longest input.
_NO_LIMIT = 10**9
# Parts of a folder that name a model: run and step. The rest of a path is this machine's business.
_NAME_PARTS = 2


class _Scorer:
    """What the batch thread runs; it alone touches model and tokenizer."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        config = model.config.get_text_config()
        limits = [config.to_dict().get("max_position_embeddings"), tokenizer.model_max_length]
        self._longest = min((limit for limit in limits if limit), default=_NO_LIMIT)
        # The model reads its score at the last token that is no padding, and knows that token from its config.
        self._pad = config.to_dict().get("pad_token_id")
        if self._pad is None:
            self._pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
            config.pad_token_id = self._pad

    def answer(self, jobs: list[Job]) -> None:
        """Sets the future of every job: a score, or the reason why there is none."""
        ready: list[tuple[Job, list[int]]] = []
        for job in jobs:
            try:
                tokens = self._tokens(job.work)
            except DataError as error:
                job.future.set_result(str(error))
                continue
            ready.append((job, tokens))
        if ready:
            for (job, _), score in zip(ready, self._scores([tokens for _, tokens in ready]), strict=True):
                job.future.set_result(score)

    def _tokens(self, row: Mapping[str, Any]) -> list[int]:
        tokens = tokens_of(row, self._tokenizer)
        if len(tokens) > self._longest:
            raise DataError(
                f"the conversation is {len(tokens)} tokens long and the reward model takes {self._longest}; it is "
                "not scored on a part of it"
            )
        if not tokens:
            raise DataError("the conversation has no tokens")
        return tokens

    def _scores(self, rows: Sequence[Sequence[int]]) -> list[float]:
        import torch

        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self._pad or 0, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for index, tokens in enumerate(rows):  # on the right, as in training: no position moves
            ids[index, : len(tokens)] = torch.tensor(tokens)
            mask[index, : len(tokens)] = 1
        device = self._model.device
        with torch.inference_mode():
            logits = self._model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits
        scores: list[float] = logits.float().squeeze(-1).tolist()
        return scores


class RewardModel:
    """
    A judge that scores rows with a reward model; [`reward_model`] loads one.

    `reward` is 1 where the score reaches the threshold, else 0; the score itself is `rm_score` in `judge_meta`. A
    conversation that does not fit the model, has no reply, or is refused by the chat template gets no verdict.

    Args:
        name_or_path (`str`):
            A folder or a repo id.
        threshold (`float`, *optional*):
            Score from which a row passes.
        batch_size (`int`, *optional*, defaults to `8`):
            Most rows scored together.
        device (`str`, *optional*):
            Where the model runs; a GPU if there is one, else the CPU.
        dtype (`str`, *optional*, defaults to `"float32"`):
            Precision of the weights.
        revision (`str`, *optional*):
            Branch, tag or commit on the Hub.
        name (`str`, *optional*, defaults to `"reward_model"`):
            Name in the rows.

    Raises:
        ConfigurationError: When it does not load, or a knob makes no sense.
    """

    def __init__(
        self,
        name_or_path: str,
        *,
        threshold: float | None = None,
        batch_size: int = 8,
        device: str | None = None,
        dtype: str = "float32",
        revision: str | None = None,
        name: str = "reward_model",
    ) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigurationError(f"batch_size={batch_size!r}; expected an int of 1 or more")
        if threshold is not None and not _is_number(threshold):
            raise ConfigurationError(f"threshold={threshold!r}; expected a finite number")
        self.name = name
        self.concurrency = 2 * batch_size  # one batch is gathered while another is scored
        self._knobs = {
            "threshold": threshold,
            "batch_size": batch_size,
            "device": device,
            "dtype": dtype,
            "revision": revision,
            "name": name,
        }
        self._name_or_path = name_or_path
        model, tokenizer = load(name_or_path, device, dtype, revision)
        self._version = version_of(model, tokenizer)
        stored = model.config.to_dict().get(_STORED_THRESHOLD)
        self._threshold, self._threshold_from = _threshold(threshold, stored)
        self._batcher = Batcher(_Scorer(model, tokenizer).answer, batch_size)
        # Runs when this object goes or the process ends, whichever is first; a thread killed inside of torch aborts.
        self._closing = weakref.finalize(self, self._batcher.close)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process loads it again. The version is part of it, so that a retrained model is another judge.
        return _again, (self._name_or_path, self._knobs, self._version)

    @property
    def threshold(self) -> float:
        """Score from which a row passes."""
        return self._threshold

    async def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict on a row."""
        job = self._batcher.submit(row)
        try:
            score = await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            job.abandoned = True
            raise
        if isinstance(score, str):
            return {"reward": None, "reason": score}
        if not math.isfinite(score):
            return {"reward": None, "reason": f"the reward model gave {score}"}
        return {"reward": float(score >= self._threshold), "rm_score": score}

    def columns(self) -> Sequence[str]:
        """The row columns that are read."""
        return ["messages", "tools", "prompt", "final_text"]

    def provenance(self) -> dict[str, Any]:
        """Which model, which version of it, and what counts as passing."""
        return {
            "model": self._label,
            "version": f"{self._label}@{self._version}",
            "threshold": self._threshold,
            "threshold_from": self._threshold_from,
        }

    @property
    def _label(self) -> str:
        path = Path(self._name_or_path)
        return "/".join(path.resolve().parts[-_NAME_PARTS:]) if path.is_dir() else self._name_or_path

    def __repr__(self) -> str:
        return f"RewardModel({self._label!r}, threshold={self._threshold:g})"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _threshold(given: float | None, stored: Any) -> tuple[float, str]:
    if given is not None:
        return float(given), "given"
    return (float(stored), "model") if _is_number(stored) else (_DEFAULT_THRESHOLD, "default")


def _again(name_or_path: str, knobs: dict[str, Any], version: str) -> RewardModel:
    return RewardModel(name_or_path, **knobs)


def reward_model(
    model: str | os.PathLike[str],
    *,
    threshold: float | None = None,
    batch_size: int = 8,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    name: str = "reward_model",
) -> RewardModel:
    """
    A trained reward model as a judge.

    It goes wherever a judge goes. The model is a sequence classifier with one output, as TRL's `RewardTrainer` saves
    it: the whole model or an adapter. Rows are shown to it as that trainer shows it its examples.

    Args:
        model (`str` or `PathLike`):
            A folder with the model, the output folder of the run that trained it, or a repo id on the Hub.
        threshold (`float`, *optional*):
            Score from which a row passes. Without it: `reward_threshold` in the model's config, if it is there, else
            0, the middle of a model trained with `center_rewards_coefficient`. Scores of other models have no level
            of their own; choose the threshold on labelled rows.
        batch_size (`int`, *optional*, defaults to `8`):
            Most rows scored together.
        device (`str`, *optional*):
            Where the model runs; a GPU if there is one, else the CPU.
        dtype (`str`, *optional*, defaults to `"float32"`):
            Precision of the weights; in lower ones (`"bfloat16"`, or `"auto"` for the stored one) a score depends a
            little on what else is in the batch.
        revision (`str`, *optional*):
            Branch, tag or commit on the Hub.
        name (`str`, *optional*, defaults to `"reward_model"`):
            Name in the rows.

    Returns:
        [`RewardModel`]: `await judge(row)` gives `{"reward": 0.0 or 1.0, "rm_score": score}`.

    Raises:
        ConfigurationError: When torch or transformers is missing, nothing loads, or the model does not give one
            trained score.

    Examples:
    ```python
    >>> import whileai_hf as wai
    >>> from whileai_hf.score.reward_models import reward_model
    >>> judge = reward_model("runs/reward", threshold=0.4)  # doctest: +SKIP
    >>> graded = wai.grade(rows, judge)  # doctest: +SKIP

    ```
    """
    return RewardModel(
        find_model(model),
        threshold=threshold,
        batch_size=batch_size,
        device=device,
        dtype=dtype,
        revision=revision,
        name=name,
    )
