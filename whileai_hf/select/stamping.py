"""`calibrate`: difficulty stamps on graded rows, without selecting any."""

from __future__ import annotations

import numpy as np
from datasets import Dataset

from whileai_hf.measure.knobs import check_threshold
from whileai_hf.measure.logprobs import stamp_kl
from whileai_hf.rows import RowView
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import stamp_column, task_stamps
from whileai_hf.select.emitting import emit
from whileai_hf.select.pool import open_pool


@no_collection()
def calibrate(data: Source | RowView, *, threshold: float = 1.0, ref: str | None = None) -> Dataset:
    """
    Stamps every row with how hard its task was for the policy that produced it.

    A stamp a row came with stays while it rests on more rollouts than are here: of a selection, more were seen than
    are left. Rows graded anew are measured anew.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass.
        ref (`str`, *optional*):
            Column of log probabilities under a reference model; the stamp then holds `mean_kl` of the task, too (see
            [`measure.logprobs.mean_kl`]).

    Returns:
        `datasets.Dataset`: The rows, without what only a judge may see, with `calibration`; it is null for tasks
        without a graded rollout.

    Raises:
        [`MissingColumnError`]: The rows have no reward column.

    Examples:
    ```python
    >>> rows = [{"prompt": "a", "final_text": f"{i}", "reward": i % 2} for i in range(4)]
    >>> stamp = calibrate(rows)["calibration"][0]
    >>> stamp["n"], stamp["pass_rate"]
    (4, 0.5)

    ```
    """
    check_threshold(threshold)
    pool = open_pool(data)
    stamps = stamp_column(task_stamps(pool, threshold), pool.tasks.index)
    stamped = emit(pool.view, np.arange(len(pool.view), dtype=np.int64), {"calibration": stamps})[0]
    return stamped if ref is None else stamp_kl(stamped, ref=ref)
