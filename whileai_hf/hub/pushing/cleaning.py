"""Rows as they may leave the machine: what is looked for is looked for in all bytes, what is found is taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Dataset, Value

from whileai_hf.errors import DataError
from whileai_hf.hub.pushing.batches import batches
from whileai_hf.hub.pushing.hiding import WITHHELD, Hiding
from whileai_hf.rows import add_columns
from whileai_hf.rows.columns import decode_column, encode_column, is_json, is_json_list
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.store import read_privileged


_ArrowArray = Any  # pyarrow has no types that can be read here

_HIDDEN = PRIVILEGED_KEYS | {"vector"}
_KEYS = [b"privileged", b"expected_calls", b'vector"', b"vector\\", b"'vector'"]
# What was said and done: somebody else's text, in which only what is certain is replaced.
_CONVERSATION = frozenset({"prompt", "messages", "steps", "final_text", "tools", "completion", "chosen", "rejected"})
# Where what a judge was shown may be quoted.
_QUOTING = frozenset({"reason", "judge_meta", "markers", "metadata", "lineage", "error", "failure_class"})
# Characters from which on a privileged sentence is told from a word that happens to stand there.
_SENTENCE = 12


def clean(dataset: Dataset, token: str | bool | None = None) -> tuple[Dataset, list[str]]:
    """
    Rows without what must not leave the machine.

    Args:
        dataset (`datasets.Dataset`):
            The rows. Columns in which nothing is found are not copied.
        token (`str`, *optional*):
            The token of the push.

    Returns:
        `tuple[Dataset, list[str]]`: The rows, and what was taken out, by column.

    Raises:
        [`DataError`]: Nothing is left.
    """
    whole = [name for name in dataset.column_names if name in _HIDDEN]
    if len(whole) == len(dataset.column_names):
        raise DataError(f"the rows hold nothing but {', '.join(whole)}, which only a judge may see; there is no row")
    search = _Search(dataset, token)
    _check_names(dataset, Hiding(token))
    for table in batches(dataset):
        search.add(table)
    said = [f"{name} (the column)" for name in whole]
    if not search.found:
        return dataset.remove_columns(whole) if whole else dataset, said
    said += [f"{name} ({count} rows)" for name, count in sorted(search.counts.items()) if count]
    # Built from all columns: where the pieces start depends on their size.
    return search.rebuilt(dataset).remove_columns(whole), said


def _check_names(dataset: Dataset, hiding: Hiding) -> None:
    """Refuses names that give something away: code refers to columns and labels by them, so they are not changed."""
    for name, feature in dataset.features.items():
        if hiding.text(name) != name:
            raise DataError(f"the name of the column {hiding.text(name)!r} holds a token or a path; rename_column it")
        labels = feature.names if isinstance(feature, ClassLabel) else []
        if any(hiding.text(str(label)) != str(label) for label in labels):
            raise DataError(f"the names of the labels of {name!r} hold a token or a path; give it others")


class _Search:
    """Looks through columns piece by piece and keeps the pieces that had to be changed."""

    def __init__(self, dataset: Dataset, token: str | bool | None) -> None:
        self._features = dict(dataset.features)
        self._looked_at = [name for name in dataset.column_names if name not in _HIDDEN]
        self._hiding = Hiding(token), Hiding(token, narrow=True)
        self._quoted = Sentences(dataset.column_names)
        # By column, the changed pieces by the row they start at.
        self.found: dict[str, dict[int, list[Any]]] = {}
        self.counts: Counter[str] = Counter()
        self._row = 0

    def add(self, table: pa.Table) -> None:
        sentences = self._quoted.of(table)
        for name in self._looked_at:
            hiding = self._hiding[name in _CONVERSATION]
            column = table.column(name)
            quoting = sentences if name in _QUOTING and any(sentences) else None
            needles = [*_KEYS, *hiding.needles]
            if not any(_holds(chunk, needles, bare=True) for chunk in column.chunks) and quoting is None:
                continue
            values = decode_column(column, share=False)
            clean_values = [hiding.bytes(v) if isinstance(v, bytes) else hiding.value(v) for v in values]
            if quoting is not None:
                clean_values = [withheld(v, said) for v, said in zip(clean_values, quoting, strict=True)]
            changed = sum(old != new for old, new in zip(values, clean_values, strict=True))
            if changed:
                self.counts[name] += changed
                self.found.setdefault(name, {})[self._row] = clean_values
        self._row += table.num_rows

    def rebuilt(self, dataset: Dataset) -> Dataset:
        """The Dataset with the changed columns in place of the old."""
        plain = [name for name in self.found if _keeps_type(self._features[name])]
        columns: dict[str, Any] = {name: [] for name in self.found}
        row = 0
        for table in batches(dataset):
            for name in self.found:
                piece = self.found[name].get(row)
                if name in plain:
                    kept = table.column(name).chunks
                    columns[name] += kept if piece is None else [encode_column(piece, self._features[name])]
                else:
                    columns[name] += decode_column(table.column(name)) if piece is None else piece
            row += table.num_rows
        for name in plain:
            columns[name] = pa.chunked_array(columns[name])
        return add_columns(dataset, columns, {name: self._features[name] for name in plain})


class Sentences:
    """The privileged sentences of each row's task: those the row brings along, and those this machine knows."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._by_run: dict[str, dict[Any, list[str]]] = {}
        self._known = {"run_id", "scenario_id", "prompt"} <= set(columns)
        self._own = [name for name in columns if name in PRIVILEGED_KEYS]

    def of_row(self, row: Mapping[str, Any]) -> list[str]:
        """Those of one row."""
        own = [text for name in PRIVILEGED_KEYS for text in _texts_of(row.get(name))]
        known = self._run(row.get("run_id"))
        return own + known.get((hashable(row.get("scenario_id")), hashable(row.get("prompt"))), [])

    def of(self, table: pa.Table) -> list[list[str]]:
        """By row; nothing for rows of runs this machine has not seen that bring none along."""
        found = self._remembered(table)
        for name in self._own:
            own = [_texts_of(extra) for extra in decode_column(table.column(name))]
            found = [[*known, *more] for known, more in zip(found, own, strict=True)]
        return found

    def _remembered(self, table: pa.Table) -> list[list[str]]:
        if not self._known:
            return [[]] * table.num_rows
        columns = [decode_column(table.column(name)) for name in ("run_id", "scenario_id", "prompt")]
        return [self._run(run).get((hashable(s), hashable(p)), []) for run, s, p in zip(*columns, strict=True)]

    def _run(self, run_id: Any) -> dict[Any, list[str]]:
        if not isinstance(run_id, str):
            return {}
        if run_id not in self._by_run:
            try:
                known = read_privileged(run_id)
            except DataError:  # an id of somebody else's making
                known = {}
            self._by_run[run_id] = {key: _texts_of(extra.get("privileged")) for key, extra in known.items()}
        return self._by_run[run_id]


