"""`optimize`: from graded rows to the rows worth training on."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from datasets import Dataset, Json, Value

from whileai_hf.knobs import overlay
from whileai_hf.measure.passes.codes import ArrowColumn, IntArray
from whileai_hf.rows import RowView, add_columns, select_rows, to_dataset, view
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import stamp_column
from whileai_hf.select.config import SelectionConfig, SelectionKnobs
from whileai_hf.select.pool import open_pool
from whileai_hf.select.report import SelectionReport
from whileai_hf.select.rl import group_columns, select_groups
from whileai_hf.select.sft import select_completions
from whileai_hf.select.summary import summarise


_FEATURES = {
    "calibration": Json(),
    "n0": Value("int64"),
    "n1": Value("int64"),
    "reward_mean": Value("float64"),
    "reward_std": Value("float64"),
}


def optimize(
    data: Source | RowView, *, config: SelectionConfig | None = None, **knobs: Unpack[SelectionKnobs]
) -> tuple[Dataset, SelectionReport]:
    """
    Keeps the graded rows worth training on.

    In mode "rl" the gates are ungraded, unusable, duplicate, truncated, unanimous, single and out_of_band, in this
    order. What is left are whole groups (one prompt of one task), in turns over kinds of fault and, within a kind,
    over pass rates, up to `target` rows. Difficulty is measured on the rows as given, before any gate. In mode "sft"
    the best completion of each prompt at `min_reward` is kept (ties: the shorter reply, then the earlier row).

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        config ([`SelectionConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`SelectionConfig`]: `mode`, `target`, `band`, `enforce_band`, `threshold`, `truncated`,
            `select`, `min_reward`, `seed`.

    Returns:
        `tuple[Dataset, SelectionReport]`: The kept rows with all their columns plus `calibration` and, in mode "rl",
        `n0`, `n1`, `reward_mean`, `reward_std` of the kept group; and what every gate dropped.

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
    pool = open_pool(view(data))
    groups = select_groups(pool, knob) if knob.mode == "rl" else None
    rows = select_completions(pool, knob) if groups is None else groups.rows
    columns: dict[str, ArrowColumn] = {"calibration": stamp_column(pool, rows, knob.threshold)}
    if groups is not None:
        columns.update(group_columns(pool, rows))
    return _stamped(pool.view, rows, columns), summarise(pool, knob, rows, groups)


def _empty(view: RowView) -> Dataset:
    """No rows, but the columns of the rows given, typed by their first value."""
    first: dict[str, Any] = {}
    for row in view.rows():
        first.update((name, value) for name, value in row.items() if first.get(name) is None)
        if len(first) == len(view.columns) and None not in first.values():
            break
    return to_dataset([first]).select([])


def _stamped(view: RowView, rows: IntArray, columns: dict[str, ArrowColumn]) -> Dataset:
    """The kept rows with columns added. Of a Dataset only the new columns take memory: it is indexed, not copied."""
    source = view.source
    if not isinstance(source, Dataset):
        picked = select_rows(view, rows.tolist()) if rows.size else _empty(view)
        return add_columns(picked, columns, _FEATURES)
    place = rows if source._indices is None else source._indices.column(0).to_numpy()[rows].astype(np.int64)
    base = Dataset(source.data, info=source.info.copy(), split=source.split)
    # Position of every row among the kept; null for the others, whose new cells are then null.
    position = np.full(base.num_rows, -1, np.int64)
    position[place] = np.arange(place.size)
    spread = pa.array(position, mask=position < 0)
    arrays = {name: column.take(spread) for name, column in columns.items()}
    return add_columns(base, arrays, _FEATURES).select(place.tolist())
