"""Single gates of a selection, for those who want one of them: each gives rows in their order, and a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import RowView
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import stamp_column, task_stamps
from whileai_hf.select.config import BAND, SelectionConfig
from whileai_hf.select.emitting import emit
from whileai_hf.select.gates import drop_ungraded
from whileai_hf.select.pool import Pool, open_pool
from whileai_hf.select.report import SelectionReport
from whileai_hf.select.rl import GroupSelection, drop_dead, drop_junk, drop_out_of_band, group_rates
from whileai_hf.select.summary import summarise


@no_collection()
def _trimmed(
    data: Source | RowView, config: SelectionConfig, gates: Callable[[Pool], GroupSelection]
) -> tuple[Dataset, SelectionReport]:
    """Rows that some gates leave, in their order, with stamps measured before any gate."""
    pool = open_pool(data)
    found = gates(pool)
    rows = pool.rows()
    stamps = stamp_column(task_stamps(pool, config.threshold), pool.tasks.index[rows])
    kept, privileged = emit(pool.view, rows, {"calibration": stamps})
    return kept, summarise(pool, config, rows, found, None, privileged)


def _nothing_measured(pool: Pool) -> GroupSelection:
    return GroupSelection(pool.rows(), too_easy=0, too_hard=0, smallest_group=None, notes=[])


def filter_rl_rows(
    data: Source | RowView, *, truncated: str = "drop", threshold: float = 1.0
) -> tuple[Dataset, SelectionReport]:
    """
    Leaves out rollouts no group should hold: ungraded, unusable, copies of another of their group, cut off.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        truncated (`str`, *optional*, defaults to `"drop"`):
            `"keep"` leaves replies cut at the token limit in.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass in the stamps.

    Returns:
        `tuple[Dataset, SelectionReport]`: The rows with `calibration`, and what every gate dropped. Groups may be left
        without a gradient: see [`trim_unanimous_groups`].

    Examples:
    ```python
    >>> rows = [{"prompt": "a", "final_text": text, "reward": 1} for text in ("yes", "Yes ", "")]
    >>> kept, report = filter_rl_rows(rows)
    >>> kept["final_text"][:], report.dropped["duplicate"], report.dropped["unusable"]
    (['yes'], 1, 1)

    ```
    """
    if truncated == "penalize":
        raise ConfigurationError(
            "truncated='penalize' changes rewards, which optimize(mode='rl') does; pass 'drop' or 'keep'"
        )
    config = SelectionConfig(truncated=truncated, threshold=threshold)

    def gates(pool: Pool) -> GroupSelection:
        drop_junk(pool, config.truncated)
        return _nothing_measured(pool)

    return _trimmed(data, config, gates)


def trim_unanimous_groups(data: Source | RowView, *, threshold: float = 1.0) -> tuple[Dataset, SelectionReport]:
    """
    Leaves out groups without a gradient: rewards that are exactly equal, or one graded rollout.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass in the stamps.

    Returns:
        `tuple[Dataset, SelectionReport]`: The graded rows of the other groups with `calibration`, and what was
        dropped.

    Examples:
    ```python
    >>> rewards = {"a": [1, 0], "b": [1, 1], "c": [1]}
    >>> rows = [{"prompt": p, "final_text": f"{i}", "reward": r} for p in rewards for i, r in enumerate(rewards[p])]
    >>> kept, report = trim_unanimous_groups(rows)
    >>> kept["prompt"][:], report.dropped["unanimous"], report.dropped["single"]
    (['a', 'a'], 2, 1)

    ```
    """

    def gates(pool: Pool) -> GroupSelection:
        drop_ungraded(pool)
        drop_dead(pool)
        return _nothing_measured(pool)

    return _trimmed(data, SelectionConfig(threshold=threshold), gates)


def trim_out_of_band(
    data: Source | RowView, *, band: Sequence[float] = BAND, threshold: float = 1.0
) -> tuple[Dataset, SelectionReport]:
    """
    Leaves out groups that are too easy or too hard. What a prompt is about plays no part.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        band (`Sequence[float]`, *optional*, defaults to `(0.2, 0.8)`):
            Lowest and highest mean reward of a group kept.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass in the stamps.

    Returns:
        `tuple[Dataset, SelectionReport]`: The graded rows inside the band with `calibration`, and what was dropped. A
        group that always gets the same partial credit may be among them: see [`trim_unanimous_groups`].

    Examples:
    ```python
    >>> rewards = {"a": [1, 0], "b": [1, 1], "c": [0, 0]}
    >>> rows = [{"prompt": p, "final_text": f"{i}", "reward": r} for p in rewards for i, r in enumerate(rewards[p])]
    >>> kept, report = trim_out_of_band(rows)
    >>> kept["prompt"][:], report.band_dropped
    (['a', 'a'], {'too_easy': 1, 'too_hard': 1})

    ```
    """
    config = SelectionConfig(band=band, threshold=threshold)

    def gates(pool: Pool) -> GroupSelection:
        graded = np.bincount(pool.groups[pool.counted], minlength=pool.n_groups)
        drop_ungraded(pool)
        rates, scale = group_rates(pool)
        found = drop_out_of_band(pool, rates, config.band)
        left = np.flatnonzero(pool.sizes() > 0)
        return GroupSelection(
            pool.rows(),
            too_easy=int(np.count_nonzero(found.easy)),
            too_hard=int(np.count_nonzero(found.hard)),
            smallest_group=int(graded[left].min()) if left.size else None,
            notes=scale.note,
        )

    return _trimmed(data, config, gates)
