"""Two sets of task means side by side: the tasks they share, and the tests of what differs."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.compare.scarcity import Scarcity, scarcity
from whileai_hf.measure.metrics import Measured, TaskMeans
from whileai_hf.measure.passes.codes import Codes
from whileai_hf.measure.passes.tally import MIN_GROUPS
from whileai_hf.stats import Interval, bootstrap_mean_ci
from whileai_hf.stats.signflip import MIN_PAIRS, SignFlip, sign_flip_test
from whileai_hf.stats.student import welch_interval


FloatArray = NDArray[np.float64]
# From here on unlike numbers of rollouts no longer make the test wrong more often than its level.
_MANY_TASKS = 200


@dataclasses.dataclass(frozen=True)
class Pairs:
    """
    Tasks of two sides.

    Args:
        keys (`list`):
            Tasks both sides have measured.
        a (`TaskMeans`):
            All tasks of the first side.
        b (`TaskMeans`):
            All tasks of the second.
        at_a (`np.ndarray`):
            Where the shared tasks stand in `a`.
        at_b (`np.ndarray`):
            Where they stand in `b`.
    """

    keys: list[Any]
    a: TaskMeans
    b: TaskMeans
    at_a: NDArray[np.int64]
    at_b: NDArray[np.int64]

    @property
    def shared_a(self) -> FloatArray:
        """Means of the shared tasks on the first side."""
        return self.a.means[self.at_a]

    @property
    def shared_b(self) -> FloatArray:
        """Means of the shared tasks on the second side."""
        return self.b.means[self.at_b]

    @property
    def share(self) -> float | None:
        """Shared tasks as a share of all tasks of either side; `None` without a task."""
        every = len(self.a.keys) + len(self.b.keys) - len(self.keys)
        return len(self.keys) / every if every else None

    @property
    def enough(self) -> bool:
        """Whether the sign-flip test can reject anything."""
        return len(self.keys) >= MIN_PAIRS


def pair(a: TaskMeans, b: TaskMeans) -> Pairs:
    """The tasks of two sides, matched by key."""
    if a.keys == b.keys:
        every = np.arange(len(a.keys), dtype=np.int64)
        return Pairs(a.keys, a, b, every, every)
    there = {key: place for place, key in enumerate(b.keys)}
    matches = [(place, there[key]) for place, key in enumerate(a.keys) if key in there]
    at = np.array(matches, dtype=np.int64).reshape(-1, 2)
    return Pairs([a.keys[place] for place, _ in matches], a, b, at[:, 0], at[:, 1])


def mean(values: FloatArray) -> float | None:
    """The mean, the same to the last bit in any order; `None` without a value."""
    return math.fsum(values.tolist()) / values.size if values.size else None


def level(
    pairs: Pairs, metric: str, sides: tuple[Measured, Measured], units: tuple[Codes, Codes] | None = None
) -> Pairs | None:
    """
    The same pairs with as many rollouts of a task on either side, `None` where that changes nothing.

    A mean of 8 rollouts and one of a single rollout differ lopsidedly even when the agent is the same, and sign flips
    suppose symmetry. With many tasks it makes no difference.
    """
    counts_a, counts_b = pairs.a.counts[pairs.at_a], pairs.b.counts[pairs.at_b]
    if not pairs.enough or len(pairs.keys) >= _MANY_TASKS or np.array_equal(counts_a, counts_b):
        return None
    fewer = np.minimum(counts_a, counts_b)
    cut = []
    for place, (side, means, at) in enumerate(zip(sides, (pairs.a, pairs.b), (pairs.at_a, pairs.at_b), strict=True)):
        of = side.tasks if units is None else units[place]
        limit = np.zeros(len(of.keys), np.int64)
        limit[means.codes[at]] = fewer
        found = side.means(metric, None if units is None else of, limit)
        cut.append(dict(zip(found.codes.tolist(), found.means.tolist(), strict=True)))
    kept = [
        (key, cut[0][one], cut[1][other])
        for key, one, other in zip(
            pairs.keys, pairs.a.codes[pairs.at_a].tolist(), pairs.b.codes[pairs.at_b].tolist(), strict=True
        )
        if one in cut[0] and other in cut[1]
    ]
    every = np.arange(len(kept), dtype=np.int64)
    a, b = (
        TaskMeans([one[0] for one in kept], np.array([one[place] for one in kept]), every, every) for place in (1, 2)
    )
    return Pairs(a.keys, a, b, every, every)


@dataclasses.dataclass(frozen=True)
class Contrast:
    """
    What differs between two sides: `b` minus `a`.

    Args:
        mean_a (`float`, *optional*):
            Mean over the tasks compared: the shared ones, or all where too few are shared.
        mean_b (`float`, *optional*):
            The same of the second side.
        delta (`float`, *optional*):
            Their difference.
        unpaired_ci95 (`tuple[float, float]`, *optional*):
            Welch's interval where too few tasks are shared.
        bootstrap_ci95 (`tuple[float, float]`, *optional*):
            Percentile bootstrap over shared tasks.
        tests (`tuple[SignFlip, ...]`):
            The test over all rollouts and, where few tasks differ in rollouts, the one at equal numbers of them; what
            counts is what both say. Empty where too few tasks are shared.
        scarce (`tuple[Scarcity, ...]`):
            For tests in which few tasks differ, what those few bound.
    """

    mean_a: float | None
    mean_b: float | None
    delta: float | None
    unpaired_ci95: Interval | None
    bootstrap_ci95: Interval | None
    tests: tuple[SignFlip, ...]
    scarce: tuple[Scarcity, ...] = ()

    @property
    def method(self) -> str | None:
        """What stands behind the interval, in words."""
        if not self.tests:
            return self.unpaired_ci95 and "Welch's t over unpaired task means"
        both = " of all rollouts and of equally many a side, whichever is wider" if len(self.tests) > 1 else ""
        wider = ", widened by exact bounds since few tasks differ" if any(few.bounded for few in self.scarce) else ""
        return self.tests[0].method + both + wider

    @property
    def ci95(self) -> Interval | None:
        """Shifts that are not rejected; Welch's interval where too few tasks are shared."""
        return self.interval() if self.tests else self.unpaired_ci95

    @property
    def p_value(self) -> float | None:
        """p-value of no difference."""
        return self.p_of(0.0) if self.tests else None

    @property
    def differs(self) -> bool:
        """Whether no difference is rejected at 5%; the same as an interval without zero."""
        return self.rejects(0.0)

    def interval(self, level: float = 0.95) -> Interval | None:
        """Shifts that are not rejected, and those that too few differences cannot rule out."""
        found = [interval for test in self.tests if (interval := test.interval(level)) is not None]
        if not found:
            return None
        interval = min(low for low, _ in found), max(high for _, high in found)
        side = int(np.sign(self.delta or 0.0)) if self.rejects(0.0, level) else 0
        for few in self.scarce:
            interval = few.widen(interval, side, level)
        return interval

    def _between(self, shift: float) -> bool:
        deltas = [test.delta for test in self.tests]
        return min(deltas) <= shift <= max(deltas)

    def p_of(self, shift: float) -> float:
        """p-value of a difference of `shift`."""
        return 1.0 if self._between(shift) else max(test.p_value(shift) for test in self.tests)

    def rejects(self, shift: float, level: float = 0.95) -> bool:
        """Whether sign flips reject `shift`; for no shift the same as an [`interval`] without zero."""
        return bool(self.tests) and not self._between(shift) and all(test.rejects(shift, level) for test in self.tests)

    def equivalence_p(self, margin: float) -> float | None:
        """
        p-value of the two one-sided tests that the difference lies outside `(-margin, margin)`.

        `None` where few tasks differ and nothing bounds what others might do.
        """
        if not all(few.bounded for few in self.scarce):
            return None
        found = [test.equivalence_p(margin) for test in self.tests]
        return max([*found, *(few.outside_p(margin) for few in self.scarce)])


