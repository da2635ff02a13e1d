"""Human labels of pairs: which side somebody preferred, in the notations in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from whileai_hf.errors import DataError
from whileai_hf.score.pairs.sides import Fields
from whileai_hf.score.pairs.voting import Side


_WORDS: dict[str, Side] = {
    **dict.fromkeys(("a", "1", "model_a", "first"), "a"),
    **dict.fromkeys(("b", "2", "model_b", "second"), "b"),
    **dict.fromkeys(("tie", "0", "draw", "equal", "same"), "tie"),
}


def read_labels(values: Sequence[Any], column: str, fields: Fields) -> list[Side | None]:
    """
    The side each label prefers.

    Args:
        values (`Sequence`):
            `"a"`, `"b"`, `"tie"`; 1, 2, 0 for a tie; the name of the side's column; or a list of several people's
            labels, of which the strict majority counts. `None` is no label.
        column (`str`):
            Their column, for errors.
        fields ([`Fields`]):
            The sides' columns.

    Returns:
        `list`: `None` where there is no label, or no majority.

    Raises:
        [`DataError`]: A label that names no side, or labels of 0 and 1 alone: these are used for "tie and a" as well
        as for "a and b".

    Examples:
    ```python
    >>> read_labels([1, 2, [2, 2, 0], None], "human", Fields("a", "b", None))
    ['a', 'b', 'b', None]

    ```
    """
    flat = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    known = {_plain(item) for item in flat if item is not None}
    if "0" in known and known <= {"0", "1"}:
        raise DataError(
            f"the labels in {column!r} are 0 and 1, which may be 'tie and a' or 'a and b'; map them to 'a', 'b', 'tie'"
        )
    names: dict[str, Side] = {**_WORDS, fields.a.casefold(): "a", fields.b.casefold(): "b"}
    return [_label(value, names, column) for value in values]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()


def _label(value: Any, names: dict[str, Side], column: str) -> Side | None:
    if isinstance(value, list | tuple):
        votes = Counter(_label(item, names, column) for item in value if item is not None)
        top = votes.most_common(1)
        return top[0][0] if top and 2 * top[0][1] > votes.total() else None
    if value is None:
        return None
    found = names.get(_plain(value))
    if found is None:
        raise DataError(
            f"the label {value!r:.40} in {column!r} names no side; expected 'a', 'b', 'tie', 1, 2, 0 or a column name"
        )
    return found
