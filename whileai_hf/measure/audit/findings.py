"""From numbers to findings: what is wrong, how much it matters, and what to do about it."""

from __future__ import annotations

from whileai_hf.measure.audit.report import LEVELS, Finding, LengthEffect, Level, RewardFunction, TaskNeed
from whileai_hf.measure.hacks import HackFeature, HackScan
from whileai_hf.measure.hacks.letters import COUNTED
from whileai_hf.measure.hygiene import Contamination, NearDuplicates
from whileai_hf.measure.passes import GroupSignal


# Share of groups with equal rewards from which most of the rollouts, or many, were in vain.
DEAD, MANY_DEAD = 0.5, 0.25
# Share of tasks inside the band under which few are worth their rollouts.
FEW_INSIDE = 0.4
# Correlation within groups from which a reward is little else than the feature, and from which a reader should know.
SHORTCUT, NOTABLE = 0.8, 0.4
# Share of tasks with a near copy from which results mislead, and from which a reader should know.
COPIES, SOME_COPIES = 0.2, 0.02
# Share of tasks an evaluation holds from which it measures memory.
LEAKED = 0.01
# Share of rollouts without a reward.
UNJUDGED, SOME_UNJUDGED = 0.5, 0.05
# Distinct rollouts of a group in its size under which they are too alike.
ALIKE = 0.5
# Part of the signal under which a reward function works against the others.
AGAINST = -0.1
# Features that anybody can produce without doing the task.
_SURFACE = {"reply_length", "words", *COUNTED}


def ranked(findings: list[Finding]) -> list[Finding]:
    """Problems first; within a level, what concerns most of the data first."""
    return sorted(findings, key=lambda one: (LEVELS.index(one.level), -(one.share or 0.0)))


def nothing_to_grade(numbers: list[str]) -> Finding:
    """Rows without any reward. `numbers` are columns of numbers that may be one."""
    could = f" ({', '.join(numbers[:6])} hold numbers)" if numbers else ""
    do = (
        'Name the columns, reward_weights={"<column>": 1.0}, or grade the rows first: wai.grade(data, judge=...)'
        if numbers
        else "Grade the rows first: wai.grade(data, judge=...)"
    )
    return Finding(
        "nothing_to_grade", "problem", 1.0, f"There is nothing to audit a reward by: no row has one{could}", do, []
    )


def of_groups(signal: GroupSignal, dead: float | None, threshold: float | None) -> list[Finding]:
    """Groups that teach nothing."""
    compared = signal.mixed + signal.all_pass + signal.all_fail
    if dead is None:
        what = f"None of the {signal.n_groups:,} groups has two rollouts with a reward, so there is nothing to compare"
        return [Finding("no_groups", "problem", 1.0, what, "Repeat every prompt, 4 to 8 times", [])]
    if dead < MANY_DEAD:
        return []
    flat = signal.all_pass + signal.all_fail
    split = "" if threshold is None else f": {signal.all_pass:,} pass throughout, {signal.all_fail:,} fail throughout"
    harder = "harder tasks" if signal.all_pass >= signal.all_fail else "easier tasks, or hints"
    do = f"Select tasks at a pass rate of 20-80% (wai.optimize), take {harder}, or more rollouts of each"
    what = f"{flat:,} of {compared:,} groups ({dead:.0%}) have exactly equal rewards and teach nothing{split}"
    return [Finding("dead_groups", "problem" if dead >= DEAD else "warning", dead, what, do, [])]


def of_rows(n_rows: int, n_unjudged: int) -> list[Finding]:
    """Rollouts without a reward."""
    share = n_unjudged / n_rows
    if not SOME_UNJUDGED < share < 1.0:
        return []
    level: Level = "problem" if share >= UNJUDGED else "warning"
    what = f"{n_unjudged:,} of {n_rows:,} rollouts ({share:.0%}) have no reward and are left out of everything here"
    return [
        Finding(
            "unjudged",
            level,
            share,
            what,
            "Look at what they have in common: failures that are not counted flatter",
            [],
        )
    ]


