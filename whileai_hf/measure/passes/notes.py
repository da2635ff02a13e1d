"""What a reader has to know about pass numbers, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from whileai_hf.measure.passes.rewards import GRADE_FIRST, Rewards
from whileai_hf.measure.passes.stops import FloatArray
from whileai_hf.measure.passes.tally import MIN_GROUPS, Tally
from whileai_hf.measure.passes.weighing import Weighing


# With fewer repeats per task the k-way numbers say little more than pass@1 and move a lot from run to run.
MIN_K = 4
# With fewer unanimous groups carried on, what happens beyond the probe rests on a handful of rollouts.
_FEW_CARRIED = 10

_HOW = {
    "order_weighted": "pass^k and pass@k weigh each full group by the chance that one with its passes is filled",
    "probe_split": "pass^k and pass@k count unanimous probes as unanimous and take back, by the groups that a probe "
    "split, how many would have split later",
    "inverse_probability": "something else than these verdicts decided who is stopped, so pass^k and pass@k weigh "
    "each full group by its recorded chance (noisier)",
    "mixture": "pass^k and pass@k are of the most likely distribution of pass rates (likelihood over all groups): the "
    "rows do not hold the probe, the order or the chances that weights take. It supposes that nothing but these "
    "verdicts stopped a group and that tasks come in no order of difficulty; pass^k tends to be 0.01-0.04 high and "
    "pass@k low",
}
_SMALL_K = f"k is {{k}}: below {MIN_K} repeats pass^k and pass@k are not given; pass k={{k}} to have them anyway"
_WHY_SHORT = {"partial": "lost rollouts", "cut": "were cut when the run ended"}
_STAND_IN = "in pass^k and pass@k groups whose probe came out the same way stand in for them"
_SHORT = {"mixture": "the fit counts what they have", "closed_form": "pass^k and pass@k are of the groups that have k"}
ONLY_SPLIT = (
    "the probe of every group is mixed: groups that were stopped are not among these rows, so the numbers describe "
    "the prompts the agent is unsure of and not the agent; measure before anything is dropped"
)


def notes_on_rows(
    rewards: Rewards, threshold: float, faulty: int, duplicates: int, config: dict[str, list[Any]]
) -> list[str]:
    """Notes on rows that are left out, odd, or do not belong together."""
    notes = []
    total = rewards.values.size
    unjudged = int(np.count_nonzero(~rewards.scored)) - faulty
    if unjudged == total:
        notes.append(f"not graded: none of the {total} rows has a reward; {GRADE_FIRST}")
    elif unjudged:
        notes.append(f"{unjudged} of {total} rollouts have no verdict; they are left out, not counted as failures")
    if faulty:
        notes.append(f"{faulty} of {total} rollouts failed by the simulated user (sim_ok is false); they are left out")
    if rewards.not_numbers:
        notes.append(f"{rewards.not_numbers} rewards are not numbers and are read as no verdict")
    if rewards.partial:
        notes.append(f"{rewards.partial} rewards are neither 0 nor 1; a pass is a reward of at least {threshold:g}")
    if duplicates:
        notes.append(
            f"{duplicates} duplicate (task, trial){'s' * (duplicates != 1)}: a rollout is counted more than once, "
            "so these are not independent repeats; drop the copies"
        )
    for name, what in (("policy_version", "policies"), ("judge_version", "judge versions")):
        if len(config.get(name, [])) > 1:
            notes.append(f"the rows mix {len(config[name])} {what}: the numbers describe none of them")
    return notes


def notes_on_groups(everything: Tally, measured: Tally, groups: Tally, k: int | None, asked: bool) -> list[str]:
    """Notes on tasks without enough scored rollouts, where every rollout was to be run."""
    if not measured.keys:
        return []
    notes = []
    absent = len(everything.keys) - len(measured.keys)
    if absent:
        notes.append(f"{absent} of {len(everything.keys)} tasks have no scored rollout")
    if k is None:
        notes.append("no task has two scored rollouts: pass^k and pass@k need repeats")
    elif not groups.keys:
        notes.append(f"no task has {k} scored rollouts: pass^{k} and pass@{k} are not given")
    elif not asked and k < MIN_K:
        notes.append(_SMALL_K.format(k=k))
    if k is not None and groups.keys and len(groups.keys) < len(everything.keys):
        left_out = len(everything.keys) - len(groups.keys)
        notes.append(
            f"{left_out} of {len(everything.keys)} tasks have fewer than {k} scored rollouts and are left out at k={k}"
        )
    return notes + notes_on_intervals(measured.c / measured.n, None if k is None else len(groups.keys))


def notes_on_intervals(rates: FloatArray, repeated: int | None) -> list[str]:
    """Notes on intervals that are missing, by the tasks' pass rates and how many have k repeats."""
    notes = []
    count = rates.size
    if count < MIN_GROUPS:
        notes.append(f"{count} task{'s' * (count != 1)}: no interval, it takes at least {MIN_GROUPS}")
    elif repeated is not None and repeated < MIN_GROUPS:
        notes.append(f"{repeated} group(s): no interval on pass^k and pass@k, it takes at least {MIN_GROUPS}")
    return notes


def notes_on_stops(weighing: Weighing, k: int | None, used: int, asked: bool) -> list[str]:
    """Notes on groups that were stopped early, cut or lost, and on how the numbers take that into account."""
    groups = weighing.groups
    known_rates = weighing.rates[~np.isnan(weighing.rates)]
    if not known_rates.size:
        return []
    notes: list[str] = []
    counts = groups.counts()
    absent = int(np.count_nonzero(np.isnan(weighing.rates)))
    if absent:
        notes.append(f"{absent} of {weighing.n_tasks} tasks have no scored rollout that says how good the agent is")
    if weighing.estimator != "closed_form":
        known = "that of the probes" if weighing.probes_known else "of the same fit, and per_task is not corrected"
        notes.append(
            f"{counts['stopped']} of {groups.kind.size} groups were stopped early: pass@1 is {known}; "
            f"{_HOW[weighing.estimator]}"
        )
    short = [f"{counts[name]} {why}" for name, why in _WHY_SHORT.items() if counts[name]]
    if short:
        notes.append(f"groups short of their size: {', '.join(short)}; {_SHORT.get(weighing.estimator, _STAND_IN)}")
    if k is None:
        notes.append("no group was to have two rollouts: pass^k and pass@k need repeats")
    elif not asked and k < MIN_K:
        notes.append(_SMALL_K.format(k=k))
    elif used < weighing.n_tasks:
        notes.append(
            f"{weighing.n_tasks - used} of {weighing.n_tasks} tasks are left out of pass^{k} and pass@{k}: "
            f"fewer than {k} rollouts were planned or came back, or the probe has rollouts without a verdict"
        )
    carried = groups.total(groups.decided & (groups.inclusion < 1.0) & ~groups.stopped)
    if weighing.estimator in ("order_weighted", "inverse_probability") and carried < _FEW_CARRIED:
        notes.append(
            f"{carried} unanimous group(s) were carried on to k: what stopped groups would have done is known from "
            "few rollouts, so the intervals of pass^k and pass@k are wide and may still be too narrow"
        )
    return notes + notes_on_intervals(known_rates, None if k is None else used)
