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


# Completions kept: enough for a mean over tokens.
_KEPT = 64
# Logits held at once, about 256 MB in single precision: one completion of a large model, all of a small one's.
_LOGITS = 64_000_000
_INPUTS = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
Rows = tuple[list[int], dict[str, Any]]


class Drift:
    """The completions sampled before training, and how likely they were."""

    def __init__(self) -> None:
        self._kept: list[Rows] = []
        self._start: list[Any] = []

    @property
    def ready(self) -> bool:
        """Whether there is something to compare with."""
        return bool(self._start)

    def keep(self, tasks: list[int], inputs: Mapping[str, Any]) -> None:
        """
        Keeps the tokens of a batch until there are enough.

        Args:
            tasks (`list[int]`):
                Number of each row's task.
            inputs (`Mapping[str, torch.Tensor]`):
                What the trainer computes its loss of.
        """
        room = _KEPT - sum(len(kept) for kept, _ in self._kept)
        if room <= 0:
            return
        rows = {name: inputs[name][:room].detach().clone() for name in _INPUTS}
        rows["counted"] = rows["completion_mask"]
        if inputs.get("tool_mask") is not None:
            rows["counted"] = rows["counted"] * inputs["tool_mask"][:room]
        self._kept.append((tasks[:room], rows))

    def begin(self, model: Any) -> None:
        """Scores what was kept with the model as it is: the start."""
        self._start = self._scored(model)

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
        for (tasks, rows), start, now in zip(self._kept, self._start, self._scored(model), strict=True):
            tokens = rows["counted"].sum(dim=1)
            moved = ((start - now) * rows["counted"]).sum(dim=1) / tokens.clamp(min=1)
            pairs = zip(tasks, tokens.tolist(), moved.tolist(), strict=True)
            found += [(task, value) for task, count, value in pairs if count]
        return found

    def _scored(self, model: Any) -> list[Any]:
        """Log-probabilities of the completions' tokens."""
        import torch

        was = model.training
        model.eval()
        try:
            with torch.no_grad():
                return [_logps(model, rows) for _, rows in self._kept]
        finally:
            model.train(was)


def _logps(model: Any, rows: Mapping[str, Any]) -> Any:
    """Row by row until it is seen how many fit at once: how large a vocabulary is, not every config says."""
    import torch

    ids = torch.cat([rows["prompt_ids"], rows["completion_ids"]], dim=1)
    mask = torch.cat([rows["prompt_mask"], rows["completion_mask"]], dim=1)
    said = rows["completion_ids"]
    found: list[Any] = []
    start, size = 0, 1
    while start < len(ids):
        part = slice(start, start + size)
        logits = model(input_ids=ids[part], attention_mask=mask[part]).logits
        start, size = start + size, max(1, _LOGITS // logits[0].numel())
        logps = torch.log_softmax(logits[:, -said.shape[1] - 1 : -1].float(), dim=-1)
        found.append(logps.gather(-1, said[part][..., None])[..., 0])
    return torch.cat(found)


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
