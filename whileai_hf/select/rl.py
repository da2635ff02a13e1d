"""Selection for a group-relative update: whole groups whose rewards differ, at the right difficulty."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.select.config import SelectionConfig
from whileai_hf.select.gates import drop_duplicates, drop_truncated, drop_ungraded, drop_unusable
from whileai_hf.select.pool import Pool
from whileai_hf.select.turns import fault_kinds, take_turns


# Where partial credit splits into fail and pass in the counts n0 and n1 of an exported group.
_HALF = 0.5


@dataclasses.dataclass(frozen=True)
class GroupSelection:
    """Rows to keep, in order, and what the band did. `rates` are the pass rates of all groups as given."""

    rows: IntArray
    too_easy: int
    too_hard: int
    smallest_group: int | None


def graded_rates(pool: Pool, threshold: float) -> NDArray[np.float64]:
    """Pass rate of every group over its graded rows as given; `nan` without one."""
    scored = pool.rewards.scored
    n = np.bincount(pool.groups[scored], minlength=pool.n_groups)
    c = np.bincount(pool.groups[scored & (pool.rewards.values >= threshold)], minlength=pool.n_groups)
    return np.where(n > 0, c / np.maximum(n, 1), np.nan)


def select_groups(pool: Pool, config: SelectionConfig) -> GroupSelection:
    """
    Runs the gates and puts the groups that are left in training order.

    Args:
        pool (`Pool`):
            All rows; the gates take rows out of it.
        config (`SelectionConfig`):
            The knobs.

    Returns:
        [`GroupSelection`]: Whole groups, each with its rows next to each other.
    """
    rates = graded_rates(pool, config.threshold)
    graded = np.bincount(pool.groups[pool.rewards.scored], minlength=pool.n_groups)
    drop_ungraded(pool)
    drop_unusable(pool)
    drop_duplicates(pool)
    if config.truncated == "drop":
        drop_truncated(pool)
    pool.drop("unanimous", _unanimous(pool)[pool.groups])
    pool.drop("single", (pool.sizes() == 1)[pool.groups])
    low, high = config.band
    live = pool.sizes() > 0
    easy, hard = live & (rates > high), live & (rates < low)
    if config.enforce_band:
        pool.drop("out_of_band", (easy | hard)[pool.groups])
    left = np.flatnonzero(pool.sizes() > 0)
    rows = _in_turns(pool, rates, easy | hard, config.target)
    enforced = int(config.enforce_band)
    return GroupSelection(
        rows,
        too_easy=enforced * int(np.count_nonzero(easy)),
        too_hard=enforced * int(np.count_nonzero(hard)),
        smallest_group=int(graded[left].min()) if left.size else None,
    )


def _unanimous(pool: Pool) -> NDArray[np.bool_]:
    """Groups of at least two rollouts whose rewards are all exactly equal."""
    rows = pool.rows()
    low, high = np.full(pool.n_groups, np.inf), np.full(pool.n_groups, -np.inf)
    np.minimum.at(low, pool.groups[rows], pool.rewards.values[rows])
    np.maximum.at(high, pool.groups[rows], pool.rewards.values[rows])
    return np.asarray((low == high) & (pool.sizes() > 1), dtype=np.bool_)


def _in_turns(pool: Pool, rates: NDArray[np.float64], last: NDArray[np.bool_], target: int | None) -> IntArray:
    """Rows of the groups that are left, in turns; groups marked `last` come after all others."""
    sizes = pool.sizes()
    rows = pool.rows()
    by_group = rows[np.argsort(pool.groups[rows], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    left = np.flatnonzero(sizes > 0)
    kinds = np.array(fault_kinds(pool.view, by_group[starts[left]]), dtype=object)
    order: list[int] = []
    for part in (left[~last[left]], left[last[left]]):
        where = np.searchsorted(left, part)
        order += take_turns(part.tolist(), kinds[where].tolist(), rates[part].tolist())
    kept = order if target is None else order[: _fitting(sizes[order].tolist(), target)]
    if len(kept) < len(order):
        over = np.zeros(pool.n_groups, bool)
        over[order[len(kept) :]] = True
        pool.drop("over_target", over[pool.groups])
    parts = [by_group[starts[group] : starts[group + 1]] for group in kept]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _fitting(sizes: list[int], target: int) -> int:
    """How many groups fit into the target, at least one."""
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > target:
            return max(1, count)
    return len(sizes)


def group_columns(pool: Pool, rows: IntArray) -> dict[str, ArrowColumn]:
    """
    What a trainer may want to know about each kept row's group, over the kept rows.

    Args:
        pool (`Pool`):
            Where the rows come from.
        rows (`np.ndarray`):
            Kept rows.

    Returns:
        `dict[str, pyarrow.Array]`: `n0` and `n1` (failed and passed rollouts, partial credit split at 0.5),
        `reward_mean` and `reward_std` (population).
    """
    rewards, groups = pool.rewards.values[rows], pool.groups[rows]
    n = np.maximum(np.bincount(groups, minlength=pool.n_groups), 1)
    passed = np.bincount(groups[rewards >= _HALF], minlength=pool.n_groups)
    mean = np.bincount(groups, weights=rewards, minlength=pool.n_groups) / n
    spread = np.bincount(groups, weights=(rewards - mean[groups]) ** 2, minlength=pool.n_groups) / n
    return {
        "n0": pa.array((n - passed)[groups].astype(np.int64)),
        "n1": pa.array(passed[groups].astype(np.int64)),
        "reward_mean": pa.array(mean[groups]),
        "reward_std": pa.array(np.sqrt(spread)[groups]),
    }
