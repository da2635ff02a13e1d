"""Training rows to a Dataset or to lines of JSON, with JSON text where it is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
from datasets import Dataset, Features

from whileai_hf.rows import canonical, to_dataset
from whileai_hf.rows.columns import arrow_table, dataset_from_table, json_list_array


Texts = list[list[bytes] | None]


@dataclass(frozen=True)
class Rows:
    """
    Training rows of one kind, before they take a form.

    Args:
        made (`list[dict]`):
            Values of the columns that are not in `texts`; names beyond `features` come last, their type inferred.
        texts (`dict[str, list]`):
            `List(Json())` columns: for every row a list of JSON texts, or `None`.
        features (`datasets.Features`):
            The columns that always exist, in order.
    """

    made: list[dict[str, Any]]
    texts: dict[str, Texts]
    features: Features

    def __len__(self) -> int:
        return len(self.made)

    def dataset(self) -> Dataset:
        """The rows as a Dataset."""
        plain = Features({name: kind for name, kind in self.features.items() if name not in self.texts})
        rest = to_dataset(self.made, plain)
        table = arrow_table(rest)
        final = Features({**self.features, **rest.features})
        arrays = [json_list_array(self.texts[name]) if name in self.texts else table.column(name) for name in final]
        return dataset_from_table(pa.table(arrays, names=list(final)), final)

    def lines(self, keep_none: bool) -> Iterator[bytes]:
        """
        The rows as JSON, as the Dataset would be written, without the way through Arrow.

        Args:
            keep_none (`bool`):
                Whether a row names the columns it has no value for.
        """
        names = dict.fromkeys([*self.features, *(self.made[0] if self.made else ())])
        cells = {name: _fragments(texts) for name, texts in self.texts.items()}
        for row in self.made:
            line = {name: next(cells[name]) if name in cells else row.get(name) for name in names}
            if not keep_none:
                line = {name: value for name, value in line.items() if value is not None}
            try:
                yield orjson.dumps(line)
            except TypeError:  # lone surrogates
                values = {name: value if name in cells else canonical(value) for name, value in line.items()}
                yield orjson.dumps(values)


def _fragments(texts: Texts) -> Iterator[orjson.Fragment | None]:
    """Cells as they are written. All rows of one agent share the list of its tools, which is put together once."""
    last: list[bytes] | None = None
    fragment: orjson.Fragment | None = None
    for cell in texts:
        if cell is None:
            yield None
            continue
        if cell is not last:
            last, fragment = cell, orjson.Fragment(b"[%b]" % b",".join(cell))
        yield fragment
