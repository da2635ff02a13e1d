"""Where measured rows come from: the policies, judges and temperatures among them, and rollouts present twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from whileai_hf.errors import DataError
from whileai_hf.measure.passes.codes import (
    Codes,
    IntArray,
    arrow_of,
    column_codes,
    combine,
    encode_arrow,
    encode_values,
)
from whileai_hf.rows import RowView, loads


# What this module reads besides the columns that identify a task.
ORIGIN_COLUMNS = (
    "policy_version",
    "judge_name",
    "lineage",
    "sampling",
    "rollout_index",
    "trial",
    "run_id",
    "eval_run",
)


def inner_codes(view: RowView, name: str, key: str) -> Codes:
    """Codes of one value inside a JSON column. Only distinct texts are parsed: most runs have a handful."""
    column = arrow_of(view, name)
    if column is None or not isinstance(column.type, pa.JsonType):
        return _picked(view.column(name), name, key)
    texts = encode_arrow(pa.chunked_array([chunk.storage for chunk in column.chunks]))
    inner = _picked([None if text is None else loads(text) for text in texts.keys], name, key)
    return Codes(inner.index[texts.index], inner.keys)


def _picked(cells: list[Any], name: str, key: str) -> Codes:
    values = [cell.get(key) if isinstance(cell, dict) else None for cell in cells]
    try:
        return encode_values(values, name)
    except DataError:  # other people's metadata may hold anything; what cannot be compared is not counted
        return encode_values([value if isinstance(value, str | int | float) else None for value in values], name)


def _present(codes: Codes) -> list[Any]:
    return [codes.keys[code] for code in np.unique(codes.index) if codes.keys[code] is not None]


def origins(view: RowView) -> dict[str, list[Any]]:
    """
    Distinct values of what decides a pass rate besides the tasks.

    Args:
        view (`RowView`):
            Graded rows.

    Returns:
        `dict[str, list]`: Some of `policy_version`, `judge_name`, `judge_version`, `temperature`; a name that no row
        carries is absent.
    """
    found = {name: _present(column_codes(view, name)) for name in ("policy_version", "judge_name") if view.has(name)}
    if view.has("lineage"):
        found["judge_version"] = _present(inner_codes(view, "lineage", "judge_version"))
    if view.has("sampling"):
        found["temperature"] = _present(inner_codes(view, "sampling", "temperature"))
    return {name: values for name, values in found.items() if values}


def evaluation_codes(view: RowView) -> Codes | None:
    """Which of several evaluations of one task set a row belongs to; `None` where no row says."""
    if view.has("lineage"):
        found = inner_codes(view, "lineage", "eval_run")
        if any(key is not None for key in found.keys):
            return found
    return column_codes(view, "eval_run") if view.has("eval_run") else None


def count_duplicates(view: RowView, tasks: Codes) -> int:
    """
    Rows that are a rollout already seen: same task, run, evaluation run, prompt and rollout index.

    Args:
        view (`RowView`):
            Rows. The index is `rollout_index`, or `trial` where other harnesses name it so; rows without one cannot be
            told apart and are not counted.
        tasks (`Codes`):
            Task of every row.

    Returns:
        `int`: How many rows repeat an earlier one.
    """
    name = next((name for name in ("rollout_index", "trial") if view.has(name)), None)
    if name is None:
        return 0
    numbered = column_codes(view, name)
    parts: list[IntArray] = [tasks.index, numbered.index]
    parts += [column_codes(view, other).index for other in ("run_id", "prompt", "eval_run") if view.has(other)]
    if view.has("lineage"):
        parts.append(inner_codes(view, "lineage", "eval_run").index)
    known = np.array([key is not None for key in numbered.keys], dtype=bool)[numbered.index]
    joint = combine(*parts)[known]
    return int(joint.size - np.count_nonzero(np.bincount(joint)))
