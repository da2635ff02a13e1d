"""`pull`: exactly the rows of a push."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path

import pyarrow.parquet as pq
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.pushing.batches import batches
from whileai_hf.rows import dumps
from whileai_hf.rows.columns import decode_table
from whileai_hf.rows.snapshots import read_repo


_ENDINGS = (".parquet", ".jsonl")


def pull(
    repo: str,
    *,
    revision: str | None = None,
    split: str | None = None,
    path: str | PathLike[str] | None = None,
    config_name: str | None = None,
    token: str | bool | None = None,
) -> Dataset:
    """
    The rows of a dataset repo at one commit.

    The revision is resolved to a commit first, that commit's files are read, and the rows of a push are checked
    against its digest: a newer copy on this machine is never taken for the one asked for. When the Hub does not
    answer, or the repo is gone, a revision that was pulled before is served from this machine, and a warning says so.

    Args:
        repo (`str`):
            Dataset repo, "namespace/name".
        revision (`str`, *optional*):
            Tag of a push (`"v1"`), branch or commit; the newest commit when left out.
        split (`str`, *optional*):
            The split; the only one, or "train", when left out.
        path (`str` or `Path`, *optional*):
            A `.parquet` or `.jsonl` file to write the rows to as well.
        config_name (`str`, *optional*):
            The configuration; "default" when left out.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out. Public repos need none.

    Returns:
        `datasets.Dataset`: The rows, mapped from disk. `info.homepage` is the commit they are of, and
        [`~whileai_hf.engine.run_report`] finds the report of their run.

    Raises:
        [`SourceNotFoundError`]: No such repo, revision (the message lists the tags), configuration or split.
        [`HubError`]: No answer or no access, and no copy of that commit.
        [`DataError`]: The files are not those of the push.
    """
    if path is not None and Path(path).suffix not in _ENDINGS:
        raise ConfigurationError(f"path={str(path)!r} ends in neither {' nor '.join(_ENDINGS)}; name such a file")
    rows = read_repo(repo, revision=revision, split=split, config_name=config_name, token=token).dataset
    if path is not None:
        _write(rows, Path(path).expanduser())
    return rows


def _write(rows: Dataset, path: Path) -> None:
    """Writes rows to a file, piece by piece; one of that name is replaced once all of them are written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = rows.features.arrow_schema
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            if path.suffix == ".jsonl":
                for table in batches(rows):
                    file.writelines(dumps(row) + b"\n" for row in decode_table(table))
            else:
                with pq.ParquetWriter(file, schema) as writer:
                    for table in batches(rows):
                        writer.write_table(table.cast(schema))
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
