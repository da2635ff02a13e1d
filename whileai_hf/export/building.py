"""Training rows to a Dataset or to lines of JSON; what a trainer is shown is looked at in the text that is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset, Features

from whileai_hf.export.messages import Message
from whileai_hf.export.tally import Tally
from whileai_hf.rows import canonical, to_dataset
from whileai_hf.rows.columns import arrow_table, dataset_from_table, is_json_list, json_list_array


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

    def dataset(self) -> Dataset:
        """The rows as a Dataset."""
        rest = to_dataset(self.made, Features({name: kind for name, kind in self.features.items() if name != _TOOLS}))
        table = arrow_table(rest)
        for name in self._conversations():
            n_calls = sum(_count_calls(row[name]) for row in self.made)
            if n_calls:
                chunks = table.column(name).chunks
                written = sum(
                    pc.sum(pc.count_substring(chunk.values.storage, self.tally.mark)).as_py() or 0 for chunk in chunks
                )
                self.tally.check_calls(n_calls, written)
        final = Features({**self.features, **rest.features})
        arrays = [_shared_lists(self.tools) if name == _TOOLS else table.column(name) for name in final]
        return dataset_from_table(pa.table(arrays, names=list(final)), final)

    def lines(self, keep_none: bool) -> Iterator[bytes]:
        """
        The rows as JSON, as the Dataset would be written, without the way through Arrow.

        Args:
            keep_none (`bool`):
                Whether a row names the columns it has no value for.
        """
        names = dict.fromkeys([*self.features, *(self.made[0] if self.made else ())])
        tools = _fragments(self.tools)
        conversations, mark = self._conversations(), self.tally.mark.encode()
        for row in self.made:
            line = {name: row.get(name) for name in names}
            for name in conversations:
                text = _encode(row[name])
                n_calls = _count_calls(row[name])
                if n_calls:
                    self.tally.check_calls(n_calls, text.count(mark))
                line[name] = orjson.Fragment(text)
            if _TOOLS in names:
                line[_TOOLS] = next(tools)
            if not keep_none:
                line = {name: value for name, value in line.items() if value is not None}
            try:
                yield orjson.dumps(line)
            except TypeError:  # lone surrogates
                ready = (*conversations, _TOOLS)
                yield orjson.dumps(
                    {name: value if name in ready else canonical(value) for name, value in line.items()}
                )


def _encode(messages: list[Message]) -> bytes:
    """JSON text of messages, whose numbers are canonical since they were read."""
    try:
        return orjson.dumps(messages)
    except TypeError:  # lone surrogates
        return orjson.dumps(canonical(messages))


def _count_calls(messages: list[Message]) -> int:
    return sum([len(message["tool_calls"]) for message in messages if "tool_calls" in message])


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
