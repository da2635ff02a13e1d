"""Training rows to a Dataset or to lines of JSON; what a trainer is shown is looked at in the text that is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset, Features

from whileai_hf.export.messages import Message
from whileai_hf.export.tally import Tally
from whileai_hf.rows import canonical, to_dataset
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.columns import (
    arrow_table,
    dataset_from_table,
    encode_column,
    is_json_list,
    json_list_array,
)
from whileai_hf.rows.lists import read_columns


_TOOLS = "tools"


@dataclass(frozen=True)
class Rows:
    """
    Training rows of one kind, before they take a form.

    Args:
        made (`list[dict]`):
            Values of all columns but `tools`; names beyond `features` come last, their type inferred.
        tools (`list`):
            For every row the JSON texts of its tools, or `None`.
        features (`datasets.Features`):
            The columns that always exist, in order.
        tally ([`Tally`]):
            Counts the calls that are written.
    """

    made: list[dict[str, Any]]
    tools: list[list[bytes] | None]
    features: Features
    tally: Tally

    def __len__(self) -> int:
        return len(self.made)

    def _conversations(self) -> list[str]:
        return [name for name, kind in self.features.items() if is_json_list(kind) and name != _TOOLS]

    def table(self) -> tuple[pa.Table, Features]:
        """The rows as an Arrow table, and the features of its columns."""
        declared = {name: kind for name, kind in self.features.items() if name != _TOOLS}
        arrays = self._arrays(declared)
        features = self.features
        if arrays is None:
            rest = to_dataset(self.made, Features(declared))
            table, features = arrow_table(rest), Features({**self.features, **rest.features})
            arrays = {name: table.column(name) for name in rest.features}
        self._check_calls(arrays)
        if _TOOLS in features:
            arrays[_TOOLS] = _shared_lists(self.tools)
        return pa.table([arrays[name] for name in features], names=list(features)), features

    def _arrays(self, declared: Mapping[str, Any]) -> dict[str, Any] | None:
        """The columns, `None` where there are others than those declared, or values that do not fit as they are."""
        if set(chain.from_iterable(self.made)) - declared.keys():
            return None
        try:
            with no_collection():
                columns = read_columns(self.made, tuple(declared))
                return {name: encode_column(columns[name], kind) for name, kind in declared.items()}
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowCapacityError, TypeError, OverflowError):
            return None

    def _check_calls(self, arrays: Mapping[str, Any]) -> None:
        """Counts the calls, and looks for each in the text of its column."""
        for name in self._conversations():
            n_calls = self._count_calls(name)
            if n_calls:
                column = arrays[name]
                chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
                counts = [pc.sum(pc.count_substring(part.values.storage, self.tally.mark)) for part in chunks]
                self.tally.check_calls(n_calls, sum(count.as_py() or 0 for count in counts))

    def _count_calls(self, name: str) -> int:
        """Calls in the conversations of a column."""
        rows = self.made
        return sum([len(message["tool_calls"]) for row in rows for message in row[name] if "tool_calls" in message])

    def dataset(self) -> Dataset:
        """The rows as a Dataset."""
        return dataset_from_table(*self.table())

    def lines(self, keep_none: bool) -> Iterator[bytes]:
        """
        The rows as JSON, as the Dataset would be written, without the way through Arrow.

        Args:
            keep_none (`bool`):
                Whether a row names the columns it has no value for.
        """
        blank = dict.fromkeys([*self.features, *(self.made[0] if self.made else ())])
        conversations, mark = self._conversations(), self.tally.mark.encode()
        written = 0
        for row, tools in zip(self.made, _fragments(self.tools), strict=True):
            line = blank | row
            for name in conversations:
                text = _encode(row[name])
                written += text.count(mark)
                line[name] = orjson.Fragment(text)
            if _TOOLS in blank:
                line[_TOOLS] = tools
            if not keep_none:
                line = {name: value for name, value in line.items() if value is not None}
            try:
                yield orjson.dumps(line)
            except TypeError:  # lone surrogates
                ready = (*conversations, _TOOLS)
                yield orjson.dumps(
                    {name: value if name in ready else canonical(value) for name, value in line.items()}
                )
        self.tally.check_calls(sum(map(self._count_calls, conversations)), written)


def _encode(messages: list[Message]) -> bytes:
    """JSON text of messages, whose numbers are canonical since they were read."""
    try:
        return orjson.dumps(messages)
    except TypeError:  # lone surrogates
        return orjson.dumps(canonical(messages))


def _fragments(tools: list[list[bytes] | None]) -> Iterator[orjson.Fragment | None]:
    """Cells as they are written. All rows of one agent share the list of its tools, which is put together once."""
    last: list[bytes] | None = None
    fragment: orjson.Fragment | None = None
    for cell in tools:
        if cell is not last:
            last, fragment = cell, None if cell is None else orjson.Fragment(b"[%b]" % b",".join(cell))
        yield fragment


def _shared_lists(tools: list[list[bytes] | None]) -> pa.Array:
    """The column of tools, each list written once and taken as often as rows share it."""
    cells = list({id(cell): cell for cell in tools}.values())
    places = {id(cell): place for place, cell in enumerate(cells)}
    return json_list_array(cells).take(pa.array([places[id(cell)] for cell in tools], pa.int64()))
