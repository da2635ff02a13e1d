"""Several completions of one prompt that are as unlike each other as their rewards allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.select.pool import Pool, cells


# Characters of a reply whose words are compared: what makes two replies unlike shows in the first pages.
_READ = 4000


def traits(reply: Any, steps: Any) -> frozenset[str]:
    """
    What a completion did and said, as a set: tools, tools after tools, and words.

    Examples:
    ```python
    >>> sorted(traits("On its way.", [{"tool": "get_order"}]))
    ['call:>get_order', 'its', 'on', 'way.']

    ```
    """
    words = reply[:_READ].casefold().split() if isinstance(reply, str) else []
    said = set(words)
    before = ""
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, Mapping) and isinstance(step.get("tool"), str):
            said.add(f"call:{before}>{step['tool']}")
            before = step["tool"]
    return frozenset(said)


def _unlike(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard distance."""
    either = len(one | other)
    return 1.0 - len(one & other) / either if either else 0.0


def pick_unlike(pool: Pool, options: Mapping[int, IntArray], wanted: IntArray) -> IntArray:
    """
    Picks completions of every prompt.

    A higher reward always goes before a lower one. Among equal rewards the first is the best ranked, every other the
    one whose nearest completion picked so far is farthest.

    Args:
        pool (`Pool`):
            The rows.
        options (`Mapping[int, np.ndarray]`):
            Rows of each group, best first.
        wanted (`np.ndarray`):
            How many to pick of each group.

    Returns:
        `np.ndarray`: Rows picked.
    """
    full = [group for group, rows in options.items() if rows.size > wanted[group]]
    picked = [rows for group, rows in options.items() if rows.size <= wanted[group]]
    if full:
        rows = np.concatenate([options[group] for group in full])
        replies, steps = cells(pool.view, "final_text", rows), cells(pool.view, "steps", rows)
        told = dict(zip(rows.tolist(), map(traits, replies, steps), strict=True))
        rewards = pool.rewards.values
        for group in full:
            picked.append(_greedy(options[group], int(wanted[group]), told, rewards))
    return np.concatenate(picked) if picked else np.empty(0, np.int64)


def _greedy(options: IntArray, count: int, told: Mapping[int, frozenset[str]], rewards: Any) -> IntArray:
    left, picked = options.tolist(), [int(options[0])]
    nearest = {row: _unlike(told[row], told[picked[0]]) for row in left[1:]}
    while len(picked) < count:
        best = rewards[next(iter(nearest))]
        level = [row for row in nearest if rewards[row] == best]
        chosen = max(level, key=nearest.__getitem__)
        picked.append(chosen)
        del nearest[chosen]
        for row in nearest:
            nearest[row] = min(nearest[row], _unlike(told[row], told[chosen]))
    return np.array(picked, dtype=np.int64)
