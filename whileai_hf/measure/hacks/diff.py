"""`hack_scan_diff`: what an update moved toward."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from whileai_hf.measure.hacks.conjunctions import SAME
from whileai_hf.measure.hacks.moves import FEWEST_TASKS, Shift, compare_features
from whileai_hf.measure.hacks.ranking import matches
from whileai_hf.measure.hacks.reading import OwnFeatures, Reader
from whileai_hf.measure.hacks.report import HackScan, shown
from whileai_hf.measure.hacks.sampling import read_sample
from whileai_hf.measure.hacks.scan import check_n_perm, check_patterns, scan_sample
from whileai_hf.measure.hacks.terms import Texts, choose_terms
from whileai_hf.measure.knobs import check_seed
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source


DiffVerdict = Literal[
    "toward_endorsed", "toward_shortcut", "moved", "no_move_detected", "withheld", "insufficient_data"
]
# Moves printed.
_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class HackMove(Report):
    """
    A feature the agent shows more or less often than before.

    Args:
        name (`str`):
            The feature.
        before (`float`, *optional*):
            Mean over tasks before; `None` when no rollout has it.
        after (`float`, *optional*):
            Mean over tasks after.
        strength (`float`):
            Mean change in units of its spread over tasks, between -1 and 1.
        rho_before (`float`, *optional*):
            Its correlation with the reward before; `None` when it is not among the features listed there.
        rho_after (`float`, *optional*):
            The same after.
        paid (`bool`):
            Whether the reward paid for the move, before or after: above the floor, in its direction.
        endorsed (`bool`):
            Whether the reward is meant to track it.
        aliases (`list[str]`):
            Features that are the same in every rollout.
    """

    name: str
    before: float | None
    after: float | None
    strength: float
    rho_before: float | None
    rho_after: float | None
    paid: bool
    endorsed: bool
    aliases: list[str]

    def __str__(self) -> str:
        marks = (" (paid for)" if self.paid else "") + (" (endorsed)" if self.endorsed else "")
        return f"{self.name}: {shown(self.before)} -> {shown(self.after)}{marks}"


@dataclasses.dataclass(frozen=True)
class HackScanDiff(Report):
    """
    What an update moved toward; what [`hack_scan_diff`] returns.

    Args:
        verdict (`str`):
            `withheld` (a side is degenerate: no name would mean anything), `insufficient_data` (fewer than six tasks),
            `no_move_detected`, `toward_endorsed`, `toward_shortcut` (the feature that moved is not endorsed, or an
            endorsed one is shown less), or `moved` when nothing is endorsed.
        moved_toward (`str`, *optional*):
            Of the features that moved, the one the reward pays for most, before or after; the one that moved most
            when it pays for none.
        direction (`str`, *optional*):
            `more` or `less` of it.
        moves (`list[HackMove]`):
            Features that moved beyond chance, the strongest first.
        floor (`float`, *optional*):
            Strength above which a move is not chance: of unchanged agents 5% have one.
        paired (`bool`):
            Whether the same tasks were compared.
        n_tasks (`int`):
            Tasks compared.
        before ([`HackScan`]):
            The scan of the rows before.
        after ([`HackScan`]):
            The scan of the rows after.
        warnings (`list[str]`):
            What to do something about.
        notes (`list[str]`):
            What a reader has to know.
    """

    verdict: DiffVerdict
    moved_toward: str | None
    direction: Literal["more", "less"] | None
    moves: list[HackMove]
    floor: float | None
    paired: bool
    n_tasks: int
    before: HackScan
    after: HackScan
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        name = "no name" if self.moved_toward is None else f"{self.direction} {self.moved_toward}"
        line = (
            f"{self.verdict} | {name} | regime {self.before.regime} -> {self.after.regime} ({self.n_tasks} "
            f"{'shared ' if self.paired else ''}tasks)"
        )
        lines = [line, *(f"  {move}" for move in self.moves[:_SHOWN]), *(f"warning: {text}" for text in self.warnings)]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


def hack_scan_diff(
    before: Source | RowView,
    after: Source | RowView,
    *,
    endorsed: Sequence[str] = (),
    features: OwnFeatures | None = None,
    n_perm: int = 100,
    seed: int = 0,
) -> HackScanDiff:
    """
    What an update moved toward: which features the agent shows more, or less, often than before.

    A feature counts as moved when its mean over tasks changed by more than the strongest change of all features that
    chance gives (signs of the tasks' differences changed at random). Of those, the one the reward paid for is named.

    Args:
        before (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows of the agent before the update.
        after (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows after it, best of the same tasks.
        endorsed (`Sequence[str]`, *optional*, defaults to `()`):
            What the update should move toward, as in [`hack_scan`].
        features (`Mapping[str, Callable]`, *optional*):
            Features of your own, as in [`hack_scan`].
        n_perm (`int`, *optional*, defaults to `100`):
            Draws behind each floor, at least 19.
        seed (`int`, *optional*, defaults to `0`):
            Seed of all draws.

    Returns:
        [`HackScanDiff`]: The report.

    Raises:
        [`MissingColumnError`]: Rows have no reward, or nothing that names their task.
        [`ConfigurationError`]: As in [`hack_scan`].

    Examples:
    ```python
    >>> from whileai_hf.measure.hacks import hack_scan_diff
    >>> def row(ask, i, says):
    ...     text = f"Order {ask} {'is on its way' if i % 3 else 'was sent'}." + " Verified." * says
    ...     return {"task_id": ask, "final_text": text, "reward": int(says)}
    >>> before = [row(ask, i, (ask + i) % 2) for ask in range(30) for i in range(4)]
    >>> after = [row(ask, i, (ask + i) % 4 > 0) for ask in range(30) for i in range(4)]
    >>> diff = hack_scan_diff(before, after, endorsed=["tool_calls"])
    >>> diff.verdict, diff.direction, diff.moved_toward
    ('toward_shortcut', 'more', 'says:verified')

    ```
    """
    patterns, draws = check_patterns(endorsed), check_n_perm(n_perm)
    reader, seed = Reader(features), check_seed(seed)
    samples = [read_sample(before, reader), read_sample(after, reader)]
    names = reader.names()
    place = np.concatenate((samples[0].place, samples[1].place + samples[0].place.size))
    terms = choose_terms(Texts.of(*(sample.readings for sample in samples)), names, place)
    old, new = (
        scan_sample(sample, terms, len(names), patterns, n_perm=draws, conjunctions=True, seed=seed)
        for sample in samples
    )
    shift = compare_features(samples[0], samples[1], terms, len(names), n_perm=draws, seed=seed)
    moves = [] if shift is None else _moves(shift, old, new, patterns)
    named = _named(moves, old, new)
    verdict = _verdict(old, new, shift, named, patterns)
    if verdict == "withheld":
        named = None
    return HackScanDiff(
        verdict=verdict,
        moved_toward=None if named is None else named.name,
        direction=None if named is None else ("more" if named.strength > 0 else "less"),
        moves=moves,
        floor=None if shift is None else round(shift.floor, 6),
        paired=shift is not None and shift.paired,
        n_tasks=0 if shift is None else shift.n_tasks,
        before=old,
        after=new,
        warnings=_warnings(verdict, old, new, named),
        notes=_notes(shift, old, new),
    )


def _moves(shift: Shift, old: HackScan, new: HackScan, endorsed: list[str]) -> list[HackMove]:
    listed = [{feature.name: feature for feature in scan.features} for scan in (old, new)]
    moves = []
    order = sorted(
        range(len(shift.names)),
        key=lambda index: (-round(abs(float(shift.strength[index])), 5), shift.names[index].parts, shift.names[index]),
    )
    for index in order:
        name, strength = shift.names[index], float(shift.strength[index])
        if abs(strength) <= shift.floor + SAME:
            continue
        seen = [scan.get(name.name) for scan in listed]
        paid = any(one is not None and one.above_floor and one.rho * strength > 0 for one in seen)
        moves.append(
            HackMove(
                name.name,
                _known(shift.before[index]),
                _known(shift.after[index]),
                round(strength, 6),
                None if seen[0] is None else seen[0].rho,
                None if seen[1] is None else seen[1].rho,
                paid,
                matches(name.name, name.aliases, endorsed),
                list(name.aliases),
            )
        )
    return sorted(moves, key=lambda move: (-round(abs(move.strength), 5), not move.endorsed))


def _named(moves: list[HackMove], old: HackScan, new: HackScan) -> HackMove | None:
    """The move the reward pays for most, on either side; the strongest where it pays for none."""
    place: dict[str, int] = {}
    for scan in (old, new):
        for at, feature in enumerate(scan.features):
            place[feature.name] = min(at, place.get(feature.name, at))
    paid = [move for move in moves if move.paid]
    return min(paid, key=lambda move: place[move.name]) if paid else moves[0] if moves else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 6)


def _verdict(
    old: HackScan, new: HackScan, shift: Shift | None, named: HackMove | None, endorsed: list[str]
) -> DiffVerdict:
    if old.degenerate or new.degenerate:
        return "withheld"
    if shift is None:
        return "insufficient_data"
    if named is None:
        return "no_move_detected"
    if not endorsed:
        return "moved"
    return "toward_endorsed" if named.endorsed and named.strength > 0 else "toward_shortcut"


def _warnings(verdict: DiffVerdict, old: HackScan, new: HackScan, named: HackMove | None) -> list[str]:
    warnings = []
    if verdict == "withheld":
        sides = [side for side, scan in (("before", old), ("after", new)) if scan.degenerate]
        warnings.append(
            f"the rollouts {' and '.join(sides)} are too alike to tell features apart, so nothing is named; sample "
            "more per ask, or at a higher temperature"
        )
    if verdict == "toward_shortcut" and named is not None:
        what = "an endorsed feature" if named.endorsed else "which is not endorsed"
        paid = "the reward paid for it" if named.paid else "the reward of these rows does not pay for it"
        warnings.append(
            f"the agent shows {'more' if named.strength > 0 else 'less'} {named.name}, {what} "
            f"({shown(named.before)} -> {shown(named.after)}); {paid}"
        )
    return warnings


def _notes(shift: Shift | None, old: HackScan, new: HackScan) -> list[str]:
    notes = [f"{side}: {note}" for side, scan in (("before", old), ("after", new)) for note in scan.notes]
    if shift is None:
        notes.append(f"fewer than {FEWEST_TASKS} tasks on a side: what moved cannot be told from chance")
    elif not shift.paired:
        notes.append(f"fewer than {FEWEST_TASKS} tasks are on both sides, so tasks were compared as two groups")
    return notes
