"""Anything that holds rows, as a Dataset or as a view of it.

A source is a Dataset, a list of dicts, a path (JSONL, JSON, Parquet, a saved Dataset folder) or the id of a dataset
repo on the Hub, whose newest commit is read (`snapshots`). An existing path wins over a repo of the same name; when
neither is there the error names both tries. Foreign columns are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, DatasetDict, Features, concatenate_datasets, load_from_disk

from whileai_hf.errors import ConfigurationError, DataError, HubError, SourceNotFoundError
from whileai_hf.rows.canonical import loads
from whileai_hf.rows.columns import dataset_from_table, to_dataset
from whileai_hf.rows.snapshots import read_repo
from whileai_hf.rows.view import Row, RowView, Source


_REPO_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def read_jsonl(path: Path) -> list[Row]:
    """
    Rows of a JSONL file.

    Args:
        path (`Path`):
            One JSON object a line; blank lines are skipped.

    Returns:
        `list[dict]`: The rows.

    Raises:
        [`DataError`]: A broken line (named as file:line), a line that is not an object, an empty file.
    """
    rows: list[Row] = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = loads(line)
            except ValueError as error:
                raise DataError(f"{path}:{number} is not JSON ({error}); fix or delete that line") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}:{number} holds a {type(row).__name__}; expected one JSON object per line")
            rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no rows; expected one JSON object per line")
    return rows


def _read_json(path: Path) -> list[Row]:
    text = path.read_bytes()
    if not text.strip():
        raise DataError(f"{path} is empty; expected a JSON array of rows or one JSON object per line")
    try:
        value = loads(text)
    except ValueError:
        return read_jsonl(path)  # JSON lines under a .json name, which is common; its error names the line
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise DataError(f"{path} holds no list of objects; expected a JSON array of rows")
    return value


def _open_folder(path: Path) -> Dataset:
    if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
        return _one_split(load_from_disk(str(path)), str(path))
    parquet = sorted(path.rglob("*.parquet"))
    if parquet:
        return concatenate_datasets([_open_parquet(file) for file in parquet])
    jsonl = sorted(path.rglob("*.jsonl"))
    if jsonl:
        return to_dataset([row for file in jsonl for row in read_jsonl(file)])
    raise DataError(f"the folder {path} holds no saved Dataset, Parquet or JSONL file; point at one that does")


def _open_parquet(path: Path) -> Dataset:
    # Read through Arrow, not through the builder cache, so that a rewritten file is never answered from an old copy.
    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} is not a Parquet file ({error}); write it anew") from error
    features = Features.from_arrow_schema(table.schema)
    return dataset_from_table(table.cast(features.arrow_schema), features)


def _one_split(loaded: Dataset | DatasetDict, name: str) -> Dataset:
    if isinstance(loaded, Dataset):
        return loaded
    if len(loaded) == 1:
        return next(iter(loaded.values()))
    if "train" in loaded:
        return loaded["train"]
    raise DataError(
        f"{name} has the splits {', '.join(loaded)}; pick one with load_dataset(..., split=...) and pass it"
    )


def _open_name(source: str | PathLike[str]) -> Dataset | list[Row]:
    path = Path(source).expanduser()
    if not str(source).strip():
        raise SourceNotFoundError("rows were given as an empty path; pass a file, a folder or a dataset repo id")
    if path.is_dir():
        return _open_folder(path)
    if path.is_file():
        if path.suffix == ".parquet":
            return _open_parquet(path)
        if path.suffix == ".arrow":
            return Dataset.from_file(str(path))
        return _read_json(path) if path.suffix == ".json" else read_jsonl(path)
    name = str(source)
    if not _REPO_ID.fullmatch(name):
        raise SourceNotFoundError(
            f"{name!r} is not an existing path and cannot be a dataset repo id; check the spelling"
        )
    try:
        return read_repo(name).dataset
    except (HubError, SourceNotFoundError) as error:
        raise SourceNotFoundError(
            f"{name!r} is neither an existing path (looked for {path.absolute()}) nor a dataset repo that can be "
            f"read: {error}"
        ) from error


def _check(source: Any) -> None:
    if isinstance(source, DatasetDict):
        raise DataError(f"got a DatasetDict with the splits {', '.join(source)}; pass one of them")
    if isinstance(source, Mapping) or not isinstance(source, Dataset | Sequence | PathLike):
        kind = type(source).__name__
        raise ConfigurationError(f"rows were given as a {kind}; pass a Dataset, a list of dicts, a path or a repo id")


def view(source: Source | RowView) -> RowView:
    """
    A [`RowView`] of any source; lists are viewed as they are.

    Args:
        source (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.

    Raises:
        [`DataError`]: The source has no rows.
        [`SourceNotFoundError`]: Neither a path nor a reachable repo.
    """
    if isinstance(source, RowView):
        return source
    _check(source)
    opened = _open_name(source) if isinstance(source, str | PathLike) else source
    if len(opened) == 0:
        raise DataError("the rows are empty; expected at least one row")
    return RowView(opened)


def open_rows(source: Source) -> Dataset:
    """
    Any source as a Dataset.

    Args:
        source (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows. A Dataset is returned as it is. An existing path wins over a repo id.

    Returns:
        `datasets.Dataset`: Known columns with the types of the row schema, foreign columns kept.

    Raises:
        [`DataError`]: Broken or empty content, with file and line.
        [`SourceNotFoundError`]: Neither a path nor a reachable repo.

    Examples:
    ```python
    >>> from whileai_hf.rows import open_rows
    >>> open_rows([{"prompt": "Where is order 4412?", "reward": 1}]).column_names
    ['prompt', 'reward']

    ```
    """
    opened = view(source).source
    return opened if isinstance(opened, Dataset) else to_dataset(opened)


def select_rows(source: Source | RowView, indices: Sequence[int]) -> Dataset:
    """The rows at `indices`, in that order, as a Dataset; a list is converted for those rows only."""
    rows = view(source).source
    if isinstance(rows, Dataset):
        return rows.select(list(indices))
    return to_dataset([rows[index] for index in indices])
