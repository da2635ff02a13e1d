"""What the rewards of rows say about training on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from whileai_hf.measure.hacks import HackScan, hack_scan
from whileai_hf.measure.hacks.sampling import ask_codes
from whileai_hf.measure.passes import GroupSignal, PassAt, group_signal, pass_at
from whileai_hf.measure.passes.rewards import GRADE_FIRST
from whileai_hf.rows import RowView
from whileai_hf.select.calibration import carried_stamps, difficulty
from whileai_hf.select.pool import Pool, open_tasks
from whileai_hf.select.rl import group_rates
from whileai_hf.select.verdicts import odd_rewards


@dataclasses.dataclass
class Grades:
    """What is known about the rewards, and what speaks against them."""

    n_graded: int = 0
    signal: GroupSignal | None = None
    out_of_band: dict[str, int] | None = None
    passes: PassAt | None = None
    n_stamped: int = 0
    scan: HackScan | None = None
    refusals: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)


def read_grades(rows: RowView, mode: str, band: Sequence[float], threshold: float) -> Grades:
    """
    Rewards of rows, without the scan.

    Args:
        rows (`RowView`):
            The rows.
        mode (`str`):
            "rl" or "sft".
        band (`Sequence[float]`):
            Lowest and highest mean reward of a group to train on.
        threshold (`float`):
            Reward from which a rollout counts as a pass.
    """
    found = Grades()
    if rows.has("reward"):
        pool = open_tasks(rows)
        pool = dataclasses.replace(pool, groups=ask_codes(pool.view, pool.tasks))
        found.n_graded = int(np.count_nonzero(pool.judged.scored))
        found.warnings += odd_rewards(pool.view, pool.judged)
    if not found.n_graded:
        line = f"none of the {len(rows)} rows has a reward: a grouped update learns nothing; {GRADE_FIRST}"
        (found.refusals if mode == "rl" else found.warnings).append(found.warnings.pop() if found.warnings else line)
        return found
    ungraded = len(rows) - found.n_graded
    if ungraded:
        found.warnings.append(f"{ungraded} of {len(rows)} rows have no reward")
    found.passes = pass_at(rows, threshold=threshold)
    _read_stamps(pool, found)
    if mode == "rl":
        found.signal = group_signal(rows, threshold=threshold)
        _read_signal(pool, found, found.signal, band)
    return found


def _read_stamps(pool: Pool, found: Grades) -> None:
    levels = difficulty(pool)
    found.n_stamped = levels.n_stamped
    here = np.bincount(pool.tasks.index[pool.counted], minlength=len(pool.tasks.keys))
    more = int(np.count_nonzero(levels.n > here))
    if more:
        found.notes.append(
            f"the stamps of {more} tasks saw more rollouts than are left of them and are kept; pass_at is of the rows "
            "that are here"
        )
    stale = sum(stamp is not None for stamp in carried_stamps(pool)) - levels.n_stamped
    if stale:
        found.notes.append(f"{stale} tasks carry a stamp of fewer rollouts or another policy: they are measured anew")


def _read_signal(pool: Pool, found: Grades, signal: GroupSignal, band: Sequence[float]) -> None:
    if not signal.mixed:
        found.refusals.append(
            f"no group of the {signal.n_groups} has rewards that differ: a grouped update learns nothing; repeat each "
            "prompt, or aim at tasks the policy solves sometimes"
        )
    flat = signal.all_pass + signal.all_fail
    if flat:
        found.warnings.append(
            f"{flat} of {signal.n_groups} groups are unanimous ({signal.all_pass} pass, {signal.all_fail} fail): they "
            'carry no gradient; optimize(rows, mode="rl") leaves them out'
        )
    low, high = band
    rates, _ = group_rates(pool)
    size = np.bincount(pool.groups[pool.counted], minlength=pool.n_groups)
    easy, hard = ((size > 1) & (rates > high)).sum(), ((size > 1) & (rates < low)).sum()
    found.out_of_band = {"too_easy": int(easy), "too_hard": int(hard)}
    if easy or hard:
        found.warnings.append(
            f"{easy} groups are easier and {hard} harder than the band {low:g} to {high:g}; "
            'optimize(rows, mode="rl") leaves them out'
        )


def read_scan(rows: RowView, found: Grades, endorsed: Sequence[str], strict: bool) -> None:
    """
    Adds what a policy would learn from the rewards.

    Args:
        rows (`RowView`):
            The rows.
        found ([`Grades`]):
            Where to add it.
        endorsed (`Sequence[str]`):
            What the reward is meant to track.
        strict (`bool`):
            Whether a hack is a reason to refuse.
    """
    scan = hack_scan(rows, endorsed=endorsed)
    found.scan = scan
    if strict and scan.regime == "reward_hack":
        found.refusals.append(
            f"the rewards follow {scan.top_feature} (correlation {scan.top_rho:+.2f} within asks), which is not "
            f"endorsed: a policy would learn that; mend the judge, or endorse it"
        )
    found.warnings += [f"hack scan: {text}" for text in scan.warnings]
