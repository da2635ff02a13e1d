"""Rows of any source in batches, so that no export holds more than a few thousand of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from datasets import Dataset, Features, IterableDataset

from whileai_hf.export.pairs import PAIR_KINDS, is_pairs, paired
from whileai_hf.export.reading import filled_columns
from whileai_hf.export.tally import Tally
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Row
from whileai_hf.select.structs import unfilled


# One row for each of these, so that data of any size goes through them in batches.
ROW_BY_ROW = ("sft", "preference", "reward", "kto")
# Rows in memory at a time: few enough that what is made of them stays in the processor's cache until it is written.
BATCH = 1024


class _Part(RowView):
    """Some rows of a view, with the columns of all of them: looked for once, and the same for every batch."""

    def __init__(self, whole: RowView, begin: int, end: int) -> None:
        rows = whole.source
        self.source = rows.select(range(begin, end)) if isinstance(rows, Dataset) else rows[begin:end]
        self.columns = whole.columns
        self._reads, self._whole = 0, None


def batches(data: Any, kind: str, size: int = BATCH, tally: Tally | None = None) -> Iterator[RowView]:
    """
    The rows a kind is made of, in order; all at once for a kind whose rows each stand for several rollouts.

    Args:
        data (`datasets.Dataset` or `datasets.IterableDataset` or `list[dict]` or path or Hub repo id):
            Rollouts or pairs.
        kind (`str`):
            A kind of [`to_trl`].
        size (`int`, *optional*):
            Rows of a batch.
        tally (`Tally`, *optional*):
            Is told which rollouts are in no pair.

    Examples:
    ```python
    >>> [len(batch) for batch in batches([{"prompt": "hi"}] * 5, "sft", size=2)]
    [2, 2, 1]

    ```
    """
    tally = tally or Tally()
    if isinstance(data, IterableDataset):
        yield from _streamed(data, kind, size, tally)
        return
    rows = paired(view(data), kind, tally)
    if kind not in ROW_BY_ROW or len(rows) <= size:
        yield rows
        return
    for begin in range(0, len(rows), size):
        yield _Part(rows, begin, min(begin + size, len(rows)))


def _streamed(data: IterableDataset, kind: str, size: int, tally: Tally) -> Iterator[RowView]:
    """The rows of a stream; all at once for a kind that looks for groups among them."""
    held: list[Row] = []
    whole = kind not in ROW_BY_ROW
    features = data.features or Features({})
    filled = filled_columns(features, features)
    for batch in data.iter(size):
        batch |= {name: [unfilled(cell, features[name]) for cell in batch[name]] for name in filled if name in batch}
        rows = [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]
        whole = whole or (kind in PAIR_KINDS and not is_pairs(RowView(rows)))
        if whole:
            held += rows
        else:
            yield RowView(rows)
    if held:
        yield paired(RowView(held), kind, tally)