def _texts_of(block: Any) -> list[str]:
    """The sentences of a privileged block, at any depth, the longest first."""
    if isinstance(block, str):
        return [block] if len(block) >= _SENTENCE and " " in block else []
    items = block.values() if isinstance(block, dict) else block if isinstance(block, list) else ()
    return sorted((text for item in items for text in _texts_of(item)), key=len, reverse=True)


def withheld(value: Any, sentences: list[str]) -> Any:
    """A value in which privileged sentences are replaced."""
    if isinstance(value, str):
        for sentence in sentences:
            value = value.replace(sentence, WITHHELD)
        return value
    if isinstance(value, dict):
        return {key: withheld(item, sentences) for key, item in value.items()}
    return [withheld(item, sentences) for item in value] if isinstance(value, list) else value


def _keeps_type(feature: Any) -> bool:
    return isinstance(feature, Value) or is_json(feature) or is_json_list(feature)


def _holds(array: _ArrowArray, needles: list[bytes], bare: bool = False) -> bool:
    """
    Whether any text of an Arrow array holds one of some strings, or a struct has a hidden field.

    Bytes are text only as the whole column (`bare`): within others they are pictures and sounds.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _holds(array.storage, needles)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _holds(array.flatten(), needles)
    if pa.types.is_struct(kind):
        hidden = any(field.name in _HIDDEN for field in kind)
        return hidden or any(_holds(child, needles) for child in array.flatten())
    if pa.types.is_string_view(kind):
        return _holds(array.cast(pa.large_string()), needles)
    short = pa.types.is_string(kind) or (bare and pa.types.is_binary(kind))
    long = pa.types.is_large_string(kind) or (bare and pa.types.is_large_binary(kind))
    if not (short or long) or not len(array):
        return False
    _, ends, data = array.buffers()
    if data is None:
        return False
    width = np.int32 if short else np.int64
    offsets = np.frombuffer(ends, width)[array.offset : array.offset + len(array) + 1]
    said = memoryview(data)[int(offsets[0]) : int(offsets[-1])].tobytes()
    return any(needle in said for needle in needles)
