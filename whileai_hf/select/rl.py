"""Selection for a group-relative update: whole groups whose rewards differ, at the right difficulty."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.select.config import SelectionConfig
from whileai_hf.select.gates import drop_duplicates, drop_truncated, drop_ungraded, drop_unusable
from whileai_hf.select.pool import Pool
from whileai_hf.select.rates import Scale, mean_per_code, on_scale, reward_scale
from whileai_hf.select.turns import fault_kinds, take_turns


# Where partial credit splits into fail and pass in the counts n0 and n1 of an exported group.
_HALF = 0.5


@dataclasses.dataclass(frozen=True)
class GroupSelection:
    """Rows to keep, in order, and what the band did."""

    rows: IntArray
    too_easy: int
    too_hard: int
    smallest_group: int | None
    notes: list[str]


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
    graded = np.bincount(pool.groups[pool.counted], minlength=pool.n_groups)
    drop_junk(pool, config.truncated)
    drop_dead(pool)
    rates, scale = group_rates(pool)
    band = drop_out_of_band(pool, rates, config.band, config.enforce_band)
    left = np.flatnonzero(pool.sizes() > 0)
    rows = _ordered(pool, rates, band.easy | band.hard, config)
    enforced = int(config.enforce_band)
    return GroupSelection(
        rows,
        too_easy=enforced * int(np.count_nonzero(band.easy)),
        too_hard=enforced * int(np.count_nonzero(band.hard)),
        smallest_group=int(graded[left].min()) if left.size else None,
        notes=scale.note,
    )


def drop_junk(pool: Pool, cut: str) -> None:
    """The gates that look at one rollout, in their order; `cut` says what becomes of truncated ones."""
    drop_ungraded(pool)
    drop_unusable(pool)
    drop_duplicates(pool)
    if cut == "drop":
        drop_truncated(pool)


def drop_dead(pool: Pool) -> None:
    """Groups whose rewards are exactly equal, and those with one rollout."""
    pool.drop("unanimous", _unanimous(pool)[pool.groups])
    pool.drop("single", (pool.sizes() == 1)[pool.groups])


def group_rates(pool: Pool) -> tuple[NDArray[np.float64], Scale]:
    """Difficulty of every group over all its rollouts as given, whatever the gates dropped; `nan` without one."""
    scale = reward_scale(pool.rewards.values[pool.counted])
    values = on_scale(pool.rewards.values, scale)
    return mean_per_code(pool.groups, values, pool.counted, pool.n_groups), scale


class Band(NamedTuple):
    """Groups above and below a band."""

    easy: NDArray[np.bool_]
    hard: NDArray[np.bool_]


def drop_out_of_band(pool: Pool, rates: NDArray[np.float64], band: Sequence[float], enforce: bool = True) -> Band:
    """Finds the groups left that lie outside the band, and drops them when it is enforced."""
    low, high = band
    live = pool.sizes() > 0
    found = Band(live & (rates > high), live & (rates < low))
    if enforce:
        pool.drop("out_of_band", (found.easy | found.hard)[pool.groups])
    return found


def _unanimous(pool: Pool) -> NDArray[np.bool_]:
    """Groups of at least two rollouts whose rewards are all exactly equal."""
    rows = pool.rows()
    low, high = np.full(pool.n_groups, np.inf), np.full(pool.n_groups, -np.inf)
    np.minimum.at(low, pool.groups[rows], pool.rewards.values[rows])
    np.maximum.at(high, pool.groups[rows], pool.rewards.values[rows])
    return np.asarray((low == high) & (pool.sizes() > 1), dtype=np.bool_)


def _ordered(pool: Pool, rates: NDArray[np.float64], last: NDArray[np.bool_], config: SelectionConfig) -> IntArray:
    """Rows of the groups that are left, in training order; groups marked `last` come after all others."""
    sizes, target = pool.sizes(), config.target
    rows = pool.rows()
    by_group = rows[np.argsort(pool.groups[rows], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    left = np.flatnonzero(sizes > 0)
    kinds = np.array(fault_kinds(pool.view, by_group[starts[left]]), dtype=object)
    order: list[int] = []
    for part in (left[~last[left]], left[last[left]]):
        if config.order == "middle":
            order += part[np.argsort(np.round(np.abs(rates[part] - _HALF), 9), kind="stable")].tolist()
        else:
            order += take_turns(part.tolist(), kinds[np.searchsorted(left, part)].tolist(), rates[part].tolist())
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
