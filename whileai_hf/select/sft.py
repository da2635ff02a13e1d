"""Selection for supervised fine-tuning: rejection sampling, and the chance controls it is measured against."""

from __future__ import annotations

import numpy as np

from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.rows import rng
from whileai_hf.select.config import SelectionConfig
from whileai_hf.select.diverse import pick_unlike
from whileai_hf.select.gates import drop_duplicates, drop_truncated, drop_ungraded, drop_unusable
from whileai_hf.select.pool import BoolArray, Pool
from whileai_hf.select.rates import mean_per_code
from whileai_hf.select.turns import fault_kinds, take_turns


def select_completions(pool: Pool, config: SelectionConfig) -> IntArray:
    """
    Runs the gates and picks completions.

    Of a prompt, up to `k` completions at `min_reward` are picked: the best, then the one most unlike those picked
    among the best that are left. Overall, as many are picked as that would give, or `target`. A random control keeps
    as many rows as its counterpart without a target would, of the same prompts (random_per_prompt) or of all
    completions (random_k_overall); rewards play no part in which.

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
    wanted = np.minimum(np.bincount(pool.groups[good], minlength=pool.n_groups), config.k)
    if not config.select.startswith("random"):
        pool.drop("below_min_reward", ~good)
    if config.select.endswith("overall"):
        picked = _overall(pool, config, int(wanted.sum()) if config.target is None else config.target)
        pool.drop("not_selected", ~picked)
    else:
        pool.drop("not_selected", ~_per_prompt(pool, config, wanted))
        _trim(pool, config.target)
    rows = pool.rows()
    return rows[np.argsort(pool.groups[rows], kind="stable")]


def _ranked(pool: Pool) -> IntArray:
    """Rows left, best first: by reward, then the shorter reply, then the earlier row."""
    rows = pool.rows()
    replies = pool.codes("final_text")
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


def _per_prompt(pool: Pool, config: SelectionConfig, wanted: IntArray) -> BoolArray:
    """Which rows are picked when `wanted` says how many of each group are."""
    random = config.select.startswith("random")
    rows = pool.rows() if random else _ranked(pool)
    rows = rows[np.argsort(pool.groups[rows], kind="stable")]
    if not random and config.k == 1:
        return _mark(pool, rows[np.unique(pool.groups[rows], return_index=True)[1]])
    ends = np.cumsum(pool.sizes()).tolist()
    options = {
        group: rows[(ends[group - 1] if group else 0) : ends[group]] for group in np.flatnonzero(wanted).tolist()
    }
    if not random:
        return _mark(pool, pick_unlike(pool, options, wanted))
    picked: list[int] = []
    for group, given in options.items():
        # Named by the prompt's own first row, so that other prompts do not change the pick.
        draws = rng(config.seed, "select", config.select, pool.tasks.keys[pool.tasks.index[given[0]]], given.size)
        picked += [draws.pick(given.tolist())] if config.k == 1 else draws.sample_k(given.tolist(), int(wanted[group]))
    return _mark(pool, np.array(picked, dtype=np.int64))


def _trim(pool: Pool, target: int | None) -> None:
    """Keeps `target` completions, taking turns over kinds of fault and pass rates."""
    rows = pool.rows()
    if target is None or rows.size <= target:
        return
    rates = mean_per_code(pool.groups, pool.rewards.values, pool.counted, pool.n_groups)[pool.groups[rows]]
    order = take_turns(rows.tolist(), fault_kinds(pool.view, rows), rates.tolist())
    pool.drop("over_target", ~_mark(pool, np.array(order[:target], dtype=np.int64)))
