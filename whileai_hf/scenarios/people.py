"""Who asks, in what tone, at what length and how it is typed. Drawn per row, never part of a situation's identity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.scenarios.phrases import data


# Marks stand for values (see `slots.py`); no typing quirk may touch a word that holds one.
_MARKED = re.compile("[\ue000-\uf8ff]")
_POLITE_START = re.compile(
    r"\b(?:can|could|would|will) you(?: please)? |\bi(?:'d like| need| want) you to |\bplease ", re.IGNORECASE
)
_ARTICLES = re.compile(r"\b(?:the|a|an|really|just|very) ", re.IGNORECASE)
_SHORTEST_TYPO = 5
# Chance that a message of medium length says who is writing.
_PERSONA = 0.5


@dataclass(frozen=True)
class Person:
    """Who writes a row: persona, tone, typing and length."""

    persona: str
    tone: str
    typing: str
    length: str


@cache
def _weighted(key: str) -> tuple[str, ...]:
    """Each name as often as it weighs."""
    table: Mapping[str, Any] = data("people")[key]
    weights = {name: entry["weight"] if isinstance(entry, dict) else entry for name, entry in table.items()}
    return tuple(name for name, weight in weights.items() for _ in range(weight))


def draw_person(draws: Draws, *, fresh: bool) -> Person:
    """
    A person.

    Args:
        draws ([`~whileai_hf.rows.rng.Draws`]):
            Where the choices come from.
        fresh (`bool`):
            Whether nothing happened before: somebody who comes back is no first-timer.
    """
    persona, tone = draws.pick(_weighted("personas")), draws.pick(_weighted("tones"))
    typing, length = draws.pick(_weighted("typing")), draws.pick(_weighted("length"))
    if not fresh and data("people")["personas"][persona].get("fresh"):
        persona = "plain"
    if length == "short":
        # A few words leave no room for manners; the row says so rather than claim what cannot be read.
        persona, tone = "plain", "neutral"
    elif length == "medium" and not draws.chance(_PERSONA):
        persona = "plain"
    return Person(persona, tone, typing, length)


def typed(text: str, typing: str, draws: Draws) -> str:
    """
    `text` the way the person types; marked words stay as they are.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> typed("Could you please find the invoice?", "clipped", rng(0, "x"))
    'find invoice'

    ```
    """
    if typing == "lowercase":
        return text.lower().replace(" i'm ", " im ") if draws.chance(0.5) else text.lower()
    if typing == "clipped":
        return _clipped(text)
    if typing == "typos":
        return _with_typos(text, draws)
    return text


def _clipped(text: str) -> str:
    short = _ARTICLES.sub("", _POLITE_START.sub("", text))
    parts = [part.strip(" ,") for part in re.split(r"(?<=[a-z\ue000-\uf8ff\"')])[.?!](?:\s+|$)", short)]
    return ". ".join(part for part in parts if part).lower()


def _with_typos(text: str, draws: Draws) -> str:
    words = text.split(" ")
    able = [
        i
        for i, word in enumerate(words)
        if len(word) >= _SHORTEST_TYPO and word.isalpha() and not _MARKED.search(word)
    ]
    for index in draws.sample_k(able, draws.integer(1, 3)):
        word = words[index]
        at = draws.integer(1, len(word) - 3)
        slip = draws.integer(0, 2)
        if slip == 0:
            words[index] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        elif slip == 1:
            words[index] = word[:at] + word[at + 1 :]
        else:
            words[index] = word[:at] + word[at] + word[at:]
    joined = " ".join(words)
    return joined.replace("'", "") if draws.chance(0.5) else joined
