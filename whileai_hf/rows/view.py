"""A read-only, column-first view of rows, whatever holds them.

Statistics and selection look at a few columns of many rows. `view` gives them columns of a Dataset (raw Arrow), of a
list of dicts (as they are) or of a map batch, without ever converting the whole. Nothing here copies a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import pyarrow as pa
from datasets import Dataset

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.rows.columns import arrow_column, arrow_table, decode_column, decode_table
from whileai_hf.rows.lists import column_names, read_columns


Row = dict[str, Any]
# What every public function accepts as rows.
Source = Dataset | Sequence[Mapping[str, Any]] | str | PathLike[str]
# Columns of a list that are read one by one: each costs a look at every row, wherever that lies in memory.
_FEW = 4


class RowView:
    """
    Read-only access to rows by column or one by one.

    Args:
        source (`datasets.Dataset` or `list[dict]` or `pyarrow.Table`):
            The rows. They are never modified; decoded cells may be shared between rows.
    """

    def __init__(self, source: Dataset | Sequence[Mapping[str, Any]] | pa.Table) -> None:
        self.source = source
        if isinstance(source, Dataset):
            self.columns: tuple[str, ...] = tuple(source.column_names)
        elif isinstance(source, pa.Table):
            self.columns = tuple(source.column_names)
        else:
            if set(map(type, source)) != {dict}:
                for index, row in enumerate(source):
                    if not isinstance(row, Mapping):
                        raise DataError(f"row {index} is a {type(row).__name__}; expected a dict of columns")
            self.columns = column_names(source)
        self._reads = 0
        self._whole: dict[str, list[Any]] | None = None

    def __len__(self) -> int:
        return self.source.num_rows if isinstance(self.source, pa.Table) else len(self.source)

    def has(self, name: str) -> bool:
        """Whether any row has the column."""
        return name in self.columns

    def column(self, name: str, default: Any = None) -> list[Any]:
        """
        One column as Python values.

        Args:
            name (`str`):
                Column name.
            default (`Any`, *optional*):
                Value for rows without it; a column nobody has is `[default] * len(view)`.

        Returns:
            `list`: One value per row.
        """
        if name not in self.columns:
            return [default] * len(self)
        if isinstance(self.source, Dataset):
            return decode_column(arrow_column(self.source, name))
        if isinstance(self.source, pa.Table):
            return decode_column(self.source.column(name))
        return self._of_list(self.source, name, default)

    def _of_list(self, source: Sequence[Mapping[str, Any]], name: str, default: Any) -> list[Any]:
        """A column of a list; whoever reads several reads most of them, and all at once cost little more than one."""
        self._reads += 1
        if self._reads > _FEW and self._whole is None:
            self._whole = read_columns(source, self.columns)
        if self._whole is None or default is not None:
            return [row.get(name, default) for row in source]
        return self._whole[name].copy()

    def require(self, name: str, what_to_do: str) -> list[Any]:
        """The column, or a [`MissingColumnError`] that says what to do about it."""
        if name not in self.columns:
            have = ", ".join(self.columns) or "none"
            raise MissingColumnError(f"the rows have no column {name!r} (columns: {have}); {what_to_do}")
        return self.column(name)

    def rows(self, columns: Sequence[str] | None = None, share: bool = True) -> Iterator[Row]:
        """
        The rows as dicts in order.

        Args:
            columns (`Sequence[str]`, *optional*):
                Limits what is decoded.
            share (`bool`, *optional*, defaults to `True`):
                Let decoded rows share equal cells. `False` for readers that may change a row; those of a list are
                the caller's own either way.
        """
        if isinstance(self.source, Dataset):
            source = self.source if columns is None else self.source.select_columns(list(columns))
            yield from decode_table(arrow_table(source), share=share)
        elif isinstance(self.source, pa.Table):
            yield from decode_table(self.source, columns, share)
        elif columns is None:
            for row in self.source:
                yield row if isinstance(row, dict) else dict(row)
        else:
            for row in self.source:
                yield {name: row[name] for name in columns if name in row}
