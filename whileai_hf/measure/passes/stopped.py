"""What each kind of group counts as in a k-way number when some groups were stopped early."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.passes.stops import BoolArray, FloatArray, Groups
from whileai_hf.stats import end_values, expected_value, full_values, probe_rates


# What a full group of n with c passes counts as: `target(n, c)`.
Target = Callable[[int, NDArray[np.int64]], FloatArray]


def choose_estimator(groups: Groups) -> str:
    """
    The best the data allow.

    Returns:
        `str`: `order_weighted` where unanimous groups are filled with a known chance, and `probe_split` where only
        groups whose probe disagrees are sure to be, both given that the verdicts explain every decision;
        `inverse_probability` where something else than these verdicts decided (behaviour, another judge) with recorded
        chances; `mixture` where the probe, the order or the chances are missing; `closed_form` where groups ended
        short, but none by its verdicts.
    """
    if not bool(np.any(groups.probed | groups.stopped)):
        return "closed_form"
    stopped, decided = groups.stopped, groups.decided
    sequential = bool(np.any(groups.probed & (groups.carry == 0.0)))
    if not groups.ordered or bool(np.any(stopped & ~groups.probed)):
        return "mixture"
    weighed = decided & ~np.isnan(groups.inclusion) & (groups.carry != 1.0)
    odd = weighed & ((groups.inclusion < 1.0) != groups.unanimous)
    odd |= (decided & stopped & ~groups.unanimous) | (groups.probed & np.isnan(groups.carry))
    if bool(np.any(odd)):
        return "mixture" if sequential else "inverse_probability"
    return "probe_split" if sequential else "order_weighted"


def _distinct(which: BoolArray, *columns: NDArray[np.generic]) -> list[list[float]]:
    """Distinct combinations among some groups, `nan` as a value of its own."""
    table = np.stack([column[which].astype(np.float64) for column in columns], axis=1)
    found: list[list[float]] = np.unique(table, axis=0).tolist()
    return found


def _settled(groups: Groups) -> BoolArray:
    """Groups that count by their probe alone: stopped, or unanimous in a run that fills those with no known chance."""
    return np.asarray(groups.stopped | (groups.unanimous & (groups.carry == 0.0)), dtype=np.bool_)


def _filled(groups: Groups, size: int, settled: BoolArray) -> BoolArray:
    """Groups that were carried on and have at least `size` scored rollouts."""
    enough = (groups.n >= size) & (groups.n > groups.probe)
    return np.asarray(groups.decided & ~settled & enough, dtype=np.bool_)


def probe_pass_rates(groups: Groups, estimator: str) -> FloatArray:
    """
    Pass rate of every kind of group over the rollouts it got whatever their verdicts, `nan` without a scored one.

    Where the verdicts explain the decisions, groups that were filled give the mean over all orders in which their
    verdicts may have come.
    """
    n = np.where(groups.probed, groups.probe_n, groups.n)
    c = np.where(groups.probed, groups.probe_c, groups.c)
    rates = np.where(n > 0, c / np.maximum(n, 1), np.nan)
    if estimator == "inverse_probability":
        return rates
    filled = _filled(groups, 1, _settled(groups))
    for probe, carry, size in _distinct(filled, groups.probe, groups.carry, groups.n):
        these = filled & (groups.probe == probe) & (groups.carry == carry) & (groups.n == size)
        rates[these] = probe_rates(int(size), int(probe), carry)[groups.c[these]]
    return rates


def group_values(groups: Groups, size: int, target: Target, estimator: str) -> FloatArray:
    """
    What each kind of group counts as in a mean over groups.

    Args:
        groups ([`Groups`]):
            The groups.
        size (`int`):
            Size of the draw; groups planned smaller have no value.
        target (`Callable`):
            What a full group counts as.
        estimator (`str`):
            `order_weighted`, `probe_split` or `inverse_probability`.

    Returns:
        `np.ndarray`: One value per kind of group, `nan` for those that are left out.
    """
    values = np.full(groups.n.size, np.nan)
    fit = groups.planned >= size
    plain = fit & ~groups.probed & (groups.n >= size)
    _count(groups, values, plain, lambda n: target(n, np.arange(n + 1)))
    whole = fit & groups.probed & (groups.probe_n == groups.probe)
    by_record = estimator == "inverse_probability"
    settled = groups.stopped if by_record else _settled(groups)
    filled = whole & _filled(groups, size, settled)
    weigh = _by_record if by_record else _by_order
    for planned, probe in _distinct(whole, groups.planned, groups.probe):
        these = whole & (groups.planned == planned) & (groups.probe == probe)
        weigh(groups, values, target, these & filled, these & settled)
    _stand_in(groups, values, whole)
    return values


def _count(groups: Groups, values: FloatArray, which: BoolArray, worth: Callable[[int], FloatArray]) -> None:
    """Sets the value of some groups by their size and passes."""
    for (n,) in _distinct(which, groups.n):
        these = which & (groups.n == n)
        values[these] = worth(int(n))[groups.c[these]]


def _by_order(groups: Groups, values: FloatArray, target: Target, filled: BoolArray, settled: BoolArray) -> None:
    """Values of groups of one design where verdicts decided, see `stats.stopping`."""
    either = filled | settled
    for planned, probe, carry in _distinct(either, groups.planned, groups.probe, groups.carry):
        same = groups.carry == carry
        first = int(probe)
        ends = end_values(target(int(planned), np.arange(int(planned) + 1)), first, carry)

        def worth(n: int, first: int = first, carry: float = carry, ends: tuple[float, float] = ends) -> FloatArray:
            return full_values(target(n, np.arange(n + 1)), first, carry, ends)

        _count(groups, values, filled & same, worth)
        values[settled & same] = np.where(groups.probe_c[settled & same] == 0, ends[0], ends[1])


def _by_record(groups: Groups, values: FloatArray, target: Target, filled: BoolArray, settled: BoolArray) -> None:
    """
    Values of groups of one design that were decided by something unseen, but with recorded chances.

    A stopped group counts as expected from its probe, a filled one corrects that by its own surprise over its chance
    (augmented inverse probability weighting; Robins, Rotnitzky and Zhao 1994): unbiased whatever the expectation.
    """
    _count(groups, values, filled, lambda n: target(n, np.arange(n + 1)))
    chosen = (filled & (groups.inclusion < 1.0)) | settled
    for planned, probe, passes in _distinct(chosen, groups.planned, groups.probe, groups.probe_c):
        expected = expected_value(target(int(planned), np.arange(int(planned) + 1)), int(probe), int(passes))
        these = chosen & (groups.probe_c == passes)
        values[these & settled] = expected
        carried = these & filled
        values[carried] = expected + (values[carried] - expected) / groups.inclusion[carried]


def _stand_in(groups: Groups, values: FloatArray, whole: BoolArray) -> None:
    """
    Values for groups that ended short without a decision to: the mean of those whose probe came out the same way.

    What the others deviate from that mean is scaled up by how many they stand for, so that a spread over all groups is
    the spread of the mean, not smaller by the made-up agreement.
    """
    short = whole & np.isnan(values)
    carried = np.nan_to_num(groups.inclusion, nan=1.0) < 1.0
    # Groups with a decision first: those without stand in for by all of their probe.
    for decided in (True, False):
        left = short & (groups.decided == decided)
        for planned, probe, passes, kind in _distinct(left, groups.planned, groups.probe, groups.probe_c, carried):
            alike = whole & (groups.planned == planned) & (groups.probe == probe) & (groups.probe_c == passes)
            if decided:
                alike &= (carried == bool(kind)) & ~groups.stopped
            donors = np.flatnonzero(alike & ~np.isnan(values))
            these = alike & left & (carried == bool(kind))
            if donors.size == 0:
                continue
            share = groups.times[donors] / groups.times[donors].sum()
            mean = math.fsum((values[donors] * share).tolist())
            stretch = 1.0 + groups.total(these) / groups.times[donors].sum()
            values[donors] = mean + stretch * (values[donors] - mean)
            values[these] = mean
