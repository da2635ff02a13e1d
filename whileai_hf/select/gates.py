"""The gates that look at one rollout: is it graded, usable, complete, and not a copy of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whileai_hf.measure.hygiene.copies import first_alike
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.select.pool import BoolArray, Pool, cells, truncated


def drop_ungraded(pool: Pool) -> None:
    """Rows without a verdict."""
    pool.drop("ungraded", ~pool.rewards.scored)


def drop_unusable(pool: Pool) -> None:
    """Rows without a prompt, those in which the agent neither did nor said anything, or the simulated user erred."""
    unusable = _blank(pool, "prompt")
    mute = np.flatnonzero(_blank(pool, "final_text") & pool.kept).astype(np.int64)
    for name in ("steps", "messages"):
        content = cells(pool.view, name, mute)
        mute = mute[[not _says_something(cell) for cell in content]]
    unusable[mute] = True
    pool.drop("unusable", unusable | faulty(pool.view))


def _blank(pool: Pool, name: str) -> BoolArray:
    codes = pool.codes(name)
    empty = [not isinstance(key, str) or not key.strip() for key in codes.keys]
    return np.array(empty, dtype=bool)[codes.index]


def _says_something(cell: Any) -> bool:
    """Whether steps or messages hold more than what the user said."""
    parts = cell if isinstance(cell, list) else []
    return any(
        isinstance(part, Mapping) and part.get("role", "assistant") == "assistant" and set(part) != {"user"}
        for part in parts
    )


def drop_duplicates(pool: Pool, best: bool = False) -> None:
    """
    Rollouts that repeat another one of their group, as [`measure.hygiene.dedupe_groups`] finds them. The earliest
    stays, with `best` the one with the highest reward (a judge may have scored equal rollouts differently).
    """
    rows = pool.rows()
    if best:
        rows = rows[np.argsort(-pool.rewards.values[rows], kind="stable")]
    first = first_alike(pool.view, pool.groups, rows)
    copies = first != np.arange(first.size)
    pool.contradicted += int(np.count_nonzero(copies & (pool.judged.values[first] != pool.judged.values)))
    pool.drop("duplicate", copies)


def drop_truncated(pool: Pool) -> None:
    """Replies cut at the token limit."""
    pool.drop("truncated", truncated(pool.view))