def contrast(
    pairs: Pairs, levelled: Pairs | None = None, *, bounded: bool = False, n_boot: int = 2000, seed: int = 0
) -> Contrast:
    """
    The sign-flip test over shared tasks, or the unpaired difference where fewer than six are shared.

    `bounded` says that the metric lies within 0 to 1, which bounds what few differing tasks can hide.
    """
    if not pairs.enough:
        a, b = pairs.a.means, pairs.b.means
        mean_a, mean_b = mean(a), mean(b)
        delta = None if mean_a is None or mean_b is None else mean_b - mean_a
        unpaired = welch_interval(a, b)
        # Without spread on either side there is nothing an interval could be computed from.
        if unpaired is not None and unpaired[0] == unpaired[1]:
            unpaired = None
        return Contrast(mean_a, mean_b, delta, unpaired, None, ())
    differences = [of.shared_b - of.shared_a for of in (pairs, levelled) if of is not None]
    tests = tuple(sign_flip_test(each, seed=seed) for each in differences)
    scarce = tuple(few for each in differences if (few := scarcity(each, bounded)) is not None)
    enough = differences[0].size >= MIN_GROUPS
    boot = bootstrap_mean_ci(differences[0], n_boot=n_boot, seed=seed) if enough else None
    return Contrast(mean(pairs.shared_a), mean(pairs.shared_b), tests[0].delta, None, boot, tests, scarce)