def of_band(band: dict[str, int] | None) -> list[Finding]:
    """Tasks too easy or too hard to learn from."""
    if band is None:
        return []
    count = sum(band.values())
    inside = band["inside"] / count
    if inside >= FEW_INSIDE:
        return []
    what = (
        f"{band['inside']:,} of {count:,} tasks ({inside:.0%}) have a pass rate of 20-80%; {band['below']:,} are "
        f"under, {band['above']:,} over"
    )
    where = "easier ones, or from a stronger model" if band["below"] > band["above"] else "harder ones"
    do = f"Draw more tasks near the middle and fewer outside it: {where}"
    return [Finding("band", "warning", 1.0 - inside, what, do, [])]


def _surface(feature: HackFeature) -> bool:
    parts = feature.name.split(" & ")
    return all(part.startswith("says:") or part in _SURFACE for part in parts)


def of_hacks(scan: HackScan, k: float) -> list[Finding]:
    """What a policy would learn instead of the task. `k` is the size of a group."""
    found = []
    top = next((feature for feature in scan.features if feature.above_floor), None)
    others = [str(feature) for feature in scan.features[1:3] if feature.above_floor]
    if scan.endorsed_unmatched:
        names = ", ".join(scan.endorsed_unmatched[:4])
        do = "Check the spelling; names are like tool:<name>, marker:<name>, says:<word>"
        found.append(
            Finding("endorsed_unknown", "warning", None, f"No feature of these rows is called {names}", do, [])
        )
    if scan.distinct_per_ask is not None and k >= 3 and scan.distinct_per_ask < ALIKE * k:
        what = (
            f"Half of the groups have no more than {scan.distinct_per_ask:g} distinct rollouts of {k:g}: the policy "
            "says the same again"
        )
        found.append(Finding("alike", "warning", None, what, "Sample at a higher temperature", []))
    if top is not None and not scan.degenerate:
        found += _shortcut(scan, top, others)
    return found


def _shortcut(scan: HackScan, top: HackFeature, others: list[str]) -> list[Finding]:
    strength = abs(top.rho)
    more = "more" if top.rho > 0 else "less"
    told = f"{top.name} (correlation {top.rho:+.2f} within groups, noise floor {scan.tau:.2f})"
    if scan.regime == "reward_hack":
        what = f"The reward goes with {told}, which is not what you endorsed: a policy learns {more} of it"
        if top.endorsed:
            what = f"The reward punishes {told}, which you endorsed: a policy learns to avoid it"
        level: Level = "problem" if strength >= NOTABLE else "warning"
        return [
            Finding("shortcut", level, strength, what, "Read ten rollouts it decides, and mend the reward", others)
        ]
    if scan.endorsed or strength < NOTABLE or not _surface(top):
        return []
    if strength >= SHORTCUT:
        what = f"The reward is little else than {told}, which takes no work: a policy learns {more} of it"
        do = "Mend the reward; if this is what it is for, say so with endorsed=[...]"
        return [Finding("shortcut", "problem", strength, what, do, others)]
    do = "Read ten rollouts it decides; name what the reward is for with endorsed=[...] to have it judged"
    return [Finding("shortcut", "warning", strength, f"The reward goes with {told}", do, others)]


def of_length(effect: LengthEffect | None, already: list[Finding]) -> list[Finding]:
    """A reward that goes with the length of the reply."""
    if effect is None or effect.rho is None or effect.ci95 is None or abs(effect.rho) < NOTABLE:
        return []
    if effect.ci95[0] <= 0.0 <= effect.ci95[1] or any(" reply_length " in one.what for one in already):
        return []
    kind = "longer" if effect.rho > 0 else "shorter"
    what = (
        f"Within groups the reward goes with {kind} replies (correlation {effect.rho:+.2f} "
        f"[{effect.ci95[0]:+.2f}, {effect.ci95[1]:+.2f}])"
    )
    return [
        Finding("length", "warning", abs(effect.rho), what, "Compare replies of one length before you train on it", [])
    ]


