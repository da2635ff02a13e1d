"""Training rows to a Dataset, with JSON text where it is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from datasets import Dataset, Features

from whileai_hf.rows import to_dataset
from whileai_hf.rows.columns import arrow_table, dataset_from_table, json_list_array


Texts = list[list[bytes] | None]


def build(rows: Sequence[dict[str, Any]], texts: Mapping[str, Texts], features: Features) -> Dataset:
    """
    The Dataset of training rows.

    Args:
        rows (`Sequence[dict]`):
            Values of the columns that are not in `texts`; names beyond `features` come last, their type inferred.
        texts (`Mapping[str, list]`):
            `List(Json())` columns: for every row a list of JSON texts, or `None`.
        features (`datasets.Features`):
            The columns that always exist, in order.

    Returns:
        `datasets.Dataset`: One row for each of `rows`.
    """
    rest = to_dataset(rows, Features({name: feature for name, feature in features.items() if name not in texts}))
    table = arrow_table(rest)
    final = Features({**features, **rest.features})
    arrays = [json_list_array(texts[name]) if name in texts else table.column(name) for name in final]
    return dataset_from_table(pa.table(arrays, names=list(final)), final)
