"""Arguments that are no values: a template's `<order_id>`, the schema's own words, "the order"."""

from __future__ import annotations

import re
from typing import Any

from whileai_hf.sandbox.naming import word_set, words_of


# "<order_id>", "{{id}}", "[ORDER ID]", "$ORDER_ID", "YOUR_ID", "your-order-id", "xxx".
_TEMPLATE = re.compile(
    r"<[A-Za-z][\w .-]*>|\{\{?\s*[A-Za-z][\w .-]*\}?\}|\[[A-Za-z][\w .-]*\]|\$\{?[A-Z][A-Z_]+\}?|"
    r"(?:your|insert|enter)[_ -][\w -]+|x{3,}|\.{3}|_{2,}",
    re.IGNORECASE,
)
# Words of a schema, or for "nothing here".
_SCHEMA_WORDS = word_set(
    "string str number integer int float boolean bool object array null none undefined placeholder "
    "example sample n/a na tbd todo unknown value"
)
# A description where an identifier belongs: "the order", "my last reservation".
_PHRASE = re.compile(r"(?:the|my|your|this|that|a|an|some|their|his|her)[ _][a-z][a-z _-]*", re.IGNORECASE)
# Nesting looked into for templates.
_DEPTH = 3


def is_placeholder(name: str, value: str, *, identifies: bool) -> bool:
    """
    Whether `value` stands for a value instead of being one.

    Args:
        name (`str`):
            Name of the parameter.
        value (`str`):
            What was passed.
        identifies (`bool`):
            Whether the parameter names a record; only there are ordinary words suspicious.

    Examples:
    ```python
    >>> is_placeholder("order_id", "<order_id>", identifies=True)
    True
    >>> is_placeholder("order_id", "the order", identifies=True)
    True
    >>> is_placeholder("order_id", "ORD-7", identifies=True), is_placeholder("body", "the order", identifies=False)
    (False, False)

    ```
    """
    text = value.strip()
    if _TEMPLATE.fullmatch(text):
        # Outside ids a bracketed word can be content: "[URGENT]"; a template repeats the name it stands for.
        return identifies or set(words_of(name)) <= set(words_of(text))
    if not identifies:
        return False
    lowered = text.lower()
    if lowered in _SCHEMA_WORDS or not lowered:
        return True
    return words_of(text) == words_of(name) or bool(_PHRASE.fullmatch(text) and not any(map(str.isdigit, text)))


def _walk(name: str, value: Any, ids: frozenset[str], depth: int) -> tuple[str, str] | None:
    if isinstance(value, str):
        return (name, value) if is_placeholder(name, value, identifies=name in ids) else None
    if depth >= _DEPTH:
        return None
    if isinstance(value, dict):
        pairs = [(key, item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(name, item) for item in value]
    else:
        return None
    for key, item in pairs:
        if not isinstance(item, int | float):
            found = _walk(key, item, ids, depth + 1)
            if found is not None:
                return found
    return None


def placeholder_in(arguments: dict[str, Any], ids: frozenset[str], exempt: frozenset[str]) -> tuple[str, str] | None:
    """The first placeholder, (name, value); `ids` identify records, the values of `exempt` are fixed by the schema."""
    for name, value in arguments.items():
        if name in exempt or not isinstance(value, str | dict | list):
            continue
        found = _walk(name, value, ids, 0)
        if found is not None:
            return found
    return None
