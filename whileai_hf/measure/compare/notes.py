"""What a reader has to know about two sides of a comparison, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from whileai_hf.measure.compare.pairing import Contrast, Pairs
from whileai_hf.measure.metrics import PASS_AT_1, REWARD, Measured
from whileai_hf.measure.passes.origin import count_duplicates
from whileai_hf.measure.passes.rewards import GRADE_FIRST
from whileai_hf.stats.signflip import MIN_PAIRS


# A comparison over less than this share of the tasks describes another eval than either side's.
LOW_SHARE = 0.5
# Rollout indexes below this fit into one number together with the task.
_SMALL = 1 << 20
# What changes numbers without the agent changing, by its name in a report, and what to call several.
_SETTINGS = {
    "judge_name": "judges",
    "user_model": "simulated users",
    "judge_version": "judge versions",
    "temperature": "temperatures",
    "max_tokens": "reply budgets",
}


def settings(side: Measured) -> dict[str, list[Any]]:
    """What a side's rows were produced with: every distinct value of what the rows record."""
    found = {name: side.distinct(name) for name in ("policy_version", "judge_name", "user_model")}
    found["judge_version"] = side.distinct_inside("lineage", "judge_version")[0]
    found["temperature"], found["max_tokens"] = side.distinct_inside("sampling", "temperature", "max_tokens")
    return {name: values for name, values in found.items() if values}


def unlike_settings(a: dict[str, list[Any]], b: dict[str, list[Any]], sides: tuple[str, str]) -> list[str]:
    """A sentence for everything both sides record and do not agree on, besides the policy."""
    return [
        f"the sides have different {what}: {_few(a[name])} {sides[0]}, {_few(b[name])} {sides[1]}; the difference may "
        "come from that"
        for name, what in _SETTINGS.items()
        if name in a and name in b and a[name] != b[name]
    ]


def _few(values: list[Any]) -> str:
    shown = ", ".join(str(value)[:60] for value in values[:3])
    return shown + (f" and {len(values) - 3} more" if len(values) > 3 else "")


def duplicates(side: Measured) -> int:
    """Rows of a side that repeat a rollout already seen."""
    index = side.indexes
    if index is not None and index.min(initial=0) >= 0 and index.max(initial=0) < _SMALL:
        # Most rows are told apart by task and index alone, which takes a fraction of the time.
        joint = np.sort(side.tasks.index * _SMALL + index)
        if not np.any(joint[1:] == joint[:-1]):
            return 0
    return count_duplicates(side.rows, side.tasks)


def unmeasured(side: Measured, metric: str) -> int:
    """Rows of a side that lack the metric, apart from those left out altogether."""
    return int(np.count_nonzero(np.isnan(side.values(metric)) & ~side.spoilt))


def notes_on_side(side: Measured, name: str, metric: str, copies: int) -> list[str]:
    """What is left out or odd on one side."""
    notes = []
    total, missing, spoilt = len(side), unmeasured(side, metric), int(np.count_nonzero(side.spoilt))
    of_reward = metric in (PASS_AT_1, REWARD)
    if missing == total and of_reward:
        notes.append(f"{name}: none of the {total} rows has a verdict; {GRADE_FIRST}")
    elif missing:
        what = "a verdict" if of_reward else metric
        notes.append(f"{name}: {missing} of {total} rows lack {what} and are left out, not counted as failures")
    if spoilt:
        notes.append(f"{name}: {spoilt} rows failed by the simulated user (sim_ok is false) and are left out")
    if of_reward:
        notes += _notes_on_rewards(side, name, metric)
    notes += [f"{name}: {note}" for note in (*notes_on_markers(side, [metric]), *notes_on_copies(copies))]
    if side.stopped:
        notes.append(
            f"{name}: groups were stopped early because of their verdicts, so each task counts by the rollouts it got "
            "whatever came of them"
        )
    return notes


def notes_on_copies(copies: int) -> list[str]:
    """A note on rows that are there twice."""
    if not copies:
        return []
    return [
        f"{copies} row(s) repeat a rollout already seen and are counted again; drop the copies, they are no "
        "independent repeats"
    ]


