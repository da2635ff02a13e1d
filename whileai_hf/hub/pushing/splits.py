"""Which rows go into which split of a push."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pyarrow as pa
from datasets import Dataset, Features
from datasets.features.features import require_storage_embed
from datasets.table import embed_table_storage

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.pushing.config import PushConfig, check_split
from whileai_hf.measure.hygiene import split as split_by_task
from whileai_hf.measure.passes.codes import TASK_COLUMNS
from whileai_hf.rows import add_columns, open_rows, task_keys, view


# Rows whose files are read at a time.
_FILES = 100


def open_splits(data: Any) -> dict[str, Dataset]:
    """
    The rows given, by split; a single set of rows is the split `""`.

    Args:
        data (`Dataset`, `list[dict]`, path, repo id, or a `DatasetDict` or dict of those):
            The rows.

    Raises:
        [`DataError`]: No rows, or splits whose columns differ in type.
    """
    if isinstance(data, Dataset):
        return {"": _some(data, "the rows")}
    if not isinstance(data, Mapping):
        return {"": _some(open_rows(data), "the rows")}
    if not data:
        raise DataError("the dict of splits is empty; pass rows by the name of their split")
    return aligned({str(name): _some(rows, f"split {name!r}") for name, rows in data.items()})


def _some(rows: Any, what: str) -> Dataset:
    dataset = open_rows(rows) if not isinstance(rows, Dataset) else rows
    if not len(dataset):
        raise DataError(f"{what} hold no rows (empty); a push needs at least one row")
    return _with_files(dataset, what) if any(map(require_storage_embed, dataset.features.values())) else dataset


def _with_files(dataset: Dataset, what: str) -> Dataset:
    """Rows whose images and sounds are the bytes, not the path of a file on this machine."""
    try:
        embedded = dataset.with_format("arrow").map(embed_table_storage, batched=True, batch_size=_FILES)
    except FileNotFoundError as error:
        raise DataError(
            f"{what} point at a file that is not there ({error}); mend the path, or drop the column"
        ) from error
    return embedded.with_format(None)


def aligned(splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """
    Splits with the same columns in the same order: one that lacks a column gets it without values.

    Args:
        splits (`Mapping[str, datasets.Dataset]`):
            Rows by split.

    Raises:
        [`DataError`]: A column is of different types.
    """
    features: dict[str, Any] = {}
    for name, rows in splits.items():
        for column, feature in rows.features.items():
            known = features.setdefault(column, feature)
            if known == feature:
                continue
            if _empty(known):
                features[column] = feature
            elif not _empty(feature):
                raise DataError(
                    f"column {column!r} is {feature} in split {name!r} and {known} in another; push them under "
                    "different config_name, or give it one type"
                )
    return {name: _with_features(rows, Features(features)) for name, rows in splits.items()}


def _empty(feature: Any) -> bool:
    """Whether a column holds nothing but null, so that any type fits."""
    return bool(pa.types.is_null(Features({"x": feature}).arrow_schema.field("x").type))


def _with_features(rows: Dataset, features: Features) -> Dataset:
    if list(rows.features.items()) == list(features.items()):
        return rows
    schema = features.arrow_schema
    missing = [name for name in features if name not in rows.features or rows.features[name] != features[name]]
    if missing:
        empty = {name: pa.nulls(len(rows), schema.field(name).type) for name in missing}
        rows = add_columns(rows, empty, {name: features[name] for name in missing})
    return rows.select_columns(list(features))


def name_splits(
    splits: Mapping[str, Dataset], purpose: str, holdout: float | None, config: PushConfig
) -> dict[str, Dataset]:
    """
    The splits of a push by the name they get.

    Args:
        splits (`Mapping[str, datasets.Dataset]`):
            What [`open_splits`] gave.
        purpose (`str`):
            What the push is for; it names the split.
        holdout (`float`, *optional*):
            Share of the tasks to hold out.
        config ([`PushConfig`]):
            Its `split` and `seed`.

    Raises:
        [`ConfigurationError`]: `holdout` or `split` for rows that come in splits.
    """
    if "" not in splits:
        for knob, value in (("holdout", holdout), ("split", config.split)):
            if value is not None:
                raise ConfigurationError(f"{knob}={value!r} for rows that are in splits already; leave it out")
        for name in splits:
            check_split(name)
        return dict(splits)
    rows = splits[""]
    name = config.split or purpose
    if holdout is None:
        return {name: rows}
    if name == "holdout":
        raise ConfigurationError("split='holdout' with holdout= would be two splits of one name; pass another split")
    parts = split_by_task(rows, holdout=holdout, seed=config.seed)
    return {name: parts["train"], "holdout": parts["holdout"]}


def shared_tasks(splits: Mapping[str, Dataset]) -> list[str]:
    """
    What to say about tasks that are in more than one split.

    Args:
        splits (`Mapping[str, datasets.Dataset]`):
            The splits of a push.

    Returns:
        `list[str]`: A sentence for every two splits that share some; empty when nothing names the tasks.
    """
    named = {name: rows for name, rows in splits.items() if set(TASK_COLUMNS) & set(rows.features)}
    keys = {name: set(task_keys(view(rows))) for name, rows in named.items()} if len(named) > 1 else {}
    return [
        f"{len(keys[one] & keys[two])} tasks are in both {one!r} and {two!r}: what is trained on one of them cannot "
        "be measured on the other; let holdout= split the rows"
        for one, two in combinations(keys, 2)
        if keys[one] & keys[two]
    ]
