"""What a rollout has done to its world: the writes, the records they left, the ids that have been seen.

Only differences are kept. A record nobody wrote to is rebuilt from the seed, so a fresh state costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.rows import canonical, dumps
from whileai_hf.rows.rng import digest


Key = tuple[str, str]


def key_of(entity: str, identifier: Any) -> Key:
    """
    How a record is found again: `#ORD-7` and `ord-7` are the same order.

    Examples:
    ```python
    >>> key_of("order", " #ORD-7") == key_of("order", "ord-7")
    True

    ```
    """
    return entity, str(identifier).strip().lstrip("#@").casefold()


def clone(value: Any) -> Any:
    """A copy of a JSON value that shares nothing with it; several times faster than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: clone(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clone(item) for item in value]
    return value


@dataclass
class Change:
    """One write to one record: the fields it sets, or that the record is gone, or new; and what has then been done."""

    key: Key
    identifier: Any
    fields: dict[str, Any] = field(default_factory=dict)
    gone: bool = False
    new: bool = False
    done: str = ""


@dataclass
class Snapshot:
    """The differences a rollout had made by some time."""

    fields: dict[Key, dict[str, Any]]
    created: dict[Key, Any]
    gone: set[Key]
    done: dict[Key, set[str]]


class State:
    """The differences one rollout made. Not thread-safe; the session holds its lock around every use."""

    def __init__(self) -> None:
        self.fields: dict[Key, dict[str, Any]] = {}
        self.created: dict[Key, Any] = {}
        self.gone: set[Key] = set()
        self.done: dict[Key, set[str]] = {}
        self.shown: dict[Key, dict[str, Any]] = {}
        self.known: set[Key] = set()
        # The ids of updated records as they were given; keys are case-folded.
        self.updated: dict[Key, Any] = {}
        # The tool that wrote a record last.
        self.writers: dict[Key, str] = {}

    def apply(self, change: Change) -> None:
        """Make a write happen."""
        key = change.key
        if change.gone:
            self.gone.add(key)
            if key not in self.created:
                self.updated.setdefault(key, change.identifier)
            self.fields.pop(key, None)
            self.created.pop(key, None)
            return
        if change.new:
            self.gone.discard(key)
            self.created[key] = change.identifier
            self.known.add(key)
        else:
            self.updated.setdefault(key, change.identifier)
        if change.done:
            self.done.setdefault(key, set()).add(change.done)
        # A copy: the reply of the same call shows the same values and is the caller's to change.
        self.fields.setdefault(key, {}).update(clone(change.fields))

    def snapshot(self) -> Snapshot:
        """What the writes left behind so far, to look back at."""
        fields = {key: dict(values) for key, values in self.fields.items()}
        return Snapshot(
            fields, dict(self.created), set(self.gone), {key: set(verbs) for key, verbs in self.done.items()}
        )

    @contextmanager
    def looking_back(self, past: Snapshot) -> Iterator[None]:
        """Be in an earlier state for a while. What is learnt meanwhile, such as ids a list names, stays known."""
        now = (self.fields, self.created, self.gone, self.done, self.known)
        self.fields, self.created, self.gone, self.done = past.fields, past.created, past.gone, past.done
        self.known = self.known - (now[1].keys() - past.created.keys())
        try:
            yield
        finally:
            learnt = self.known
            self.fields, self.created, self.gone, self.done, self.known = now
            self.known |= learnt

    def holding(self, value: Any) -> Key | None:
        """The record created here that `value` names: by its id, or as a value it was created with."""
        wanted = key_of("", value)[1]
        if not wanted:
            return None
        for key in reversed(self.created):
            if key[1] == wanted or _holds(self.fields.get(key), wanted):
                return key
        return None

    def digest(self) -> str:
        """
        A fingerprint of what the writes left behind, whatever their order and whatever was read.

        Examples:
        ```python
        >>> State().digest() == State().digest()
        True

        ```
        """
        written = sorted((list(key), value) for key, value in self.fields.items())
        content = {
            "fields": [[key, canonical(value)] for key, value in written],
            "created": sorted(map(list, self.created)),
            "gone": sorted(map(list, self.gone)),
        }
        return digest(dumps(content).decode(), length=16)


def _holds(value: Any, wanted: str) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() == wanted
    if isinstance(value, dict):
        return any(_holds(item, wanted) for item in value.values())
    if isinstance(value, list):
        return any(_holds(item, wanted) for item in value)
    return False
