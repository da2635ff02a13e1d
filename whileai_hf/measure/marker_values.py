"""Markers of rows as numbers: one per row for every marker, and how many values are something else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whileai_hf.measure.passes.codes import Codes, IntArray, arrow_of, encode_arrow
from whileai_hf.rows import RowView, loads


FloatArray = NDArray[np.float64]


def _number(value: Any) -> float:
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    return math.nan


def _cell_texts(column: Any) -> Codes:
    """Codes of JSON cells by their text; the keys are the parsed values."""
    texts = encode_arrow(pa.chunked_array([chunk.storage for chunk in column.chunks], pa.string()))
    return Codes(texts.index, [None if text is None else loads(text) for text in texts.keys])


@dataclasses.dataclass(frozen=True)
class _Markers:
    """Every marker as one number per cell, `nan` where a cell does not have it, and where it holds no number."""

    values: dict[str, FloatArray]
    odd: dict[str, IntArray]


def read_markers(rows: RowView) -> tuple[dict[str, FloatArray], dict[str, int]]:
    """
    Every marker as one number per row, `nan` where a row does not have it, and how many of its values are no numbers.

    Args:
        rows (`RowView`):
            Rows with a `markers` column.

    Examples:
    ```python
    >>> values, odd = read_markers(RowView([{"markers": {"polite": 1}}, {"markers": {"polite": "yes"}}]))
    >>> values["polite"].tolist(), odd
    ([1.0, nan], {'polite': 1})

    ```
    """
    column = arrow_of(rows, "markers")
    if column is not None and isinstance(column.type, pa.JsonType):
        codes = _cell_texts(column)  # most cells are one of a few combinations of 0 and 1
        found = _by_name(codes.keys)
        times = np.bincount(codes.index, minlength=len(codes.keys))
        odd = {name: int(times[places].sum()) for name, places in found.odd.items()}
        return {name: values[codes.index] for name, values in found.values.items()}, odd
    found = _by_name(rows.column("markers"))
    return found.values, {name: places.size for name, places in found.odd.items()}


def _by_name(cells: Sequence[Any]) -> _Markers:
    found: dict[str, tuple[list[int], list[Any]]] = {}
    for place, cell in enumerate(cells):
        if not isinstance(cell, dict):
            continue
        for name, value in cell.items():
            if name not in found:
                found[name] = ([], [])
            places, values = found[name]
            places.append(place)
            values.append(value)
    out: dict[str, FloatArray] = {}
    odd: dict[str, IntArray] = {}
    for name in sorted(found, key=str):
        places, values = found[name]
        try:
            read = np.array(values) if set(map(type, values)) <= {int, float, bool} else None
            read = None if read is None or read.dtype == object else read.astype(np.float64)
        except OverflowError:
            read = None
        column = np.full(len(cells), np.nan)
        column[places] = np.array([_number(value) for value in values]) if read is None else read
        column[~np.isfinite(column)] = np.nan
        if not np.isnan(column).all():
            out[str(name)] = column
        if read is None:
            strange = [place for place, value in zip(places, values, strict=True) if _is_odd(value)]
            if strange:
                odd[str(name)] = np.array(strange, dtype=np.int64)
    return _Markers(out, odd)


def _is_odd(value: Any) -> bool:
    """Whether a marker's value was meant to say something and is no number."""
    return value is not None and not isinstance(value, bool | int | float)
