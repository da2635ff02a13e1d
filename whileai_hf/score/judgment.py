"""From verdicts to columns.

The columns of a judgment always have the types of the row schema, whatever the verdicts of one batch happen to be: a
batch without a single reward, or with markers no other batch has, changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from whileai_hf.rows import scrub
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.columns import encode_column
from whileai_hf.rows.features import judgment_features
from whileai_hf.rows.texts import json_cells
from whileai_hf.score.verdicts import Verdict


# Columns that no judged row carries: what a judge may know must not travel with what it said.
PRIVILEGED_COLUMNS = ("privileged", "expected_calls")


# Distinct marker sets remembered while writing a column; more than this and they are measurements, not flags.
_MAX_DISTINCT = 4096


def merged_markers(old: Sequence[Any], new: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Markers rows had and those they get; the new ones win, and none at all is `None`."""
    return [_merged(before, after) or None for before, after in zip(old, new, strict=True)]


def _merged(old: Any, new: dict[str, Any]) -> dict[str, Any]:
    return {**old, **new} if isinstance(old, dict) and old else new


def _stamped(lineage: Sequence[Any], stamp: dict[str, Any]) -> list[dict[str, Any]]:
    """The lineages with the judge's added; neighbours that are one object stay one."""
    out: list[dict[str, Any]] = []
    last: Any = None
    merged = stamp
    for old in lineage:
        if old is not last:
            last, merged = old, _merged(old, stamp)
        out.append(merged)
    return out


@no_collection()
def judgment_values(
    verdicts: Sequence[Verdict],
    *,
    stamp: dict[str, Any],
    provenance: dict[str, Any],
    markers: Sequence[Any],
    lineage: Sequence[Any],
) -> dict[str, list[Any]]:
    """
    The columns a judge writes, as Python values.

    Args:
        verdicts (`Sequence[Verdict]`):
            One per row.
        stamp (`dict`):
            Added to each `lineage`: `source`, `judge` (its name goes to `judge_name`, too), `judge_version`.
        provenance (`dict`):
            What all verdicts of the judge have in common, for each `judge_meta`.
        markers (`Sequence`):
            The markers the rows had; the judge's own win.
        lineage (`Sequence`):
            The lineage the rows had; the judge's is added.

    Returns:
        `dict[str, list]`: `reward`, `reason`, `judge_name`, `judge_status`, `judge_meta`, `failure_class`, `markers`,
        `lineage`.
    """
    # One and the same object for all verdicts that say no more, so that it is written once.
    common = provenance or None
    return {
        "reward": [verdict.reward for verdict in verdicts],
        "reason": [verdict.reason for verdict in verdicts],
        "judge_name": [stamp["judge"]] * len(verdicts),
        "judge_status": [verdict.status.value for verdict in verdicts],
        "judge_meta": [{**scrub(verdict.meta), **provenance} if verdict.meta else common for verdict in verdicts],
        "failure_class": [verdict.failure_class for verdict in verdicts],
        "markers": merged_markers(markers, [verdict.markers for verdict in verdicts]),
        "lineage": _stamped(lineage, stamp),
    }


def marker_column(values: Sequence[dict[str, Any] | None]) -> pa.Array[Any]:
    """JSON cells; judges give few distinct markers to many rows, and each distinct set is written once."""
    known: dict[tuple[tuple[str, float], ...], dict[str, Any]] = {}
    same: list[dict[str, Any] | None] = []
    for value in values:
        if value is None or set(map(type, value.values())) != {float}:  # of older markers 1 and True equal 1.0
            same.append(value)
        else:
            key = tuple(value.items())
            first = known.get(key, value)
            if first is value and len(known) < _MAX_DISTINCT:
                known[key] = value
            same.append(first)
    return json_cells(same)


@no_collection()
def judgment_columns(values: dict[str, list[Any]]) -> dict[str, pa.Array[Any]]:
    """The columns of [`judgment_values`] as Arrow arrays with the types of the row schema."""
    features = judgment_features()
    arrays: dict[str, pa.Array[Any]] = {}
    for name, column in values.items():
        if name == "markers":
            arrays[name] = marker_column(column)
        elif name in ("judge_meta", "lineage"):
            arrays[name] = json_cells(column)
        elif name in ("judge_name", "judge_status", "reward"):  # ours, so there is nothing to clean
            arrays[name] = pa.array(column, features[name].pa_type)
        else:
            arrays[name] = encode_column(column, features[name])
    return arrays
