"""Somebody else at work on the same records: a record is changed between this rollout's read of it and its write."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows.rng import rng
from whileai_hf.sandbox.breaker import Line
from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.state import Change, Key


# The field that tells a reader whose change it is, and what it holds.
CHANGED_BY = "last_changed_by"
SOMEBODY = "another user"


class Others:
    """
    Who has read what, and what was changed behind their back.

    A record counts as read from the read until somebody else changes it, and as overtaken from then until it is read
    again. A write to an overtaken record rests on what is no longer so.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        self._read: set[Key] = set()
        self.overtaken: dict[Key, Line] = {}

    def noticed(self, keys: tuple[Key, ...]) -> None:
        """These records were read: what has been changed in them is known."""
        self._read.update(keys)
        for key in keys:
            line = self.overtaken.get(key)
            if line is not None and line.entry["lasts"] != "always":
                del self.overtaken[key]

    def forget(self, key: Key) -> None:
        """The change was written over."""
        self.overtaken.pop(key, None)

    def change(self, line: Line, key: Key, identifier: Any, wanted: dict[str, Any]) -> bool:
        """
        Somebody else changes a record that was read, as often as the plan says.

        Args:
            line ([`Line`]):
                The planned fault.
            key (`tuple[str, str]`):
                The record.
            identifier (`Any`):
                Its id as it was given.
            wanted (`dict`):
                Fields the rollout is about to write; one of them is changed if the record has any.

        Returns:
            `bool`: Whether it was changed.
        """
        if line.changes >= line.most or key not in self._read:
            return False
        shape = self._records.toolset.shape(key[0])
        before = self._records.row(key, identifier, shape.id_name)
        fixed = {shape.id_name, CHANGED_BY, *(item.name for item in shape.fields if item.refers)}
        names = [name for name, value in before.items() if name not in fixed and isinstance(value, str | int | float)]
        if not names:
            return False
        draws = rng(self._records.seed, "others", *key, line.changes)
        name = draws.pick([name for name in names if name in wanted] or names)
        value = self._other(key[0], f"{identifier} {line.changes}", name, before[name])
        self._records.state.apply(Change(key, identifier, {name: value, CHANGED_BY: SOMEBODY}))
        line.changes += 1
        self._read.discard(key)
        self.overtaken[key] = line
        return True

    def _other(self, entity: str, identifier: str, name: str, old: Any) -> Any:
        """Another value of a field: what some other record of the kind has there, if that differs."""
        value = self._records.untouched(entity, identifier).get(name)
        if type(value) is type(old) and value != old:
            return value
        if isinstance(old, bool):
            return not old
        return f"{old} (changed)" if isinstance(old, str) else old + 1
