"""`rank`: tells rollouts of equal reward apart by how they went, without touching the reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset

from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.rows import RowView, dumps, view
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.view import Source
from whileai_hf.select.emitting import emit
from whileai_hf.select.pool import truncated


# Statuses of a call that the agent got wrong; a timeout is not its fault.
_WRONG = frozenset({"invalid_arguments", "unknown_tool"})
# How far a flawless rollout gets toward the next reward: never to it.
_MOST = 0.99


@no_collection()
def rank(data: Source | RowView) -> Dataset:
    """
    Adds `quality`, 0 to 1, to graded rows: by reward first, then by how the rollout went.

    A higher reward always has the higher quality. Among equal rewards it counts, a third each, whether the rollout
    came to an end with a reply, which share of its calls were valid, and which share were not the same call with the
    same result again.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.

    Returns:
        `datasets.Dataset`: All rows in their order, without what only a judge may see, with `quality` (null where
        there is no reward). `reward` is as it was.

    Raises:
        [`MissingColumnError`]: The rows have no reward column.

    Examples:
    ```python
    >>> again = [{"tool": "get_order", "arguments": {"id": 1}, "result": {"status": "ok"}}] * 2
    >>> rows = [{"final_text": "Sent.", "steps": steps, "reward": r} for steps, r in ((again, 1), ([], 1), ([], 0))]
    >>> [round(quality, 3) for quality in rank(rows)["quality"]]
    [0.913, 0.995, 0.495]

    ```
    """
    rows = view(data)
    rewards = read_rewards(rows).values
    scored = ~np.isnan(rewards)
    levels, level = np.unique(rewards[scored], return_inverse=True)
    replies = rows.column("final_text")
    ended = ~truncated(rows) & np.array([isinstance(text, str) and bool(text.strip()) for text in replies], dtype=bool)
    care = np.array([_care(steps) for steps in rows.column("steps")], dtype=np.float64)
    whole = (ended + care) / 3.0
    quality = np.zeros(len(rows))
    quality[scored] = (level + _MOST * whole[scored]) / max(levels.size, 1)
    column = pa.array(quality, mask=~scored)
    return emit(rows, np.arange(len(rows), dtype=np.int64), {"quality": column})[0]


def _care(steps: Any) -> float:
    """Shares of calls that were valid, and that were new, summed: 2 for a rollout without any fault."""
    calls = [
        step for step in (steps if isinstance(steps, list) else []) if isinstance(step, Mapping) and step.get("tool")
    ]
    if not calls:
        return 2.0
    wrong = 0
    seen = set()
    for call in calls:
        result = call.get("result")
        wrong += isinstance(result, Mapping) and result.get("status") in _WRONG
        seen.add(dumps([call["tool"], call.get("arguments"), result]))
    return 1.0 - wrong / len(calls) + len(seen) / len(calls)
