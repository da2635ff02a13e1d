"""`optimize`: from graded rows to the rows worth training on."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from datasets import Dataset, Json, Value

from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.rows import RowView, add_columns, select_rows, view
from whileai_hf.rows.view import Source
from whileai_hf.select.calibration import SURE_ROLLOUTS, calibrations
from whileai_hf.select.config import SelectionConfig, SelectionKnobs, make_config
from whileai_hf.select.pool import Pool, cells, open_pool
from whileai_hf.select.report import SelectionReport
from whileai_hf.select.rl import GroupSelection, group_columns, select_groups
from whileai_hf.select.sft import select_completions


# From this many repeats a group gives pass^k and pass@k (`measure.pass_at`).
_KWAY = 4
# Fewer completions than this per prompt leave rejection sampling little to choose from.
_FEW_COMPLETIONS = 10
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

    In mode "rl" the gates are, in this order: ungraded, unusable, duplicate, truncated, single, unanimous, out of band.
    What is left are whole groups (one prompt of one task), in turns over kinds of fault and, within a kind, over pass
    rates, up to `target` rows. Difficulty is measured on the rows as given, before any gate. In mode "sft" the best
    completion of each prompt at `min_reward` is kept (ties: the shorter reply, then the earlier row).

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows. They are not modified.
        config ([`SelectionConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`SelectionConfig`]: `mode`, `target`, `band`, `enforce_band`, `threshold`, `truncated`, `select`,
            `min_reward`, `seed`.

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
    knob = make_config(config, knobs)
    pool = open_pool(view(data))
    groups = select_groups(pool, knob) if knob.mode == "rl" else None
    rows = select_completions(pool, knob) if groups is None else groups.rows
    columns: dict[str, list[Any]] = {"calibration": calibrations(pool, rows, knob.threshold)}
    if groups is not None:
        columns.update(group_columns(pool, rows))
    kept = add_columns(select_rows(pool.view, rows.tolist()), columns, _FEATURES)
    return kept, _report(pool, knob, rows, groups)


def _report(pool: Pool, config: SelectionConfig, rows: IntArray, groups: GroupSelection | None) -> SelectionReport:
    lineage = cells(pool.view, "lineage", rows) if pool.view.has("lineage") else []
    eval_sourced = sum(isinstance(cell, dict) and cell.get("source") == "eval" for cell in lineage)
    warnings = []
    if eval_sourced:
        warnings.append(
            f"{eval_sourced} kept rows were graded by an evaluation: training on them optimises against the held-out "
            "scorer; grade training rows with run_judge or grade"
        )
    if not rows.size:
        warnings.append("nothing is left to train on; see what each gate dropped")
    return SelectionReport(
        mode=config.mode,
        n_in=len(pool.view),
        n_kept=int(rows.size),
        dropped=pool.dropped,
        n_groups_in=pool.n_groups,
        n_groups_kept=int(np.unique(pool.groups[rows]).size),
        dropped_groups=pool.dropped_groups,
        band_dropped={"too_easy": groups.too_easy if groups else 0, "too_hard": groups.too_hard if groups else 0},
        eval_sourced=eval_sourced,
        warnings=warnings + (_sft_warnings(pool) if groups is None else _band_warnings(groups)),
        hygiene_warnings=[] if groups is None else _hygiene(pool, rows),
        notes=_notes(pool, config),
    )


def _band_warnings(groups: GroupSelection) -> list[str]:
    smallest = groups.smallest_group
    if smallest is None or smallest >= SURE_ROLLOUTS:
        return []
    return [
        f"difficulty was measured from as few as {smallest} rollouts a group; under {SURE_ROLLOUTS} a pass rate can be "
        "off by 0.3, so some groups are on the wrong side of the band"
    ]


def _sft_warnings(pool: Pool) -> list[str]:
    scored = pool.groups[pool.rewards.scored]
    mean = scored.size / max(1, np.unique(scored).size)
    if mean >= _FEW_COMPLETIONS:
        return []
    return [
        f"{mean:.1f} graded completions a prompt; with fewer than {_FEW_COMPLETIONS} there is little to choose from"
    ]


def _hygiene(pool: Pool, rows: IntArray) -> list[str]:
    given = np.bincount(pool.tasks.index[pool.rewards.scored])
    kept = np.bincount(pool.tasks.index[rows])
    given, kept = given[given >= 2], kept[kept > 0]
    if not given.size or not kept.size or given.min() < _KWAY or kept.min() >= given.min():
        return []
    return [
        f"the selection made groups smaller (down to {kept.min()} rollouts a task, {given.min()} before): read pass^k and "
        "pass@k on the graded rows, not on the selection"
    ]


def _notes(pool: Pool, config: SelectionConfig) -> list[str]:
    notes = []
    if pool.rewards.not_numbers:
        notes.append(f"{pool.rewards.not_numbers} rewards are not numbers and count as ungraded")
    if pool.rewards.partial:
        notes.append(
            f"{pool.rewards.partial} rewards are neither 0 nor 1: a pass is a reward of at least {config.threshold:g}, "
            "and n0/n1 split at 0.5"
        )
    return notes
