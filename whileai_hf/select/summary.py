"""What to tell about a selection: counts, and warnings about training on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whileai_hf.measure.hacks import HackScan
from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.measure.passes.origin import inner_codes
from whileai_hf.measure.passes.stops import was_stopped
from whileai_hf.rows import RowView
from whileai_hf.select.calibration import SURE_ROLLOUTS
from whileai_hf.select.config import SelectionConfig
from whileai_hf.select.pool import BoolArray, Pool, truncated
from whileai_hf.select.report import SelectionReport
from whileai_hf.select.rl import GroupSelection
from whileai_hf.select.verdicts import odd_rewards


# From this many repeats a group gives pass^k and pass@k (`measure.pass_at`).
_KWAY = 4
# Fewer completions than this per prompt leave rejection sampling little to choose from.
_FEW_COMPLETIONS = 10


def eval_codes(view: RowView) -> BoolArray:
    """Which rows got their reward from an evaluation (`lineage.source`)."""
    sources = inner_codes(view, "lineage", "source")
    return np.asarray(sources.index == (sources.keys.index("eval") if "eval" in sources.keys else -1), dtype=np.bool_)


def eval_rows(view: RowView, rows: IntArray) -> int:
    """How many of some rows did."""
    return int(np.count_nonzero(eval_codes(view)[rows]))


def eval_warning(count: int, what: str = "kept rows") -> list[str]:
    """What to say about rewards of an evaluation; nothing without any."""
    if not count:
        return []
    return [
        f"{count} {what} were graded by an evaluation: training on them optimises against the held-out "
        "scorer; grade training rows with run_judge or grade"
    ]


def summarise(
    pool: Pool,
    config: SelectionConfig,
    rows: IntArray,
    groups: GroupSelection | None,
    scan: HackScan | None = None,
    privileged: Sequence[str] = (),
) -> SelectionReport:
    """
    The report of a selection.

    Args:
        pool (`Pool`):
            The rows given, after the gates.
        config (`SelectionConfig`):
            The knobs.
        rows (`np.ndarray`):
            Rows kept.
        groups (`GroupSelection`, *optional*):
            What the group gates found; `None` in mode "sft".
        scan (`HackScan`, *optional*):
            What the rows given would teach.
        privileged (`Sequence[str]`, *optional*):
            Columns cleared of what only a judge may see.

    Returns:
        [`SelectionReport`]: Every row given is kept or counted at one gate.
    """
    eval_sourced = eval_rows(pool.view, rows)
    warnings = [*odd_rewards(pool.view, pool.judged), *eval_warning(eval_sourced)]
    if not rows.size:
        warnings.append("nothing is left to train on; see what each gate dropped")
    cut = int(np.count_nonzero(truncated(pool.view)[rows])) if config.truncated == "penalize" else 0
    hygiene = _contradictions(pool) + ([] if groups is None else _smaller_groups(pool, rows))
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
        n_penalized=cut,
        hack_scan=scan,
        privileged=list(privileged),
        warnings=warnings + (_sft_warnings(pool) if groups is None else _band_warnings(groups)),
        hygiene_warnings=hygiene + ([] if scan is None else [f"hack scan: {text}" for text in scan.warnings]),
        notes=[*_notes(pool, config, cut, privileged), *(groups.notes if groups else [])],
    )


def _band_warnings(groups: GroupSelection) -> list[str]:
    smallest = groups.smallest_group
    if smallest is None or smallest >= SURE_ROLLOUTS:
        return []
    return [
        f"difficulty was measured from as few as {smallest} rollouts a group; under {SURE_ROLLOUTS} a pass rate can "
        "be off by 0.3, so some groups are on the wrong side of the band"
    ]


def _sft_warnings(pool: Pool) -> list[str]:
    scored = pool.groups[pool.rewards.scored]
    mean = scored.size / max(1, np.unique(scored).size)
    if mean >= _FEW_COMPLETIONS:
        return []
    return [
        f"{mean:.1f} graded completions a prompt; with fewer than {_FEW_COMPLETIONS} there is little to choose from"
    ]


def _contradictions(pool: Pool) -> list[str]:
    if not pool.contradicted:
        return []
    return [
        f"{pool.contradicted} duplicate rollouts got another reward than the rollout they repeat: "
        "the judge contradicts itself"
    ]


def _smaller_groups(pool: Pool, rows: IntArray) -> list[str]:
    given = np.bincount(pool.tasks.index[pool.counted])
    kept = np.bincount(pool.tasks.index[rows])
    given, kept = given[given >= 2], kept[kept > 0]
    if not given.size or not kept.size or given.min() < _KWAY or kept.min() >= given.min():
        return []
    return [
        f"the selection made groups smaller (down to {kept.min()} rollouts a task, {given.min()} before): read pass^k "
        "and pass@k on the graded rows, not on the selection"
    ]


def _notes(pool: Pool, config: SelectionConfig, cut: int, privileged: Sequence[str]) -> list[str]:
    notes = []
    if cut:
        notes.append(
            f"{cut} kept rollouts were cut at the token limit and count as failures; what the judge gave them is in "
            "reward_before_penalty"
        )
    if privileged:
        notes.append(f"what only a judge may see was taken out of {', '.join(privileged)}")
    if config.mode == "rl" and was_stopped(pool.view):
        notes.append(
            "groups were stopped early by their verdicts: the pass rates of the stamps are those of the rollouts a "
            "group got in any case (n_probe), the band looks at all it got"
        )
    if pool.rewards.partial:
        notes.append(
            f"{pool.rewards.partial} rewards are neither 0 nor 1: a pass is a reward of at least "
            f"{config.threshold:g}, and n0/n1 split at 0.5"
        )
    return notes
