"""The gates that look at one rollout: is it graded, usable, complete, and not a copy of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whileai_hf.measure.passes.codes import combine
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.rows import dumps
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
    Rollouts that repeat another one of their group: its tool calls, their results and the reply. The earliest stays,
    with `best` the one with the highest reward (a judge may have scored equal rollouts differently).
    """
    replies = pool.codes("final_text")
    normal: dict[str, int] = {}
    same = np.array([normal.setdefault(normal_reply(key), len(normal)) for key in replies.keys], dtype=np.int64)
    candidates = pool.rows()
    joint = combine(pool.groups[candidates], same[replies.index[candidates]])
    # Most rollouts differ in the reply already: only the others have their steps decoded.
    candidates = candidates[np.bincount(joint)[joint] > 1]
    if best:
        candidates = candidates[np.argsort(-pool.rewards.values[candidates], kind="stable")]
    seen: dict[tuple[int, int, bytes], int] = {}
    copies = np.zeros(pool.kept.size, bool)
    steps = cells(pool.view, "steps", candidates)
    # Rows of other harnesses may say everything in their messages.
    silent = same[replies.index[candidates]] == normal.get("", -1)
    bare = candidates[silent & np.array([not cell for cell in steps], dtype=bool)]
    messages = dict(zip(bare.tolist(), cells(pool.view, "messages", bare), strict=True))
    for row, cell in zip(candidates.tolist(), steps, strict=True):
        trace = dumps(ordered(messages[row])) if row in messages else _calls(cell)
        key = (int(pool.groups[row]), int(same[replies.index[row]]), trace)
        first = seen.setdefault(key, row)
        copies[row] = first != row
        pool.contradicted += bool(pool.judged.values[first] != pool.judged.values[row])
    pool.drop("duplicate", copies)


def normal_reply(text: Any) -> str:
    """A reply without what people do not read as a difference: case and white space."""
    return " ".join(text.casefold().split()) if isinstance(text, str) else ""


def _calls(steps: Any) -> bytes:
    """The tool steps as text: name, arguments and result, whatever the order of their keys."""
    calls = [step for step in steps if isinstance(step, Mapping) and "tool" in step] if isinstance(steps, list) else []
    return dumps([[call["tool"], ordered(call.get("arguments")), ordered(call.get("result"))] for call in calls])


def ordered(value: Any) -> Any:
    """A JSON value with the keys of its objects in order, so that equal values have equal text."""
    if isinstance(value, Mapping):
        return {key: ordered(value[key]) for key in sorted(value, key=str)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


def drop_truncated(pool: Pool) -> None:
    """Replies cut at the token limit."""
    pool.drop("truncated", truncated(pool.view))
