"""The held-out evaluation of a reward model: of which pairs it prefers the better reply."""

from __future__ import annotations

from typing import Any


PAIR_ACCURACY = "pair_accuracy"
# Replies scored together.
_BATCH = 8
_TASK_COLUMNS = ("scenario_id", "task_id")


def judge_pairs(trainer: Any) -> list[dict[str, Any]]:
    """
    Scores the pairs a `RewardTrainer` holds out.

    Args:
        trainer (`trl.RewardTrainer`):
            With an `eval_dataset`, which it has tokenized.

    Returns:
        `list[dict]`: One row per pair: its task, and the marker `pair_accuracy`, 1 where the chosen reply has the
        higher score, 0.5 for a tie.
    """
    rows = trainer.eval_dataset
    known = [name for name in _TASK_COLUMNS if name in rows.column_names]
    scores = [_scores(trainer, rows[name][:]) for name in ("chosen_ids", "rejected_ids")]
    tasks = {name: rows[name][:] for name in known}
    made = []
    for index, (chosen, rejected) in enumerate(zip(*scores, strict=True)):
        value = 0.5 if chosen == rejected else float(chosen > rejected)
        about = {name: values[index] for name, values in tasks.items() if values[index] is not None}
        made.append({"task_id": str(index), **about, "reward": value, "markers": {PAIR_ACCURACY: value}})
    return made


def _scores(trainer: Any, sequences: list[list[int]]) -> list[float]:
    import torch

    model, padding = trainer.model, trainer.processing_class.pad_token_id
    was_training = model.training
    model.eval()
    found: list[float] = []
    with torch.no_grad():
        for start in range(0, len(sequences), _BATCH):
            batch = sequences[start : start + _BATCH]
            longest = max(map(len, batch))
            ids = torch.tensor([each + [padding] * (longest - len(each)) for each in batch], device=model.device)
            mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in batch], device=model.device)
            found += model(input_ids=ids, attention_mask=mask).logits.float().squeeze(-1).tolist()
    model.train(was_training)
    return found
