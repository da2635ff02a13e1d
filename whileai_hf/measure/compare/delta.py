"""`delta_report`: what training changed, on the metric it was meant to move and on all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.changes import DeltaReport, MetricDelta
from whileai_hf.measure.compare.floor import NO_FLOOR, Floor, RunStd, check_run_std, floor_of
from whileai_hf.measure.compare.groups import By, labels, means_by_label, units_of
from whileai_hf.measure.compare.noise import per_run
from whileai_hf.measure.compare.notes import (
    LOW_SHARE,
    duplicates,
    notes_on_pairs,
    notes_on_side,
    settings,
    unlike_settings,
)
from whileai_hf.measure.compare.pairing import Contrast, Pairs, contrast, level, pair
from whileai_hf.measure.metrics import PASS_AT_1, REWARD, Measured, find_metric
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats.multiplicity import benjamini_hochberg


_SIDES = ("before", "after")
_LEVEL = 0.05
# A before this good, or this few tasks below 1, leaves little that could rise.
_CEILING, _ROOM = 0.9, 20
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
            The metric training pushed on, where it is not the target: that it rose alone is over-optimisation.
        run_std (`float` or `dict[str, float]` or `EvalVariance`, *optional*):
            Standard deviation between runs of one eval, of all metrics or by metric. Left out, it is computed from
            rows that hold several evaluations (`lineage.eval_run`, see `simulate(runs=3)`).
        seed (`int`, *optional*, defaults to `0`):
            Seed of resampling and of drawn sign patterns.

    Returns:
        [`DeltaReport`]: `print` it for one line per metric.

    Raises:
        [`ConfigurationError`]: A metric or group that either side lacks; the message names the nearest.

    Examples:
    ```python
    >>> before = [{"task_id": task, "reward": int(task % 3 == 0)} for task in range(30)]
    >>> after = [{"task_id": task, "reward": int(task % 3 < 2)} for task in range(30)]
    >>> report = delta_report(before, after)
    >>> report.verdict, report.headline
    ('moved_unreplicated', 'INCONCLUSIVE')

    ```
    """
    guards = [must_not_regress] if isinstance(must_not_regress, str) else list(must_not_regress)
    check_run_std(run_std)
    asked = [name for name in (target, proxy, *guards) if isinstance(name, str)]
    extra = [*asked, "markers", "scenario_dimensions", *([by] if isinstance(by, str) else [])]
    sides = Measured(before, extra), Measured(after, extra)
    roles = _roles(sides, target, guards, proxy)
    pairs = {name: pair(*(side.means(name) for side in sides)) for name in roles}
    tests = {name: contrast(of, level(of, name, sides), seed=seed) for name, of in pairs.items()}
    floors = {name: floor_of(name, *sides, run_std) for name in roles}
    main = next(iter(roles))
    adjusted = _adjust(tests, main)
    metrics = {
        name: _metric(name, role, pairs[name], tests[name], adjusted[name], floors[name])
        for name, role in roles.items()
    }
    groups, group_notes = _groups(sides, main, by, seed)
    return _report(sides, metrics, groups, pairs[main], tests[main], floors[main], group_notes)


def _roles(sides: tuple[Measured, Measured], target: str, guards: list[str], proxy: str | None) -> dict[str, str]:
    """Every metric compared, the target first, with its role."""
    shared = [name for name in sides[0].names if name in sides[1].names]
    finders = [side.find for side in sides]

    def known() -> list[str]:
        return shared

    roles = {find_metric(target, finders, known, "target"): "target"}
    for guard in guards:
        roles.setdefault(find_metric(guard, finders, known, "must_not_regress"), "guard")
    if proxy is not None:
        name = find_metric(proxy, finders, known, "proxy")
        if roles.get(name) == "target":
            raise ConfigurationError(
                f"proxy={proxy!r} is the target itself; name the metric training pushed on, or leave it out"
            )
        roles.setdefault(name, "proxy")
    for name in shared:
        if name != REWARD:  # the reward behind pass_at_1 would be one and the same finding twice
            roles.setdefault(name, "other")
    return roles


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
    sides: tuple[Measured, Measured], target: str, by: By | None, seed: int
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
    tests = {name: contrast(of, level(of, target, sides, units), seed=seed) for name, of in shared.items()}
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


def _over_optimization(target: MetricDelta, proxy: MetricDelta | None) -> str | None:
    if proxy is None or proxy.p_value is None or target.p_value is None:
        return None
    if not proxy.up:
        return "proxy_not_up"
    apart = proxy.ci95 is not None and target.ci95 is not None and proxy.ci95[0] > target.ci95[1]
    return "over_optimized" if not target.up or apart else "in_step"


