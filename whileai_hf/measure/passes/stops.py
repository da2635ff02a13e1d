"""What the rows say about groups that were stopped early: the rule, the probe, and how each group ended."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import Codes, IntArray, arrow_of, column_codes, combine
from whileai_hf.measure.passes.origin import inner_codes
from whileai_hf.rows import RowView


BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
# What this module reads besides the columns of a task.
STOP_COLUMNS = (
    "group_status",
    "group_planned_k",
    "group_probe",
    "group_inclusion_p",
    "rollout_index",
    "run_id",
    "eval_run",
    "sim_ok",
)
# How a group may end besides `complete`.
SHORT = ("stopped", "partial", "cut")


def numbers(view: RowView, name: str) -> FloatArray:
    """A column of numbers, `nan` where there is none."""
    column = arrow_of(view, name)
    if column is not None and (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if not view.has(name):
        return np.full(len(view), np.nan)
    cells = view.column(name)
    return np.array([cell if isinstance(cell, int | float) else np.nan for cell in cells], dtype=np.float64)


def faulty(view: RowView) -> BoolArray:
    """Rows whose simulated user was at fault (`sim_ok` is false): they say nothing about the agent."""
    codes = column_codes(view, "sim_ok")
    return np.array([isinstance(key, bool | np.bool_) and not key for key in codes.keys], dtype=bool)[codes.index]


def was_stopped(view: RowView) -> bool:
    """Whether any group ended before its planned size, or may have."""
    if set(SHORT) & set(column_codes(view, "group_status").keys):
        return True
    return view.has("group_inclusion_p") and bool(np.nanmin(numbers(view, "group_inclusion_p"), initial=1.0) < 1.0)


@dataclasses.dataclass(frozen=True)
class Groups:
    """
    Kinds of groups, each with how often it occurs; a group is a prompt of a task in one run.

    Args:
        n (`np.ndarray`):
            Scored rollouts.
        c (`np.ndarray`):
            How many of them passed.
        planned (`np.ndarray`):
            Rollouts planned.
        probe (`np.ndarray`):
            Rollouts before the first decision; `planned` where there was none to make.
        probe_n (`np.ndarray`):
            Scored rollouts of the probe.
        probe_c (`np.ndarray`):
            How many of them passed.
        inclusion (`np.ndarray`):
            Recorded chance of being filled, `nan` where none is.
        carry (`np.ndarray`):
            Chance that a unanimous group of this run is filled; 0 where it is unknown, `nan` where the run records
            several.
        status (`np.ndarray`):
            `complete`, `stopped`, `partial`, `cut`, or `None`.
        size (`np.ndarray`):
            Rows, scored or not.
        times (`np.ndarray`):
            How many groups are like this.
        ordered (`bool`):
            Whether the rows say which rollouts came first.
        kind (`np.ndarray` of shape `(groups,)`):
            Which kind each single group is.
        task (`np.ndarray` of shape `(groups,)`):
            Code of its task.
    """

    n: IntArray
    c: IntArray
    planned: IntArray
    probe: IntArray
    probe_n: IntArray
    probe_c: IntArray
    inclusion: FloatArray
    carry: FloatArray
    status: NDArray[np.object_]
    size: IntArray
    times: IntArray
    ordered: bool
    kind: IntArray
    task: IntArray

    def total(self, which: BoolArray) -> int:
        """How many groups are of the kinds marked."""
        return int(self.times[which].sum())

    @property
    def probed(self) -> BoolArray:
        """Groups about which there was a decision to make."""
        return np.asarray(self.probe < self.planned, dtype=np.bool_)

    @property
    def stopped(self) -> BoolArray:
        """Groups that were ended on purpose."""
        return np.asarray(self.status == "stopped", dtype=np.bool_)

    @property
    def unanimous(self) -> BoolArray:
        """Groups whose probe passed throughout or failed throughout."""
        return np.asarray((self.probe_c == 0) | (self.probe_c == self.probe_n), dtype=np.bool_)

    @property
    def decided(self) -> BoolArray:
        """Groups whose probe is scored in full and was followed by a decision."""
        known = ~np.isnan(self.inclusion) | (self.carry == 0.0)
        return np.asarray(self.probed & (self.probe_n == self.probe) & known, dtype=np.bool_)

    def counts(self) -> dict[str, int]:
        """How many groups ended in which way."""
        return {name: self.total(np.asarray(self.status == name, dtype=np.bool_)) for name in ("complete", *SHORT)}


def _per_group(groups: IntArray, values: FloatArray, size: int) -> FloatArray:
    """The largest value of each group, `nan` without one: decisions may be written on some of its rows only."""
    found = np.full(size, -np.inf)
    known = ~np.isnan(values)
    np.maximum.at(found, groups[known], values[known])
    return np.where(np.isinf(found), np.nan, found)


def read_groups(view: RowView, tasks: Codes, scored: BoolArray, passed: BoolArray) -> Groups:
    """
    The groups behind some rows.

    Args:
        view (`RowView`):
            Rows.
        tasks (`Codes`):
            Task of every row.
        scored (`np.ndarray` of `bool`):
            Which rows count and have a verdict.
        passed (`np.ndarray` of `bool`):
            Which rows passed.
    """
    parts = [tasks.index, *(column_codes(view, name).index for name in ("prompt", "run_id", "eval_run"))]
    if view.has("lineage"):
        parts.append(inner_codes(view, "lineage", "eval_run").index)
    groups = combine(*parts)
    size, first = int(groups.max()) + 1, np.unique(groups, return_index=True)[1]
    rows = np.bincount(groups, minlength=size).astype(np.int64)
    index = numbers(view, "rollout_index")
    wanted = _per_group(groups, numbers(view, "group_planned_k"), size)
    planned: IntArray = np.where(np.isnan(wanted), rows, wanted).astype(np.int64)
    first_look = _per_group(groups, numbers(view, "group_probe"), size)
    probe: IntArray = np.where(np.isnan(first_look), planned, np.minimum(first_look, planned)).astype(np.int64)
    in_probe = scored & (index < probe[groups])
    inclusion = _per_group(groups, numbers(view, "group_inclusion_p"), size)
    status = column_codes(view, "group_status")

    def count(which: BoolArray) -> IntArray:
        return np.bincount(groups[which], minlength=size).astype(np.int64)

    whole = {
        "n": count(scored),
        "c": count(scored & passed),
        "planned": planned,
        "probe": probe,
        "probe_n": count(in_probe),
        "probe_c": count(in_probe & passed),
        "size": rows,
    }
    carry, ended = _carry(combine(column_codes(view, "run_id").index)[first], inclusion), status.index[first]
    codes = [np.unique(column, return_inverse=True)[1] for column in (inclusion, carry)]
    kind = combine(*whole.values(), ended, *codes)
    example = np.unique(kind, return_index=True)[1]
    names = np.array([*status.keys, None], dtype=object)  # one more, so that it is an array of objects in any case
    return Groups(
        **{name: column[example] for name, column in whole.items()},
        inclusion=inclusion[example],
        carry=carry[example],
        status=names[ended[example]],
        times=np.bincount(kind).astype(np.int64),
        ordered=not bool(np.isnan(index).any()),
        kind=kind,
        task=tasks.index[first],
    )


def _carry(runs: IntArray, inclusion: FloatArray) -> FloatArray:
    """The chance each group's run fills a unanimous group with, see [`Groups`]."""
    size = int(runs.max()) + 1
    low, high, known = np.full(size, np.inf), np.full(size, -np.inf), np.zeros(size, bool)
    known[runs[~np.isnan(inclusion)]] = True
    part = inclusion < 1.0  # false for nan
    np.minimum.at(low, runs[part], inclusion[part])
    np.maximum.at(high, runs[part], inclusion[part])
    one = np.where(np.isinf(low), np.where(known, 1.0, 0.0), low)
    return np.where(np.isinf(low) | (low == high), one, np.nan)[runs]
