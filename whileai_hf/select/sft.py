"""Selection for supervised fine-tuning: rejection sampling, and the chance controls it is measured against."""

from __future__ import annotations

import numpy as np

from whileai_hf.measure.passes.codes import IntArray, column_codes
from whileai_hf.rows import rng
from whileai_hf.select.config import SelectionConfig
from whileai_hf.select.gates import drop_duplicates, drop_truncated, drop_ungraded, drop_unusable
from whileai_hf.select.pool import BoolArray, Pool
from whileai_hf.select.turns import fault_kinds, take_turns


def select_completions(pool: Pool, config: SelectionConfig) -> IntArray:
    """
    Runs the gates and picks completions.

    A random control keeps as many rows as its counterpart without a target would: one of every prompt that has a
    completion at `min_reward` (random_per_prompt), or that many of all completions (random_overall). Rewards play no
    part in which.

    Args:
        pool (`Pool`):
            All rows; the gates take rows out of it.
        config (`SelectionConfig`):
            The knobs.

    Returns:
        `np.ndarray`: Rows to keep, in the order of their groups.
    """
    drop_ungraded(pool)
    drop_unusable(pool)
    drop_duplicates(pool, best=not config.select.startswith("random"))
    if config.truncated == "drop":
        drop_truncated(pool)
    good = pool.kept & (pool.rewards.values >= config.min_reward)
    prompts = np.unique(pool.groups[good])
    if not config.select.startswith("random"):
        pool.drop("below_min_reward", ~good)
    if config.select.endswith("overall"):
        picked = _overall(pool, config, len(prompts) if config.target is None else config.target)
        pool.drop("not_selected", ~picked)
    else:
        pool.drop("not_selected", ~_per_prompt(pool, config, prompts))
        _trim(pool, config.target)
    rows = pool.rows()
    return rows[np.argsort(pool.groups[rows], kind="stable")]


def _ranked(pool: Pool) -> IntArray:
    """Rows left, best first: by reward, then the shorter reply, then the earlier row."""
    rows = pool.rows()
    replies = column_codes(pool.view, "final_text")
    lengths = np.array([len(key) if isinstance(key, str) else 0 for key in replies.keys], dtype=np.int64)
    return rows[np.lexsort((rows, lengths[replies.index[rows]], -pool.rewards.values[rows]))]


def _mark(pool: Pool, rows: IntArray) -> BoolArray:
    marked = np.zeros(pool.kept.size, bool)
    marked[rows] = True
    return marked


def _overall(pool: Pool, config: SelectionConfig, count: int) -> BoolArray:
    if config.select == "top_k_overall":
        return _mark(pool, _ranked(pool)[:count])
    draws = rng(config.seed, "select", config.select)
    return _mark(pool, np.array(draws.sample_k(pool.rows().tolist(), count), dtype=np.int64))


def _per_prompt(pool: Pool, config: SelectionConfig, prompts: IntArray) -> BoolArray:
    if config.select == "top_per_prompt":
        ranked = _ranked(pool)
        return _mark(pool, ranked[np.unique(pool.groups[ranked], return_index=True)[1]])
    rows = pool.rows()
    by_group = rows[np.argsort(pool.groups[rows], kind="stable")]
    ends = np.cumsum(pool.sizes()).tolist()
    picked = []
    for group in prompts.tolist():
        options = by_group[(ends[group - 1] if group else 0) : ends[group]].tolist()
        # Named by the prompt's own first row, so that other prompts do not change the pick.
        draws = rng(config.seed, "select", config.select, pool.tasks.keys[pool.tasks.index[options[0]]], len(options))
        picked.append(draws.pick(options))
    return _mark(pool, np.array(picked, dtype=np.int64))


def _trim(pool: Pool, target: int | None) -> None:
    """Keeps `target` prompts, taking turns over kinds of fault and pass rates."""
    rows = pool.rows()
    if target is None or rows.size <= target:
        return
    scored = pool.rewards.scored
    n = np.bincount(pool.groups[scored], minlength=pool.n_groups)
    total = np.bincount(pool.groups[scored], weights=pool.rewards.values[scored], minlength=pool.n_groups)
    rates = (total / np.maximum(n, 1))[pool.groups[rows]]
    order = take_turns(rows.tolist(), fault_kinds(pool.view, rows), rates.tolist())
    pool.drop("over_target", ~_mark(pool, np.array(order[:target], dtype=np.int64)))
