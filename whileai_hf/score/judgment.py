"""From verdicts to columns.

The columns of a judgment always have the types of the row schema, whatever the verdicts of one batch happen to be: a
batch without a single reward, or with markers no other batch has, changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from whileai_hf.rows import dumps, scrub
from whileai_hf.rows.columns import encode_column, json_array
from whileai_hf.rows.features import judgment_features
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


def _json_column(values: Sequence[Any]) -> pa.Array[Any]:
    """JSON cells; a run of one and the same object is written once."""
    texts: list[bytes | None] = []
    last: Any = None
    text: bytes | None = None
    for value in values:
        if value is not last:
            last, text = value, None if value is None else dumps(value)
        texts.append(text)
    return json_array(texts)


def marker_column(values: Sequence[dict[str, Any] | None]) -> pa.Array[Any]:
    """JSON cells; judges give few distinct markers to many rows, and each distinct set is written once."""
    known: dict[tuple[tuple[str, float], ...], bytes] = {}
    texts: list[bytes | None] = []
    for value in values:
        if value is None:
            texts.append(None)
        elif set(map(type, value.values())) != {float}:  # older markers of other types: 1 and True equal 1.0
            texts.append(dumps(value))
        else:
            key = tuple(value.items())
            text = known.get(key)
            if text is None:
                text = dumps(value)
                if len(known) < _MAX_DISTINCT:
                    known[key] = text
            texts.append(text)
    return json_array(texts)


def judgment_columns(values: dict[str, list[Any]]) -> dict[str, pa.Array[Any]]:
    """The columns of [`judgment_values`] as Arrow arrays with the types of the row schema."""
    features = judgment_features()
    arrays: dict[str, pa.Array[Any]] = {}
    for name, column in values.items():
        if name == "markers":
            arrays[name] = marker_column(column)
        elif name in ("judge_meta", "lineage"):
            arrays[name] = _json_column(column)
        elif name in ("judge_name", "judge_status", "reward"):  # ours, so there is nothing to clean
            arrays[name] = pa.array(column, features[name].pa_type)
        else:
            arrays[name] = encode_column(column, features[name])
    return arrays
