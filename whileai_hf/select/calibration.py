"""The difficulty stamp: how often the policy solved a row's task, measured before anything was dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from whileai_hf.measure.passes.codes import ArrowColumn, IntArray, column_codes
from whileai_hf.measure.passes.tally import tally
from whileai_hf.rows import dumps
from whileai_hf.rows.columns import json_array
from whileai_hf.select.pool import Pool
from whileai_hf.stats import wilson


# Below this many rollouts a task's pass rate can be off by 0.3, more than half the usual band.
SURE_ROLLOUTS = 16


def stamp_column(pool: Pool, rows: IntArray, threshold: float) -> ArrowColumn:
    """
    Stamps for some rows, each over all graded rollouts of its task as given.

    Args:
        pool (`Pool`):
            The rows given.
        rows (`np.ndarray`):
            Rows to stamp.
        threshold (`float`):
            Reward from which a rollout counts as a pass.

    Returns:
        `pyarrow.Array`: JSON objects with `task_id`, `n`, `pass_rate`, `pass_rate_ci95` (Wilson) and `policy_version`
        (`None` when the task's rollouts come from several policies).
    """
    counts = tally(pool.tasks, np.greater_equal(pool.rewards.values, threshold), pool.rewards.scored)
    policy = _policies(pool)
    tasks, which = np.unique(pool.tasks.index[rows], return_inverse=True)
    stamps: list[bytes] = []
    for task in tasks.tolist():
        n, c = int(counts.n[task]), int(counts.c[task])
        stamp: dict[str, Any] = {
            "task_id": counts.keys[task],
            "n": n,
            "pass_rate": c / n,
            "pass_rate_ci95": wilson(c, n),
            "policy_version": policy[task],
        }
        stamps.append(dumps(stamp))
    # One text per task, however many of its rows are kept.
    return json_array(stamps).take(pa.array(which))


def _policies(pool: Pool) -> list[Any]:
    """The policy of each task, `None` where it is unknown or there are several."""
    codes = column_codes(pool.view, "policy_version")
    scored = pool.rewards.scored
    size = len(pool.tasks.keys)
    low, high = np.full(size, len(codes.keys)), np.full(size, -1)
    np.minimum.at(low, pool.tasks.index[scored], codes.index[scored])
    np.maximum.at(high, pool.tasks.index[scored], codes.index[scored])
    return [codes.keys[a] if a == b else None for a, b in zip(low.tolist(), high.tolist(), strict=True)]
