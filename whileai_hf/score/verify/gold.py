"""Where a row keeps its gold answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


# Flat columns that hold gold answers in public datasets, in the order they are tried.
GOLD_COLUMNS = ("answer", "target", "reference", "gold", "label", "solution")
# Of a task with this `writer_model` the privileged reference says in words what a right run does. It is written for a
# judge that reads: no reply equals it, and one that contains it has leaked it.
DESCRIBING_WRITER = "template"


class Gold(NamedTuple):
    """A gold answer, or the reason why there is none."""

    value: Any
    missing: str | None = None


def find_gold(row: Mapping[str, Any], field: str | None = None) -> Gold:
    """
    The gold answer of a row.

    The `privileged.reference` of a task from the template writer describes a right run and is no answer, so only the
    other gold columns count there. A `field` is taken at its word.

    Args:
        row (`Mapping`):
            The row.
        field (`str`, *optional*):
            Dotted path into the row; digits index lists. A column whose name itself has dots is tried first.

    Returns:
        [`Gold`]: With `missing` set when the row has none.

    Examples:
    ```python
    >>> find_gold({"privileged": {"reference": "42"}}).value, find_gold({"meta": {"key": ["7"]}}, "meta.key.0").value
    ('42', '7')

    ```
    """
    if field is not None:
        value = row[field] if field in row else _follow(row, field)
        return Gold(value, f"no gold answer: the row has nothing at {field!r}" if _absent(value) else None)
    privileged = row.get("privileged")
    described = False
    # Asked first whether there is any: an abstract class takes its time to say no.
    if privileged is not None and isinstance(privileged, Mapping) and not _absent(privileged.get("reference")):
        described = row.get("writer_model") == DESCRIBING_WRITER
        if not described:
            return Gold(privileged["reference"])
    for name in GOLD_COLUMNS:
        value = row.get(name)
        if value is not None and not _absent(value):
            return Gold(value)
    if described:
        what = "privileged.reference describes a right run for a judge and is no answer to compare with"
        return Gold(None, f"no gold answer: {what}; pass field=, or use a judge that reads it")
    where = f"no privileged.reference and none of {', '.join(GOLD_COLUMNS)}"
    return Gold(None, f"no gold answer: the row has {where}; pass field= or tasks=")


def _absent(value: Any) -> bool:
    """No answer at all: `None`, a NaN, an empty list. An empty string is an answer."""
    return value is None or value != value or (isinstance(value, list | tuple) and not value)


def _follow(value: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
