"""Whether rows are what the schema says, with one sentence for each thing that is not.

The wire contract is the JSON Schema in `schemas/row-v1.json`. Rows without a `schema_version` are version 0 and are
read by shape first.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from whileai_hf.errors import DataError
from whileai_hf.rows.canonical import canonical
from whileai_hf.rows.open import view
from whileai_hf.rows.schema import _upgrade
from whileai_hf.rows.view import Source


# Problems listed before the rest is only counted.
_MAX_LISTED = 20


@cache
def row_schema() -> dict[str, Any]:
    """The JSON Schema of a row, version 1."""
    text = files("whileai_hf.rows").joinpath("schemas/row-v1.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(row_schema())


def row_errors(row: dict[str, Any]) -> list[str]:
    """What is wrong with one row, one sentence each; empty when nothing is."""
    upgraded = _upgrade(row)
    version = upgraded.setdefault("schema_version", "1")
    if version != "1":
        return [f"schema_version is {version!r}; this version of the library reads '1' and rows without one"]
    errors = sorted(_validator().iter_errors(canonical(upgraded)), key=lambda error: list(map(str, error.path)))
    return [f"{'.'.join(map(str, error.path)) or 'the row'}: {error.message[:200]}" for error in errors]


def validate(source: Source) -> int:
    """
    Checks rows against the row schema.

    Args:
        source (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.

    Returns:
        `int`: How many rows were checked.

    Raises:
        [`DataError`]: Some rows break the schema; the message lists the first of them with their row numbers.

    Examples:
    ```python
    >>> from whileai_hf.rows.validation import validate
    >>> validate([{"schema_version": "1", "prompt": "hi", "steps": [], "final_text": "hello"}])
    1

    ```
    """
    rows = view(source)
    found = [f"row {index}: {error}" for index, row in enumerate(rows.rows()) for error in row_errors(row)]
    if found:
        more = f" (and {len(found) - _MAX_LISTED} more)" if len(found) > _MAX_LISTED else ""
        raise DataError(f"{len(found)} problems in {len(rows)} rows{more}: " + "; ".join(found[:_MAX_LISTED]))
    return len(rows)
