"""`delta_report`: what training changed, on the metric it was meant to move and on all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from whileai_hf.measure.compare.arguments import check_whole
from whileai_hf.measure.compare.changes import DeltaReport, MetricDelta
from whileai_hf.measure.compare.floor import NO_FLOOR, Floor, RunStd, floor_of, read_run_std
from whileai_hf.measure.compare.groups import By, labels, means_by_label, units_of
from whileai_hf.measure.compare.noise import per_run
from whileai_hf.measure.compare.notes import (
    duplicates,
    notes_on_markers,
    notes_on_pairs,
    notes_on_side,
    settings,
    unlike_settings,
)
from whileai_hf.measure.compare.pairing import Contrast, Pairs, contrast, level, pair
from whileai_hf.measure.compare.proxies import over_optimization
from whileai_hf.measure.compare.roles import guard_names, roles_of
from whileai_hf.measure.compare.warned import warnings_on
from whileai_hf.measure.metrics import PASS_AT_1, REWARD, Measured
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats.multiplicity import benjamini_hochberg


_SIDES = ("before", "after")
_LEVEL = 0.05
# A before this good, or this few tasks below 1, leaves little that could rise.
_CEILING, _ROOM = 0.9, 20
# Metrics a note names.
_NAMED = 5
# Groups compared; more are as many tests and as many lines.
_MOST_GROUPS = 100


def delta_report(
    before: Source | RowView,
    after: Source | RowView,
    *,
    target: str = PASS_AT_1,
    must_not_regress: Sequence[str] = (),
    by: By | None = None,
    proxy: str | None = None,
    run_std: RunStd | None = None,
    seed: int = 0,
) -> DeltaReport:
    """
    What training changed: the target, what must not fall, and every marker both sides have.

    The target's verdict is one of

    - `moved`: it rose, by the interval of the sign-flip test and by more than re-running the eval does;
    - `moved_unreplicated`: it rose by the interval, but nothing says how far the eval moves by itself;
    - `within_eval_noise`: the change is no larger than what re-running the eval does, so not a win;
    - `no_change_detected`: the interval covers zero;
    - `moved_the_wrong_way`: it fell;
    - `insufficient_data`: fewer than six shared tasks.

    The target is one question, asked at 5%. The other metrics are many, so their p-values are corrected together
    (Benjamini-Hochberg), and so are those of groups. Every metric reads "1 is good": a drop is a regression.

    Args:
        before (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows from before training.
        after (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows from afterwards, on the same tasks.
        target (`str`, *optional*, defaults to `"pass_at_1"`):
            The metric training was meant to move.
        must_not_regress (`Sequence[str]`, *optional*):
            Metrics whose fall fails the report. The fall of any other is a warning.
        by (`str` or `Callable`, *optional*):
            A column, marker or scenario dimension, or a function of a row: the target is also compared within each
            group.
        proxy (`str`, *optional*):
            The metric training pushed on, where it is not the target: that it rose alone is over-optimisation. It
            takes evidence: the proxy rose by more than re-running does, and the target fell, or it lies within 0 to
            1, had room, and its interval rules out a rise of 0.1. The two are never compared with each other.
        run_std (`float` or `dict[str, float]` or `EvalVariance`, *optional*):
            Standard deviation between runs of one eval, of all metrics or by metric. Left out, it is computed from
            rows that hold several evaluations (`lineage.eval_run`, see `simulate(runs=3)`). A spread of exactly 0 is
            no estimate and counts only where it is given as a number, as for a deterministic agent.
        seed (`int`, *optional*, defaults to `0`):
            Seed of resampling and of drawn sign patterns.

    Returns:
        [`DeltaReport`]: `print` it for one line per metric.

    Raises:
        [`ConfigurationError`]: A metric or group that either side lacks (the message names the nearest), or an
            argument of another kind.

    Examples:
    ```python
    >>> before = [{"task_id": task, "reward": int(task % 3 == 0)} for task in range(30)]
    >>> after = [{"task_id": task, "reward": int(task % 3 < 2)} for task in range(30)]
    >>> report = delta_report(before, after)
    >>> report.verdict, report.headline
    ('moved_unreplicated', 'INCONCLUSIVE')

    ```
    """
    check_whole("seed", seed, 0)
    guards = guard_names(must_not_regress)
    asked = [name for name in (target, proxy, *guards) if isinstance(name, str)]
    extra = [*asked, "markers", "scenario_dimensions", *([by] if isinstance(by, str) else [])]
    sides = Measured(before, extra), Measured(after, extra)
    roles, pushed = roles_of(sides, target, guards, proxy)
    spreads = read_run_std(run_std, sides)
    pairs = {name: pair(*(side.means(name) for side in sides)) for name in roles}
    bounded = {name: all(side.is_share(name) for side in sides) for name in roles}
    tests = {
        name: contrast(of, level(of, name, sides), bounded=bounded[name], seed=seed) for name, of in pairs.items()
    }
    floors = {name: floor_of(name, *sides, spreads) for name in roles}
    main = next(iter(roles))
    adjusted = _adjust(tests, main)
    metrics = {
        name: _metric(name, role, pairs[name], tests[name], adjusted[name], floors[name])
        for name, role in roles.items()
    }
    groups, group_notes = _groups(sides, main, by, bounded[main], seed)
    found = _Found(sides, main, pushed, metrics, groups, pairs[main], tests, floors[main], bounded[main])
    return _report(found, [*group_notes, *_few_elsewhere(tests, main)])


@dataclasses.dataclass(frozen=True)
class _Found:
    """What a report is written from: everything of the target, and what is told of the other metrics."""

    sides: tuple[Measured, Measured]
    main: str
    pushed: str | None
    metrics: dict[str, MetricDelta]
    groups: dict[str, MetricDelta]
    pairs: Pairs
    tests: dict[str, Contrast]
    floor: Floor
    bounded: bool


def _adjust(tests: dict[str, Contrast], target: str) -> dict[str, float | None]:
    """p-values after correction: those of all metrics but the target together."""
    rest = [name for name in tests if name != target]
    found = benjamini_hochberg([np.nan if (p := tests[name].p_value) is None else p for name in rest])
    adjusted: dict[str, float | None] = {target: tests[target].p_value} if target in tests else {}
    return adjusted | {name: None if np.isnan(p) else float(p) for name, p in zip(rest, found, strict=True)}


def _metric(name: str, role: str, of: Pairs, test: Contrast, adjusted: float | None, floor: Floor) -> MetricDelta:
    change = MetricDelta(
        metric=name,
        role=role,
        verdict="",
        before=test.mean_a,
        after=test.mean_b,
        delta=test.delta,
        ci95=test.ci95,
        p_value=test.p_value,
        p_adjusted=adjusted,
        bootstrap_ci95=test.bootstrap_ci95,
        n_paired=len(of.keys),
        run_std=floor.run_std,
        noise_band=floor.band,
        within_noise=None if floor.band is None else floor.covers(test.delta),
    )
    return dataclasses.replace(change, verdict=_word(change, test))


def _word(change: MetricDelta, test: Contrast) -> str:
    if not test.tests:
        return "insufficient_data"
    if change.within_noise:
        return "within_eval_noise"
    if not (test.differs and (change.up or change.down)):
        return "no_change_detected"
    if change.down:
        return "moved_the_wrong_way"
    return "moved_unreplicated" if change.noise_band is None else "moved"


def _groups(
    sides: tuple[Measured, Measured], target: str, by: By | None, bounded: bool, seed: int
) -> tuple[dict[str, MetricDelta], list[str]]:
    if by is None:
        return {}, []
    of_rows = [labels(side, by) for side in sides]
    units = units_of(sides[0], of_rows[0]), units_of(sides[1], of_rows[1])
    first, second = (means_by_label(side, target, *of) for side, *of in zip(sides, of_rows, units, strict=True))
    shared = {name: pair(first[name], second[name]) for name in first if name in second}
    notes = []
    if absent := [name for name in (first.keys() | second.keys()) if name not in shared]:
        notes.append(
            f"{len(absent)} group(s) are on one side only and are not compared: {', '.join(sorted(absent)[:5])}"
        )
    if len(shared) > _MOST_GROUPS:
        largest = sorted(shared, key=lambda name: -len(shared[name].keys))[:_MOST_GROUPS]
        notes.append(f"{len(shared)} groups: only the {_MOST_GROUPS} with the most tasks are compared")
        shared = {name: shared[name] for name in largest}
    tests = {
        name: contrast(of, level(of, target, sides, units), bounded=bounded, seed=seed) for name, of in shared.items()
    }
    adjusted = _adjust(tests, "")
    return {
        name: _metric(target, "target", shared[name], tests[name], adjusted[name], NO_FLOOR) for name in sorted(shared)
    }, notes


def _ceiling(target: str, of: Pairs, test: Contrast) -> bool | None:
    means = of.shared_a if of.enough else of.a.means
    if not means.size or target == REWARD or float(means.min()) < 0.0 or float(means.max()) > 1.0:
        return None
    room = int(np.count_nonzero(means < 1.0))
    return (test.mean_a or 0.0) >= _CEILING or (room < _ROOM and room < means.size / 2)


def _correction(metrics: dict[str, MetricDelta], groups: dict[str, MetricDelta]) -> str:
    others = sum(change.role != "target" and change.p_value is not None for change in metrics.values())
    parts = [f"the target is tested at {_LEVEL:.0%}"]
    if others:
        parts.append(f"the other {others} metric(s) are corrected together by Benjamini-Hochberg at {_LEVEL:.0%}")
    if groups:
        parts.append(f"and so are the {len(groups)} group(s)")
    return "; ".join(parts)


def _report(found: _Found, notes: list[str]) -> DeltaReport:
    sides, main, metrics, groups, of = found.sides, found.main, found.metrics, found.groups, found.pairs
    target, test = metrics[main], found.tests[main]
    ceiling = _ceiling(main, of, test)
    pushed = None if found.pushed is None else metrics[found.pushed]
    over, undetermined = over_optimization(target, pushed, share=found.bounded, ceiling=ceiling)
    fell = {name: change for name, change in metrics.items() if change.down and not change.within_noise}
    regressed = [name for name, change in fell.items() if change.role == "guard"]
    config = {name: settings(side) for name, side in zip(_SIDES, sides, strict=True)}
    failed = bool(regressed) or target.verdict == "moved_the_wrong_way" or over == "over_optimized"
    report = DeltaReport(
        target=main,
        verdict=target.verdict,
        headline="FAIL" if failed else "PASS" if target.verdict == "moved" else "INCONCLUSIVE",
        delta=target.delta,
        ci95=target.ci95,
        metrics=metrics,
        regressed=regressed,
        dropped=[name for name, change in fell.items() if change.role in ("proxy", "other")],
        groups=groups,
        groups_down=[name for name, change in groups.items() if change.down],
        ceiling=ceiling,
        proxy=found.pushed,
        over_optimization=over,
        run_std=found.floor.run_std,
        run_std_source=found.floor.source,
        noise_band=found.floor.band,
        n_runs={name: len(per_run(side, main).names) for name, side in zip(_SIDES, sides, strict=True)},
        n_paired=len(of.keys),
        paired_share=of.share,
        correction=_correction(metrics, groups),
        config=config,
        warnings=[],
        notes=[*notes_on_pairs(of, test, _SIDES, main), *_side_notes(sides, main), *notes],
    )
    warnings = warnings_on(report, undetermined, found.floor.why)
    return dataclasses.replace(
        report, warnings=[*warnings, *unlike_settings(config["before"], config["after"], _SIDES)]
    )


def _few_elsewhere(tests: dict[str, Contrast], main: str) -> list[str]:
    """A note on other metrics in which few tasks differ."""
    notes = []
    for bounded, what in (
        (True, "their intervals are widened by exact binomial bounds"),
        (False, "their ranges are unknown, so their intervals may be far too narrow"),
    ):
        few = [name for name, test in tests.items() if name != main and any(x.bounded == bounded for x in test.scarce)]
        if few:
            rest = f" and {len(few) - _NAMED} more" if len(few) > _NAMED else ""
            notes.append(f"few tasks differ in {', '.join(few[:_NAMED])}{rest}: {what}")
    return notes


def _side_notes(sides: tuple[Measured, Measured], main: str) -> list[str]:
    notes = []
    for name, side in zip(_SIDES, sides, strict=True):
        notes += notes_on_side(side, name, main, duplicates(side))
        others = [one for one in side.markers if one != side.marker_of(main)]
        notes += [f"{name}: {note}" for note in notes_on_markers(side, others)]
        if untagged := per_run(side, main).n_untagged:
            notes.append(f"{name}: {untagged} row(s) say no eval_run although others do; they belong to no evaluation")
    return notes
