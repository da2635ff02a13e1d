"""Two schemas that must both hold, as one: what `allOf` and the branch of a union come down to."""

from __future__ import annotations

from typing import Any


# Bounds of which the tighter one counts.
_LARGEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_SMALLEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def _types(declared: Any) -> list[str]:
    return [declared] if isinstance(declared, str) else list(declared)


def _common_types(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    first, second = _types(one), _types(other)
    if "number" in first and "integer" in second:
        first = [*first, "integer"]
    if "number" in second and "integer" in first:
        second = [*second, "integer"]
    common = [kind for kind in first if kind in second]
    if "integer" in common and "number" in common:
        common.remove("number")
    return common[0] if len(common) == 1 else common or one


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """
    A schema whose values satisfy both (as far as bounds, keys, enums and types go).

    Examples:
    ```python
    >>> merged({"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3})
    {'type': 'integer', 'minimum': 3}

    ```
    """
    result = dict(one)
    for key, value in other.items():
        if key not in result:
            result[key] = value
        elif key == "type":
            result[key] = _common_types(result[key], value)
        elif key == "properties":
            result[key] = {
                name: merged(result[key][name], item)
                if isinstance(result[key].get(name), dict) and isinstance(item, dict)
                else item
                for name, item in {**result[key], **value}.items()
            }
        elif key == "required":
            result[key] = list(dict.fromkeys([*result[key], *value]))
        elif key == "enum":
            result[key] = [item for item in result[key] if item in value]
        elif key in ("allOf", "anyOf", "oneOf"):
            # Kept side by side: both still have to be chosen from.
            result["allOf"] = [*result.get("allOf", ()), {key: value}] if key != "allOf" else [*result[key], *value]
        elif key in _LARGEST:
            result[key] = max(result[key], value)
        elif key in _SMALLEST:
            result[key] = min(result[key], value)
        elif key not in ("description", "title", "default"):
            result[key] = value
    return result
