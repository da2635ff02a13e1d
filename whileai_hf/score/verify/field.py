"""A verifier of one value in a JSON reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.structure import read_json


_GIVEN = object()
_MISSING = object()


class JSONField(Verifier):
    """
    1 when the reply is one JSON document and a value in it equals the gold answer.

    Types count: the text `"7"` is not the number `7`, and `true` is not `1` (but `7.0` is `7`: JSON has one kind of
    number). Gold columns are often text only, so a gold answer that is text also matches the value it spells: the gold
    `"7"` matches both `7` and `"7"`. A `value=` given here is taken at its type.

    Args:
        path (`str`):
            Where the value is: dotted (`"order.items.0.id"`) or a JSON pointer (`"/order/items/0/id"`), which also
            reaches keys with dots in them; `""` is the document.
        value (`Any`, *optional*):
            The right value. Without it: the gold answer of the row (one of them, when that is a list and the value in
            the reply is none).
        tolerance (`float`, *optional*, defaults to 0):
            Difference between numbers that is still right.
        case (`bool`, *optional*, defaults to `True`):
            Whether upper and lower case differ in texts.
        fences (`bool`, *optional*, defaults to `True`):
            Accept a document inside one Markdown code block.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`].
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> JSONField("order.id")({"final_text": '{"order": {"id": 7}}', "answer": 7})["reward"]
    1.0
    >>> JSONField("/ok", value=1)({"final_text": '{"ok": true}'})["reward"]
    0.0

    ```
    """

    name = "json_field"

    def __init__(
        self,
        path: str,
        *,
        value: Any = _GIVEN,
        tolerance: float = 0.0,
        case: bool = True,
        fences: bool = True,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        if not isinstance(path, str):
            raise ConfigurationError(f"JSONField(path={path!r}) is no path; pass 'order.id' or '/order/id'")
        if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < float("inf"):
            raise ConfigurationError(f"JSONField(tolerance={tolerance!r}) is no tolerance; pass a number, 0 or more")
        self.path, self.keys = path, _keys(path)
        self.tolerance, self.case, self.fences = float(tolerance), case, fences
        self.needs_gold = value is _GIVEN
        self.value = None if value is _GIVEN else value

    def check(self, candidate: str, gold: Any) -> Any:
        """Parses the reply, follows the path and compares."""
        document, reason = read_json(candidate, self.fences)
        if reason is not None:
            return {"reward": 0.0, "reason": reason}
        found = _follow(document, self.keys)
        if found is _MISSING:
            return {"reward": 0.0, "reason": f"nothing at {self.path!r}"}
        if any(self.equal(found, wanted) for wanted in self._wanted(gold, found)):
            return True
        return {"reward": 0.0, "reason": f"{self.path} is {found!r:.80}"}

    def _wanted(self, gold: Any, found: Any) -> list[Any]:
        if not self.needs_gold:
            return [self.value]
        golds = list(gold) if isinstance(gold, list | tuple) and not isinstance(found, list) else [gold]
        spelled = []
        for item in golds:
            if isinstance(item, str) and not isinstance(found, str):
                value, reason = read_json(item, fences=False)
                spelled += [value] if reason is None else []
        return golds + spelled

    def equal(self, found: Any, wanted: Any) -> bool:
        """Whether two JSON values are equal under the rules of this verifier, to the bottom."""
        if isinstance(found, bool) or isinstance(wanted, bool):
            return found is wanted
        if isinstance(found, int | float) and isinstance(wanted, int | float):
            return found == wanted or abs(found - wanted) <= self.tolerance
        if isinstance(found, str) and isinstance(wanted, str):
            return found == wanted or (not self.case and found.casefold() == wanted.casefold())
        if isinstance(found, Mapping) and isinstance(wanted, Mapping):
            return found.keys() == wanted.keys() and all(self.equal(found[key], wanted[key]) for key in found)
        if isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
            return len(found) == len(wanted) and all(map(self.equal, found, wanted))
        return found is None and wanted is None


def _keys(path: str) -> tuple[str, ...]:
    if path.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))
    keys = tuple(path.split(".")) if path else ()
    if not all(keys):
        raise ConfigurationError(f"JSONField(path={path!r}) has an empty key; pass 'order.id', or '/order//id'")
    return keys


def _follow(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value
