"""`optimize`: from graded rows to the rows worth training on."""

from __future__ import annotations

import dataclasses
from typing import Unpack

import numpy as np
import pyarrow as pa
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import overlay
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.measure.hacks.scan import check_patterns
from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.measure.passes.stops import numbers
from whileai_hf.rows import RowView
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import stamp_column, task_stamps
from whileai_hf.select.config import SelectionConfig, SelectionKnobs
from whileai_hf.select.emitting import emit
from whileai_hf.select.pool import Pool, open_pool, truncated
from whileai_hf.select.report import SelectionReport
from whileai_hf.select.rl import group_columns, select_groups
from whileai_hf.select.sft import select_completions
from whileai_hf.select.summary import summarise


@no_collection()
def optimize(
    data: Source | RowView, *, config: SelectionConfig | None = None, **knobs: Unpack[SelectionKnobs]
) -> tuple[Dataset, SelectionReport]:
    """
    Keeps the graded rows worth training on.

    In mode "rl" the gates are ungraded, unusable, duplicate, truncated, unanimous, single and out_of_band, in this
    order; duplicates are those of [`measure.hygiene.dedupe_groups`]. What is left are whole groups (one prompt of one
    task), in turns over kinds of fault and, within a kind, over pass rates, up to `target` rows; with
    `order="middle"` those nearest to one half come first. Difficulty is the mean reward, measured on the rows as
    given, before any gate. In mode "sft" the best `k` completions of each prompt at `min_reward` are kept (ties: the
    one most unlike those kept, the shorter reply, the earlier row).

    With `truncated="penalize"` a reply cut at the token limit stays in its group as a failure, with what the judge
    gave it under `reward_before_penalty`.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        config ([`SelectionConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`SelectionConfig`]: `mode`, `target`, `band`, `enforce_band`, `threshold`, `truncated`,
            `order`, `endorsed`, `select`, `k`, `min_reward`, `seed`.

    Returns:
        `tuple[Dataset, SelectionReport]`: The kept rows with all their columns, except for what only a judge may see,
        plus `calibration` and, in mode "rl", `n0`, `n1`, `reward_mean`, `reward_std` of the kept group; and what every
        gate dropped.

    Raises:
        [`ConfigurationError`]: An unknown knob or an impossible value; the message names the choices.
        [`MissingColumnError`]: No reward (grade first), no prompt, or nothing to train on.
        [`DataError`]: There are no rows.

    Examples:
    ```python
    >>> rows = [{"prompt": p, "final_text": f"reply {i}", "reward": i % 2} for p in ("a", "b") for i in range(4)]
    >>> kept, report = optimize(rows, mode="rl")
    >>> len(kept), report.n_groups_kept, kept["n1"][0]
    (8, 2, 2)

    ```
    """
    knob = overlay(SelectionConfig, config, knobs)
    endorsed = check_patterns(knob.endorsed)
    penalize = knob.truncated == "penalize"
    pool = open_pool(data, penalize)
    groups = select_groups(pool, knob) if knob.mode == "rl" else None
    rows = select_completions(pool, knob) if groups is None else groups.rows
    columns: dict[str, ArrowColumn] = {
        "calibration": stamp_column(task_stamps(pool, knob.threshold), pool.tasks.index[rows])
    }
    if groups is not None:
        columns.update(group_columns(pool, rows))
    if penalize:
        columns.update(_penalty(pool, rows))
    kept, privileged = emit(pool.view, rows, columns)
    scan = hack_scan(pool.view, endorsed=endorsed) if endorsed else None
    return kept, summarise(pool, knob, rows, groups, scan, privileged)


def _penalty(pool: Pool, rows: IntArray) -> dict[str, ArrowColumn]:
    """The rewards trained on, and what the judge gave the penalized rows."""
    # What rows come with stays: of those penalized before, it is the judge's verdict.
    earlier = numbers(pool.view, "reward_before_penalty")
    verdicts = np.where(np.isnan(earlier) & truncated(pool.view), pool.judged.values, earlier)[rows]
    before = pa.array(verdicts, mask=np.isnan(verdicts))
    return {"reward": pa.array(pool.rewards.values[rows]), "reward_before_penalty": before}


def _in_mode(
    mode: str, data: Source | RowView, config: SelectionConfig | None, knobs: SelectionKnobs
) -> tuple[Dataset, SelectionReport]:
    if knobs.get("mode", mode) != mode:
        raise ConfigurationError(f"mode={knobs['mode']!r} does not go with select_for_{mode}; use optimize")
    base = overlay(SelectionConfig, config, {})
    return optimize(data, config=dataclasses.replace(base, mode=mode), **knobs)


def select_for_rl(
    data: Source | RowView, *, config: SelectionConfig | None = None, **knobs: Unpack[SelectionKnobs]
) -> tuple[Dataset, SelectionReport]:
    """
    [`optimize`] in mode "rl": whole groups whose rewards differ, at the right difficulty.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        config ([`SelectionConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`SelectionConfig`].

    Returns:
        `tuple[Dataset, SelectionReport]`: As [`optimize`].

    Examples:
    ```python
    >>> rows = [{"prompt": "a", "final_text": f"reply {i}", "reward": i % 2} for i in range(4)]
    >>> len(select_for_rl(rows)[0])
    4

    ```
    """
    return _in_mode("rl", data, config, knobs)


def select_for_sft(
    data: Source | RowView, *, config: SelectionConfig | None = None, **knobs: Unpack[SelectionKnobs]
) -> tuple[Dataset, SelectionReport]:
    """
    [`optimize`] in mode "sft": rejection sampling, or the chance control it is measured against.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        config ([`SelectionConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`SelectionConfig`]; `select` is top_per_prompt, top_k_overall, random_per_prompt or
            random_k_overall.

    Returns:
        `tuple[Dataset, SelectionReport]`: As [`optimize`].

    Examples:
    ```python
    >>> rows = [{"prompt": "a", "final_text": f"reply {i}", "reward": i % 2} for i in range(4)]
    >>> select_for_sft(rows, k=2)[0]["final_text"][:]
    ['reply 1', 'reply 3']

    ```
    """
    return _in_mode("sft", data, config, knobs)
