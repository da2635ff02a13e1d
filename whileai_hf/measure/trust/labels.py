"""Labels as people keep them: a JSONL file, a dict of key and label, a list of records."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.measure.trust.keys import record_key
from whileai_hf.rows import loads
from whileai_hf.rows.open import read_jsonl


Labels = str | PathLike[str] | Mapping[Any, Any] | Sequence[Any]
# Characters of a key that are shown in a message.
_SHOWN = 80


@dataclasses.dataclass(frozen=True)
class Label:
    """One judgement of one person (or model): which rollout, pass or fail (`None`: left blank), and who said so."""

    key: Any
    value: int | None
    annotator: str | None


def shown_key(key: Any) -> str:
    """A key in a message."""
    text = repr(key)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _value(raw: Any, where: str) -> int | None:
    """A label as 0 or 1; a blank, which spreadsheets write as NaN, is none."""
    if isinstance(raw, np.generic):
        raw = raw.item()
    if raw is None or (isinstance(raw, float) and math.isnan(raw)) or raw == "":
        return None
    if isinstance(raw, bool | int | float) and raw in (0, 1):
        return int(raw)
    raise DataError(f"{where} has the label {shown_key(raw)}; a label is 0 (fail) or 1 (pass), or blank")


def _annotator(raw: Any, default: str | None) -> str | None:
    return default if raw is None or raw == "" else str(raw)


def _from_record(record: Any, where: str, annotator: str | None) -> Label:
    if isinstance(record, tuple | list) and len(record) == 2:
        return Label(record[0], _value(record[1], where), annotator)
    if not isinstance(record, Mapping):
        raise DataError(f"{where} is a {type(record).__name__}; expected a record with a key and a label")
    if "label" not in record:
        have = f"it has {', '.join(map(str, record))}" if record else "it is empty"
        raise DataError(f"{where} has no 'label' ({have}); expected a record with a key and a label of 0 or 1")
    key = record_key(record)
    if key is None:
        raise DataError(
            f"{where} has no 'key'; name the rollout by its id, its rollout_key, or task and rollout_index"
        )
    return Label(key, _value(record["label"], where), _annotator(record.get("annotator"), annotator))


def _from_file(path: Path) -> Labels:
    if not path.is_file():
        raise SourceNotFoundError(f"labels={str(path)!r} is not a file; pass a JSONL file, a dict or a list of labels")
    if path.suffix != ".json":
        return read_jsonl(path)
    try:
        value = loads(path.read_bytes())
    except ValueError:
        return read_jsonl(path)  # JSON lines under a .json name
    # One record in a file of its own is a list of one, not a dict of keys.
    return [value] if isinstance(value, dict) and "label" in value and ("key" in value or "id" in value) else value


def read_labels(labels: Labels, annotator: str | None = None) -> list[Label]:
    """
    Labels of any form.

    Args:
        labels (`str`, `Path`, `dict` or `list`):
            A JSONL file, or records: `{"key", "label"}`, optionally `"annotator"`; the identity columns may stand in
            for the key. Or `{key: label}`, or pairs of the two.
        annotator (`str`, *optional*):
            Who wrote those that do not say.

    Returns:
        `list[Label]`: In order.

    Raises:
        [`DataError`]: A label that is neither 0, 1 nor blank, or a record without a key.
        [`SourceNotFoundError`]: No such file.

    Examples:
    ```python
    >>> [label.value for label in read_labels({"sc-1": 1, "sc-2": False, "sc-3": None})]
    [1, 0, None]

    ```
    """
    if isinstance(labels, str | PathLike):
        path = Path(labels).expanduser()
        return _read(_from_file(path), annotator, f"{path.name}: label ")
    return _read(labels, annotator, "label ")


def _read(labels: Labels, annotator: str | None, where: str) -> list[Label]:
    if isinstance(labels, Mapping):
        return [
            Label(key, _value(value, f"{where}{shown_key(key)}"), annotator)
            if not isinstance(value, Mapping)
            else _from_record({"key": key, **value}, f"{where}{shown_key(key)}", annotator)
            for key, value in labels.items()
        ]
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence):
        kind = type(labels).__name__
        raise ConfigurationError(
            f"labels were given as a {kind}; pass a JSONL file, a dict of key and label, or a list"
        )
    return [_from_record(record, f"{where}{at}", annotator) for at, record in enumerate(labels)]