def notes_on_markers(side: Measured, metrics: Iterable[str]) -> list[str]:
    """Notes on markers whose values are no numbers, or lie outside 0 to 1."""
    notes = []
    for metric in metrics:
        marker = side.marker_of(metric)
        if marker is None:
            continue
        if odd := side.not_numbers.get(marker):
            notes.append(f"{odd} value(s) of the marker {marker} are no numbers and are left out")
        outside = int(np.count_nonzero((side.markers[marker] < 0.0) | (side.markers[marker] > 1.0)))
        if outside:
            notes.append(f"{outside} value(s) of the marker {marker} lie outside 0 to 1 and are taken as they are")
    return notes


def _notes_on_rewards(side: Measured, name: str, metric: str) -> list[str]:
    notes = []
    rewards = side.rewards
    if rewards.not_numbers:
        notes.append(f"{name}: {rewards.not_numbers} rewards are not numbers and are read as no verdict")
    outside = int(np.count_nonzero((rewards.values < 0.0) | (rewards.values > 1.0)))
    if outside:
        notes.append(f"{name}: {outside} rewards lie outside 0 to 1; {metric} takes them as they are")
    elif metric == PASS_AT_1 and rewards.partial:
        notes.append(f"{name}: {rewards.partial} rewards are neither 0 nor 1; a pass is a reward of at least 1")
    return notes


def notes_on_pairs(pairs: Pairs, found: Contrast, sides: tuple[str, str], metric: str) -> list[str]:
    """What the pairing means for the verdict."""
    notes = []
    shared, only_a, only_b = len(pairs.keys), len(pairs.a.keys) - len(pairs.keys), len(pairs.b.keys) - len(pairs.keys)
    notes += _unlike_keys(pairs)
    if not pairs.enough:
        notes.append(
            f"{shared} shared task(s): a paired verdict takes at least {MIN_PAIRS}; the difference shown is between "
            "all tasks of either side, which also differ in their tasks; run both sides on the same tasks"
        )
        if found.delta is not None and found.ci95 is None and min(len(pairs.a.keys), len(pairs.b.keys)) > 1:
            notes.append("the tasks of either side all came out alike, so nothing says how sure the difference is")
        return notes
    if only_a or only_b:
        notes.append(
            f"{only_a} task(s) {sides[0]} and {only_b} {sides[1]} have no partner and are left out: the verdict is "
            f"over {pairs.share:.0%} of all tasks"
        )
    if found.tests and found.ci95 is not None and not found.differs:
        low, high = found.ci95
        notes.append(
            "every shared task came out the same on average, which says nothing of the next run"
            if found.scarce and all(few.n_differ == 0 for few in found.scarce)
            else f"no difference detected is not equality: anything from {low:+.3f} to {high:+.3f} fits these rows"
        )
    notes += [few.note(metric) for few in found.scarce[:1]]
    counts_a, counts_b = pairs.a.counts[pairs.at_a], pairs.b.counts[pairs.at_b]
    if not np.array_equal(counts_a, counts_b):
        notes.append(
            f"the sides differ in rollouts per task ({_range(counts_a)} {sides[0]}, {_range(counts_b)} {sides[1]}); "
            "each task counts once" + (", and the verdict also holds at equal numbers" if len(found.tests) > 1 else "")
        )
    return notes


def _unlike_keys(pairs: Pairs) -> list[str]:
    """A note where tasks have no partner only because one side names them by numbers and the other by text."""
    shared = set(pairs.keys)
    alone_a = {str(key) for key in pairs.a.keys if key not in shared}
    alike = sorted(str(key) for key in pairs.b.keys if key not in shared and str(key) in alone_a)
    if not alike:
        return []
    return [
        f"{len(alike)} task(s) have no partner only because their keys are of another type there (such as {alike[0]} "
        "as a number and as text); write them alike on both sides"
    ]


def _range(counts: Any) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
