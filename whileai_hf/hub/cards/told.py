"""Values out of records that others may have written or edited: the kind that is wanted, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """
    A mapping by text; empty for anything else.

    Examples:
    ```python
    >>> mapping({"a": 1}), mapping([1])
    ({'a': 1}, {})

    ```
    """
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}


def texts(value: Any) -> list[str]:
    """The texts of a list; empty for anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def count(value: Any) -> int | None:
    """A whole number from 0 on; `None` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def counts(value: Any) -> dict[str, int]:
    """The members of a mapping that are counts."""
    return {key: number for key, item in mapping(value).items() if (number := count(item)) is not None}
