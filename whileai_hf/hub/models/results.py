"""The evaluation result of a model for machines: `.eval_results/*.yaml`, which the Hub shows and leaderboards read."""

from __future__ import annotations

import yaml

from whileai_hf.errors import DataError
from whileai_hf.hub.models.evaluation import Holdout, Side


FOLDER = ".eval_results"


def result_file(holdout: Holdout, dataset: str, revision: str | None) -> tuple[str, bytes]:
    """
    The path and the content of the result.

    Args:
        holdout ([`Holdout`]):
            The evaluation.
        dataset (`str`):
            Dataset repo with the held-out tasks.
        revision (`str`, *optional*):
            Its commit.

    Returns:
        `tuple[str, bytes]`: One entry. The number is bare, as the format wants it; interval, size and the number
        before training are in its notes.

    Raises:
        [`DataError`]: What was written does not read back as what was meant.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml, parse_eval_result_entries

    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=holdout.metric,
        value=holdout.after.value,
        dataset_revision=revision,
        notes=_notes(holdout),
    )
    text = yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True, width=1000)
    if parse_eval_result_entries(yaml.safe_load(text)) != [entry]:
        raise DataError(f"the result on {dataset} does not survive YAML: {text!r:.200}")
    return f"{FOLDER}/{dataset.replace('/', '--')}.yaml", text.encode()


def _notes(holdout: Holdout) -> str:
    parts = [_size(holdout.after)]
    if holdout.before is not None:
        parts.append(f"before training {holdout.before.value:.4g}")
    if holdout.verdict is not None:
        parts.append(f"paired comparison: {holdout.verdict}")
    return "; ".join(parts)


def _size(side: Side) -> str:
    interval = "no interval known" if side.ci95 is None else f"95% interval {side.ci95[0]:.4g} to {side.ci95[1]:.4g}"
    size = [] if side.n_tasks is None else [f"{side.n_tasks} held-out tasks"]
    size += [] if side.k is None else [f"{side.k} rollouts of each"]
    return ", ".join([interval, *size])
