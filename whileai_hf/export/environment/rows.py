"""Tasks as a trainer's rows, and back: what a world needs, and nothing only a judge may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset, Features, Json, List, Value

from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.export.reading import task_text, text_or_none
from whileai_hf.rows import scrub, to_dataset
from whileai_hf.rows.features import known_features
from whileai_hf.score.verify.gold import GOLD_COLUMNS


# Columns of the task that a world is made of.
_WORLD = ("scenario_id", "seed", "world_state", "faults", "scenario_dimensions")
# What trainers of TRL pass to reward functions under these names; a column would clash or be overwritten.
TAKEN = frozenset(
    {
        "prompt", "prompts", "completion", "completions", "completion_ids", "prompt_ids", "trainer_state", "log_extra",
        "log_metric", "environment", "environments", "image", "images", "task_id", "split", "tools", "logprobs",
        "env_mask", "trajectory", "rollout",
    }
)  # fmt: skip
ENVIRONMENT = "environment"


def environment_features(extra: Features, *, twins: bool, several: bool) -> Features:
    """Columns of a train or eval dataset."""
    features = {
        "prompt": List(Json()),
        "scenario_id": Value("string"),
        "task_id": Value("string"),
        "seed": Value("int64"),
        "world_state": Value("string"),
        "faults": Json(),
        "scenario_dimensions": Json(),
        "split": Value("string"),
    }
    if twins:
        features["twin_of"] = Value("string")
    if several:
        features[ENVIRONMENT] = Value("string")
    return Features({**features, **extra})


def carried_features(foreign: Features, wanted: Sequence[str]) -> Features:
    """
    The user's own columns that ride along to reward functions.

    One that holds gold answers does only where a reward function asks for it by name: what is on the row is printed by
    trainers and seen by every reward function, and a judge of ours finds it without.
    """
    known = known_features()
    kept = {}
    for name, feature in foreign.items():
        ours = name in TAKEN or name in known or not scrub({name: None})
        if not ours and (name not in GOLD_COLUMNS or name in wanted):
            kept[name] = feature
    return Features(kept)


def prompt_messages(entry: TaskEntry) -> list[dict[str, Any]]:
    """The conversation a rollout starts from."""
    system = entry.spec.system_prompt
    opening = [{"role": "system", "content": system}] if system else []
    return [*opening, {"role": "user", "content": entry.task["prompt"]}]


def make_rows(entries: Sequence[TaskEntry], features: Features, split: str) -> Dataset:
    """
    Tasks as the Dataset a trainer takes.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.
        features (`datasets.Features`):
            See [`environment_features`].
        split (`str`):
            `"train"` or `"eval"`; a reward function gets it as a column.
    """
    own = [name for name in features if name not in (*_WORLD, "prompt", "task_id", "split", ENVIRONMENT)]
    made = []
    for entry in entries:
        task = entry.task
        row: dict[str, Any] = {
            "prompt": prompt_messages(entry),
            "task_id": task_text(task, task["prompt"]),
            "split": split,
        }
        row |= {name: scrub(task.get(name)) for name in (*_WORLD, *own)}
        row["scenario_id"] = text_or_none(task.get("scenario_id"))
        if ENVIRONMENT in features:
            row[ENVIRONMENT] = entry.environment
        made.append({name: row[name] for name in features})
    return to_dataset(made, features)


def ask_in(prompt: Any) -> str:
    """The words of the user that a rollout starts from."""
    if isinstance(prompt, str):
        return prompt
    last = prompt[-1] if isinstance(prompt, Sequence) and prompt else None
    content = last.get("content") if isinstance(last, Mapping) else None
    return content if isinstance(content, str) else ""


def task_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The task a trainer's row stands for: the row with its ask as `prompt`."""
    return {**row, "prompt": ask_in(row.get("prompt"))}
