"""One metric per kind of rows: labels of rows, and task means within each label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import shown
from whileai_hf.measure.metrics import Measured, TaskMeans
from whileai_hf.measure.passes.codes import Codes, column_codes, combine, encode_values
from whileai_hf.measure.passes.origin import inner_codes


By = str | Callable[[Mapping[str, Any]], Any]
_DIMENSIONS = "scenario_dimensions"


def labels(side: Measured, by: By) -> Codes:
    """
    The group of every row.

    Args:
        side ([`Measured`]):
            The rows.
        by (`str` or `Callable`):
            A column, a marker, one of the `scenario_dimensions`, or a function of a row.

    Raises:
        [`ConfigurationError`]: A name the rows do not have.
        [`DataError`]: A label that cannot be compared.
    """
    if callable(by):
        return encode_values(_called(side, by), "by")
    if not isinstance(by, str):
        raise ConfigurationError(
            f"by={shown(by)} is neither a name nor a function; pass a column, a marker, a scenario dimension, or a "
            "function of a row"
        )
    if side.rows.has(by):
        return column_codes(side.rows, by)
    name = side.find(by)
    if name is not None:
        values = side.values(name)
        return encode_values([None if value != value else value for value in values.tolist()], "by")
    if side.rows.has(_DIMENSIONS):
        codes = inner_codes(side.rows, _DIMENSIONS, by)
        if codes.keys != [None]:
            return codes
    have = ", ".join([*side.rows.columns, *side.names]) or "none"
    raise ConfigurationError(
        f"by={by!r} is no column, marker or scenario dimension of these rows; they have {have}; or pass a function of "
        "a row"
    )


def _called(side: Measured, by: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """The caller's function of every row; what it raises for want of a key or a type says which row."""
    found = []
    for place, row in enumerate(side.rows.rows()):
        try:
            found.append(by(row))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ConfigurationError(
                f"by= raised {type(error).__name__} on row {place}: {str(error)[:200]}; let it return None for rows "
                "that belong to no group"
            ) from error
    return found


def units_of(side: Measured, codes: Codes) -> Codes:
    """Every task within every label as a unit of its own."""
    joint = combine(codes.index, side.tasks.index)
    return Codes(joint, list(range(int(joint.max(initial=-1)) + 1)))


def means_by_label(side: Measured, metric: str, codes: Codes, units: Codes) -> dict[str, TaskMeans]:
    """Task means within each label; rows without a label count nowhere. A task may stand in several groups."""
    joint = units.index
    found = side.means(metric, within=units)
    rows = np.unique(joint, return_index=True)[1][np.asarray(found.keys, dtype=np.int64)]
    label, task = codes.index[rows], side.tasks.index[rows]
    order = np.argsort(label, kind="stable")
    out: dict[str, TaskMeans] = {}
    for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if not part.size or codes.keys[label[part[0]]] is None:
            continue
        keys = [side.tasks.keys[code] for code in task[part]]
        out[str(codes.keys[label[part[0]]])] = TaskMeans(
            keys, found.means[part], found.counts[part], found.codes[part]
        )
    return out
