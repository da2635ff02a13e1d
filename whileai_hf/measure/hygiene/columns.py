"""Text columns of rows as distinct texts with a code for every row: what is compared is read and normalised once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from whileai_hf.errors import MissingColumnError
from whileai_hf.measure.hygiene.words import cell_text
from whileai_hf.measure.passes.codes import Codes, IntArray, arrow_of, encode_arrow, encode_values
from whileai_hf.rows import RowView


# Where a conversation that has no column of its own for the ask keeps it.
_CONVERSATION = "messages"


@dataclasses.dataclass(frozen=True)
class Texts:
    """`distinct[code[i]]` is the text of row i, `None` where the row has none."""

    distinct: list[str | None]
    code: IntArray

    @property
    def first_row(self) -> IntArray:
        """The first row of every distinct text."""
        return np.unique(self.code, return_index=True)[1].astype(np.int64)


def _first_ask(cell: Any) -> str | None:
    for message in cell if isinstance(cell, list) else ():
        if isinstance(message, Mapping) and message.get("role") == "user":
            return cell_text(message.get("content"))
    return None


def _texts(codes: Codes) -> Texts:
    return Texts(codes.keys, codes.index)


def read_texts(view: RowView, name: str) -> Texts:
    """
    A text column.

    Args:
        view (`RowView`):
            Rows that have the column; `prompt` may also stand as the first user message of `messages`.
        name (`str`):
            The column. Cells may be text, messages, content blocks or scalars.

    Raises:
        [`MissingColumnError`]: No row has it.
    """
    if view.has(name):
        column = arrow_of(view, name)
        if column is not None and pa.types.is_string(column.type):
            return _texts(encode_arrow(column))
        values = view.column(name)
        if not set(map(type, values)) <= {str, type(None)}:
            values = [cell_text(value) for value in values]
        return _texts(encode_values(values, name))
    if name == "prompt" and view.has(_CONVERSATION):
        return _texts(encode_values([_first_ask(cell) for cell in view.column(_CONVERSATION)], name))
    have = ", ".join(view.columns) or "none"
    raise MissingColumnError(
        f"the rows have no column {name!r} (columns: {have}), so there is no text to compare; name the text {name!r}"
    )