def of_functions(functions: list[RewardFunction], n_scored: int) -> list[Finding]:
    """Reward functions that give nothing, or pull the other way."""
    found = []
    for one in functions if len(functions) > 1 else ():
        if one.weight == 0.0:
            continue
        if one.n < n_scored * (1 - UNJUDGED):
            what = f"Reward function {one.name} gave a number for {one.n:,} of {n_scored:,} rollouts"
            do = "See why it gives none; what it does not judge, the others decide"
            found.append(Finding("reward_function", "warning", 1 - one.n / n_scored, what, do, []))
        elif one.differs == 0.0:
            what = f"Reward function {one.name} never differs within a group (mean {one.mean:.3g}): it teaches nothing"
            do = "Check that it reads what it is meant to read, or take it out"
            found.append(Finding("reward_function", "warning", None, what, do, []))
        elif one.share is not None and one.share < AGAINST:
            what = f"Reward function {one.name} works against the others (its part of the signal is {one.share:.0%})"
            do = "Decide which of them you mean: what one pays for, another takes back"
            found.append(Finding("reward_function", "warning", -one.share, what, do, []))
    return found


def of_copies(near: NearDuplicates | None, n_repeated: int, n_prompts: int) -> list[Finding]:
    """Tasks that are one task under several names."""
    if near is None:
        return []
    share = min(1.0, (near.n_prompts_involved + n_repeated) / max(n_prompts, 1))
    if share < SOME_COPIES:
        return []
    parts = [f"{near.n_prompts_involved:,} prompts say nearly what another says"] if near.n_prompts_involved else []
    parts += [f"{n_repeated:,} repeat another word for word"] if n_repeated else []
    what = f"Of {n_prompts:,} prompts {' and '.join(parts)}: one task counts several times"
    do = "Keep one of each before you split or count tasks (.near_duplicates.clusters; wai.measure.hygiene)"
    pairs = [f"{one['a']!r:.50} ~ {one['b']!r:.50}" for one in near.examples[:2]]
    return [Finding("duplicates", "problem" if share >= COPIES else "warning", share, what, do, pairs)]


def of_overlap(overlap: Contamination | None) -> list[Finding]:
    """Tasks that an evaluation holds, too."""
    if overlap is None or not overlap.n_contaminated:
        return []
    share = overlap.n_contaminated / overlap.n_rows
    what = (
        f"{overlap.n_contaminated:,} of {overlap.n_rows:,} tasks are in the evaluation ({overlap.n_same_task:,} by "
        f"id, {overlap.n_verbatim:,} verbatim, {overlap.n_near:,} near copies): it would measure memory"
    )
    level: Level = "problem" if share >= LEAKED else "warning"
    shown = [f"{one['rule']}: {one['text']!r:.90}" for one in overlap.offenders[:2]]
    return [
        Finding(
            "contamination", level, share, what, "Take them out: wai.measure.hygiene.decontaminate(data, evals)", shown
        )
    ]


def of_power(need: TaskNeed | None, threshold: float | None) -> list[Finding]:
    """Too few tasks to see a change of the size asked for."""
    if need is None or need.tasks_needed is None or need.tasks_needed <= need.n_tasks:
        return []
    points = f"{100 * need.effect:g} points" if threshold is not None else f"{need.effect:.0%} of the reward's range"
    seen = ""
    if need.smallest_effect is not None:
        seen = f"; these {need.n_tasks:,} show no less than {100 * need.smallest_effect:.0f}"
    what = f"To see a change of {points} takes {need.tasks_needed:,} tasks at {need.k} rollouts each{seen}"
    do = "Evaluate on more tasks rather than on more rollouts, and on the same ones before and after"
    return [Finding("too_few_tasks", "advice", None, what, do, [])]


def of_threshold(threshold: float | None) -> list[Finding]:
    """Rewards that do not say what a pass is."""
    if threshold is not None:
        return []
    do = "Pass threshold=, the reward from which a rollout passes, for pass rates and the band"
    return [
        Finding("threshold", "advice", None, "The rewards are no pass or fail, so there are no pass rates", do, [])
    ]
