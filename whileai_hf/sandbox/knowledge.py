"""Which records exist in a rollout, and in what condition the situation says they are.

Inside a rollout the ask decides: the ids it names exist (unless the situation says they are missing), ids the world
handed out exist, and nothing else does when the ask named an id, so that an invented id is caught. When it names
none, an id out of the blue exists by a coin of the seed, because such an agent knows its ids from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from whileai_hf.rows.rng import unit
from whileai_hf.sandbox.effects import IdParameter
from whileai_hf.sandbox.naming import word_set
from whileai_hf.sandbox.shapes import shape_of, shown_examples
from whileai_hf.sandbox.state import Key, State, key_of


MISSING = "entity missing"
ACTED_ON = "entity already acted on"
DUPLICATED = "entity duplicated"
PARTIAL = "entity partially completed"
UNKNOWN = "unknown"
EXISTS = "entity exists"
UNSPECIFIED = "unspecified"
WORLD_STATES = (EXISTS, MISSING, ACTED_ON, DUPLICATED, PARTIAL, UNKNOWN, UNSPECIFIED)

# Chance that an id exists when nothing says whether it does.
_COIN = 0.5
# What an id in an ask looks like: letters and digits joined ("ORD-12", "sara_doe_496"), or a number of four digits
# and more that is no year, amount or part of a date.
_ID_TOKEN = re.compile(
    r"(?<![\w$.:/-])#?(?=[\w-]*\d)(?:[A-Za-z][\w-]*\d[\w-]*|\d+[A-Za-z][\w-]*|(?!(?:19|20)\d\d\b)\d{4,})(?![\w:-]|\.\d)"
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|am|pm|h|min|kg|cm|mm|km|gb|mb|k|x|d|s|m)\b", re.IGNORECASE)
_PATH_OR_URL = re.compile(r"https?://\S+|(?<!\S)~?/[\w.-]+/\S+|[\w.+-]+@[\w-]+\.\w+")
# Names that stand for something in every project.
_ALWAYS = word_set("head main master . / ~ ./ general")


@lru_cache(maxsize=8192)
def names_an_id(ask: str) -> bool:
    """
    Whether a text names any record by its id.

    Examples:
    ```python
    >>> names_an_id("Where is ORD-4412?"), names_an_id("Two tickets on 2024-05-01 at 10:30 for $1200, please")
    (True, False)

    ```
    """
    return _PATH_OR_URL.search(ask) is not None or any(True for _ in id_tokens(ask))


def id_tokens(ask: str) -> Iterator[tuple[int, str]]:
    """The ids a text names, with where they stand; paths and addresses are none of them."""
    for match in _ID_TOKEN.finditer(ask):
        if not _ORDINAL.fullmatch(match.group(0)):
            yield match.start(), match.group(0)


def mentions(text: str, wanted: str) -> bool:
    """Whether the case-folded `text` holds `wanted` as a word of its own: `ord-12` does not occur in `ord-123`."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(wanted, at + 1)
    return False


def plausible(identifier: Any, schema: dict[str, Any], kind: str) -> bool:
    """Whether an id looks like one: it has a digit, the format that is shown, or is a name, path or address."""
    text = str(identifier).strip()
    if not text:
        return False
    if kind == "name" or any(map(str.isdigit, text)):
        return True
    if kind in ("path", "url"):
        return "/" in text or "." in text
    return any(shape_of(example).fullmatch(text) for example in shown_examples(str(schema.get("description") or "")))


@dataclass(frozen=True)
class Premise:
    """What a rollout starts from. `ask` is `None` in a world outside any rollout."""

    seed: int
    scenario_id: str
    ask: str | None
    world_state: str
    known: frozenset[str]
    missing: frozenset[str]


class Knowledge:
    """Answers "does this record exist?" for one session. `focus` is the entity the situation is about, if it says."""

    __slots__ = ("_ask", "_premise", "_state", "focus")

    def __init__(self, premise: Premise, state: State, focus: str | None) -> None:
        self._premise = premise
        self._state = state
        self._ask = premise.ask.casefold() if premise.ask is not None else None
        self.focus = focus

    def hear(self, premise: Premise) -> None:
        """Go by another premise from now on: the user has said more."""
        self._premise = premise
        self._ask = premise.ask.casefold() if premise.ask is not None else None

    def named(self, identifier: Any) -> bool:
        """Whether the ask names this id."""
        wanted = key_of("", identifier)[1]
        return self._ask is not None and bool(wanted) and mentions(self._ask, wanted)

    def condition(self, item: IdParameter, identifier: Any, main: bool) -> str:
        """The state of the world that holds for this record: the situation's for the one it is about, else none."""
        if not main or (self.focus is not None and item.entity != self.focus):
            return UNSPECIFIED
        return self._premise.world_state if self.named(identifier) else UNSPECIFIED

    def exists(self, item: IdParameter, identifier: Any, schema: dict[str, Any], main: bool) -> bool:
        """Whether the record an id parameter names is there now."""
        key = key_of(item.entity, identifier)
        if key in self._state.created or self._state.holding(identifier) is not None:
            return True
        if self._gone(item, key):
            return False
        if key in self._state.known:
            return True
        if key[1] in self._premise.missing:
            return False
        if key[1] in self._premise.known or key[1] in _ALWAYS:
            return True
        if self._ask is None:
            return plausible(identifier, schema, item.kind)
        return self._asked(item, identifier, schema, key, main)

    def _asked(self, item: IdParameter, identifier: Any, schema: dict[str, Any], key: Key, main: bool) -> bool:
        condition = self.condition(item, identifier, main)
        if condition == MISSING:
            return False
        if condition == UNKNOWN:
            return self.coin(key)
        if self.named(identifier) or (item.kind == "path" and self._around(key[1])):
            return True
        if item.kind != "name" and names_an_id(self._premise.ask or ""):
            return False
        return plausible(identifier, schema, item.kind) and self.coin(key)

    def _gone(self, item: IdParameter, key: Key) -> bool:
        # A name or path is the same thing whatever the deleting tool calls it (an entity of a graph is its node).
        gone = self._state.gone
        return key in gone or (item.kind in ("name", "path") and any(other[1] == key[1] for other in gone))

    def _around(self, path: str) -> bool:
        """A folder above a path that is known exists as well, and so does what lies in a folder that is named."""
        folder = path.rstrip("/") + "/"
        if self._ask is not None and folder in self._ask and self._premise.world_state != MISSING:
            return True
        return any(key[0] == "file" and key[1].startswith(folder) for key in self._state.known)

    def coin(self, key: Key) -> bool:
        """A fair coin of the seed, the same in every rollout of the situation."""
        return unit(self._premise.seed, self._premise.scenario_id, "exists", *key) < _COIN
