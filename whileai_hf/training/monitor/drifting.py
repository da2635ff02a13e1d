"""How far the policy has moved from where it started, without a second model.

What the policy sampled on the holdout before training is kept with its log-probabilities. Later the live policy is
asked how likely it finds the same tokens: the mean of `log p_start - log p_now` over tokens the start sampled is the
forward KL divergence from the start to now. It needs no reference model, works with `beta=0` and with adapters, and
never copies the live model: a copy of a model TRL has patched would run the live weights.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any


# Completions kept: enough for a mean over tokens, and few enough to score in one or two batches.
_KEPT = 64
_ROWS = 16
_INPUTS = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")


class Drift:
    """The completions sampled before training, and how likely they were."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, dict[str, Any]]] = []
        self._start: list[Any] = []

    @property
    def ready(self) -> bool:
        """Whether there is something to compare with."""
        return bool(self._start)

    def forget(self) -> None:
        """Starts anew."""
        self._kept, self._start = [], []

    def keep(self, tasks: list[int], inputs: Mapping[str, Any]) -> None:
        """
        Keeps the tokens of a batch until there are enough.

        Args:
            tasks (`list[int]`):
                Number of each row's task.
            inputs (`Mapping[str, torch.Tensor]`):
                What the trainer computes its loss of.
        """
        counted = inputs["completion_mask"]
        if inputs.get("tool_mask") is not None:
            counted = counted * inputs["tool_mask"]
        for index, task in enumerate(tasks):
            if len(self._kept) < _KEPT:
                row = {name: inputs[name][index].detach().clone() for name in _INPUTS}
                self._kept.append((task, {**row, "counted": counted[index].detach().clone()}))

    def begin(self, model: Any) -> None:
        """Scores what was kept with the model as it is: the start."""
        self._start = [logps for _, logps, _ in self._scored(model)]

    def measure(self, model: Any) -> list[tuple[int, float]]:
        """
        The KL divergence per token on each completion kept.

        Args:
            model (`torch.nn.Module`):
                The live policy.

        Returns:
            `list[tuple[int, float]]`: Number of the task, and its divergence.
        """
        found = []
        for (task, logps, counted), start in zip(self._scored(model), self._start, strict=True):
            tokens = counted.sum()
            if tokens > 0:
                found.append((task, float(((start - logps) * counted).sum() / tokens)))
        return found

    def _scored(self, model: Any) -> list[tuple[int, Any, Any]]:
        import torch

        was, scored = model.training, []
        model.eval()
        try:
            with torch.no_grad():
                for task, row in self._kept:
                    ids = torch.cat([row["prompt_ids"], row["completion_ids"]])[None]
                    mask = torch.cat([row["prompt_mask"], row["completion_mask"]])[None]
                    count = row["completion_ids"].shape[0]
                    logits = model(input_ids=ids, attention_mask=mask).logits[0, -count - 1 : -1].float()
                    logps = torch.log_softmax(logits, dim=-1).gather(-1, row["completion_ids"][:, None])[:, 0]
                    scored.append((task, logps, row["counted"]))
        finally:
            model.train(was)
        return scored


def listen(trainer: Any, heard: Callable[[Mapping[str, Any]], None]) -> None:
    """
    Has the batches a trainer evaluates on heard, with the tokens it sampled.

    Args:
        trainer (`transformers.Trainer`):
            The trainer.
        heard (`Callable`):
            Called with the inputs of the loss, in evaluations only.
    """
    compute: Callable[..., Any] = trainer.compute_loss

    @functools.wraps(compute)
    def computed(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not trainer.model.training:
            heard(inputs)
        return compute(model, inputs, *args, **kwargs)

    trainer.compute_loss = computed