def _correction(metrics: dict[str, MetricDelta], groups: dict[str, MetricDelta]) -> str:
    others = sum(change.role != "target" and change.p_value is not None for change in metrics.values())
    parts = [f"the target is tested at {_LEVEL:.0%}"]
    if others:
        parts.append(f"the other {others} metric(s) are corrected together by Benjamini-Hochberg at {_LEVEL:.0%}")
    if groups:
        parts.append(f"and so are the {len(groups)} group(s)")
    return "; ".join(parts)


def _report(
    sides: tuple[Measured, Measured],
    metrics: dict[str, MetricDelta],
    groups: dict[str, MetricDelta],
    of: Pairs,
    test: Contrast,
    floor: Floor,
    notes: list[str],
) -> DeltaReport:
    main = next(iter(metrics))
    target = metrics[main]
    proxy = next((change for change in metrics.values() if change.role == "proxy"), None)
    over = _over_optimization(target, proxy)
    fell = {name: change for name, change in metrics.items() if change.down and not change.within_noise}
    regressed = [name for name, change in fell.items() if change.role == "guard"]
    dropped = [name for name, change in fell.items() if change.role in ("proxy", "other")]
    down = [name for name, change in groups.items() if change.down]
    config = {name: settings(side) for name, side in zip(_SIDES, sides, strict=True)}
    ceiling = _ceiling(main, of, test)
    failed = bool(regressed) or target.verdict == "moved_the_wrong_way" or over == "over_optimized"
    report = DeltaReport(
        target=main,
        verdict=target.verdict,
        headline="FAIL" if failed else "PASS" if target.verdict == "moved" else "INCONCLUSIVE",
        delta=target.delta,
        ci95=target.ci95,
        metrics=metrics,
        regressed=regressed,
        dropped=dropped,
        groups=groups,
        groups_down=down,
        ceiling=ceiling,
        proxy=None if proxy is None else proxy.metric,
        over_optimization=over,
        run_std=floor.run_std,
        run_std_source=floor.source,
        noise_band=floor.band,
        n_runs={name: len(per_run(side, main).names) for name, side in zip(_SIDES, sides, strict=True)},
        n_paired=len(of.keys),
        paired_share=of.share,
        correction=_correction(metrics, groups),
        config=config,
        warnings=[],
        notes=[*notes_on_pairs(of, test, _SIDES), *_side_notes(sides, main), *notes],
    )
    warnings = [*_warnings(report), *unlike_settings(config["before"], config["after"], _SIDES)]
    return dataclasses.replace(report, warnings=warnings)


def _side_notes(sides: tuple[Measured, Measured], main: str) -> list[str]:
    return [
        note
        for name, side in zip(_SIDES, sides, strict=True)
        for note in notes_on_side(side, name, main, duplicates(side))
    ]


def _warnings(report: DeltaReport) -> list[Any]:
    """What speaks against the headline, the gravest first."""
    found: list[str] = []
    guarded = [change for change in report.metrics.values() if change.role == "guard"]
    for name in report.regressed:
        found.append(f"{name} must not regress and fell by {abs(report.metrics[name].delta or 0.0):.3f}")
    if report.over_optimization == "over_optimized":
        found.append(f"{report.proxy} rose and {report.target} did not keep up: the proxy is being over-optimised")
    found += [f"{name} fell by {abs(report.metrics[name].delta or 0.0):.3f}" for name in report.dropped]
    found += [
        f"{change.metric} fell by its own interval, though not after correction for {len(report.metrics) - 1} metrics"
        for change in guarded
        if not change.down and not change.within_noise and change.ci95 is not None and change.ci95[1] < 0.0
    ]
    found += [
        f"{change.metric} must not regress and could not be tested: {change.n_paired} shared task(s) have it"
        for change in guarded
        if change.p_value is None
    ]
    if report.groups_down:
        found.append(f"{report.target} fell within {', '.join(report.groups_down)}")
    if report.verdict == "moved_unreplicated":
        found.append(
            "one evaluation a side: re-running the eval alone may move it as far; simulate(tasks=..., runs=3) on both "
            "sides, or run_std=, settles it"
        )
    if report.ceiling:
        found.append(
            f"{report.target} was near its ceiling before: there is little improvement this eval could show; use "
            "harder situations"
        )
    if report.paired_share is not None and report.paired_share < LOW_SHARE:
        found.append(f"only {report.paired_share:.0%} of the tasks are on both sides: run both on the same tasks")
    return found
