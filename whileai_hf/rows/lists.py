"""Lists of row dicts, read as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from whileai_hf.rows.collecting import no_collection


# Row dicts read at a time into columns: they stay in the cache until they are.
_LIST_BATCH = 256


def column_names(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns of row dicts, in the order in which they turn up."""
    first = rows[0].keys() if rows else ()
    alike = all(row.keys() == first for row in rows)  # nearly always, and told sooner than by collecting them
    return tuple(first if alike else dict.fromkeys(chain.from_iterable(rows)))


@no_collection()
def read_columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """
    Columns of row dicts, read row by row, since each row lies somewhere else.

    Args:
        rows (`Sequence[dict]`):
            Row dicts.
        names (`Sequence[str]`, *optional*, defaults to all):
            The columns.

    Returns:
        `dict[str, list]`: One value per row, `None` where it has none.
    """
    wanted = tuple(names if names is not None else rows[0] if rows else ())
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    read = itemgetter(*wanted) if len(wanted) > 1 else None  # of one name it gives no tuple
    for start in range(0, len(rows), _LIST_BATCH):
        batch = rows[start : start + _LIST_BATCH]
        try:
            if read is None or (names is None and set(map(len, batch)) != {len(wanted)}):
                raise KeyError
            for name, values in zip(wanted, zip(*map(read, batch), strict=True), strict=True):
                columns[name].extend(values)
        except KeyError:  # the rows are not alike
            if names is None:
                return read_columns(rows, column_names(rows))
            for name in wanted:
                columns[name].extend([row.get(name) for row in batch])
    return columns
