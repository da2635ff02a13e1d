"""Pass numbers over tasks some of whose groups were stopped early."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.stopped import Target, group_values, probe_pass_rates
from whileai_hf.measure.passes.stops import BoolArray, FloatArray, Groups
from whileai_hf.measure.passes.tally import MIN_GROUPS
from whileai_hf.stats import Interval, pass_at_k, pass_pow_k
from whileai_hf.stats.mixture import Mixture, bootstrap_mixture, fit_mixture
from whileai_hf.stats.shares import share_interval


# A resample of the mixture is a fit of its own; more of them move an end by less than the estimate is wrong by.
_FITS = 400
# Chance that some, that all, or that some but not all of k repeats pass.
Kind = Literal["at", "pow", "mixed"]


class Number(NamedTuple):
    """An estimate, its 95% interval and how the interval came about."""

    value: float | None
    interval: Interval | None
    method: str | None


NOTHING = Number(None, None, None)


def over_tasks(task: NDArray[np.int64], values: FloatArray, n_tasks: int) -> FloatArray:
    """Mean of each task's groups, `nan` for tasks without a value; the same to the last bit in any order of rows."""
    if task.size == 0 or np.bincount(task).max() == 1:
        alone = np.full(n_tasks, np.nan)
        alone[task] = values
        return alone
    known = np.flatnonzero(~np.isnan(values))
    known = known[np.lexsort((values[known], task[known]))]
    count = np.bincount(task[known], minlength=n_tasks)
    total = np.bincount(task[known], weights=values[known], minlength=n_tasks)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_of(values: FloatArray) -> float | None:
    """
    Mean of chances over those tasks that have one.

    Weights can carry a mean of few tasks past 0 or 1; it is cut off there.
    """
    known = values[~np.isnan(values)]
    return min(1.0, max(0.0, math.fsum(known.tolist()) / known.size)) if known.size else None


def mean_number(values: FloatArray, weighted: bool) -> Number:
    """[`mean_of`] and its interval over tasks, within `[0, 1]` and around the mean."""
    known = values[~np.isnan(values)]
    value = mean_of(known)
    if value is None or known.size < MIN_GROUPS:
        return Number(value, None, None)
    levels, times = np.unique(known, return_counts=True)
    found = share_interval(levels, times, weighted=weighted)
    if found is None:
        return Number(value, None, None)
    return Number(value, (min(found.low, value), max(found.high, value)), found.method)


def _target(kind: Kind, k: int) -> Target:
    def of(n: int, c: NDArray[np.int64]) -> FloatArray:
        some, every = pass_at_k(n, c, k), pass_pow_k(n, c, k)
        return np.asarray({"at": some, "pow": every, "mixed": some - every}[kind], dtype=np.float64)

    return of


@dataclasses.dataclass(frozen=True)
class Weighing:
    """
    Numbers of one set of groups by one estimator.

    Args:
        groups ([`Groups`]):
            The groups.
        estimator (`str`):
            How they are weighed, see [`stopped.choose_estimator`].
        task (`np.ndarray`):
            Task of each single group.
        n_tasks (`int`):
            Tasks in all.
        n_boot (`int`):
            Refits behind an interval of the mixture.
        seed (`int`):
            Their seed.
    """

    groups: Groups
    estimator: str
    task: NDArray[np.int64]
    n_tasks: int
    n_boot: int
    seed: int

    @property
    def probes_known(self) -> bool:
        """Whether it is known which rollouts every stopped group got whatever their verdicts."""
        return self.groups.ordered and not bool(np.any(self.groups.stopped & ~self.groups.probed))

    @cached_property
    def rates(self) -> FloatArray:
        """Pass rate of every task over its probes, `nan` without one; over all it has where no probe is known."""
        groups = self.groups
        if self.probes_known:
            values = probe_pass_rates(groups, self.estimator)
        else:
            values = np.where(groups.n > 0, groups.c / np.maximum(groups.n, 1), np.nan)
        return over_tasks(self.task, values[groups.kind], self.n_tasks)

    def values(self, kind: Kind, k: int) -> FloatArray:
        """What each task counts as in a number at k, `nan` for those left out."""
        values = group_values(self.groups, k, _target(kind, k), self.estimator)
        return over_tasks(self.task, values[self.groups.kind], self.n_tasks)

    def counting(self, k: int) -> BoolArray:
        """Tasks that count in the numbers at k."""
        if self.estimator != "mixture":
            return ~np.isnan(self.values("at", k))
        fitting = ((self.groups.n > 0) & (self.groups.planned >= k))[self.groups.kind]
        return np.asarray(np.bincount(self.task[fitting], minlength=self.n_tasks) > 0, dtype=np.bool_)

    def pass_1(self) -> Number:
        """pass@1 over all tasks."""
        return mean_number(self.rates, weighted=False) if self.probes_known else self.number("at", 1)

    def number(self, kind: Kind, k: int) -> Number:
        """One k-way number."""
        if self.estimator != "mixture":
            return mean_number(self.values(kind, k), weighted=self.estimator != "closed_form")
        if not bool(np.any(self.groups.n > 0)):
            return NOTHING
        fit, again = (_from_fit(part, kind, k) for part in self._fits)
        low, high = np.quantile(again, (0.025, 0.975)).tolist()
        return Number(float(fit), (min(low, float(fit)), max(high, float(fit))), "bootstrap")

    def curve(self, sizes: Sequence[int], counting: BoolArray) -> dict[int, dict[str, float | int]]:
        """
        pass@j and pass^j of the tasks that count at the largest size.

        Each size is estimated for itself; where noise would make a curve turn back, it stays level.
        """
        of = {kind: [self._value(kind, size, counting) for size in sizes] for kind in ("at", "pow")}
        some, every = np.maximum.accumulate(of["at"]), np.minimum.accumulate(of["pow"])
        used = int(np.count_nonzero(counting))
        return {
            size: {"pass_at": float(a), "pass_pow": float(b), "n_groups": used}
            for size, a, b in zip(sizes, some, every, strict=True)
        }

    def _value(self, kind: Kind, k: int, counting: BoolArray) -> float:
        if self.estimator == "mixture":
            return float(_from_fit(self._fits[0], kind, k))
        values = self.rates if k == 1 else self.values(kind, k)
        return mean_of(values[counting]) or 0.0

    @cached_property
    def _fits(self) -> tuple[Mixture, Mixture]:
        scored = self.groups.n > 0
        n, c = (np.repeat(column[scored], self.groups.times[scored]) for column in (self.groups.n, self.groups.c))
        return fit_mixture(n, c), bootstrap_mixture(n, c, n_boot=min(self.n_boot, _FITS), seed=self.seed)


def _from_fit(mixture: Mixture, kind: Kind, k: int) -> FloatArray:
    some, every = mixture.pass_at(k), mixture.pass_pow(k)
    return {"at": some, "pow": every, "mixed": some - every}[kind]
