"""`preview`: the first rows of a data set, and what its push found out about it, without fetching the rest."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, DatasetDict, Features, load_dataset_builder
from huggingface_hub import HfFileSystem

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.profiling.sources import both_tried, is_repo, name_of, open_split
from whileai_hf.hub.record import RUN_FILE, RunRecord
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.snapshots import pick_split, read_repo
from whileai_hf.rows.view import Row, Source
from whileai_hf.store.repos import Located, UnreachableError, fetch_file, hub_api, hub_errors, locate


# Characters of a cell that are printed, and rows that may be asked for: more is what `pull` is for.
_CELL, _MOST = 160, 1000
# Characters of a line, and of a cell that stands in one with others.
_WIDTH, _SHORT = 118, 40


@dataclasses.dataclass(frozen=True)
class Preview(Report):
    """
    What [`preview`] returns.

    Args:
        source (`str`):
            Where the rows come from.
        commit (`str`, *optional*):
            Commit of the repo; `None` for rows that are not from the Hub.
        splits (`dict[str, int | None]`):
            Split to its rows, `None` where nothing says how many; empty for rows that are no repo.
        columns (`dict[str, str]`):
            Column to its type.
        rows (`list[dict]`):
            The first rows.
        n_rows (`int`, *optional*):
            Rows of the split; `None` where nothing says it.
        record (`dict[str, Any]`, *optional*):
            What the push says about itself: `tag`, `purpose`, `agent`, `mode`, `gate` and the rest of `run.json`;
            `None` for data sets of others.
        notes (`list[str]`):
            What a reader has to know.
    """

    source: str
    commit: str | None
    splits: dict[str, int | None]
    columns: dict[str, str]
    rows: list[Row]
    n_rows: int | None
    record: dict[str, Any] | None
    notes: list[str]

    def __str__(self) -> str:
        at = "" if self.commit is None else f" at {self.commit[:7]}"
        size = "" if self.n_rows is None else f", {self.n_rows} rows"
        lines = [f"{self.source}{at}{size}"]
        if self.splits:
            told = (name if rows is None else f"{name} {rows}" for name, rows in self.splits.items())
            lines.append(f"splits: {', '.join(told)}")
        lines += [*self._found(), *self._columns(), *self._cells()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _columns(self) -> list[str]:
        """The columns by their type."""
        by_kind: dict[str, list[str]] = {}
        for name, kind in self.columns.items():
            by_kind.setdefault(kind, []).append(name)
        told = [f"{kind}: {', '.join(names)}" for kind, names in by_kind.items()]
        return [f"columns: {len(self.columns)}", *(line for text in told for line in _wrapped(text))]

    def _cells(self) -> list[str]:
        """What the rows share, once, and each row with what is its own; cells without content are left out."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        alike = [name for name in names if len(self.rows) > 1 and _is_same(name, self.rows)]
        shared = {name: _cut(self.rows[0][name]) for name in alike if not _is_blank(self.rows[0][name])}
        short = [f"{name} {text}" for name, text in shared.items() if len(text) <= _SHORT]
        lines = ["the same in each row:"] if shared else []
        lines += [f"  {name}: {text}" for name, text in shared.items() if len(text) > _SHORT]
        lines += _wrapped("; ".join(short)) if short else []
        for number, row in enumerate(self.rows):
            lines.append(f"row {number}:")
            own = ((name, cell) for name, cell in row.items() if name not in alike and not _is_blank(cell))
            lines += [f"  {name}: {_cut(cell)}" for name, cell in own]
        return lines

    def _found(self) -> list[str]:
        """What the push found out."""
        if self.record is None:
            return []
        about = [
            f"{name} {self.record[name]}" for name in ("tag", "purpose", "agent", "mode") if self.record.get(name)
        ]
        gate = self.record.get("gate")
        if not isinstance(gate, Mapping):
            return [", ".join(about)]
        passes = gate.get("pass_at")
        rate = passes.get("pass_at_1") if isinstance(passes, Mapping) else None
        verdict = "ok" if gate.get("ok") else "refused"
        told = f"gate {verdict}" if not isinstance(rate, int | float) else f"gate {verdict}, pass@1 {rate:.2f}"
        warned = [f"warning: {text}" for text in gate.get("warnings") or () if isinstance(text, str)]
        return [", ".join([*about, told]), *warned]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _is_same(name: str, rows: Sequence[Row]) -> bool:
    return all(name in row and row[name] == rows[0].get(name) for row in rows)


def _is_blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str | list | Mapping) and not cell)


def _cut(cell: Any) -> str:
    """A cell on one line; what is cut off is counted."""
    text = cell[: 4 * _CELL] if isinstance(cell, str) else str(cell)
    length = len(cell) if isinstance(cell, str) else len(text)
    shown = " ".join(text.split())[:_CELL]
    return shown if length <= _CELL else f"{shown}... ({length} characters)"


