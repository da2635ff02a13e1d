"""Cells of struct columns as they were before the struct type filled them.

`load_dataset` gives JSON files and Parquet of other stacks struct types: every row has the keys of all rows, filled
with `None`.
"""

from __future__ import annotations

from typing import Any

from datasets import Json, LargeList, List


def is_filled(feature: Any) -> bool:
    """Whether a column's type has a struct in it."""
    if isinstance(feature, List | LargeList):
        return is_filled(feature.feature)
    return isinstance(feature, dict) or (isinstance(feature, list) and any(map(is_filled, feature)))


def unfilled(value: Any, feature: Any) -> Any:
    """
    A cell without the keys its struct type added.

    Args:
        value (`Any`):
            The cell, decoded.
        feature (`datasets` feature):
            Its type.

    Returns:
        `Any`: A copy. `None` inside of JSON is somebody's own and stays.

    Examples:
    ```python
    >>> from datasets import Value
    >>> kind = {"a": Value("int64"), "b": Value("int64"), "c": Json()}
    >>> unfilled({"a": 1, "b": None, "c": {"d": None}}, kind)
    {'a': 1, 'c': {'d': None}}

    ```
    """
    if value is None or isinstance(feature, Json):
        return value
    if isinstance(feature, dict) and isinstance(value, dict):
        return {key: unfilled(item, feature.get(key)) for key, item in value.items() if item is not None}
    inner = feature.feature if isinstance(feature, List | LargeList) else None
    if inner is None and isinstance(feature, list) and feature:
        inner = feature[0]
    return [unfilled(item, inner) for item in value] if isinstance(value, list) and inner is not None else value
