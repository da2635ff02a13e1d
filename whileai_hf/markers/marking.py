"""Writing markers onto rows, for every family alike.

A family is a pure function from a row to named numbers; here it becomes a map function, a function from rows to a
Dataset, and what its report counts. Markers of other families and of the judge stay on the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from datasets import Dataset
from datasets.formatting.formatting import LazyBatch, LazyRow

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import RowView, add_columns, open_rows, view
from whileai_hf.rows.collecting import older_objects_aside
from whileai_hf.rows.columns import encode_column, replace_columns
from whileai_hf.rows.features import known_features
from whileai_hf.rows.hashing import register_hash
from whileai_hf.rows.view import Source
from whileai_hf.score.hashing import fingerprint
from whileai_hf.score.judgment import marker_column, merged_markers
from whileai_hf.score.lanes import Row


# The column evidence goes to: a list of findings per row, each with the fragment of the row that raised it.
FLAGS = "trace_flags"

Flags = list[dict[str, Any]]
Measured = tuple[Mapping[str, float], Flags | None]
Measure = Callable[[Row], Measured]


class Mark:
    """
    Writes the markers of one family; use it with `map(..., batched=True)`.

    Args:
        measure (`Callable`):
            Row to `(markers, flags)`: numbers by name, 1.0 the good outcome, and evidence for the column `trace_flags`
            (`None` for a family without any). What cannot be measured on a row is left out. It must not change it.
        columns (`Sequence[str]`):
            The columns it reads; no others are decoded.

    Examples:
    ```python
    >>> from whileai_hf.markers.marking import Mark
    >>> from whileai_hf.rows import open_rows
    >>> short = Mark(lambda row: ({"short": float(len(row["final_text"]) < 20)}, None), columns=["final_text"])
    >>> open_rows([{"final_text": "It shipped."}]).map(short, batched=True)[0]["markers"]
    {'short': 1.0}

    ```
    """

    def __init__(self, measure: Measure, *, columns: Sequence[str]) -> None:
        self.measure = measure
        self.columns = tuple(columns)

    def __call__(self, batch: Any) -> Any:
        """
        Marks a batch.

        Args:
            batch (`Mapping[str, list]` or `pyarrow.Table`):
                Columns of rows.

        Returns:
            `pyarrow.Table` for a batch of `Dataset.map` or a table, `dict[str, list]` (the new columns) for a mapping.
        """
        table = batch.pa_table if isinstance(batch, LazyBatch) else batch
        if isinstance(table, pa.Table):
            return replace_columns(table, self._columns(RowView(table)))
        if isinstance(batch, LazyRow) or not isinstance(batch, Mapping):
            kind = "a single row" if isinstance(batch, LazyRow) else f"a {type(batch).__name__}"
            raise ConfigurationError(f"Mark got {kind}; it works on batches: pass batched=True to map")
        names = list(batch)
        count = len(batch[names[0]]) if names else 0
        return self._values(RowView([{name: batch[name][index] for name in names} for index in range(count)]))

    def _values(self, rows: RowView) -> dict[str, list[Any]]:
        with older_objects_aside():
            found = list(measured(rows, self.measure, self.columns))
        markers = [dict(markers) for markers, _ in found]
        values: dict[str, list[Any]] = {"markers": merged_markers(rows.column("markers"), markers)}
        if any(flags is not None for _, flags in found):
            values[FLAGS] = [flags for _, flags in found]
        return values

    def _columns(self, rows: RowView) -> dict[str, pa.Array[Any]]:
        values = self._values(rows)
        columns = {"markers": marker_column(values["markers"])}
        if FLAGS in values:
            columns[FLAGS] = encode_column(values[FLAGS], known_features()[FLAGS])
        return columns

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return [fingerprint(self.measure), self.columns]

    def over(self, data: Source) -> Dataset:
        """The rows of any source, marked."""
        rows = view(data)
        marked = self._columns(rows)
        dataset = rows.source if isinstance(rows.source, Dataset) else open_rows(data)
        features = {name: known_features()[name] for name in marked}
        return add_columns(dataset, marked, features)


def measured(rows: RowView, measure: Measure, columns: Sequence[str]) -> Iterator[Measured]:
    """
    What a family finds, row by row, without writing it anywhere; for its report.

    Args:
        rows ([`RowView`]):
            The rows.
        measure (`Callable`):
            Row to `(markers, flags)`.
        columns (`Sequence[str]`):
            The columns it reads.
    """
    if isinstance(rows.source, Dataset | pa.Table):
        return map(measure, rows.rows([name for name in columns if name in rows.columns]))
    # The dicts of a list are read where they are: picking columns out of them would cost more than reading them.
    return map(measure, rows.rows())


register_hash(Mark)
