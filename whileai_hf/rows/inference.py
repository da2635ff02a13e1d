"""The type of a column nobody declared, told from its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from datasets import Json, List, Value


Feature = Any  # datasets has no common base class for its feature types


def infer_feature(values: Sequence[Any]) -> Feature:
    """
    The feature of a column nobody declared: plain Arrow types where Arrow agrees on one, `Json` for nested values.

    Args:
        values (`Sequence[Any]`):
            All values of the column.

    Returns:
        `datasets` feature: `Value(...)`, `List(Value(...))`, `List(Json())` or `Json()`. A column that mixes numbers
        and text becomes strings.
    """
    kinds = set(map(type, values)) - {type(None)}
    if any(issubclass(kind, dict) for kind in kinds):
        return Json()
    if any(issubclass(kind, list | tuple) for kind in kinds):
        if not all(issubclass(kind, list | tuple) for kind in kinds):
            return Json()
        items = [item for value in values if value is not None for item in value]
        inner = infer_feature(items)
        # Lists keep numbers beside text as they are, which columns of either cannot.
        mixed = inner == Value("string") and not all(item is None or isinstance(item, str | bytes) for item in items)
        return List(inner) if isinstance(inner, Value) and not mixed else List(Json())
    if all(issubclass(kind, str) for kind in kinds):
        return Value("string")
    if all(issubclass(kind, bool) for kind in kinds):
        return Value("bool")
    if any(issubclass(kind, bool) for kind in kinds):
        return Value("string")
    if all(issubclass(kind, int) for kind in kinds):
        present = [value for value in values if value is not None]
        return Value("int64" if min(present) >= -(1 << 63) and max(present) < 1 << 63 else "string")
    if all(issubclass(kind, int | float) for kind in kinds):
        return Value("float64")
    return Value("string")


def as_declared(values: Sequence[Any], feature: Feature) -> Sequence[Any]:
    """Values of a column that was inferred to be one of strings as text; others as they are."""
    if isinstance(feature, Value) and feature.dtype == "string":
        return [value if value is None or isinstance(value, str) else str(value) for value in values]
    return values