def preview(
    source: Source | DatasetDict,
    *,
    n: int = 3,
    split: str | None = None,
    config: str | None = None,
    revision: str | None = None,
    token: str | bool | None = None,
) -> Preview:
    """
    The first rows of a data set.

    Of a repo only the start of one file is fetched, unless the Hub does not answer and a copy is on this machine.

    Args:
        source (Hub repo id, path, `datasets.Dataset`, `DatasetDict` or `list[dict]`):
            The rows. An existing path wins over a repo id.
        n (`int`, *optional*, defaults to `3`):
            How many rows.
        split (`str`, *optional*):
            Split of the repo; the only one, else `train`, when left out.
        config (`str`, *optional*):
            Config of the repo; the default one when left out.
        revision (`str`, *optional*):
            Tag, branch or commit of the repo.
        token (`str` or `bool`, *optional*):
            Token for a private repo; the one of `hf auth login` when left out.

    Returns:
        [`Preview`]: `print` it.

    Raises:
        [`ConfigurationError`]: `n` is out of range, or `split` was given for rows that have none.
        [`SourceNotFoundError`]: Neither a path nor a reachable repo, or no such split.

    Examples:
    ```python
    >>> from whileai_hf.hub.profiling import preview
    >>> found = preview([{"prompt": f"Where is order {i}?"} for i in range(9)], n=2)
    >>> [row["prompt"] for row in found.rows], found.n_rows
    (['Where is order 0?', 'Where is order 1?'], 9)

    ```
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= _MOST:
        raise ConfigurationError(f"n={n!r}; expected a whole number from 1 to {_MOST}")
    if isinstance(source, str) and is_repo(source):
        return _of_repo(source, n, split, config, revision, token)
    opened = open_split(source, split=split, config=config, revision=revision, token=token)
    rows = opened.rows
    return Preview(opened.name, None, {}, _types(rows), list(islice(rows.rows(), n)), len(rows), None, opened.notes)


class _Head(NamedTuple):
    """First rows, the split they are of, and the rows of every split where that is known."""

    rows: RowView
    split: str
    splits: dict[str, int | None]


def _of_repo(
    repo: str, n: int, split: str | None, config: str | None, revision: str | None, token: str | bool | None
) -> Preview:
    with both_tried(repo):
        located = locate(repo, revision, token)
    record = _record(located, token)
    if record is not None and config not in (None, record.config_name):
        record = None  # it is about the rows of another configuration
    head = _fetched(located, record, config, split, n, token)
    if head is None:
        copy = read_repo(repo, revision=revision, split=split, config_name=config, token=token)
        head = _Head(RowView(copy.dataset), copy.split, {copy.split: len(copy.dataset)})
    return Preview(
        source=name_of(repo, config, head.split),
        commit=located.sha,
        splits=head.splits,
        columns=_types(head.rows),
        rows=list(islice(head.rows.rows(), n)),
        n_rows=head.splits[head.split],
        record=None if record is None else record.to_dict(),
        notes=[] if located.note is None else [located.note],
    )


def _fetched(
    located: Located, record: RunRecord | None, config: str | None, split: str | None, n: int, token: str | bool | None
) -> _Head | None:
    """The first rows from the Hub; `None` when it does not answer."""
    if located.note is not None:  # it has just not answered, and is not asked again
        return None
    try:
        if record is None:
            return _foreign(located, config, split, n, token)
        name = pick_split(list(record.splits), split, str(located))
        rows = _start(located, _first(record, name, located), n, token)
        return _Head(rows, name, {name: one.rows for name, one in record.splits.items()})
    except UnreachableError:
        return None


def _first(record: RunRecord, split: str, located: Located) -> str:
    if not record.splits[split].files:
        raise DataError(f"{located} holds no rows in the split {split!r}; name another one")
    return record.splits[split].files[0]


def _record(located: Located, token: str | bool | None) -> RunRecord | None:
    """What the push says about itself; `None` where somebody else pushed, or wrote a file of that name."""
    path = fetch_file(located, RUN_FILE, token)
    if path is None:
        return None
    try:
        return RunRecord.loads(path.read_bytes())
    except DataError:
        return None


def _start(located: Located, path: str, n: int, token: str | bool | None) -> RowView:
    """The first rows of a Parquet file in a repo, without the rest of it."""
    system = HfFileSystem(endpoint=hub_api(token).endpoint, token=token)
    with hub_errors(f"reading {located}"), system.open(f"datasets/{located.repo}@{located.sha}/{path}") as file:
        read = pq.ParquetFile(file)
        batch = next(read.iter_batches(n), None)
        table = pa.Table.from_batches([] if batch is None else [batch], read.schema_arrow)
    features = Features.from_arrow_schema(table.schema)
    return RowView(table.cast(features.arrow_schema).replace_schema_metadata(None))


def _foreign(located: Located, config: str | None, split: str | None, n: int, token: str | bool | None) -> _Head:
    """The first rows of somebody else's data set, whatever its files."""
    with hub_errors(f"reading {located}"):
        try:
            builder = load_dataset_builder(located.repo, config, revision=located.sha, token=token)
        except (ValueError, FileNotFoundError) as error:
            raise DataError(f"{located} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
        files = {str(name): list(map(str, found)) for name, found in (builder.config.data_files or {}).items()}
        known = {str(name): one.num_examples for name, one in (builder.info.splits or {}).items()}
        name = pick_split(list(files or known), split, str(located))
        sizes = {one: known.get(one) or None for one in files or known}
        first = next(iter(files.get(name, [])), "")
        if first.endswith(".parquet") and f"@{located.sha}/" in first:
            return _Head(_start(located, first.partition(f"@{located.sha}/")[2], n, token), name, sizes)
        rows = list(builder.as_streaming_dataset(split=name).take(n))
    return _Head(RowView(rows), name, sizes)


def _types(rows: RowView) -> dict[str, str]:
    """Each column's type, in a word where it has one."""
    if isinstance(rows.source, Dataset):
        features: Mapping[str, Any] = rows.source.features
    elif isinstance(rows.source, pa.Table):
        features = Features.from_arrow_schema(rows.source.schema)
    else:
        return {name: type(next(iter(RowView(rows.source[:1]).column(name)))).__name__ for name in rows.columns}
    return {name: _word(feature) for name, feature in features.items()}


def _word(feature: Any) -> str:
    kind = type(feature).__name__
    if kind == "Value":
        return str(feature.dtype)
    return f"list of {_word(feature.feature)}" if kind in ("List", "LargeList") else kind.lower()
