"""From rewards to a table, and from the table to what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from whileai_hf.score.checking.advice import ACTING, BLIND, EXPLOITABLE, LENIENT, PARTLY, STRICT, STRICT_FORM
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.levels import Level, Rewards
from whileai_hf.score.checking.probes import PROBES, Probe
from whileai_hf.score.checking.report import ERROR, INFO, WARNING, Cell, Finding
from whileai_hf.stats import wilson


# Lower end of the interval from which a paid probe is no accident of one task.
_SURE = 0.10
_WRONG = ("wrong answer", "wrong, well formed")
# Paid by whatever checks no answer.
_FOLLOWING = frozenset({*_WRONG, "shotgun", "shotgun, well formed", "negation", "contradiction"})
_ACTS = frozenset({"claim without acting", "empty arguments", "unread write", "duplicate write", "right run"})
# The right answer as such, in the order in which one of them has to be paid.
_FORMS = tuple(probe.name for probe in PROBES if probe.right and probe.name != "right run")

Shown = Mapping[str, Sequence[Attempt | None]]
"""Per way of replying, the replies."""


class Judged(NamedTuple):
    """What one reward gave, and how to look at it."""

    name: str
    rewards: Rewards
    level: Level
    whole: bool
    """Whether it is all a policy is trained on, or one part of it."""
    own: bool
    """Whether the right answers are the caller's, or those of generic asks that it need not know."""


def cells_of(judged: Judged, shown: Shown) -> list[Cell]:
    """The column of one reward."""
    cells = []
    for probe in PROBES:
        replies = shown.get(probe.name, ())
        tried = [
            reward
            for reward, attempt in zip(judged.rewards.get(probe.name, ()), replies, strict=True)
            if attempt is not None
        ]
        if not tried:
            continue
        known = [reward for reward in tried if reward is not None]
        paid = sum(map(judged.level.paid, known))
        cells.append(
            Cell(
                probe=probe.name,
                right=probe.right,
                function=judged.name,
                paid=paid,
                n=len(known),
                unjudged=len(tried) - len(known),
                rate=paid / len(known) if known else None,
                ci95=wilson(paid, len(known)),
                mean_reward=sum(known) / len(known) if known else None,
            )
        )
    return cells


def findings_of(judged: Judged, cells: Sequence[Cell], shown: Shown) -> Iterator[Finding]:
    """What the column of one reward says."""
    by_name = {cell.probe: cell for cell in cells}
    blind = _is_blind(judged)
    for probe in PROBES:
        cell = by_name.get(probe.name)
        if cell is None or not cell.n:
            continue
        if probe.right:
            if cell.paid < cell.n:
                yield from _unpaid(judged, probe, cell, by_name, shown)
        elif cell.paid and not (blind and probe.name in _FOLLOWING):
            yield _paid(judged, probe, cell, shown)
    if blind:
        severity = INFO if not judged.whole else ERROR if judged.own else WARNING
        says = "a wrong answer earns as much as the right one"
        yield Finding(judged.name, "blind", "wrong answer", severity, says, BLIND)


def _is_blind(judged: Judged) -> bool:
    """Whether the wrong answer always earns what the right one does, each in the form that pays best."""
    right, wrong = _best(judged, _FORMS), _best(judged, _WRONG)
    pairs = [(a, b) for a, b in zip(right, wrong, strict=False) if a is not None and b is not None]
    paid = any(judged.level.paid(a) for a, _ in pairs)
    return paid and all(a <= b + 1e-6 * max(1.0, abs(a)) for a, b in pairs)


def _best(judged: Judged, probes: Iterable[str]) -> list[float | None]:
    """The most that any of some replies earned, per task."""
    columns = [judged.rewards[name] for name in probes if name in judged.rewards]
    return [
        max((reward for reward in task if reward is not None), default=None) for task in zip(*columns, strict=True)
    ]


def _paid(judged: Judged, probe: Probe, cell: Cell, shown: Shown) -> Finding:
    sure = cell.ci95 is not None and cell.ci95[0] >= _SURE
    severity = ERROR if judged.whole and sure and (probe.free or probe.name == "duplicate write") else WARNING
    kind = "exploitable" if probe.free or probe.name in _ACTS else "lenient"
    advice = ACTING if probe.name in _ACTS else EXPLOITABLE if judged.whole else PARTLY
    advice = LENIENT if kind == "lenient" else advice
    example = _example(judged, probe, shown, True)
    return Finding(judged.name, kind, probe.name, severity, probe.shows, advice, cell.rate, cell.n, cell.ci95, example)


def _unpaid(judged: Judged, probe: Probe, cell: Cell, by_name: Mapping[str, Cell], shown: Shown) -> Iterator[Finding]:
    tried = [by_name[name] for name in _FORMS if name in by_name and by_name[name].n]
    severity, says, advice = INFO, "right answers in some forms are not paid", STRICT_FORM
    if probe.name == "right run":
        severity, says, advice = ERROR if judged.whole and not cell.paid else WARNING, probe.shows, STRICT
    elif not any(form.paid for form in tried):
        if probe.name != tried[0].probe:  # said once
            return
        severity, says, advice = ERROR if judged.whole else WARNING, "no form of the right answer is paid", STRICT
    unpaid = cell.n - cell.paid
    yield Finding(
        judged.name, "strict", probe.name, severity, says, advice, unpaid / cell.n, cell.n, wilson(unpaid, cell.n),
        _example(judged, probe, shown, False),
    )  # fmt: skip


def _example(judged: Judged, probe: Probe, shown: Shown, paid: bool) -> str | None:
    for reward, attempt in zip(judged.rewards[probe.name], shown[probe.name], strict=True):
        if reward is not None and attempt is not None and judged.level.paid(reward) == paid:
            return attempt.excerpt()
    return None
