"""Whether the prompts of tasks are prompts of their own: near copies among them, and copies of what is measured on."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from whileai_hf.measure.audit.sample import Sample
from whileai_hf.measure.hygiene import Contamination, NearDuplicates, contamination_report, near_duplicate_prompts
from whileai_hf.measure.hygiene.against import Against
from whileai_hf.measure.hygiene.words import cell_text
from whileai_hf.traces.sniffing import load_any


# What all prompts begin or end with is a template, and says nothing about how alike they are, from this many
# characters and prompts on.
_TEMPLATE, _PROMPTS = 80, 20


class Prompts(NamedTuple):
    """
    The prompt of every task.

    Args:
        texts (`list[str]`):
            The first prompt of each task that has one, by task.
        ids (`list`):
            The task's key.
        n_repeated (`int`):
            Prompts that stand there word for word once more: tasks in rows of rollouts, rows in a table of prompts.
    """

    texts: list[str]
    ids: list[Any]
    n_repeated: int


def read_prompts(sample: Sample, rollouts: bool) -> Prompts | None:
    """
    The prompts of the tasks; `None` where rows have none.

    Args:
        sample ([`Sample`]):
            The rows.
        rollouts (`bool`):
            Whether rows are rollouts, of which a task has several; else every row is a task.
    """
    if not sample.rows.has("prompt"):
        return None
    first = np.unique(sample.tasks, return_index=True)[1].tolist()
    cells = sample.rows.column("prompt")
    texts = [(cell_text(cells[at]) or "", sample.measured.tasks.keys[task]) for task, at in enumerate(first)]
    told = [(text, key) for text, key in texts if text.strip()]
    if not told:
        return None
    # A situation of ours is more than its words: what the world holds, which fault strikes.
    ours = sample.rows.has("scenario_id")
    if rollouts:
        repeated = 0 if ours else len(told) - len({text for text, _ in told})
    else:
        given = [text for cell in cells if (text := cell_text(cell))]
        repeated = len(given) - len(set(given))
    return Prompts([text for text, _ in told], [key for _, key in told], repeated)


def _common_start(texts: list[str]) -> str:
    # What the first and the last in alphabetical order share, all share.
    first, last = min(texts), max(texts)
    size = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:size]


def _own_words(texts: list[str]) -> list[str]:
    """Prompts without the template that all of them share."""
    if len(set(texts)) < _PROMPTS:
        return texts
    head = _common_start(texts)
    head = head[: head.rfind(" ") + 1]  # whole words: what a number begins with is part of the number
    tail = _common_start([text[len(head) :][::-1] for text in texts])[::-1]
    tail = tail[tail.find(" ") :] if " " in tail else ""
    start = len(head) if len(head) >= _TEMPLATE else 0
    end = len(tail) if len(tail) >= _TEMPLATE else 0
    return [text[start : len(text) - end] for text in texts]


def similar_prompts(prompts: Prompts, seed: int) -> NearDuplicates:
    """Tasks whose prompts say nearly the same; positions in the report are those of the tasks."""
    return near_duplicate_prompts([{"prompt": text} for text in _own_words(prompts.texts)], seed=seed)


def overlap(prompts: Prompts, evals: Against) -> Contamination:
    """Tasks that evaluation sets hold; positions in the report are those of the tasks."""
    # Numbers as ids number rows: on both sides they say nothing.
    named = all(isinstance(key, str) and not key.isdecimal() for key in prompts.ids)
    rows = [{"prompt": text, "task_id": str(key)} for text, key in zip(prompts.texts, prompts.ids, strict=True)]
    return contamination_report(rows, _readable(evals), ids=named)


def _readable(evals: Any) -> Any:
    """Evaluation sets, those that are named read as whatever they are: a run of verifiers is one, too."""
    if isinstance(evals, str | PathLike):
        return load_any(evals).rows.source
    if isinstance(evals, list | tuple):
        return [_readable(part) for part in evals]
    return evals
