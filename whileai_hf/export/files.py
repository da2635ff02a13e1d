"""Training rows to a file or a list, batch by batch: the data may be larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, Features, IterableDataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.batches import BATCH, ROW_BY_ROW
from whileai_hf.export.building import Rows
from whileai_hf.export.config import ExportConfig, ExportKnobs
from whileai_hf.export.report import ExportReport
from whileai_hf.export.shaping import Job
from whileai_hf.export.template import Tokenizer
from whileai_hf.export.trl import finish, kind_of, make_all, start, undisturbed
from whileai_hf.knobs import overlay
from whileai_hf.rows.columns import arrow_table, decode_table, is_json, is_json_list
from whileai_hf.rows.view import Row, Source


FORMATS = ("openai", "trl")
_WIRE_KINDS = ("sft", "preference")
_TEXTS = pa.list_(pa.binary())
_BATCH = BATCH
# Rows of a Parquet file that are compressed and read together.
_ROW_GROUP = 4096


def _format(given: str | None, kind: str, job: Job) -> None:
    chosen = given or ("openai" if kind in _WIRE_KINDS and job.template is None else "trl")
    if chosen not in FORMATS:
        raise ConfigurationError(f"format={given!r} is neither 'openai' nor 'trl'")
    if chosen == "openai" and (kind not in _WIRE_KINDS or job.template is not None):
        raise ConfigurationError(f"kind={kind!r} with these arguments has no OpenAI shape; pass format='trl'")
    if chosen == "openai":
        job.wire, job.tally.encoding = True, "json_string"


def _json_lines(rows: Dataset) -> Iterator[bytes]:
    """The rows of a Dataset as JSON; its JSON columns go over as the text they are."""
    columns: dict[str, list[Any]] = {}
    table = arrow_table(rows)
    for name, feature in rows.features.items():
        column = table.column(name)
        if is_json_list(feature):
            cells = [cell for chunk in column.chunks for cell in chunk.cast(_TEXTS).to_pylist()]
            columns[name] = [None if cell is None else orjson.Fragment(b"[%b]" % b",".join(cell)) for cell in cells]
        elif is_json(feature):
            cells = [cell for chunk in column.chunks for cell in chunk.storage.to_pylist()]
            columns[name] = [None if cell is None else orjson.Fragment(cell) for cell in cells]
        else:
            columns[name] = column.to_pylist()
    for values in zip(*columns.values(), strict=True):
        yield orjson.dumps(dict(zip(columns, values, strict=True)))


def _write(batches: Iterator[Rows], path: Path, kind: str, keep_none: bool) -> None:
    if path.suffix != ".parquet":
        with path.with_name(path.name + ".part").open("wb") as file:
            for rows in batches:
                # The user's own columns of prompts have types, which are a Dataset's to find.
                lines = rows.lines(keep_none) if kind in ROW_BY_ROW else _json_lines(rows.dataset())
                file.write(b"\n".join([*lines, b""]))
        return
    writer: pq.ParquetWriter | None = None
    try:
        for table, features in _row_groups(batches):
            # The schema of the features, whose metadata tells `load_dataset` which columns hold JSON.
            schema = features.arrow_schema
            if writer is None:
                writer = pq.ParquetWriter(path.with_name(path.name + ".part"), schema)
            writer.write_table(table.cast(schema))
    finally:
        if writer is not None:
            writer.close()


def _row_groups(batches: Iterator[Rows]) -> Iterator[tuple[pa.Table, Features]]:
    """The rows of several batches together: a group of few rows costs every reader of the file."""
    held: list[pa.Table] = []
    features = Features()
    for rows in batches:
        table, features = rows.table()
        held.append(table)
        if sum(map(len, held)) >= _ROW_GROUP:
            yield pa.concat_tables(held), features
            held = []
    if held:
        yield pa.concat_tables(held), features


def _target(output: str | os.PathLike[str]) -> Path:
    if not isinstance(output, str | os.PathLike):
        raise ConfigurationError(f"output={output!r:.80} is no path; pass the file to write, such as 'sft.jsonl'")
    path = Path(output)
    if path.suffix not in (".jsonl", ".json", ".parquet"):
        raise ConfigurationError(f"output={str(output)!r}; a training file ends in .jsonl, .json or .parquet")
    if not path.parent.is_dir():
        raise ConfigurationError(f"output={str(output)!r}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise ConfigurationError(
            f"output={str(output)!r}: nothing can be written to {path.parent}; pick another folder"
        )
    return path


def export_dataset(
    data: Source | IterableDataset,
    output: str | os.PathLike[str],
    *,
    kind: str = "sft",
    format: str | None = None,
    tools: Any = None,
    system_prompt: str | None = None,
    tokenizer: Tokenizer | None = None,
    **knobs: Unpack[ExportKnobs],
) -> ExportReport:
    """
    Writes a training file. `export_training` is the same function.

    Rows go through in batches, so `data` may be larger than memory (kinds that make one row per prompt hold their
    prompts in memory). The file appears when it is whole.

    Args:
        data (`datasets.Dataset` or `datasets.IterableDataset` or `list[dict]` or path or Hub repo id):
            Rollouts, or pairs for the kinds that take them.
        output (`str` or path):
            File to write: `.jsonl`, or `.parquet`, which keeps the types.
        kind (`str`, *optional*, defaults to `"sft"`):
            A kind of [`to_trl`].
        format (`str`, *optional*):
            `"openai"`: `messages` with `arguments` as JSON text, the ask as `prompt`, `loss_mask` with one 0 or 1 per
            message; the default for the kinds `"sft"` and `"preference"`. `"trl"`: what the trainer loads.
        tools (`list`, *optional*):
            Tools in place of those on the rows.
        system_prompt (`str`, *optional*):
            System message in place of the rows' own.
        tokenizer (`transformers.PreTrainedTokenizerBase`, *optional*):
            As in [`to_trl`].
        knobs:
            Fields of [`ExportConfig`].

    Returns:
        [`ExportReport`]: What was written and what was left out.

    Raises:
        [`ConfigurationError`]: Wrong arguments.
        [`DataError`]: No row can be exported; no file is written.

    Examples:
    ```python
    >>> import tempfile
    >>> rows = [{"prompt": "Where is A1?", "final_text": "It was sent.", "reward": 1.0}]
    >>> folder = tempfile.mkdtemp()
    >>> print(export_dataset(rows, f"{folder}/sft.jsonl"))
    sft: 1 rows from 1 rollouts
    messages: 1 trained, 1 masked

    ```
    """
    name, path = kind_of(kind), _target(output)
    job = start(name, tools, system_prompt, None, tokenizer, overlay(ExportConfig, None, knobs))
    _format(format, name, job)
    part = path.with_name(path.name + ".part")
    try:
        with undisturbed(data, job):
            _write(make_all(data, name, job, _BATCH), path, name, keep_none=not job.wire)
        report = finish(name, job)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return report


# The older name.
export_training = export_dataset


def training_rows(
    data: Source | IterableDataset,
    *,
    kind: str = "sft",
    format: str | None = None,
    tools: Any = None,
    system_prompt: str | None = None,
    tokenizer: Tokenizer | None = None,
    **knobs: Unpack[ExportKnobs],
) -> list[Row]:
    """
    What [`export_dataset`] writes, as a list.

    Args:
        data, kind, format, tools, system_prompt, tokenizer, knobs:
            As there.

    Returns:
        `list[dict]`: Training rows, without the columns a row has no value for.

    Raises:
        [`DataError`]: No row can be exported.

    Examples:
    ```python
    >>> rows = training_rows([{"prompt": "Where is A1?", "final_text": "It was sent."}])
    >>> rows[0]["prompt"], rows[0]["loss_mask"]
    ('Where is A1?', [0, 1])

    ```
    """
    name = kind_of(kind)
    job = start(name, tools, system_prompt, None, tokenizer, overlay(ExportConfig, None, knobs))
    _format(format, name, job)
    rows = [
        {key: value for key, value in row.items() if value is not None}
        for made in make_all(data, name, job, _BATCH)
        for row in decode_table(arrow_table(made.dataset()), share=False)
    ]
    finish(name, job)
    return rows


def export_preference(
    pairs: Source, output: str | os.PathLike[str], *, format: str = "openai", tools: Any = None, **knobs: Any
) -> ExportReport:
    """
    Writes preference pairs.

    Args:
        pairs (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Pairs as [`build_preference_pairs`] makes them.
        output (`str` or path):
            `.jsonl` or `.parquet`.
        format (`str`, *optional*, defaults to `"openai"`):
            `"openai"`: the ask as `prompt`, whole conversations on both sides. `"trl"`: what `DPOTrainer` loads.
        tools (`list`, *optional*):
            Tools in place of those on the rows.
        knobs:
            Further arguments of [`export_dataset`].

    Returns:
        [`ExportReport`]: What was written and what was left out.

    Raises:
        [`DataError`]: The rows are no pairs, or none can be exported.
    """
    return export_dataset(pairs, output, kind="preference", format=format, tools=tools, **knobs)
